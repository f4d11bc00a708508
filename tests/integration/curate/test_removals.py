"""Agents and people are removed from the directory while something is kept in their circles: nothing comes back."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from curate_world import AIDE, GROUP, MIA, OLGA, OWN, World, statement

from memorybank.audience import Audience, AudienceKind, PlaceKind
from memorybank.curate.scopes import NewFact, Scope, Told
from memorybank.errors import Conflict, NotFound
from memorybank.ids import stable_id
from memorybank.model import UnitStatus
from memorybank.storage import applying, audiences, banks, operations
from memorybank.storage.declared import Declared, NewAgent, NewPerson, NewPlace, Removal
from memorybank.storage.operations import Kind, NewOperation

#: Seconds that something is given to wait for what holds it up.
A_WHILE = 0.3
HERS = Audience(AudienceKind.DM, agent=AIDE, person=MIA)


async def apply(world: World, **declared: Any) -> applying.Applied:
    async with world.database.transaction() as connection:
        return await applying.apply(connection, Declared(**declared))


async def remove(world: World, kind: Any, id_: UUID) -> applying.Applied:
    return await apply(world, remove=[Removal(kind, str(id_))])


async def _an_agent(world: World) -> None:
    await remove(world, "agent", AIDE)
    agent = NewAgent(str(AIDE), bank="team", organization="acme", owner="olga", name="Aide")
    await apply(world, agents=[agent])


async def _a_person(world: World) -> None:
    await remove(world, "person", MIA)
    await apply(world, people=[NewPerson(str(MIA), organization="acme", name="Mia")])


@pytest.mark.parametrize(("gone", "circle"), [(_an_agent, OWN), (_an_agent, HERS), (_a_person, HERS)])
async def test_what_is_kept_while_somebody_is_removed_does_not_come_back(
    world: World, gone: Callable[[World], Awaitable[None]], circle: Audience
) -> None:
    [ready] = await world.stating.ready(world.bank, world.config, [statement("Written late.", circle)])
    async with world.database.transaction() as connection:
        await ready.write(connection)
        removing = asyncio.create_task(gone(world))
        await asyncio.sleep(A_WHILE)
        assert not removing.done()
    await removing
    assert await world.texts() == []
    # What comes after it makes a new circle, or is refused with the one whose circle it was.
    async with world.database.transaction() as connection:
        await ready.write(connection)
    assert await world.texts() == ["Written late."]


async def test_what_comes_after_its_circle_went_is_refused(world: World) -> None:
    """The circle is found before the removal, and written to after it."""
    [ready] = await world.stating.ready(world.bank, world.config, [statement("Written late.", HERS)])
    await world.keep("Before.", HERS)
    async with world.database.transaction() as removing:
        await applying.apply(removing, Declared(remove=[Removal("person", str(MIA))]))
        writing = asyncio.create_task(_written(world, ready.write))
        await asyncio.sleep(A_WHILE)
        assert not writing.done()
    with pytest.raises(Conflict):
        await writing
    assert await world.texts() == []


async def _written(world: World, write: Callable[[Any], Awaitable[UUID]]) -> None:
    async with world.database.transaction() as connection:
        await write(connection)


async def test_work_for_an_agent_goes_with_it(world: World) -> None:
    async with world.database.transaction() as connection:
        audience = await audiences.ensure(connection, world.bank.id, OWN)
        late = NewOperation(AIDE, world.bank.id, audience, Kind.RETAIN, {"documents": []})
        await operations.submit(connection, [late])
    await remove(world, "agent", AIDE)
    assert await world.rows("SELECT id FROM operation") == []
    assert await world.rows("SELECT id FROM audience WHERE agent = %s AND kind = 'agent'", AIDE) == []


async def test_an_agent_goes_while_a_fact_of_its_own_place_is_kept(world: World) -> None:
    """Both lock the place and the facts of the bank, in one order."""
    told = [statement(f"Said in the group {n}.", Audience(AudienceKind.PLACE, place=GROUP)) for n in range(6)]
    ready = await world.stating.ready(world.bank, world.config, told)

    async def keep(write: Callable[[Any], Awaitable[UUID]]) -> None:
        async with world.database.transaction() as connection:
            await connection.execute("SELECT 1 FROM place WHERE id = %s FOR SHARE", [GROUP])
            await asyncio.sleep(A_WHILE)
            await write(connection)

    keeping = [asyncio.create_task(keep(one.write)) for one in ready]
    await asyncio.sleep(A_WHILE / 3)
    await remove(world, "agent", AIDE)
    assert await asyncio.gather(*keeping, return_exceptions=True) == [None] * len(ready)


async def test_who_has_no_organization_has_no_workspace(world: World) -> None:
    """An agent and a public place of its own, without any: what is said there is for those who are there."""
    lone = NewAgent("lone", bank="team", owner="olga")
    square = NewPlace("square", PlaceKind.PUBLIC, agent="lone", members=("mia",))
    await apply(world, agents=[lone], places=[square])
    agent = await world.agent(stable_id("agent", "lone"))
    kept = await world.facts.add(
        world.shelf, agent, NewFact("Said in the square.", told=Told("message", "square"))
    )
    assert kept.memory.audience == Audience(AudienceKind.PLACE, place=stable_id("place", "square"))


async def test_a_bank_that_goes_meanwhile_is_not_there(world: World) -> None:
    async with world.database.transaction() as connection:
        await banks.delete(connection, "team")
    with pytest.raises(NotFound):
        async with world.database.transaction() as connection:
            await audiences.ensure(connection, world.bank.id, OWN)


@pytest.mark.parametrize("scope", [Scope.WORKSPACE])
async def test_a_fact_that_is_no_longer_true_is_not_told(world: World, scope: Scope) -> None:
    fact = await world.add("An old fact.", OLGA, scope)
    await world.change(fact.memory.id, status=UnitStatus.INVALIDATED)
    with pytest.raises(NotFound):
        await world.facts.get(world.shelf, await world.person(OLGA), fact.memory.id)
    with pytest.raises(NotFound):
        await world.facts.change(world.shelf, await world.person(OLGA), fact.memory.id, pinned=True)
