"""The semantic arm: how near a unit's vector is to the question's."""

import numpy as np

from memorybank.recall.space import Floats, Integers, Space

#: What the vectors of a unit's neighbours count beside its own: at one step, at two.
NEIGHBOUR_WEIGHTS = (0.7, 0.4)


def similarity(space: Space, sample: Integers | None = None) -> Floats:
    """Return the cosine of each unit (n,); one whose cosine is not known gets the mean: neither near nor far.

    The mean is that of the units at the indices `sample`, where these stand for all.
    """
    known = ~np.isnan(space.cosine)
    if known.all():
        return space.cosine
    among = space.cosine[known if sample is None else sample]
    return np.where(known, space.cosine, among.mean() if len(among) else 0.0)


def around(space: Space, cosine: Floats) -> Floats:
    """Return the weighted mean cosine of each unit and its neighbours in the document (n,)."""
    total = space.borrowed(cosine, NEIGHBOUR_WEIGHTS)
    return total / space.borrowed(np.ones(len(space)), NEIGHBOUR_WEIGHTS)
