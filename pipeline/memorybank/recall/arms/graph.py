"""The graph arm: personalised PageRank from the names in the question and the best hits, over mentions and links. Pure.

A walker starts at a name or a hit, goes on to what mentions it, to what it mentions or is linked to, and now and then
comes back (Haveliwala 2002). From a name that half of the units mention he spreads so thin that it tells nothing. Hits
keep their place: each walk comes back to them, and what it finds is added to the other scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from memorybank.recall import space as spaces
from memorybank.recall.space import Floats, Integers, Space
from memorybank.storage.found import NO_DISTANCES, Addresses, Linked, Mentions, Reached

#: How often the walker goes on, else he comes back: the usual value.
DAMPING = 0.85
#: Steps that are counted: what is four steps away is no hint any more.
STEPS = 4
#: Share of the walks that start at the names in the question, where hits are known too.
NAMED_SHARE = 0.5
#: Where one walk in five ends is near: tanh(1) = 0.76.
NEAR = 5.0
#: How many times more a causal link counts where the question asks for a reason.
CAUSAL = 3.0


@dataclass(frozen=True)
class Edges:
    """Directed edges between numbered nodes, (n,) each; several from one node to the same other one add up."""

    sources: Integers
    targets: Integers
    weights: Floats


def nearness(space: Space, named: Sequence[Mentions], reached: Reached | None, for_reason: bool) -> Floats:
    """Return how near each unit is to the names in the question and to the best hits, 0 to 1 (n,).

    `reached` is None before the best hits are known. Without any mention or link every unit has 0.
    """
    units, near = walked(named, reached, for_reason)
    at, known = space.find(units.addresses(np.arange(len(units))))
    values = np.zeros(len(space))
    values[at[known]] = near[known]
    return values


def walked(named: Sequence[Mentions], reached: Reached | None, for_reason: bool) -> tuple[Space, Floats]:
    """Return all units that were read, whether they are scored or not, and how near each is, 0 to 1 (n,)."""
    mentions = (*named, *reached.around) if reached else named
    linked = reached.linked if reached else ()
    read = [each.addresses for each in mentions] + [each.addresses for each in linked]
    read += [reached.seeds.addresses] if reached else []
    units = spaces.build(NO_DISTANCES, [Addresses.joined(read)])
    numbers = {one: len(units) + at for at, one in enumerate(dict.fromkeys(each.entity for each in mentions))}
    edges = [_mentioned(units, mentions, numbers)]
    starts = np.zeros(len(units) + len(numbers))
    if reached:
        hits, _ = units.find(reached.seeds.addresses)
        starts[hits] = reached.seeds.strengths / reached.seeds.strengths.sum()
        edges += [_linked(units, hits, links, for_reason) for links in linked]
    if not any(len(part.sources) for part in edges):
        return units, np.zeros(len(units))
    if named:
        starts *= 1.0 - NAMED_SHARE
        starts[[numbers[each.entity] for each in named]] = NAMED_SHARE / len(named)
    walks = pagerank(_both_ways(edges), starts / starts.sum(), STEPS)
    return units, np.tanh(NEAR * walks[: len(units)])


def pagerank(edges: Edges, personal: Floats, steps: int) -> Floats:
    """Return the share of walks at each node after so many steps (nodes,), by power iteration.

    `personal` (nodes,) is where walks start and come back to, also from nodes that lead nowhere; its sum is 1.
    """
    nodes = len(personal)
    leaving = np.bincount(edges.sources, edges.weights, nodes)
    stuck = leaving == 0
    total = leaving[edges.sources]
    passed_on = DAMPING * np.divide(edges.weights, total, out=np.zeros(len(total)), where=total > 0)
    walks = personal
    for _ in range(steps):
        back = 1.0 - DAMPING + DAMPING * walks[stuck].sum()
        walks = back * personal + np.bincount(edges.targets, passed_on * walks[edges.sources], nodes)
    return walks


def _mentioned(units: Space, mentions: Sequence[Mentions], numbers: Mapping[UUID, int]) -> Edges:
    """Return an edge from each unit to each name that it mentions, once."""
    names = np.array([numbers[each.entity] for each in mentions], np.int64)
    at, _ = units.find(Addresses.joined([each.addresses for each in mentions]))
    named = np.repeat(names, [len(each.addresses) for each in mentions])
    targets, sources = np.divmod(np.unique(named * len(units) + at), max(1, len(units)))
    return Edges(sources, targets, np.ones(len(sources)))


def _linked(units: Space, hits: Integers, links: Linked, for_reason: bool) -> Edges:
    """Return an edge for each link from a hit."""
    weights = links.weights * (CAUSAL if links.causal and for_reason else 1.0)
    return Edges(hits[links.hits], units.find(links.addresses)[0], weights)


def _both_ways(parts: Sequence[Edges]) -> Edges:
    sources = np.concatenate([part.sources for part in parts])
    targets = np.concatenate([part.targets for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    return Edges(
        np.concatenate((sources, targets)),
        np.concatenate((targets, sources)),
        np.concatenate((weights, weights)),
    )
