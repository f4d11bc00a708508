"""The semantic arm: how near a unit's vector is to the question's."""

import numpy as np

from memorybank.recall.space import Floats, Space

#: What the vectors of a unit's neighbours count beside its own: at one step, at two.
NEIGHBOUR_WEIGHTS = (0.7, 0.4)


def similarity(space: Space) -> Floats:
    """Return the cosine of each unit (n,); a unit without a vector gets the mean: neither near nor far."""
    known = ~np.isnan(space.cosine)
    if known.all():
        return space.cosine
    return np.where(known, space.cosine, space.cosine[known].mean() if known.any() else 0.0)


def around(space: Space, cosine: Floats) -> Floats:
    """Return the weighted mean cosine of each unit and its neighbours in the document (n,)."""
    total = space.borrowed(cosine, NEIGHBOUR_WEIGHTS)
    return total / space.borrowed(np.ones(len(space)), NEIGHBOUR_WEIGHTS)
