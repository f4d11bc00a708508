"""The goal for names on both labelled sets, through the real write path: precision .98, recall .9 (B-cubed)."""

import pytest

from memorybank.settings import Settings
from memorybank.storage.pool import Database
from memorybank.testing.embedder import HashingEmbedder
from memorybank_eval.entities import DATASETS, LABELLED, read, resolved, scores
from memorybank_eval.ground import Ground


@pytest.mark.parametrize("name", LABELLED)
async def test_names_of_the_labelled_documents(database: Database, settings: Settings, name: str) -> None:
    mentions = read(DATASETS / f"{name}.txt")
    ground = await Ground.laid(database, settings, HashingEmbedder(64), name)
    found = scores(mentions, await resolved(ground, mentions, "kinds"))
    assert found["b_cubed_precision"] >= 0.98
    assert found["b_cubed_recall"] >= 0.9
