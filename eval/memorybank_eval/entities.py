"""Does retain know who is who? Names of labelled documents go through the real write path into a real database.

The facts of each document, with their names and kinds, are given as an extraction would give them; documents come in
the order of the file. Then the entity of each mention is compared with its label.

B-cubed (Bagga and Baldwin, "Algorithms for Scoring Coreference Chains", 1998): a mention's precision is the share of
the mentions of its entity that have its label, its recall the share of the mentions of its label that are in its
entity; both are means over mentions. Pairwise: of all pairs of mentions that are one entity, those that have one label,
and the reverse.
"""

import argparse
import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memorybank.model import EntityInput, Fact, RetainItem
from memorybank.settings import load
from memorybank.testing.embedder import HashingEmbedder
from memorybank.text import name_key
from memorybank_eval import report
from memorybank_eval.ground import Ground, fresh_database

DATASETS = Path(__file__).resolve().parents[1] / "datasets" / "entities"
#: The labelled files; what each is for stands in their README.
LABELLED = ("tuning", "heldout")
#: What a run is told of kinds: all of them, whether it is a person (what extraction says today), nothing.
TOLD = ("kinds", "people", "nothing")
_KINDS = {
    "P": "PERSON", "O": "ORGANIZATION", "L": "LOCATION", "R": "PRODUCT",
    "W": "WORK", "E": "EVENT", "A": "ANIMAL", "C": "CONCEPT",
}  # fmt: skip
_MENTION = re.compile(r"\[([^\]|]+)\|(\w)\|([^\]|]+)\]")
_FOUND = (Path(__file__).with_name("entities.sql")).read_text(encoding="utf-8")
#: When the first document was said; each later one a day after.
_FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Mention:
    """A labelled mention; `fact` is the text of the fact that holds it."""

    bank: str
    document: str
    fact: str
    name: str
    kind: str
    label: str


def read(path: Path) -> list[Mention]:
    """Return the mentions of a labelled file, in order."""
    found: list[Mention] = []
    bank = document = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# bank: "):
            bank = line.removeprefix("# bank: ")
        elif line.startswith("## "):
            document = line.removeprefix("## ")
        else:
            fact = _MENTION.sub(r"\1", line)
            found += [
                Mention(bank, document, fact, name, _KINDS[kind], f"{bank}/{label}")
                for name, kind, label in _MENTION.findall(line)
            ]
    return found


def told(mentions: Sequence[Mention], what: str) -> dict[str, Fact]:
    """Return the facts of mentions, with the kinds that a run is told."""
    names: dict[str, list[EntityInput]] = defaultdict(list)
    for mention in mentions:
        known = what == "kinds" or (what == "people" and mention.kind == "PERSON")
        names[mention.fact].append(EntityInput(mention.name, mention.kind if known else "CONCEPT"))
    return {fact: Fact(fact, entities=tuple(entities)) for fact, entities in names.items()}


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `entities` to the harness."""
    parser = commands.add_parser("entities", help="does retain know who is who?")
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    parser.add_argument(
        "--errors", action="store_true", help="print what went wrong in the tuning set as well"
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    result = asyncio.run(measure())
    rows = [
        [f"{name}, told {what}", *(f"{100 * share:.1f}" for share in result[name][what]["scores"].values())]
        for name in LABELLED
        for what in TOLD
    ]
    columns = [column.replace("_", " ") for column in result["tuning"]["kinds"]["scores"]]
    print(report.table(["set", *columns], rows))
    if given.errors:
        print(*result["tuning"]["kinds"]["errors"], sep="\n")
    if given.out:
        report.write_json(given.out, result)


async def measure() -> dict[str, Any]:
    """Return precision and recall of each labelled file under each telling."""
    result: dict[str, Any] = {"kind": "entities"}
    settings = load(environ={})
    async with fresh_database(settings) as database:
        for name in LABELLED:
            mentions = read(DATASETS / f"{name}.txt")
            result[name] = {"mentions": len(mentions)}
            for what in TOLD:
                found: dict[Mention, Any] = {}
                for bank in dict.fromkeys(mention.bank for mention in mentions):
                    own = [mention for mention in mentions if mention.bank == bank]
                    place = f"{bank}-{len(mentions)}-{what}"
                    ground = await Ground.laid(database, settings, HashingEmbedder(64), place)
                    found |= await resolved(ground, own, what)
                result[name][what] = {"scores": scores(mentions, found)}
                if name == "tuning":
                    result[name][what]["errors"] = errors(mentions, found)
    return result


async def resolved(ground: Ground, mentions: Sequence[Mention], what: str) -> dict[Mention, Any]:
    """Retain the documents of a bank in order; return the entity of each mention."""
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for mention in mentions:
        texts[mention.document][mention.fact] = None
    for day, (document, facts) in enumerate(texts.items()):
        item = RetainItem("\n".join(facts), _FIRST + timedelta(days=day), document_id=document)
        await ground.keep([item], told(mentions, what))
    rows = await ground.rows(_FOUND)
    entity = {(row["fact"], key): row["entity"] for row in rows for key in row["keys"]}
    return {mention: entity[mention.fact, name_key(mention.name)] for mention in mentions}


def scores(mentions: Sequence[Mention], found: Mapping[Mention, Any]) -> dict[str, float]:
    """Return B-cubed and pairwise precision and recall, as shares."""
    both = Counter((found[mention], mention.label) for mention in mentions)
    entities = Counter(found[mention] for mention in mentions)
    labels = Counter(mention.label for mention in mentions)
    pairs = _pairs(both.values())
    return {
        "b_cubed_precision": sum(n * n / entities[entity] for (entity, _), n in both.items()) / len(mentions),
        "b_cubed_recall": sum(n * n / labels[label] for (_, label), n in both.items()) / len(mentions),
        "pairwise_precision": _share(pairs, _pairs(entities.values())),
        "pairwise_recall": _share(pairs, _pairs(labels.values())),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def errors(mentions: Sequence[Mention], found: Mapping[Mention, Any]) -> list[str]:
    """Return what went wrong: the labels that share an entity, and the labels that have several."""
    labels: dict[Any, Counter[str]] = defaultdict(Counter)
    names: dict[str, dict[Any, list[str]]] = defaultdict(lambda: defaultdict(list))
    for mention in mentions:
        labels[found[mention]][mention.label] += 1
        names[mention.label][found[mention]].append(f"{mention.document}:{mention.name}")
    mixed = [f"mixed: {dict(held)}" for held in labels.values() if len(held) > 1]
    split = [
        f"split: {label}: {[' '.join(dict.fromkeys(part)) for part in parts.values()]}"
        for label, parts in names.items()
        if len(parts) > 1
    ]
    return mixed + split
