import pytest
from operation_world import World, build

from memorybank.storage.pool import Database


@pytest.fixture
async def world(database: Database) -> World:
    return await build(database)
