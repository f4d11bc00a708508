"""The world that the tests of recall ask."""

import pytest
from recall_world import World

from memorybank.recall.stage import Recall
from memorybank.settings import Settings
from memorybank.storage.pool import Database
from memorybank.testing.embedder import HashingEmbedder


@pytest.fixture
def world(database: Database, settings: Settings) -> World:
    """An empty world with the embedder that needs no weights."""
    return World(database, Recall(database, HashingEmbedder(), settings), settings.bank)
