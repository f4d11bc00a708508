"""The world that the tests of recall ask."""

from collections.abc import AsyncIterator

import pytest
from recall_world import World

from memorybank.recall.stage import Recall
from memorybank.settings import Settings
from memorybank.storage.pool import Database
from memorybank.testing.embedder import HashingEmbedder


@pytest.fixture
async def world(database: Database, settings: Settings) -> AsyncIterator[World]:
    """An empty world with the embedder that needs no weights."""
    recall = Recall(database, HashingEmbedder(), settings)
    yield World(database, recall, settings.bank)
    await recall.close()
