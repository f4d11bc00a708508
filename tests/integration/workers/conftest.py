from collections.abc import AsyncIterator

import pytest
from worker_world import World, build

from memorybank.storage.pool import Database


@pytest.fixture
async def world(database: Database, conninfo: str) -> AsyncIterator[World]:
    built = await build(database, conninfo)
    yield built
    for process in built.processes:
        process.end()
