"""Semantic neighbours: cosine at least .7, before in the batch or stored, few."""

import numpy as np

from memorybank.retain.links import CANDIDATES, MINIMUM_COSINE, near, targets


def rows(*vectors: tuple[float, ...]) -> np.ndarray:
    made = np.array(vectors, np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


EMPTY = np.empty((0, 2), np.float32)


def test_a_fact_is_compared_with_those_before_it_and_the_stored_ones() -> None:
    found = near(rows((1, 0), (1, 0.1), (0, 1)), rows((1, 0.3), (-1, 0)))
    assert [(one.source, one.target, one.in_batch) for one in found] == [
        (0, 0, False),
        (1, 0, True),
        (1, 0, False),
    ]
    assert targets(found) == [0]
    assert all(MINIMUM_COSINE <= one.cosine <= 1.0 for one in found)


def test_nothing_near_and_nothing_there() -> None:
    assert near(rows((1, 0), (0, 1)), EMPTY) == []
    assert near(EMPTY, rows((1, 0))) == []


def test_only_the_nearest_are_looked_at() -> None:
    stored = rows(*((1, step / 200) for step in range(100)))
    found = near(rows((1, 0)), stored)
    assert [one.target for one in found] == list(range(CANDIDATES))
