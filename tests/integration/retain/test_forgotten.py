"""A fact forgotten alone: what stood on it goes, the texts that say it are shown no more, its document stays."""

from datetime import UTC, datetime

import pytest
from curation_world import GRAZ, SHELF, fact, found_by, id_of, observe, told
from retain_world import World, item

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.storage import forget, search

OPERATOR = Viewer.operator()


@pytest.fixture
async def kept(world: World) -> World:
    return await told(world)


async def _shown(world: World) -> list[str]:
    """The texts of chunks that recall would show."""
    ids = [row["id"] for row in await world.rows("SELECT id FROM chunk")]
    async with world.database.connection() as connection:
        found = await search.chunks(connection, world.bank.id, OPERATOR, ids)
    return sorted(chunk.text for chunk in found.values())


async def _forget(world: World, text: str, viewer: Viewer = OPERATOR) -> forget.Erasure:
    id_ = await id_of(world, text)
    async with world.database.transaction() as connection:
        return await forget.one(connection, world.bank.id, id_, viewer, clock.now())


async def test_what_stood_on_a_forgotten_fact_goes_and_its_text_is_withheld(kept: World) -> None:
    await kept.keep(item(f"{GRAZ}\nBen sleeps.", document_id="again", context="mail", tags=("home",)))
    await kept.keep(item(SHELF, document_id="other"))
    assert len(await _shown(kept)) == 3
    await observe(kept, GRAZ)
    erased = await _forget(kept, GRAZ)
    assert (erased.observations, erased.entities, erased.chunks) == (1, 2, 2)
    assert await _shown(kept) == [SHELF]
    assert await found_by(kept, "graz") == []
    assert GRAZ not in await kept.texts()
    assert await kept.entity_names() == ["Ben"]
    assert (await kept.history("d"))[-1] == (await kept.history("again"))[-1] == ("fact_deleted", 0, 1)
    assert (await kept.found("d")).original_text == f"{GRAZ}\n{SHELF}"


async def test_it_may_be_learned_again(kept: World) -> None:
    before = await id_of(kept, GRAZ)
    await _forget(kept, GRAZ)
    with clock.fixed(datetime(2027, 1, 1, tzinfo=UTC)):
        await kept.keep(item(GRAZ, document_id="new"))
    assert (await fact(kept, GRAZ))["id"] != before
    assert await _shown(kept) == [GRAZ]


async def test_what_is_not_seen_cannot_be_forgotten(kept: World) -> None:
    with pytest.raises(NotFound):
        await _forget(kept, GRAZ, Viewer(()))
    assert len(await kept.texts()) == 2
