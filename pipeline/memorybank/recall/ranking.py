"""From what the database gave to one score for every unit. Pure: arrays in, arrays out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memorybank.recall import space as spaces
from memorybank.recall.arms import graph, lexical, semantic, temporal
from memorybank.recall.arms.lexical import Bm25, Lexical
from memorybank.recall.fusion import COSINE_FLOOR, LEXICAL_FLOOR, Weights, z_scored
from memorybank.recall.relevance import descending, probability
from memorybank.recall.signals import only_asks, spoken_by_named
from memorybank.recall.space import Flags, Floats, Integers, Space
from memorybank.storage.found import Addresses, Gathered, Linked, Mentions
from memorybank.tags import TagGroup, passes
from memorybank.timeline import TimeSpan

#: Mean length of a unit, in terms, up to which neighbours count in full for the semantic arm: the turns of a talk. What
#: a long message says does not depend on the one before (measured: neighbours cost plain dense 15 points there).
TURN_TERMS = 20.0


@dataclass(frozen=True)
class Asked:
    """How the question is scored: its window of time, the filter on tags, weights and constants."""

    weights: Weights
    bm25: Bm25
    window: TimeSpan | None = None
    tags: TagGroup | None = None


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

    @property
    def relevance(self) -> Floats:
        """Absolute relevance of each unit, 0 to 1 (n,)."""
        return probability(self.cosine, self.lexical.coverage)


def score(gathered: Gathered, asked: Asked) -> Scored:
    """Score every unit by text, meaning, named entities and time."""
    space = spaces.build(gathered.distances, [term.addresses for term in gathered.postings])
    cosine = semantic.similarity(space)
    keywords = lexical.score(space, gathered.statistics, gathered.postings, asked.bm25)
    weights = asked.weights
    smoothed = space.borrowed(keywords.keyword, (weights.neighbour, weights.second_neighbour))
    borrowed = smoothed + weights.session * keywords.session
    blend = weights.lexical * z_scored(borrowed, LEXICAL_FLOOR * keywords.asked)
    blend += weights.dense * _dense(space, cosine, weights, gathered.statistics.mean_length)
    arms = {"semantic": cosine, "bm25": keywords.keyword}
    if asked.window and gathered.dated:
        arms["temporal"] = temporal.closeness(space, asked.window, gathered.dated)
        blend += weights.temporal * arms["temporal"]
    allowed = _allowed(space, gathered, asked.tags)
    scored = Scored(space, cosine, keywords, arms, blend, allowed)
    return with_graph(scored, weights, gathered.named, (), ()) if gathered.named else scored


def _dense(space: Space, cosine: Floats, weights: Weights, mean_length: float) -> Floats:
    share = weights.dense_neighbours * min(1.0, TURN_TERMS / mean_length)
    own = z_scored(cosine, COSINE_FLOOR)
    return (
        (1 - share) * own + share * z_scored(semantic.around(space, cosine), COSINE_FLOOR) if share else own
    )


def _allowed(space: Space, gathered: Gathered, tags: TagGroup | None) -> Flags | None:
    if gathered.tagged is None:
        return None
    allowed = np.zeros(len(space), np.bool_)
    for held in gathered.tagged:
        if tags is None or passes(held.tags, tags):
            at, known = space.find(held.addresses)
            allowed[at[known]] = True
    return allowed


def with_graph(
    scored: Scored,
    weights: Weights,
    named: Sequence[Mentions],
    around: Sequence[Mentions],
    linked: Sequence[Linked],
) -> Scored:
    """Return the scores with nearness in the graph; what an earlier call added is replaced."""
    closeness = graph.closeness(scored.space, named, around, linked)
    before = scored.arms.get("graph", 0.0)
    return replace(
        scored,
        arms={**scored.arms, "graph": closeness},
        blend=scored.blend + weights.graph * (closeness - before),
    )


def best(scored: Scored, limit: int) -> Integers:
    """Return the indices of the best units that pass the filter, the best first; ties in order of address."""
    candidates = np.arange(len(scored.space)) if scored.allowed is None else np.flatnonzero(scored.allowed)
    if len(candidates) > limit:
        cut = np.partition(scored.blend[candidates], len(candidates) - limit)[len(candidates) - limit]
        candidates = candidates[scored.blend[candidates] >= cut]
    return candidates[np.argsort(-scored.blend[candidates], kind="stable")][:limit]


def reordered(
    scored: Scored, indices: Integers, question: str, texts: Sequence[str], weights: Weights
) -> Integers:
    """Return the order (places in `indices`) by the blend with the signals that need texts."""
    blend = scored.blend[indices] + weights.speaker * spoken_by_named(question, texts)
    blend -= weights.question * only_asks(texts, scored.space.followed[indices])
    return np.argsort(-blend, kind="stable")


def finals(scored: Scored, ranked: Integers, floor: float = 0.0) -> Floats:
    """Return the final score of each unit in rank order: absolute, in 0 to 1, never rising, never below `floor`."""
    return descending(np.append(scored.relevance[ranked], floor))[:-1]


def seeds(scored: Scored, count: int) -> tuple[Addresses, Floats]:
    """Return where the graph is followed from: the best units, each as strong as it is relevant."""
    indices = best(scored, count)
    return scored.space.addresses(indices), scored.relevance[indices]
