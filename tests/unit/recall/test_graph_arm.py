"""The graph arm is networkx's personalised PageRank; hits keep their place, hubs tell nothing, causes answer why."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybank.recall import fusion, question, ranking
from memorybank.recall.arms import graph
from memorybank.recall.arms.graph import Edges
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.query import RecallQuery
from memorybank.recall.ranking import Criteria
from memorybank.recall.space import Space, build
from memorybank.settings import defaults
from memorybank.storage.found import (
    Addresses,
    Distances,
    Gathered,
    Linked,
    Mentions,
    Reached,
    Seeds,
    Statistics,
)

#: So many steps that nothing moves any more: 0.85 to this power is below the precision of a float.
MANY = 300
UNITS = 7
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WEIGHTS = fusion.weights(defaults().recall.weights, ranking.COUNTED)

NODES = st.integers(0, UNITS - 1)
WEIGHT = st.sampled_from((0.25, 0.7, 1.0, 3.0))
STARTS = st.lists(st.sampled_from((0.0, 0.0, 0.4, 1.0)), min_size=UNITS, max_size=UNITS).filter(any)
GRAPHS = st.lists(st.tuples(NODES, NODES, WEIGHT), max_size=20)
MENTIONED = st.lists(st.lists(NODES, min_size=1, max_size=5, unique=True), max_size=5)
HITS = st.dictionaries(NODES, st.sampled_from((0.2, 0.5, 0.9)), min_size=1, max_size=3)
LINKS = st.lists(st.tuples(st.integers(0, 2), NODES, WEIGHT), max_size=6)


def at(units: Sequence[int]) -> Addresses:
    """Addresses of units by their numbers, each the only one of its document."""
    return Addresses(np.array(units, np.int32) + 1, np.zeros(len(units), np.int32))


def space_of(count: int) -> Space:
    nothing = np.zeros(count, np.int64)
    return build(Distances(at(range(count)), np.full(count, 0.5), nothing, nothing), [])


def mentions(*mentioned: Sequence[int], first: int = 0) -> tuple[Mentions, ...]:
    """Entities, each by the units that mention it, numbered from `first`."""
    return tuple(Mentions(UUID(int=number), at(units)) for number, units in enumerate(mentioned, start=first))


def reached(hits: dict[int, float], around: Sequence[Mentions] = (), *links: Linked) -> Reached:
    return Reached(Seeds(at(list(hits)), np.array(list(hits.values()))), tuple(around), links)


def link(hit: int, unit: int, weight: float = 0.8, causal: bool = False) -> Linked:
    return Linked(causal, np.array([hit], np.int32), at([unit]), np.array([weight]))


def reference(made: networkx.Graph, starts: dict[object, float]) -> dict[object, float]:
    found: dict[object, float] = networkx.pagerank(
        made, alpha=graph.DAMPING, personalization=starts, max_iter=1_000, tol=1e-13
    )
    return found


@settings(deadline=None)  # networkx imports scipy on its first call
@given(GRAPHS, STARTS)
def test_it_is_the_reference_also_with_loops_parallel_edges_and_nodes_that_lead_nowhere(
    edges: list[tuple[int, int, float]], starts: list[float]
) -> None:
    made = networkx.MultiDiGraph()
    made.add_nodes_from(range(UNITS))
    made.add_weighted_edges_from(edges)
    expected = reference(made, dict(enumerate(starts)))
    sources, targets, weights = (np.array([edge[part] for edge in edges]) for part in range(3))
    personal = np.array(starts) / sum(starts)
    found = graph.pagerank(
        Edges(sources.astype(np.int64), targets.astype(np.int64), weights.astype(np.float64)), personal, MANY
    )
    assert np.allclose(found, [expected[node] for node in range(UNITS)], atol=1e-9)
    assert found.sum() == pytest.approx(1.0)


@settings(deadline=None)
@given(MENTIONED, MENTIONED, HITS, LINKS)
def test_what_was_read_is_one_graph_of_units_and_names(
    named: list[list[int]],
    around: list[list[int]],
    hits: dict[int, float],
    links: list[tuple[int, int, float]],
) -> None:
    links = [one for one in links if one[0] < len(hits) and list(hits)[one[0]] != one[1]]
    made = networkx.MultiGraph()
    made.add_nodes_from(range(UNITS))
    names = [f"name {number}" for number in range(len(named) + len(around))]
    for name, units in zip(names, [*named, *around], strict=True):
        made.add_weighted_edges_from((name, unit, 1.0) for unit in units)
    made.add_weighted_edges_from((list(hits)[hit], unit, weight) for hit, unit, weight in links)
    share = graph.NAMED_SHARE if named else 0.0
    starts = {unit: (1 - share) * strength / sum(hits.values()) for unit, strength in hits.items()}
    starts |= {name: share / len(named) for name in names[: len(named)]}
    expected = reference(made, starts)
    read = reached(hits, mentions(*around, first=len(named)), *(link(*one) for one in links))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "STEPS", MANY)
        near = graph.nearness(space_of(UNITS), mentions(*named), read, for_reason=False)
    if made.number_of_edges():
        assert np.allclose(near, np.tanh(graph.NEAR * np.array([expected[unit] for unit in range(UNITS)])))
    else:
        assert not near.any()


@given(MENTIONED, MENTIONED, HITS, LINKS)
def test_no_unit_loses_and_a_hit_keeps_its_share(
    named: list[list[int]],
    around: list[list[int]],
    hits: dict[int, float],
    links: list[tuple[int, int, float]],
) -> None:
    read = reached(hits, mentions(*around, first=9), *(link(*one) for one in links if one[0] < len(hits)))
    near = graph.nearness(space_of(UNITS), mentions(*named), read, for_reason=True)
    assert np.all((near >= 0) & (near <= 1))
    if near.any():
        share = (1 - graph.NAMED_SHARE) * (1 - graph.DAMPING) / sum(hits.values())
        assert all(near[unit] >= np.tanh(graph.NEAR * share * strength) for unit, strength in hits.items())


def test_what_was_not_read_is_far_and_what_is_not_scored_takes_its_share_all_the_same() -> None:
    space = space_of(3)
    assert graph.nearness(space, (), None, for_reason=False).tolist() == [0, 0, 0]
    assert graph.nearness(space, (), reached({0: 0.9}), for_reason=False).tolist() == [0, 0, 0]
    both = graph.nearness(space, mentions([0, 2]), None, for_reason=False)
    unscored = graph.nearness(space, mentions([0, 99]), None, for_reason=False)
    assert unscored[0] == both[0] == both[2] > 0 and not unscored[1:].any()


def test_a_name_that_everybody_mentions_tells_little() -> None:
    space = space_of(300)
    rare = graph.nearness(space, mentions([0, 1]), None, for_reason=False)
    hub = graph.nearness(space, mentions(range(200)), None, for_reason=False)
    hop = graph.nearness(space, (), reached({0: 0.9, 9: 0.9}, mentions([0, 1])), for_reason=False)
    assert rare[0] > 0.4 and 0 < hub[0] < 0.02 and rare[5] == 0
    assert hop[0] > hop[1] > 0.1 > hub[0] and hop[9] > 0


def test_a_walk_goes_on_to_what_the_found_units_mention() -> None:
    near = graph.nearness(
        space_of(5), mentions([0]), reached({0: 0.9}, mentions([0, 1], [1, 2], first=1)), False
    )
    assert near[0] > near[1] > near[2] > 0 == near[3]


@pytest.mark.parametrize(
    ("query", "causes_first"), [("Why did the comet turn?", True), ("When did it turn?", False)]
)
def test_a_causal_link_counts_more_where_a_reason_is_asked_for(query: str, causes_first: bool) -> None:
    nothing = np.zeros(4, np.int64)
    held = Distances(at(range(4)), np.array([0.2, 0.9, 0.9, 0.9]), nothing, nothing)
    found = Gathered(Statistics(4, 40), (), held, (), None, None, None)
    asked = Criteria(question.read(RecallQuery(query), NOON), WEIGHTS, Bm25(0.9, 0.4))
    scored = ranking.score(found, asked)
    read = replace(reached({0: 0.9}), linked=(link(0, 1), link(0, 2, causal=True)))
    after = ranking.with_graph(scored, asked, (), read)
    near = after.arms[ranking.GRAPH]
    assert near[2] >= near[1] > 0 == near[3] and bool(near[2] > 1.05 * near[1]) is causes_first
    assert np.allclose(after.blend - scored.blend, WEIGHTS[ranking.GRAPH] * near)
