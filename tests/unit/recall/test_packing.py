"""Budgets, packing, double memories, and what comes beside the hits."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybank.model import Bank, Budget, FactType, Hit, Scores
from memorybank.recall import beside, budget, hits
from memorybank.recall.budget import Packing
from memorybank.recall.query import MinScores
from memorybank.settings import defaults
from memorybank.storage.found import FoundChunk, FoundSource, FoundUnit
from memorybank.text import count_tokens

NOW = datetime(2026, 7, 1, tzinfo=UTC)
BANK = Bank(1, "team", "team", {}, NOW, NOW)
CONFIG = defaults().bank


def hit(text: str, **more: object) -> Hit:
    return Hit(uuid4(), text, FactType.WORLD, Scores(0.5), **more)  # type: ignore[arg-type]


def unit(text: str, **more: object) -> FoundUnit:
    plain = FoundUnit(
        0, uuid4(), text, "world", "", None, None, NOW, False, (), {}, "doc", False, uuid4(), 3, {}
    )
    return replace(plain, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("level", "expected"), [("low", 200), ("mid", 600), ("high", 2000)])
def test_fixed_budgets(level: Budget, expected: int) -> None:
    assert budget.candidates(CONFIG, level, units=10) == expected


@pytest.mark.parametrize(
    ("level", "units", "expected"),
    [("low", 10, 40), ("low", 4000, 200), ("high", 4000, 2000), ("high", 10**6, 4000)],
)
def test_adaptive_budgets_stay_in_their_bounds(level: Budget, units: int, expected: int) -> None:
    adaptive = CONFIG.model_copy(update={"recall_budget_function": "adaptive"})
    assert budget.candidates(adaptive, level, units) == expected


@given(st.lists(st.integers(1, 30), min_size=1, max_size=15), st.integers(1, 60))
@settings(deadline=None)  # the first count loads the token tables
def test_packing_fills_what_it_can(sizes: list[int], limit: int) -> None:
    offered = [hit("tea " * size) for size in sizes]
    packing = Packing(limit)
    packing.add(offered)
    used = sum(count_tokens(packed.text) for packed in packing.hits)
    assert used == packing.used <= limit or len(packing.hits) == 1
    assert packing.hits[0].id == offered[0].id
    taken = {packed.id for packed in packing.hits}
    assert all(budget.of_text(other) > packing.left for other in offered if other.id not in taken)
    assert [packed.id for packed in packing.hits] == [other.id for other in offered if other.id in taken]


def test_the_best_hit_is_cut_where_it_must_be() -> None:
    packing = Packing(3)
    packing.add([hit("one two three four five"), hit("x")])
    (only,) = packing.hits
    assert only.text == "one two three" and packing.left == 0


def test_a_hit_of_which_nothing_fits_gives_its_place_to_the_next() -> None:
    packing = Packing(1)
    packing.add([hit("🏳️‍🌈"), hit("x"), hit("y")])
    assert [one.text for one in packing.hits] == ["x"]


def test_a_cost_of_ones_own_counts_what_stands_around_the_text() -> None:
    packing = Packing(20, cost=lambda one: 8 + budget.of_text(one))
    packing.add([hit("tea " * 40), hit("x")])
    assert [count_tokens(one.text) for one in packing.hits] == [12]


def test_no_budget_no_hits() -> None:
    packing = Packing(0)
    packing.add([hit("x")])
    assert packing.hits == []


def test_pages_are_as_large_as_the_budget_asks() -> None:
    assert budget.page_size(4096, 10) == 163
    assert (budget.page_size(100, 10), budget.page_size(10**6, 10)) == (budget.PAGE_LEAST, budget.PAGE_MOST)


def test_doubles_are_one_memory_and_periods_are_two() -> None:
    distinct = hits.Distinct()
    spring, autumn = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)
    units = [
        unit("The key is with the florist."),
        unit("the  key is with the florist."),
        unit("The key is with the florist.", mentioned_at=autumn),
        unit("The key is with the florist.", mentioned_at=spring, mentioned_at_assumed=True),
        unit("The key is with the florist.", mentioned_at=None),
        unit("The key is not with the florist."),
        unit("Uma is on the team.", occurred_start=spring),
        unit("Uma is on the team.", occurred_start=autumn),
    ]
    assert [distinct(each) for each in units] == [True, False, True, True, False, True, True, True]


@pytest.mark.parametrize("first", ["fact", "observation"])
def test_k3_an_observation_in_the_words_of_its_one_fact_is_that_fact(first: str) -> None:
    text, said, again = "I ran today.", datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 9, tzinfo=UTC)
    fact, seen = unit(text, mentioned_at=said), unit(text, mentioned_at=again)
    one = FoundSource(seen.id, fact.id, 1, 0, None)
    told = [(fact, ()), (seen, [one])] if first == "fact" else [(seen, [one]), (fact, ())]
    distinct = hits.Distinct()
    assert [distinct(*pair) for pair in told] == [True, False]
    two = [one, replace(one, id=uuid4())]
    distinct = hits.Distinct()
    assert [distinct(fact), distinct(seen, two)] == [True, True], "two runs stay two"


def test_a_hit_names_its_chunk_as_the_wire_does() -> None:
    made = hits.make(BANK, unit("x", metadata={"page": "7"}), Scores(0.5))
    assert (made.chunk_id, made.document_id, made.metadata) == ("team_doc_3", "doc", {"page": "7"})
    assert hits.make(BANK, unit("x", chunk=None, chunk_ordinal=None), Scores(0.5)).chunk_id is None


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (MinScores(), True),
        (MinScores(final=0.4, semantic=0.3, keyword=2.0), True),
        (MinScores(final=0.6), False),
        (MinScores(semantic=0.5), False),
        (MinScores(keyword=3.0), False),
        (MinScores(reranker=0.9), False),
    ],
)
def test_least_scores(least: MinScores, expected: bool) -> None:
    assert hits.good_enough(Scores(0.5, semantic=0.4, keyword=2.5), least) is expected


def test_an_arm_that_saw_nothing_reaches_no_least_score() -> None:
    assert not hits.good_enough(Scores(0.5), MinScores(semantic=0.0))
    assert not hits.good_enough(Scores(0.5, reranker=0.2), MinScores(reranker=0.3))


def test_entities_come_by_rank_once_and_within_their_budget() -> None:
    ana, bo, cy = uuid4(), uuid4(), uuid4()
    first, second = hit("a", entities={bo: "Bo", ana: "Ana"}), hit("b", entities={ana: "Ana", cy: "Cy"})
    assert [one.id for one in beside.entities([first, second], 500)] == [bo, ana, cy]
    assert [one.name for one in beside.entities([first, second], 2)] == ["Bo", "Ana"]
    assert beside.entities([first], 0) == ()


def chunk(identity: UUID, text: str, ordinal: int) -> FoundChunk:
    return FoundChunk(identity, text, ordinal, "doc", is_placed=False)


def test_chunks_come_once_and_the_last_one_is_cut() -> None:
    one, two, three, gone = (uuid4() for _ in range(4))
    found = {
        key: chunk(key, f"{word} " * 10, at)
        for at, (key, word) in enumerate(((one, "a"), (two, "b"), (three, "c")))
    }
    tokens = count_tokens("a " * 10)
    chosen = beside.chunks(BANK, [two, gone, one, two, three], found, tokens + 3)
    assert list(chosen) == ["team_doc_1", "team_doc_0"]
    assert [each.truncated for each in chosen.values()] == [False, True]
    assert count_tokens(chosen["team_doc_0"].text) == 3 and chosen["team_doc_0"].index == 0
    assert beside.chunks(BANK, [one], found, 0) == {}


@pytest.mark.parametrize(
    ("total", "each", "expected", "truncated"),
    [
        (100, -1, "abcd", False),
        (-1, -1, "abcd", False),
        (3, -1, "abc", True),
        (100, 1, "ac", True),
        (0, -1, "", True),
        (100, 0, "", True),
    ],
)
def test_source_facts_come_by_observation_once_and_within_both_budgets(
    total: int, each: int, expected: str, truncated: bool
) -> None:
    facts = {name: hit(name) for name in "abcd"}
    observations = [[facts["a"].id, facts["b"].id], [facts["b"].id, facts["c"].id, facts["d"].id]]
    if each == 1:
        observations = [observations[0], observations[1][1:]]
    found, cut = beside.source_facts(observations, {fact.id: fact for fact in facts.values()}, total, each)
    assert ("".join(fact.text for fact in found.values()), cut) == (expected, truncated)
    assert list(found) == [str(fact.id) for fact in found.values()]


def test_a_source_that_was_not_read_counts_as_cut() -> None:
    assert beside.source_facts([[uuid4()]], {}, 100, -1) == ({}, True)
