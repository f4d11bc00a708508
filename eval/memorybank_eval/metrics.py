"""What a ranking is worth, and how sure that is. Pure.

A ranking is the turns that were found, best first, each once; the evidence is the set of turns that answer.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

#: How deep recall is judged.
CUTS = (5, 10, 20)
#: How deep nDCG looks.
NDCG_CUT = 10
#: How deep a first hit is looked for; deeper than the deepest cut nobody reads.
DEPTH = max(CUTS)
#: Resamples behind an interval: the ends of a 95 % interval then vary by about a tenth of its width.
RESAMPLES = 2000
#: Fixed, so that the same results give the same intervals.
SEED = 20_240
#: Share of resamples between the ends of an interval.
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A mean over questions and the ends of its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    def rounded(self) -> list[float]:
        """Return the three as a result file holds them."""
        return [round(value, 4) for value in self]


def found_any(ranking: Sequence[str], evidence: Collection[str], cut: int) -> float:
    """Return 1.0 where at least one evidence turn stands in the first `cut`, else 0.0."""
    return float(any(turn in evidence for turn in ranking[:cut]))


def found_all(ranking: Sequence[str], evidence: Collection[str], cut: int) -> float:
    """Return 1.0 where every evidence turn stands in the first `cut`, else 0.0."""
    return float(set(evidence) <= set(ranking[:cut]))


def found_share(ranking: Sequence[str], evidence: Collection[str], cut: int) -> float:
    """Return the share of the evidence turns that stand in the first `cut` (frac@k)."""
    return len(set(evidence) & set(ranking[:cut])) / len(set(evidence))


def ndcg(ranking: Sequence[str], evidence: Collection[str], cut: int) -> float:
    """Return the normalised discounted cumulative gain, gain 1 for an evidence turn.

    Järvelin and Kekäläinen 2002 in the usual form: a hit at rank r counts 1 / log2(r + 1), divided by what the best
    order could reach.
    """
    gain = sum(
        1 / math.log2(rank + 1) for rank, turn in enumerate(ranking[:cut], start=1) if turn in evidence
    )
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(cut, len(set(evidence))) + 1))
    return gain / ideal


def reciprocal_rank(ranking: Sequence[str], evidence: Collection[str], cut: int = DEPTH) -> float:
    """Return 1 / rank of the first evidence turn, 0.0 where none stands in the first `cut`."""
    return next(
        (1 / rank for rank, turn in enumerate(ranking[:cut], start=1) if turn in evidence),
        0.0,
    )


def judge(ranking: Sequence[str], evidence: Collection[str]) -> dict[str, float]:
    """Return every metric of one question by name: `any@5` … `frac@20`, `ndcg@10`, `mrr`."""
    kinds = {"any": found_any, "all": found_all, "frac": found_share}
    values = {
        f"{name}@{cut}": metric(ranking, evidence, cut) for name, metric in kinds.items() for cut in CUTS
    }
    return values | {
        f"ndcg@{NDCG_CUT}": ndcg(ranking, evidence, NDCG_CUT),
        "mrr": reciprocal_rank(ranking, evidence),
    }


def estimate(values: Sequence[float], resamples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """Return the mean of one metric over questions with its percentile bootstrap interval (Efron 1979).

    Questions are drawn with replacement, so it says how much the choice of questions matters, not how much the choice
    of conversations does: a few conversations vary by more.
    """
    sample = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(seed).integers(0, len(sample), (resamples, len(sample)))
    return _between(float(sample.mean()), sample[draws].mean(axis=1))


def estimate_share(
    parts: Sequence[tuple[int, int]], resamples: int = RESAMPLES, seed: int = SEED
) -> Estimate:
    """Return hits over cases of all parts, each `(hits, cases)`, with its percentile bootstrap interval.

    Parts are drawn with replacement, not cases: those of one text are no independent draws.
    """
    hits, cases = np.asarray(parts, dtype=np.float64).T
    draws = np.random.default_rng(seed).integers(0, len(parts), (resamples, len(parts)))
    shares = hits[draws].sum(axis=1) / np.maximum(cases[draws].sum(axis=1), 1)
    return _between(float(hits.sum() / max(cases.sum(), 1)), shares)


def _between(mean: float, resampled: np.ndarray) -> Estimate:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Estimate(mean, float(low), float(high))


def summarize(judged: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """Return the estimate of each metric over questions, of which there is at least one."""
    return {name: estimate([values[name] for values in judged]) for name in judged[0]}


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile of at least one value, interpolated linearly between the two nearest."""
    return float(np.percentile(np.asarray(values, dtype=np.float64), percent))
