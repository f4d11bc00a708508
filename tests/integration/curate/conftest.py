import pytest
from curate_world import World, populated

from memorybank.settings import Settings
from memorybank.storage.pool import Database


@pytest.fixture
async def world(database: Database, settings: Settings) -> World:
    """Acme, where nothing is remembered yet."""
    return await populated(database, settings)
