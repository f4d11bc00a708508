"""From what the database gave to one score for every unit. Pure: arrays in, arrays out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from memorybank.recall import fusion, signals
from memorybank.recall import space as spaces
from memorybank.recall.arms import graph, lexical, semantic
from memorybank.recall.arms.lexical import Bm25, Lexical
from memorybank.recall.fusion import Weights
from memorybank.recall.large import candidates as large
from memorybank.recall.question import Question
from memorybank.recall.relevance import probability
from memorybank.recall.signals import Scene
from memorybank.recall.space import Flags, Floats, Integers, Space
from memorybank.storage.found import TYPE_BITS, Addresses, Gathered, Mentions, Reached, Seeds, Tagged
from memorybank.tags import TagGroup, passing
from memorybank.text.traits import Trait

#: The signal that is known only when the best units are.
GRAPH = "graph"
#: Every signal that has a weight.
COUNTED = (*signals.SIGNALS, GRAPH)


@dataclass(frozen=True)
class Criteria:
    """What units are scored by, and the filters on types and tags."""

    question: Question
    weights: Weights
    bm25: Bm25
    types: Collection[str] | None = None
    tags: TagGroup | None = None

    @property
    def for_reason(self) -> bool:
        """Whether the question asks for a reason."""
        return Trait.REASON in self.question.answer


@dataclass(frozen=True)
class Scored:
    """Every unit that the viewer may see, with its scores by arm (n,) and the blend that ranks.

    `allowed` is which units pass the filter on types and tags, None for all. Those that do not pass still lend their
    neighbours context, as they do when nobody filters.
    """

    space: Space
    cosine: Floats
    lexical: Lexical
    arms: Mapping[str, Floats]
    blend: Floats
    allowed: Flags | None

    @cached_property
    def relevance(self) -> Floats:
        """Absolute relevance of each unit, 0 to 1 (n,)."""
        return probability(self.cosine, self.lexical.coverage)


def scene(gathered: Gathered, question: Question, bm25: Bm25) -> Scene:
    """Return the question before all units that the database gave, or before those of a large bank that may answer."""
    if gathered.sample:
        space, documents = large.space(gathered, gathered.sample)
        sample = space.find(gathered.sample.distances.addresses)[0]
    else:
        space = spaces.build(gathered.distances, [term.addresses for term in gathered.postings])
        documents, sample = None, None
    keywords = lexical.score(space, gathered.statistics, gathered.postings, bm25, documents)
    candidates = gathered.candidates
    return Scene(
        space,
        question,
        semantic.similarity(space, sample),
        keywords,
        candidates.spread if candidates else keywords.spread(space.population),
        gathered.statistics.mean_length,
        gathered.dated,
        gathered.later,
        sample,
    )


def score(gathered: Gathered, criteria: Criteria) -> Scored:
    """Score every unit by all signals but the graph's hops, which start from the best ones."""
    seen = scene(gathered, criteria.question, criteria.bm25)
    found = signals.read(seen)
    arms = {"semantic": seen.cosine, "bm25": seen.keywords.keyword}
    if "time" in found:
        arms["temporal"] = found["time"]
    blend = fusion.blend(found, criteria.weights, len(seen.space))
    allowed = _allowed(seen.space, gathered, criteria)
    scored = Scored(seen.space, seen.cosine, seen.keywords, arms, blend, allowed)
    return with_graph(scored, criteria, gathered.named, None) if gathered.named else scored


def _allowed(space: Space, gathered: Gathered, criteria: Criteria) -> Flags | None:
    """Return which units pass the filters; one whose type is not known here passes, to be looked at when it is read."""
    allowed = None
    if gathered.candidates:
        allowed = np.zeros(len(space), np.bool_)
        allowed[space.find(gathered.candidates.chosen)[0]] = True
    if gathered.tagged is not None:
        passed = np.zeros(len(space), np.bool_)
        at, known = space.find(tagged_addresses(gathered.tagged, criteria.tags))
        passed[at[known]] = True
        allowed = passed if allowed is None else allowed & passed
    if criteria.types is not None:
        typed = space.traits & sum(TYPE_BITS.values())
        of_types = (typed == 0) | (typed & type_bits(criteria.types) != 0)
        allowed = of_types if allowed is None else allowed & of_types
    return allowed


def type_bits(types: Collection[str] | None) -> int:
    """Return the bits of these types of facts; 0 where all are asked for."""
    return sum(TYPE_BITS[name] for name in types or ())


def tagged_addresses(tagged: Sequence[Tagged], group: TagGroup | None) -> Addresses:
    """Return where the units stand whose tags pass."""
    passed = passing([each.tags for each in tagged], group) if group else np.ones(len(tagged), np.bool_)
    found = [tagged[at].addresses for at in np.flatnonzero(passed).tolist()]
    return Addresses.joined(found)


def with_graph(
    scored: Scored, criteria: Criteria, named: Sequence[Mentions], reached: Reached | None
) -> Scored:
    """Return the scores with nearness in the graph; what an earlier call added is replaced."""
    nearness = graph.nearness(scored.space, named, reached, criteria.for_reason)
    before = scored.arms.get(GRAPH, 0.0)
    return replace(
        scored,
        arms={**scored.arms, GRAPH: nearness},
        blend=scored.blend + criteria.weights[GRAPH] * (nearness - before),
    )


def near_in_graph(criteria: Criteria, reached: Reached | None, limit: int) -> Addresses:
    """Return the units that are nearest in the graph to the best hits; none where it was not followed."""
    units, near = graph.walked((), reached, criteria.for_reason)
    return units.addresses(np.argsort(-near, kind="stable")[:limit])


def by_ranks(scored: Scored) -> Scored:
    """Return the scores with the arms' ranks fused in place of the blend."""
    return replace(scored, blend=fusion.rrf(list(scored.arms.values()), len(scored.space)))


def best(scored: Scored, limit: int) -> Integers:
    """Return the indices of the best units that pass the filter, the best first; ties in order of address."""
    candidates = np.arange(len(scored.space)) if scored.allowed is None else np.flatnonzero(scored.allowed)
    if len(candidates) > limit:
        cut = np.partition(scored.blend[candidates], len(candidates) - limit)[len(candidates) - limit]
        candidates = candidates[scored.blend[candidates] >= cut]
    return candidates[np.argsort(-scored.blend[candidates], kind="stable")][:limit]


def seeds(scored: Scored, count: int) -> Seeds:
    """Return where the graph is followed from: the best units, each as strong as it is relevant."""
    indices = best(scored, count)
    return Seeds(scored.space.addresses(indices), scored.relevance[indices])
