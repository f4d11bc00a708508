"""Fusion: one linear blend of signals, on one scale. Pure.

Signals that every unit has (BM25, cosine) are z-scored over the units that the viewer may see; signals that few units
have (graph, time, speaker) lie in 0 to 1 and count as they are. Equal-weight fusion of ranks was measured against this
blend and finds evidence 10 to 20 points less often: a rank says nothing of how much better the first is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from memorybank.recall.space import Floats

#: Spreads below these are no differences: cosines within a bank usually spread by 0.09 to 0.14, BM25 by 0.06 to 0.14 of
#: the question's weight. Without a floor two units of a tiny bank always stand two deviations apart, and one rare word
#: in a huge bank a hundred. On conversations and on single messages the floors cost nothing.
COSINE_FLOOR = 0.08
LEXICAL_FLOOR = 0.08


@dataclass(frozen=True)
class Weights:
    """How much each signal counts; `[recall.weights]` of the settings, where the reasons stand."""

    lexical: float
    dense: float
    dense_neighbours: float
    session: float
    neighbour: float
    second_neighbour: float
    graph: float
    temporal: float
    speaker: float
    question: float

    @classmethod
    def of(cls, settings: Mapping[str, float]) -> "Weights":
        """Read the table of the settings; raises KeyError for a weight that is missing there."""
        return cls(**{field.name: settings[field.name] for field in fields(cls)})


def z_scored(values: Floats, floor: float) -> Floats:
    """Return values with mean 0 in standard deviations, of which one is at least `floor` (0: all values are 0)."""
    if not len(values):
        return values
    spread = max(float(values.std()), floor)
    return (values - values.mean()) / spread if spread > 0 else np.zeros(len(values))
