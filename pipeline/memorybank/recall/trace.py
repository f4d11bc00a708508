"""The trace of one recall: how long each step took, what each arm found, how the blend ranked it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from memorybank.model import Hit
from memorybank.recall.query import RecallQuery
from memorybank.recall.question import Question
from memorybank.recall.ranking import Scored
from memorybank.recall.space import Floats, Integers
from memorybank.storage.found import FoundUnit

#: The wire's word for what each arm's score is.
_SCORE_NAMES = {
    "semantic": "similarity",
    "bm25": "bm25_score",
    "graph": "activation",
    "temporal": "temporal_proximity",
}


@dataclass
class Steps:
    """Times the steps of one recall, in order."""

    began: float = field(default_factory=time.perf_counter)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a block; blocks of one name add up."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    @property
    def total(self) -> float:
        """Seconds since the recall began."""
        return time.perf_counter() - self.began


@dataclass(frozen=True)
class Told:
    """What a trace tells of: the question, its vector, the scores, and the units that were looked at, as they come.

    (n,) each: `ranked`, their indices in the space; `place`, where each stood by the blend; `worth`, what they come by;
    `reranked`, the reranker's scores, NaN where it did not look. `left_out`: what should have run and did not, and why.
    """

    query: RecallQuery
    question: Question
    vector: Floats
    scored: Scored
    ranked: Integers
    place: Integers
    worth: Floats
    reranked: Floats
    units: Sequence[FoundUnit]
    hits: Sequence[Hit]
    stages: Sequence[str]
    left_out: Mapping[str, str]


def build(told: Told, steps: Steps) -> dict[str, Any]:
    """Return the trace in the wire's shape; it names only units that the viewer was shown the way to."""
    return {
        "query": _query(told),
        "retrieval_results": _arms(told, steps),
        "rrf_merged": _merged(told),
        "reranked": _reranked(told),
        "entry_points": [],
        "visits": [],
        "pruned": [],
        "summary": {
            "total_nodes_visited": len(told.scored.space),
            "total_duration_seconds": steps.total,
            "results_returned": len(told.hits),
            "stages": list(told.stages),
            "left_out": dict(told.left_out),
            "phase_metrics": [
                {"phase_name": name, "duration_seconds": seconds, "details": {}}
                for name, seconds in steps.seconds.items()
            ],
        },
        "final_results": [
            {"id": str(hit.id), "text": hit.text, "score": hit.scores.final} for hit in told.hits
        ],
    }


def _query(told: Told) -> dict[str, Any]:
    window = told.question.window
    return {
        "query_text": told.question.text,
        "query_embedding": [float(number) for number in told.vector],
        "timestamp": told.question.asked_at.isoformat(),
        "budget": told.query.budget,
        "max_tokens": told.query.max_tokens,
        "tags": list(told.query.tags or ()),
        "tags_match": told.query.tags_match,
        "temporal_constraint": (
            {"start": window.start.isoformat(), "end": window.end.isoformat()} if window else None
        ),
    }


def _arms(told: Told, steps: Steps) -> list[dict[str, Any]]:
    """Return each arm's ranking of the units that were looked at, one entry for each type of fact."""
    types = sorted({unit.fact_type for unit in told.units})
    found = []
    for method in dict.fromkeys((*told.scored.arms, *(arm for arm in told.left_out if arm in _SCORE_NAMES))):
        why = told.left_out.get(method)
        ranked = [] if why else _ranked(told, told.scored.arms[method])
        for fact_type in types:
            results = [entry for entry in ranked if entry["fact_type"] == fact_type]
            found.append(
                {
                    "method_name": method,
                    "fact_type": fact_type,
                    "results": [{"rank": rank, **entry} for rank, entry in enumerate(results, start=1)],
                    # All arms are read in one trip: each shows the time of that trip.
                    "duration_seconds": steps.seconds.get("gather", 0.0),
                    "metadata": {"score_name": _SCORE_NAMES[method]} | ({"left_out": why} if why else {}),
                }
            )
    return found


def _ranked(told: Told, scores: Floats) -> list[dict[str, Any]]:
    own = scores[told.ranked]
    return [
        {
            "node_id": str(told.units[at].id),
            "text": told.units[at].text,
            "context": told.units[at].context,
            "event_date": _iso(told.units[at].occurred_start or told.units[at].mentioned_at),
            "fact_type": told.units[at].fact_type,
            "score": float(own[at]),
        }
        for at in np.argsort(-own, kind="stable")
        if own[at] > 0
    ]


def _merged(told: Told) -> list[dict[str, Any]]:
    """Return the ranking by the blend; `source_ranks` is where each arm had the unit among those looked at."""
    places = {
        method: np.argsort(np.argsort(-scores[told.ranked], kind="stable"), kind="stable") + 1
        for method, scores in told.scored.arms.items()
    }
    return [
        {
            "node_id": str(told.units[at].id),
            "text": told.units[at].text,
            "rrf_score": float(told.scored.blend[told.ranked[at]]),
            "source_ranks": {f"{method}_rank": int(places[method][at]) for method in places},
            "final_rrf_rank": int(told.place[at]) + 1,
        }
        for at in np.argsort(told.place).tolist()
    ]


def _reranked(told: Told) -> list[dict[str, Any]]:
    """Return what the reranker read, as it comes now; `rerank_rank` is by its score alone."""
    looked_at = np.flatnonzero(~np.isnan(told.reranked))
    by_score = np.argsort(np.argsort(-told.reranked[looked_at], kind="stable"), kind="stable") + 1
    return [
        {
            "node_id": str(told.units[at].id),
            "text": told.units[at].text,
            "rerank_score": float(told.reranked[at]),
            "rerank_rank": rank,
            "rrf_rank": int(told.place[at]) + 1,
            "rank_change": int(told.place[at]) - at,
            "score_components": {
                "blend": float(told.scored.blend[told.ranked[at]]),
                "reranker": float(told.reranked[at]),
                "mixed": float(told.worth[at]),
            },
        }
        for at, rank in zip(looked_at.tolist(), by_score.tolist(), strict=True)
    ]


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
