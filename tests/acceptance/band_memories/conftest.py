"""One running memorybank with keys for all tests of Band's memories."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest
from band_world import Tenant, World
from bank_calls import running


@pytest.fixture(scope="session")
def band(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    for started in running(tmp_path_factory.mktemp("band")):
        found = World(started.url)
        yield found
        found.operator.close()


@pytest.fixture
async def world(band: World) -> AsyncIterator[World]:
    """The installation, asked by clients that are closed after the test."""
    async with AsyncExitStack() as band.closing:
        yield band


@pytest.fixture
def acme(world: World) -> Tenant:
    """An organization that nobody else uses."""
    return world.tenant()
