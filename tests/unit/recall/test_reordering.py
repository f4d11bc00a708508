"""What changes the order of the blend: a reranker, and diversity where it is asked for."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from memorybank.recall import diversity, fusion, rerank
from memorybank.recall.run import Page
from memorybank.storage.found import FoundUnit


def unit(text: str, **more: Any) -> FoundUnit:
    told = {"context": "", "occurred_start": None, "mentioned_at": None} | more
    nothing: dict[str, Any] = {
        "occurred_end": None,
        "mentioned_at_assumed": False,
        "document_id": None,
        "is_placed": None,
        "chunk": None,
    }
    return FoundUnit(
        0,
        UUID(int=0),
        text,
        "world",
        tags=(),
        metadata={},
        chunk_ordinal=None,
        entities={},
        **nothing,
        **told,
    )


def page(worth: list[float], relevance: list[float]) -> Page:
    count = len(worth)
    return Page(
        [unit(f"unit {number}") for number in range(count)],
        np.arange(count) + 100,
        np.array(worth),
        np.array(relevance),
        np.full(count, np.nan),
        np.arange(count),
    )


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, "Ana left."),
        ({"mentioned_at": datetime(2026, 3, 4, tzinfo=UTC)}, "4 March 2026: Ana left."),
        ({"context": "stand-up"}, "stand-up: Ana left."),
        (
            {
                "context": "stand-up",
                "occurred_start": datetime(312, 1, 9, tzinfo=UTC),
                "mentioned_at": datetime(2026, 3, 4, tzinfo=UTC),
            },
            "9 January 312, stand-up: Ana left.",
        ),
    ],
)
def test_a_reranker_reads_date_context_and_text(told: dict[str, Any], expected: str) -> None:
    assert rerank.document(unit("Ana left.", **told)) == expected


def test_the_reranker_and_the_blend_decide_together() -> None:
    before = page([3.0, 2.0, 1.0, 0.5], [0.9, 0.8, 0.7, 0.6])
    scores = np.array([0.01, 0.99, 0.5])
    after = rerank.applied(before, scores, 0.5)
    assert [each.text for each in after.units] == ["unit 1", "unit 0", "unit 2", "unit 3"]
    assert after.place.tolist() == [1, 0, 2, 3] and after.ranked.tolist() == [101, 100, 102, 103]
    assert np.allclose(after.reranked[:3], [0.99, 0.01, 0.5]) and np.isnan(after.reranked[3])
    assert np.allclose(after.relevance, [(0.8 + 0.99) / 2, (0.9 + 0.01) / 2, 0.6, 0.6])
    assert (np.diff(after.worth) <= 0).all()
    assert rerank.applied(before, scores, 1.0).place.tolist() == [1, 2, 0, 3]
    assert rerank.applied(before, scores, 0.0).place.tolist() == [0, 1, 2, 3]


def test_a_reranker_that_finds_nothing_to_choose_between_changes_nothing() -> None:
    before = page([3.0, 2.9, 2.8], [0.5, 0.5, 0.5])
    assert rerank.applied(before, np.array([0.0, 0.0, 0.0]), 0.9).place.tolist() == [0, 1, 2]
    assert rerank.applied(before, np.array([0.500, 0.501, 0.502]), 0.5).place.tolist() == [0, 1, 2]
    assert rerank.applied(page([1.0], [0.5]), np.array([0.2]), 0.5).place.tolist() == [0]


def test_what_repeats_comes_later_the_more_the_stronger() -> None:
    texts = ["Ana moved the release", "Ana moved the release to Friday", "Tea is in the kitchen", ""]
    scores = np.array([1.0, 0.9, 0.5, 0.0])
    orders = {strength: diversity.spread_out(scores, texts, strength).tolist() for strength in (0.0, 0.5)}
    assert orders == {0.0: [0, 1, 2, 3], 0.5: [0, 2, 1, 3]}
    assert diversity.spread_out(np.zeros(2), ["a b", "c d"], 0.9).tolist() == [0, 1]
    assert diversity.spread_out(np.zeros(0), [], 0.5).tolist() == []


def test_fused_ranks_are_the_sum_of_their_reciprocals() -> None:
    semantic, keyword = np.array([0.9, 0.8, 0.1, 0.2]), np.array([0.0, 2.0, 0.0, 3.0])
    expected = [1 / 61, 1 / 62 + 1 / 62, 1 / 64, 1 / 63 + 1 / 61]
    assert fusion.rrf([semantic, keyword], 4) == pytest.approx(expected)
    assert fusion.rrf([], 2).tolist() == [0.0, 0.0]
