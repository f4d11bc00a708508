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
    others = np.concatenate([stored, batch]) if stored.size else batch
    known = len(others) - len(batch)
    cosines = batch @ others.T
    # A fact is compared with those before it only: each pair once, never itself.
    cosines[:, known:][np.triu_indices(len(batch))] = -1.0
    return [found for source in range(len(batch)) for found in _best(source, cosines[source], known)]


def _best(source: int, cosines: np.ndarray, known: int) -> list[Near]:
    places = np.flatnonzero(cosines >= MINIMUM_COSINE)
    if len(places) > CANDIDATES:
        places = places[np.argpartition(-cosines[places], CANDIDATES)[:CANDIDATES]]
    ordered = places[np.argsort(-cosines[places], kind="stable")]
    return [
        Near(
            source,
            int(place) - known if place >= known else int(place),
            bool(place >= known),
            min(1.0, float(cosines[place])),
        )
        for place in ordered
    ]


def targets(found: Sequence[Near]) -> list[int]:
    """Return the rows of stored facts that are somebody's neighbours, once each."""
    return sorted({one.target for one in found if not one.in_batch})
