"""What does each part of recall bring? Every arm alone, the blend, and the blend without one part after the other, on
all sets; and the standing check that the blend is nowhere below a plain arm.

Nothing is fitted again: a part is left out and the other weights stay. A difference is paired, question by question,
with its bootstrap interval: an interval that holds 0 says that these questions cannot tell.
"""

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memorybank.errors import MemoryBankError
from memorybank.recall.signals import SIGNALS
from memorybank.settings import defaults
from memorybank_eval import machine, offline, report
from memorybank_eval.metrics import Estimate, estimate, found_all, found_any, found_share
from memorybank_eval.offline import Array, Case, Vectors

#: How deep everything here is judged.
CUT = 10
METRICS = {"frac@10": found_share, "any@10": found_any, "all@10": found_all}
#: The metric whose differences are shown, and that the check looks at.
JUDGED = "frac@10"
#: Rank fusion: how slowly a rank loses worth (Cormack, Clarke and Büttcher 2009).
RRF = 60
#: Signals that look at what stands beside a unit.
SMOOTHING = ("neighbours", "session", "dense_neighbours")
#: The two large parts, each with what it has from neighbours.
PARTS = {"keywords": ("lexical", "neighbours", "session"), "vectors": ("dense", "dense_neighbours")}
#: The arms by themselves, which the blend must not fall below.
PLAIN = {"plain BM25": "bm25", "plain dense": "dense"}
BLEND = "the blend"

Scores = Callable[[Case], Array]


@dataclass(frozen=True)
class Row:
    """One way to rank, on one set: its metrics, and what it has more than the blend at the same questions."""

    way: str
    dataset: str
    metrics: Mapping[str, Estimate]
    more: Estimate


def ways(weights: Mapping[str, float]) -> Iterator[tuple[str, Scores]]:
    """Yield each way to rank by its name."""
    for name, arm in PLAIN.items():
        yield name, partial(_plain, arm)
    yield "both, by reciprocal ranks", _fused
    yield BLEND, _blend(weights)
    yield "every weight 1", _blend({name: float(np.sign(weights[name])) for name in SIGNALS})
    for part, names in PARTS.items():
        yield f"{part} alone: {', '.join(names)}", _blend(weights, set(SIGNALS) - set(names))
    yield "without all neighbours", _blend(weights, SMOOTHING)
    for name in SIGNALS:
        yield f"without {name}", _blend(weights, {name})


def _plain(arm: str, case: Case) -> Array:
    return case.plain[arm]


def _fused(case: Case) -> Array:
    total = np.zeros(len(case.turns))
    for arm in PLAIN.values():
        ranks = np.argsort(np.argsort(-case.plain[arm], kind="stable"), kind="stable") + 1
        total += 1.0 / (RRF + ranks)
    return total


def _blend(weights: Mapping[str, float], without: Collection[str] = ()) -> Scores:
    counted = np.array([0.0 if name in without else weights[name] for name in SIGNALS])
    return lambda case: case.matrix @ counted


def judged(cases: Sequence[Case], scores: Scores) -> dict[str, Array]:
    """Return each metric of each question (questions,)."""
    rankings = [(case.ranking(scores(case)), case.wanted.evidence) for case in cases]
    return {
        name: np.array([metric(ranking, evidence, CUT) for ranking, evidence in rankings])
        for name, metric in METRICS.items()
    }


def compare(dataset: str, cases: Sequence[Case], as_asked: Sequence[Case]) -> list[Row]:
    """Return a row for each way to rank; `as_asked`: the same questions, encoded with the names of speakers."""
    weights = defaults().recall.weights
    results = {way: judged(cases, scores) for way, scores in ways(weights)}
    results["without taking names out"] = judged(as_asked, _blend(weights))
    best = results[BLEND][JUDGED]
    return [
        Row(
            way,
            dataset,
            {name: estimate(values.tolist()) for name, values in metrics.items()},
            estimate((metrics[JUDGED] - best).tolist()),
        )
        for way, metrics in results.items()
    ]


def below(rows: Sequence[Row]) -> list[str]:
    """Return a sentence for each plain arm that finds more than the blend."""
    return [
        f"{row.dataset}: {row.way} finds {100 * row.metrics[JUDGED].mean:.1f} % ({JUDGED}), "
        f"{100 * row.more.mean:.1f} points more than the blend"
        for row in rows
        if row.way in PLAIN and row.more.mean > 0
    ]


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare `ablation` and `check`."""
    parser = commands.add_parser("ablation", help="what does each part of recall bring?")
    offline.add_sets(parser)
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    parser.set_defaults(run=_ablation)
    parser = commands.add_parser("check", help="is recall anywhere below plain BM25 or plain dense?")
    offline.add_sets(parser)
    parser.set_defaults(run=_check)


def _rows(given: argparse.Namespace) -> list[Row]:
    vectors = Vectors(given.vectors)
    rows = []
    for name, conversations in offline.sets(given).items():
        cases = offline.cases_of(conversations, vectors)
        rows += compare(name, cases, offline.cases_of(conversations, vectors, names_out=False))
    vectors.save()
    return rows


def _ablation(given: argparse.Namespace) -> None:
    rows = _rows(given)
    for dataset in dict.fromkeys(row.dataset for row in rows):
        own = [row for row in rows if row.dataset == dataset]
        print(f"\n{dataset}\n{_table(own)}")
    if given.out:
        report.write_json(given.out, {"kind": "ablation", **machine.describe(), "sets": as_json(rows)})


def _check(given: argparse.Namespace) -> None:
    found = below(_rows(given))
    if found:
        raise MemoryBankError("\n".join(found))
    print("the blend is nowhere below a plain arm")


def _table(rows: Sequence[Row]) -> str:
    lines = [
        (
            row.way,
            *(report.interval(row.metrics[name]) for name in METRICS),
            report.interval(row.more, sign="+"),
        )
        for row in rows
    ]
    return report.table(("", *METRICS, f"{JUDGED} more than the blend"), lines)


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the rows by set and way, as shares with the ends of their intervals."""
    sets: dict[str, Any] = {}
    for row in rows:
        metrics = {name: value.rounded() for name, value in row.metrics.items()}
        sets.setdefault(row.dataset, {})[row.way] = {**metrics, "more than the blend": row.more.rounded()}
    return sets
