"""Which facts are near in meaning: cosine over the vectors of a batch and of the newest facts before it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Facts less alike than this are not linked.
MINIMUM_COSINE = 0.7
#: Links from one fact at most.
LINKS = 5
#: Neighbours looked at for one fact, before those of another fact type fall out.
CANDIDATES = 2 * LINKS
#: Facts of the audience that a new one is compared with, the newest first: retain does not slow down as a bank grows.
WINDOW = 2048


@dataclass(frozen=True)
class Near:
    """Fact `source` of the batch is near another: one before it in the batch, or one of the stored ones."""

    source: int
    target: int
    in_batch: bool
    cosine: float


def near(batch: np.ndarray, stored: np.ndarray) -> list[Near]:
    """Return the nearest neighbours of each fact of a batch, nearest first.

    `batch` (n, d) and `stored` (m, d) are L2-normalised; `target` is a row of one of them.
    """
    if not batch.size:
        return []
    known = len(stored)
    # A fact is compared with those before it only: each pair once, never itself.
    cosines = np.hstack([batch @ stored.T, np.tril(batch @ batch.T, -1)])
    sources, places = np.nonzero(cosines >= MINIMUM_COSINE)
    likeness = cosines[sources, places]
    order = np.lexsort((places, -likeness, sources))
    sources, places, likeness = sources[order], places[order], likeness[order]
    rank = np.arange(len(sources)) - np.searchsorted(sources, sources)
    best = rank < CANDIDATES
    return [
        Near(source, place - known if place >= known else place, place >= known, min(1.0, cosine))
        for source, place, cosine in zip(
            sources[best].tolist(), places[best].tolist(), likeness[best].tolist(), strict=True
        )
    ]


def targets(found: Sequence[Near]) -> list[int]:
    """Return the rows of stored facts that are somebody's neighbours, once each."""
    return sorted({one.target for one in found if not one.in_batch})
