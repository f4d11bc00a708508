"""What Band shows is what the rule says: to people and agents, wherever it was said, in lists and one by one."""

from uuid import UUID

import pytest
from curate_world import (
    ACME,
    AIDE,
    AT,
    BOT,
    EVERYBODY,
    GENERAL,
    GROUP,
    MIA,
    NILS,
    OLGA,
    OPS,
    OTHER,
    World,
    leave,
    statement,
)

from memorybank import clock
from memorybank.audience import Audience, AudienceKind, Principal, Surface, shows_through_band
from memorybank.curate.band import Band
from memorybank.errors import NotFound
from memorybank.ids import stable_id
from memorybank.model import Source
from memorybank.storage import banks, stated
from memorybank.storage.queries import execute
from memorybank.storage.stated import Asked, Memory, Page

FAR, FRED, FAX = stable_id("organization", "far"), stable_id("person", "fred"), stable_id("agent", "fax")
EVERYTHING = Asked(stated=True, surface=Surface.BAND)


async def _foreigners(world: World) -> None:
    """Another organization, with an agent; its Fred is a guest in two places."""
    now = {"now": clock.now(), "handle": "", "description": "", "email": None, "memory_access": True}
    async with world.database.transaction() as connection:

        async def put(table: str, id_: UUID, name: str, **columns: object) -> None:
            named = {"id": id_, "external_id": name, "name": name}
            await execute(connection, f"directory.put_{table}", now | named | columns)

        await put("organization", FAR, "far")
        await put("person", FRED, "fred", organization=FAR, role="owner")
        await put("agent", FAX, "fax", organization=FAR, owner=FRED, bank_id="fax")
        for place in (OPS, GROUP):
            await execute(connection, "directory.join", {"place": place, "members": [FRED]})


async def _said(world: World) -> list[Memory]:
    """Each agent says everything to everybody, everywhere."""
    ids: list[UUID] = []
    for agent, bank_id, organization in ((AIDE, "team", ACME), (BOT, "bots", ACME), (FAX, "fax", FAR)):
        async with world.database.transaction() as connection:
            bank = await banks.ensure(connection, bank_id, clock.now())
        circles = [
            Audience(AudienceKind.AGENT, agent=agent),
            Audience(AudienceKind.ORGANIZATION, organization=organization),
            *(Audience.about(one, agent, organization) for one in (MIA, AIDE)),
            Audience.about(NILS, agent, None),
        ]
        for circle in circles:
            for place in (None, GENERAL, OPS, OTHER, GROUP):
                told = statement(
                    f"{len(ids)}",
                    circle,
                    agent=agent,
                    kept_by=agent,
                    source=Source("session", AT, place=place),
                )
                ids.append(await world.stating.keep(bank, world.config, told))
    async with world.database.connection() as connection:
        return [await stated.get(connection, None, id_, EVERYBODY) for id_ in ids]


@pytest.fixture
def band(world: World) -> Band:
    return Band(world.stating)


async def _everybody(world: World) -> list[Principal]:
    people = [await world.person(one) for one in (OLGA, MIA, NILS, FRED)]
    return [*people, *[await world.agent(one) for one in (AIDE, BOT, FAX)]]


async def test_lists_and_reads_show_what_the_rule_says(world: World, band: Band) -> None:
    await _foreigners(world)
    kept = await _said(world)
    await leave(world, GROUP, [MIA, FRED])
    for who in await _everybody(world):
        visible = {
            one.id
            for one in kept
            if shows_through_band(who, one.bank_id, one.audience, one.source and one.source.place)
        }
        assert 0 < len(visible) < len(kept)
        found = await band.list_(who, EVERYTHING, Page(len(kept), counted=True))
        assert ({one.id for one in found.memories}, found.total) == (visible, len(visible))
        for one in kept:
            if one.id in visible:
                assert await band.get(who, one.id) == one
            else:
                with pytest.raises(NotFound):
                    await band.get(who, one.id)


async def test_what_a_guest_is_shown(world: World, band: Band) -> None:
    """The rule itself, counted by hand: three of each agent's circles of people, in the places where he is."""
    await _foreigners(world)
    kept = await _said(world)
    fred = await world.person(FRED)
    found = (await band.list_(fred, EVERYTHING, Page(len(kept)))).memories
    foreign = [one for one in found if one.agent != FAX]
    assert {(one.audience.kind, one.source and one.source.place) for one in foreign} == {
        (kind, place) for kind in (AudienceKind.SUBJECT, AudienceKind.ORGANIZATION) for place in (OPS, GROUP)
    }
    assert len(foreign) == 2 * 4 * 2
