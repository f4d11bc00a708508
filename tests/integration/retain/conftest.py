import pytest
from retain_world import World

from memorybank import clock
from memorybank.settings import Settings
from memorybank.storage import banks
from memorybank.storage.pool import Database


@pytest.fixture
async def world(database: Database, settings: Settings) -> World:
    async with database.connection() as connection:
        bank = await banks.ensure(connection, "acme::chan-77::u-3", clock.now())
        return World(database, settings, bank, await banks.default_audience(connection, bank.id))


@pytest.fixture
async def apart(world: World) -> None:
    """Chunks of so small a size that no two of the usual items share a call."""
    await world.configure(retain_chunk_size=30)
