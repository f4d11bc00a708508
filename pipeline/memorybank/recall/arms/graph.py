"""The graph arm: units that mention what the question names, or what the best hits mention, or that are linked to them.

A name that few units mention tells much, one that half of them mention tells nothing: names count by the same rarity as
terms. Seeds keep their place: what this arm finds is added to the other scores, it never replaces them.
"""

from collections.abc import Sequence

import numpy as np

from memorybank.recall.arms.lexical import idf
from memorybank.recall.space import Floats, Space
from memorybank.storage.found import Linked, Mentions

#: What one hop away counts beside what the question itself names.
HOP_DECAY = 0.5


def closeness(
    space: Space, named: Sequence[Mentions], around: Sequence[Mentions], linked: Sequence[Linked]
) -> Floats:
    """Return how near each unit is in the graph, 0 to 1 (n,)."""
    total = np.zeros(len(space))
    for mentions in named:
        _add_mentions(total, space, mentions, 1.0)
    for mentions in around:
        _add_mentions(total, space, mentions, HOP_DECAY)
    for links in linked:
        at, known = space.find(links.addresses)
        np.add.at(total, at[known], HOP_DECAY * links.strengths[known])
    return np.tanh(total)


def _add_mentions(total: Floats, space: Space, mentions: Mentions, decay: float) -> None:
    at, known = space.find(mentions.addresses)
    rarity = float(idf(space.population, len(mentions.addresses)) / idf(space.population, 1))
    total[at[known]] += decay * mentions.strength * rarity
