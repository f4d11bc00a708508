"""The trace of one recall: how long each step took, what each arm found, how the blend ranked it. Pure.

It tells of the units that were looked at, which are units that the viewer was shown the way to.
"""

from datetime import datetime
from typing import Any

import numpy as np

from memorybank.recall.run import Found, Page, Run
from memorybank.recall.space import Floats
from memorybank.storage.found import FoundUnit

#: The wire's word for what each arm's score is.
_SCORE_NAMES = {
    "semantic": "similarity",
    "bm25": "bm25_score",
    "graph": "activation",
    "temporal": "temporal_proximity",
}


def build(found: Found) -> dict[str, Any]:
    """Return the trace in the wire's shape."""
    run, hits, page = found.run, found.packing.hits, Page.joined(found.pages)
    return {
        "query": _query(run),
        "retrieval_results": _arms(found, page),
        "rrf_merged": _merged(found, page),
        "reranked": _reranked(found, page),
        "entry_points": [],
        "visits": [],
        "pruned": [],
        "summary": {
            "total_nodes_visited": len(found.scored.space),
            "total_duration_seconds": run.steps.total,
            "results_returned": len(hits),
            "stages": list(found.stages),
            "left_out": dict(run.left_out),
            "phase_metrics": [
                {"phase_name": name, "duration_seconds": seconds, "details": {}}
                for name, seconds in run.steps.seconds.items()
            ],
        },
        "final_results": [{"id": str(hit.id), "text": hit.text, "score": hit.scores.final} for hit in hits],
    }


def _query(run: Run) -> dict[str, Any]:
    window = run.question.window
    return {
        "query_text": run.question.text,
        "query_embedding": [float(number) for number in run.vector],
        "timestamp": run.question.asked_at.isoformat(),
        "budget": run.query.budget,
        "max_tokens": run.query.max_tokens,
        "tags": list(run.query.tags or ()),
        "tags_match": run.query.tags_match,
        "temporal_constraint": window and {"start": _iso(window.start), "end": _iso(window.end)},
    }


def _arms(found: Found, page: Page) -> list[dict[str, Any]]:
    """Return each arm's ranking of the units that were looked at, one entry for each type of fact."""
    arms, left_out = found.scored.arms, found.run.left_out
    told = []
    for arm in dict.fromkeys((*arms, *(arm for arm in left_out if arm in _SCORE_NAMES))):
        ranked = [] if arm in left_out else _ranked(page, arm, arms[arm][page.ranked])
        for fact_type in sorted({unit.fact_type for unit in page.units}):
            results = [entry for entry in ranked if entry["fact_type"] == fact_type]
            told.append(
                {
                    "method_name": arm,
                    "fact_type": fact_type,
                    "results": [{"rank": rank, **entry} for rank, entry in enumerate(results, start=1)],
                    # All arms are read in one trip: each shows the time of that trip.
                    "duration_seconds": found.run.steps.seconds.get("gather", 0.0),
                    "metadata": {"left_out": left_out[arm]} if arm in left_out else {},
                }
            )
    return told


def _ranked(page: Page, arm: str, scores: Floats) -> list[dict[str, Any]]:
    """Return the units to which an arm gave a score, of all that were looked at (n,), the best first."""
    order = np.argsort(-scores, kind="stable")
    return [
        {
            **_node(unit),
            "context": unit.context,
            "event_date": _iso(unit.occurred_start or unit.mentioned_at),
            "fact_type": unit.fact_type,
            "score": float(scores[at]),
            "score_name": _SCORE_NAMES[arm],
        }
        for at in order[scores[order] > 0].tolist()
        for unit in (page.units[at],)
    ]


def _merged(found: Found, page: Page) -> list[dict[str, Any]]:
    """Return the ranking by the blend; `source_ranks` is where each arm had the unit among those looked at."""
    ranks = {arm: _ranks(scores[page.ranked]) for arm, scores in found.scored.arms.items()}
    return [
        {
            **_node(page.units[at]),
            "rrf_score": float(found.scored.blend[page.ranked[at]]),
            "source_ranks": {f"{arm}_rank": int(ranks[arm][at]) for arm in ranks},
            "final_rrf_rank": int(page.place[at]) + 1,
        }
        for at in np.argsort(page.place).tolist()
    ]


def _reranked(found: Found, page: Page) -> list[dict[str, Any]]:
    """Return what the reranker read, as it comes now; `rerank_rank` is by its score alone."""
    looked_at = np.flatnonzero(~np.isnan(page.reranked))
    return [
        {
            **_node(page.units[at]),
            "rerank_score": float(page.reranked[at]),
            "rerank_rank": rank,
            "rrf_rank": int(page.place[at]) + 1,
            "rank_change": int(page.place[at]) - at,
            "score_components": {
                "blend": float(found.scored.blend[page.ranked[at]]),
                "reranker": float(page.reranked[at]),
                "mixed": float(page.worth[at]),
            },
        }
        for at, rank in zip(looked_at.tolist(), _ranks(page.reranked[looked_at]).tolist(), strict=True)
    ]


def _ranks(scores: Floats) -> np.ndarray:
    """Return the rank of each score, 1 for the largest (n,)."""
    return np.argsort(np.argsort(-scores, kind="stable"), kind="stable") + 1


def _node(unit: FoundUnit) -> dict[str, Any]:
    return {"node_id": str(unit.id), "text": unit.text}


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
