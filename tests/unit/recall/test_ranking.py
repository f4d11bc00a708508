"""The blend, the filter, the order of the page and the absolute score."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.recall import fusion, question, ranking, relevance
from memorybank.recall.arms import temporal
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.fusion import z_scored
from memorybank.recall.query import RecallQuery
from memorybank.recall.ranking import Criteria
from memorybank.settings import defaults
from memorybank.storage.found import (
    TYPE_BITS,
    Addresses,
    Dated,
    Distances,
    Gathered,
    Linked,
    Mentions,
    Reached,
    Seeds,
    Statistics,
    Tagged,
    TermPostings,
)
from memorybank.tags import TagLeaf
from memorybank.timeline import TimeSpan

WEIGHTS = fusion.weights(defaults().recall.weights, ranking.COUNTED)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ASKED = Criteria(question.read(RecallQuery("which comet"), NOON), WEIGHTS, Bm25(0.9, 0.4))
MARCH = TimeSpan(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 31, 23, 59, 59, tzinfo=UTC), "", "month")


def each_alone(*numbers: int) -> Addresses:
    """Addresses of the only units of these documents."""
    return Addresses(np.array(numbers), np.zeros(len(numbers), np.int64))


def gathered(distances: list[float], terms: list[TermPostings] | None = None) -> Gathered:
    everywhere = each_alone(*range(1, len(distances) + 1))
    nothing = np.zeros(len(distances), np.int64)
    return Gathered(
        Statistics(len(distances), 10 * len(distances)),
        tuple(terms or ()),
        Distances(everywhere, np.array(distances, np.float32), nothing, nothing),
        (),
        None,
        None,
        None,
    )


def term(*documents: int) -> TermPostings:
    ones = np.ones(len(documents), np.int64)
    return TermPostings(len(documents), each_alone(*documents), ones, 10 * ones)


def test_the_settings_name_every_weight() -> None:
    with pytest.raises(KeyError):
        fusion.weights({"lexical": 1.0}, ranking.COUNTED)
    assert set(defaults().recall.weights) == set(ranking.COUNTED)


def test_both_arms_count_and_the_best_of_both_is_first() -> None:
    scored = ranking.score(gathered([0.9, 0.2, 0.9, 0.3], [term(3, 4)]), ASKED)
    assert ranking.best(scored, 4).tolist() == [3, 1, 2, 0]
    assert ranking.best(scored, 2).tolist() == [3, 1]


def test_units_that_do_not_pass_are_left_out_and_score_the_same() -> None:
    found = gathered([0.9, 0.2, 0.9, 0.3], [term(3, 4)])
    held = (Tagged(frozenset("a"), each_alone(2, 9)), Tagged(frozenset("b"), each_alone(4)))
    scored = ranking.score(replace(found, tagged=held), replace(ASKED, tags=TagLeaf(("a",))))
    assert ranking.best(scored, 4).tolist() == [1]
    assert np.array_equal(scored.blend, ranking.score(found, ASKED).blend)


def test_types_are_told_by_the_bits_of_a_unit_and_passed_where_they_are_not_known() -> None:
    found = gathered([0.9, 0.2, 0.9, 0.3])
    bits = np.array([TYPE_BITS["world"], TYPE_BITS["observation"], 3 | TYPE_BITS["experience"], 3])
    typed = replace(found, distances=replace(found.distances, traits=bits))
    scored = ranking.score(typed, replace(ASKED, types=("world", "experience")))
    assert ranking.best(scored, 4).tolist() == [3, 0, 2]
    both = replace(typed, tagged=(Tagged(frozenset("a"), each_alone(1, 2)),))
    assert ranking.best(ranking.score(both, replace(ASKED, types=("world",))), 4).tolist() == [0]


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(1, 45))
def test_the_best_are_the_best_and_ties_keep_their_order(values: list[int], limit: int) -> None:
    found = gathered([1.0] * len(values))
    scored = replace(ranking.score(found, ASKED), blend=np.array(values, np.float64))
    expected = sorted(range(len(values)), key=lambda at: (-values[at], at))[:limit]
    assert ranking.best(scored, limit).tolist() == expected


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(1e-3, 1))
def test_z_scores_never_exceed_what_the_floor_allows(values: list[float], floor: float) -> None:
    array = np.array(values)
    scored = z_scored(array, floor)
    assert np.all(np.isfinite(scored)) and abs(scored.mean()) < 1e-6
    assert np.all(np.abs(scored) <= np.abs(array - array.mean()) / floor + 1e-9)


def test_z_scores_of_nothing_and_of_nothing_asked_are_0() -> None:
    assert z_scored(np.empty(0), 0.1).tolist() == []
    assert z_scored(np.zeros(3), 0.0).tolist() == [0, 0, 0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_final_scores_never_rise_and_hide_nothing(values: list[float]) -> None:
    final = relevance.descending(np.array(values))
    assert np.all(np.diff(final) <= 0) and np.all(final >= values) and final[0] == max(values)


def test_relevance_is_low_without_likeness_and_rises_with_both_parts() -> None:
    scores = relevance.probability(np.array([0.05, 0.6, 0.05, 0.6]), np.array([0.0, 0.0, 0.8, 0.8]))
    assert scores[0] < 0.05 and scores[3] > 0.85 and scores[0] < min(scores[1], scores[2])


def test_the_graph_adds_to_what_is_there_and_a_later_look_replaces_an_earlier_one() -> None:
    scored = ranking.score(gathered([0.5] * 4), ASKED)
    named = (Mentions(UUID(int=1), each_alone(2)),)
    once = ranking.with_graph(scored, ASKED, named, None)
    hit = Seeds(each_alone(2), np.array([0.9]))
    linked = Linked(False, np.array([0]), each_alone(3), np.array([0.8]))
    twice = ranking.with_graph(once, ASKED, named, Reached(hit, (), (linked,)))
    assert once.blend[1] > scored.blend[1] and np.array_equal(once.blend[[0, 2, 3]], scored.blend[[0, 2, 3]])
    assert twice.blend[2] > once.blend[2] and np.array_equal(twice.blend[[0, 3]], scored.blend[[0, 3]])
    assert np.allclose(twice.blend - scored.blend, WEIGHTS[ranking.GRAPH] * twice.arms[ranking.GRAPH])


def seconds(*moments: datetime | None) -> np.ndarray:
    return np.array([moment.timestamp() if moment else np.nan for moment in moments])


def test_time_ranks_by_the_gap_and_by_how_exact_a_date_is() -> None:
    space = ranking.score(gathered([0.5] * 6), ASKED).space
    inside, near = datetime(2026, 3, 12, tzinfo=UTC), datetime(2026, 4, 5, tzinfo=UTC)
    first, last = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 31, tzinfo=UTC)
    far = datetime(2026, 7, 15, tzinfo=UTC)
    dated = Dated(
        each_alone(1, 2, 3, 4, 5),
        seconds(inside, near, first, far, None),
        seconds(inside, near, last, far, None),
        seconds(None, far, far, None, None),
    )
    scores = temporal.closeness(space, MARCH, dated)
    assert scores[0] == 1.0 and scores[4] == scores[5] == 0.0
    assert scores[0] > scores[1] > scores[2] > scores[3] > 0 and scores[3] < 0.001
    assert scores[1] == pytest.approx(np.exp(-4 / 10), rel=0.01)


def test_an_open_window_reaches_to_the_ends_of_time() -> None:
    ends = TimeSpan(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    assert temporal.reach(ends) == (ends.start, ends.end)
    start, end = temporal.reach(MARCH)
    assert (start, end) == (datetime(2026, 1, 20, tzinfo=UTC), datetime(2026, 5, 10, 23, 59, 59, tzinfo=UTC))
