import pytest
from reflect_world import World

from memorybank import clock
from memorybank.settings import Settings
from memorybank.storage import banks
from memorybank.storage.pool import Database


@pytest.fixture
async def ask(database: Database, settings: Settings) -> World:
    async with database.transaction() as connection:
        return World(database, settings, await banks.ensure(connection, "b", clock.now()))
