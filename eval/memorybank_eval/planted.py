"""Does consolidation see what a fact is about? Restatements and changes, planted among facts that are much alike.

2,000 facts are retained and each made an observation of its own, which is as hard as it gets: 50 people of whom the
same 25 kinds of things are said, between turns of dialogue. Then come 200 that say one of them again in other words,
and 100 that replace one. The real stage asks a model about them in batches; counted is whether the observation that a
fact is about was among those shown in its call. With real vectors, without a language model.
"""

import argparse
import asyncio
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memorybank import text
from memorybank.consolidate.stage import Consolidate
from memorybank.llm.structured import asked_for
from memorybank.model import EntityInput, Fact, RetainItem
from memorybank.operations import Kind
from memorybank.settings import load
from memorybank.storage import consolidations
from memorybank.testing.scripted_answers import rows
from memorybank.testing.scripted_model import ScriptedModel
from memorybank_eval import machine, report
from memorybank_eval.datasets import DATASETS
from memorybank_eval.ground import Ground, fresh_database
from memorybank_eval.offline import OWN, OWN_PATH, default_model
from memorybank_eval.prompts_consolidation import by_itself

STATEMENTS = Path(__file__).resolve().parents[1] / "datasets" / "planted" / "statements.toml"
#: Facts that stand before; of the new ones those that say one of them again, and those that replace one.
FACTS, RESTATED, CHANGED = 2_000, 200, 100
#: The share of each that has to be shown what it is about.
GOAL = 0.97
#: Facts of a document.
DOCUMENT = 50
SEED = 23
_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Planted:
    """A new fact, the earlier one that it is about, and whether it says the `same`."""

    fact: Fact
    about: str
    same: bool


def plant() -> tuple[list[Fact], list[Planted]]:
    """Return the facts that stand before, and the new ones, both in a drawn order that is always the same."""
    draw = random.Random(SEED)
    table = tomllib.loads(STATEMENTS.read_text("utf-8"))
    said = [_filled(draw, kind, name) for kind in table["kinds"] for name in table["names"].split()]
    draw.shuffle(said)
    new = [
        Planted(_fact(one, "again" if at < RESTATED else "change"), one["say"], at < RESTATED)
        for at, one in enumerate(said[: RESTATED + CHANGED])
    ]
    turns = [" ".join(turn.text.split()) for one in DATASETS[OWN].read(OWN_PATH) for turn in one.turns]
    old = [_fact(one, "say") for one in said]
    old += map(Fact, draw.sample(sorted(set(turns)), FACTS - len(old)))
    draw.shuffle(old)
    draw.shuffle(new)
    return old, new


def _filled(draw: random.Random, kind: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return the three sentences of a kind about somebody."""
    first, second = draw.sample(kind["values"], 2)
    forms = {form: kind[form].format(n=name, a=first, b=second) for form in ("say", "again", "change")}
    return forms | {"name": name}


def _fact(said: Mapping[str, str], form: str) -> Fact:
    """Return a fact as an extraction gives it: with the name of whom it is about."""
    return Fact(said[form], entities=(EntityInput(said["name"], "PERSON"),))


async def measure() -> dict[str, Any]:
    """Return how many of the planted facts were shown what they are about, and what the calls cost."""
    old, new = plant()
    settings = by_itself(load(environ={}))
    async with fresh_database(settings) as database:
        ground = await Ground.laid(database, settings, default_model(), "planted")
        await _consolidated(ground, old, _DAY, ScriptedModel(decide=_each_its_own))
        reader = ScriptedModel(decide=_nothing)
        await _consolidated(ground, [one.fact for one in new], _DAY + timedelta(days=90), reader)
    shown = {
        fact["text"]: {one["text"] for one in rows("observations", request.user)}
        for request in reader.requests
        for fact in rows("new_facts", request.user)
    }
    each = [len(rows("observations", request.user)) for request in reader.requests]
    tokens = [
        text.count_tokens(f"{asked_for(request)[1]}\n{request.system}\n{request.user}")
        for request in reader.requests
    ]
    return {
        "facts": len(old),
        "restated": _found([one for one in new if one.same], shown),
        "changed": _found([one for one in new if not one.same], shown),
        "calls": len(reader.requests),
        "shown_a_call": round(sum(each) / len(each), 1),
        "prompt_tokens": sum(tokens),
    }


async def _consolidated(ground: Ground, said: Sequence[Fact], day: datetime, model: ScriptedModel) -> None:
    """Retain facts, each a line, and consolidate them by a model."""
    lines = {fact.text: fact for fact in said}
    documents = ["\n".join([*lines][at : at + DOCUMENT]) for at in range(0, len(lines), DOCUMENT)]
    items = [RetainItem(document, day + timedelta(days=at)) for at, document in enumerate(documents)]
    await ground.keep(items, lines)
    async with ground.database.transaction() as connection:
        queued = await consolidations.ask(connection, ground.bank.id)
    stage = Consolidate(ground.database, ground.embedder, model, ground.settings)
    await ground.work(queued.operation_id, {Kind.CONSOLIDATION: stage.work})


def _each_its_own(user: str) -> dict[str, Any]:
    made = [
        {"action": "create", "text": row["text"], "facts": [row["id"]]} for row in rows("new_facts", user)
    ]
    return {"actions": made}


def _nothing(user: str) -> dict[str, Any]:
    return {"actions": [{"action": "keep", "facts": [row["id"] for row in rows("new_facts", user)]}]}


def _found(planted: Sequence[Planted], shown: Mapping[str, set[str]]) -> dict[str, Any]:
    missed = [one for one in planted if one.about not in shown[one.fact.text]]
    return {
        "planted": len(planted),
        "shown": len(planted) - len(missed),
        "share": round(1 - len(missed) / len(planted), 4),
        "missed": [[one.fact.text, one.about] for one in missed],
    }


def add_command(commands: Any) -> None:
    """Add `planted` to the command line."""
    asked = commands.add_parser("planted", help="does consolidation see what a fact restates or changes?")
    asked.add_argument("--out", type=Path, help="write the result as JSON")
    asked.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    described = machine.describe()
    measured = asyncio.run(measure())
    print({name: value for name, value in measured.items() if name not in ("restated", "changed")})
    for kind in ("restated", "changed"):
        print(kind, measured[kind]["shown"], "of", measured[kind]["planted"], f"(goal: {GOAL:.0%})")
        print("\n".join(f"  missed: {one} | {about}" for one, about in measured[kind]["missed"]))
    if given.out:
        report.write_json(given.out, {"kind": "planted", **described, **measured})
