import pytest
from consolidation_world import World

from memorybank import clock
from memorybank.settings import Settings
from memorybank.storage import banks
from memorybank.storage.pool import Database


@pytest.fixture
async def world(database: Database, settings: Settings) -> World:
    # Runs are asked for by the tests.
    asked = settings.model_copy(
        update={"bank": settings.bank.model_copy(update={"enable_auto_consolidation": False})}
    )
    async with database.connection() as connection:
        bank = await banks.ensure(connection, "team", clock.now())
        return World(database, asked, bank, await banks.default_audience(connection, bank.id))
