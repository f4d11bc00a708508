"""Decisions of consolidation, judged by a grader's marks and by what code can see: sources, opposites, losses. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from memorybank.model import Fact
from memorybank_eval import report
from memorybank_eval.grading import Expected, Graded, Json
from memorybank_eval.metrics import estimate_share

#: The share of decisions that has to be right; no opposites may be merged, and no fact lost.
GOAL = 0.9


@dataclass(frozen=True)
class Decision:
    """What must be said afterwards, and on which facts; see eval/datasets/consolidation/README.md."""

    id: str
    says: tuple[str, ...]
    sources: frozenset[str]
    also: frozenset[str] = frozenset()
    outdated: frozenset[str] = frozenset()
    merged: frozenset[str] = frozenset()
    split: bool = False

    @property
    def pieces(self) -> list[str]:
        """Return the names of what it says, each a statement to a grader."""
        return [f"{self.id}.{number}" for number in range(1, len(self.says) + 1)]


@dataclass(frozen=True)
class Told:
    """A fact with its id, as it is said on a day."""

    id: str
    fact: Fact
    said: datetime


@dataclass(frozen=True)
class Known:
    """An observation that stands beforehand, on facts by their ids."""

    id: str
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Batch:
    """Facts that were consolidated, what stands on them, facts that are new, and what must become of it all.

    `apart`: pairs of facts that no observation may share; `optional`: facts that may lead to nothing.
    """

    id: str
    old: tuple[Told, ...]
    observations: tuple[Known, ...]
    new: tuple[Told, ...]
    expected: Expected
    decisions: tuple[Decision, ...]
    apart: tuple[tuple[str, str], ...] = ()
    optional: frozenset[str] = frozenset()


def faults(decision: Decision, batch: Batch, graded: Graded) -> Iterator[str]:
    """Say what is wrong with a decision as it came out."""
    observed = graded.facts[batch.id]
    places = {name: graded.place_of(batch.expected, name) for name in decision.pieces}
    yield from (f"{name} is not said" for name, place in places.items() if place is None)
    holding = {place for place in places.values() if place is not None}
    if len(holding) > 1 and not decision.split:
        yield "said in pieces"
    cited = set(chain.from_iterable(observed[place]["sources"] for place in holding))
    yield from (f"{name} is not cited" for name in sorted(decision.sources - cited))
    yield from (f"{name} is cited" for name in sorted(cited - decision.sources - decision.also))
    before = {one.id: one.text for one in batch.observations}
    yield from (
        f"{one['was']} stands as it was"
        for one in observed
        if one["was"] in decision.outdated and one["text"] == before[one["was"]]
    )
    if sum(one["was"] in decision.merged for one in observed) > 1:
        yield "not merged"


def opposites(batch: Batch, observed: Sequence[Json]) -> list[str]:
    """Return the pairs that must be apart and are the sources of one observation."""
    return [
        f"{batch.id}/{'+'.join(pair)}"
        for pair in batch.apart
        if any(set(pair) <= set(one["sources"]) for one in observed)
    ]


def lost(batch: Batch, outcome: Json) -> list[str]:
    """Return the facts that nothing stands on, or that are gone or were given up."""
    cited = set(chain.from_iterable(one["sources"] for one in outcome["facts"]))
    told = {one.id for one in (*batch.old, *batch.new)}
    done = {name for name, state in outcome["states"].items() if state == "done"}
    missing = (told - batch.optional - cited) | (told - done)
    return [f"{batch.id}/{name}" for name in sorted(missing)]


def figures(batches: Sequence[Batch], outcomes: Mapping[str, Json], graded: Graded) -> Json:
    """Return the share of decisions that are right, with its interval over batches, and all that went wrong."""
    wrong = {
        f"{batch.id}/{decision.id}": found
        for batch in batches
        for decision in batch.decisions
        if (found := list(faults(decision, batch, graded)))
    }
    parts = [
        (sum(f"{batch.id}/{one.id}" not in wrong for one in batch.decisions), len(batch.decisions))
        for batch in batches
    ]
    named = [(batch, outcomes[batch.id]) for batch in batches]
    return {
        "decisions": sum(count for _, count in parts),
        "right": estimate_share(parts).rounded(),
        "opposites_merged": [pair for batch, one in named for pair in opposites(batch, one["facts"])],
        "lost": [name for batch, one in named for name in lost(batch, one)],
        "wrong": wrong,
        **graded.figures(),
    }


def standing(observed: Sequence[Json]) -> list[Json]:
    """Return what stands, in an order of its own: the text of each observation, which one it was, what it cites."""
    named = [{name: one[name] for name in ("text", "was", "sources")} for one in observed]
    return sorted(named, key=lambda one: (one["sources"], one["text"]))


def checks(graded: Graded) -> Json:
    """Return what has to stand of each batch when its recording is played."""
    return {name: standing(observed) for name, observed in graded.facts.items()}


def table(results: Mapping[str, Json]) -> str:
    """Return results as a Markdown table, and below it each decision that went wrong."""
    rows = [
        [
            name,
            str(one["decisions"]),
            report.interval(one["right"]),
            str(len(one["opposites_merged"])),
            str(len(one["lost"])),
            report.interval(one["invented"]),
        ]
        for name, one in results.items()
    ]
    head = ["set", "decisions", f"right (≥ {100 * GOAL:g} %)", "opposites merged (0)", "lost (0)", "invented"]
    wrong = [
        f"{name}: {'; '.join(found)}" for one in results.values() for name, found in one["wrong"].items()
    ]
    return "\n".join([report.table(head, rows), *wrong])
