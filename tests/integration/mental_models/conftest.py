import pytest
from model_world import World

from memorybank import clock
from memorybank.settings import Settings
from memorybank.storage import banks
from memorybank.storage.pool import Database


@pytest.fixture
async def world(database: Database, settings: Settings) -> World:
    async with database.connection() as connection:
        bank = await banks.ensure(connection, "team", clock.now())
        return World(database, settings, bank, await banks.default_audience(connection, bank.id))
