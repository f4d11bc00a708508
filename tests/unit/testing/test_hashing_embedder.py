"""The embedder without a model."""

import numpy as np

from memorybank.testing.embedder import HashingEmbedder


def test_vectors_are_deterministic_unit_and_near_by_shared_words() -> None:
    rows = HashingEmbedder().encode(["Ada keeps bees", "ada kept bees", "the rent is due", "", "\ud83d"])
    assert (
        rows == HashingEmbedder().encode(["Ada keeps bees", "ada kept bees", "the rent is due", "", "\ud83d"])
    ).all()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert rows[0] @ rows[1] > 0.6 > 0.2 > abs(rows[0] @ rows[2])
