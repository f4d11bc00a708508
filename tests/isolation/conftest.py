"""The installation of all worlds."""

import asyncio
from collections.abc import Iterator

import pytest
from isolation_site import Site, without_a_model


@pytest.fixture(scope="module")
def site(shared_conninfo: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    loop = asyncio.new_event_loop()
    with pytest.MonkeyPatch.context() as patch:
        without_a_model(patch)
        opened = Site(loop, shared_conninfo, tmp_path_factory.mktemp("isolation"))
        opened.run(opened.open())
        yield opened
        opened.run(opened.close())
    loop.close()
