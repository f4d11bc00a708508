"""People merge entities and undo it: what is said follows, and comes back exactly; beside retains too."""

import asyncio
import random
from uuid import UUID

import pytest
from retain_world import World, forget, item

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import Conflict, InvalidInput, NotFound
from memorybank.ids import new_id
from memorybank.operations import Status
from memorybank.storage import entities, merges
from memorybank.testing.scripted_model import ScriptedModel

OPERATOR = Viewer.operator()
NAMES = [f"Person {chr(65 + n)}{chr(97 + n)}" for n in range(8)]


async def entity(world: World, name: str) -> UUID:
    return UUID(str((await world.rows("SELECT id FROM entity WHERE name = %s", name))[0]["id"]))


async def merge(world: World, source: UUID, target: UUID, viewer: Viewer = OPERATOR) -> None:
    async with world.database.transaction() as connection:
        await merges.merge(connection, world.bank.id, source, target, viewer)


async def unmerge(world: World, source: UUID, viewer: Viewer = OPERATOR) -> None:
    async with world.database.transaction() as connection:
        await merges.unmerge(connection, world.bank.id, source, viewer)


async def call(world: World, target: UUID, name: str) -> None:
    async with world.database.transaction() as connection:
        await merges.call(connection, world.bank.id, target, [name], OPERATOR, clock.now())


async def said_of(world: World) -> dict[str, list[str]]:
    """What is said of each name."""
    rows = await world.rows(
        "SELECT e.name, array_agg(split_part(u.text, ' |', 1) ORDER BY u.text) AS texts FROM unit_entity ue"
        " JOIN entity e ON e.id = ue.entity JOIN memory_unit u ON u.id = ue.unit GROUP BY e.id, e.name"
    )
    return {row["name"]: row["texts"] for row in rows}


async def tell(world: World, text: str, *names: str) -> None:
    world.model = ScriptedModel(
        lambda said: {"facts": [{"what": said, "who": ", ".join(names), "entities": list(names)}]}
    )
    await world.keep(item(text, document_id=text))


async def test_what_is_merged_counts_as_the_other_and_new_mentions_follow(world: World) -> None:
    await tell(world, "one", "Bob")
    await tell(world, "two", "Robert Chen")
    await tell(world, "both", "Bob", "Robert Chen")
    before = await said_of(world)
    bob, robert = await entity(world, "Bob"), await entity(world, "Robert Chen")
    await merge(world, bob, robert)
    assert await said_of(world) == {"Robert Chen": ["both", "one", "two"]}
    await tell(world, "three", "Bob")
    assert await said_of(world) == {"Robert Chen": ["both", "one", "three", "two"]}
    await unmerge(world, bob)
    assert await said_of(world) == {"Bob": [*before["Bob"], "three"], "Robert Chen": before["Robert Chen"]}
    assert await world.rows("SELECT 1 FROM unit_entity WHERE keys IS NOT NULL OR via IS NOT NULL") == []
    await tell(world, "four", "Bob")
    assert (await said_of(world))["Robert Chen"] == before["Robert Chen"]


async def test_undoing_leaves_what_a_text_itself_called_by_that_name(world: World) -> None:
    """`Okafor` of the first document is Jude by what it says; that of the second is merged, and comes back."""
    await tell(world, "Jude Okafor and Okafor", "Jude Okafor", "Okafor")
    await tell(world, "Ada Okafor", "Ada Okafor")
    await tell(world, "a call", "Okafor")
    okafor, jude = await entity(world, "Okafor"), await entity(world, "Jude Okafor")
    before = await said_of(world)
    await merge(world, okafor, jude)
    await tell(world, "a letter", "Okafor")
    assert (await said_of(world))["Jude Okafor"] == ["Jude Okafor and Okafor", "a call", "a letter"]
    await unmerge(world, okafor)
    assert await said_of(world) == before | {"Okafor": ["a call", "a letter"]}


@pytest.mark.parametrize("first", ["Rob", "Bob"])
async def test_a_chain_is_undone_in_any_order(world: World, first: str) -> None:
    for name in ("Rob", "Bob", "Robert Chen"):
        await tell(world, f"of {name}", name)
    await tell(world, "of all", "Rob", "Bob", "Robert Chen")
    before = await said_of(world)
    ids = {name: await entity(world, name) for name in before}
    await merge(world, ids["Rob"], ids["Bob"])
    await merge(world, ids["Bob"], ids["Robert Chen"])
    assert set(await said_of(world)) == {"Robert Chen"}
    await tell(world, "more of Rob", "Rob")
    await unmerge(world, ids[first])
    between = await said_of(world)
    if first == "Bob":
        assert between["Bob"] == ["more of Rob", "of Bob", "of Rob", "of all"]
    else:
        assert between["Rob"] == ["more of Rob", "of Rob", "of all"]
    await unmerge(world, ids["Rob" if first == "Bob" else "Bob"])
    assert await said_of(world) == before | {"Rob": ["more of Rob", "of Rob", "of all"]}


async def test_a_name_is_given_to_an_entity_before_anything_is_said_under_it(world: World) -> None:
    await tell(world, "one", "Robert Chen")
    robert = await entity(world, "Robert Chen")
    await call(world, robert, "Bobby")
    await tell(world, "two", "Bobby")
    assert await said_of(world) == {"Robert Chen": ["one", "two"]}
    async with world.database.connection() as connection:
        [alias] = await merges.aliases(connection, world.bank.id, robert, OPERATOR)
    assert alias["name"] == "Bobby"
    await unmerge(world, alias["entity"])
    assert await said_of(world) == {"Robert Chen": ["one"], "Bobby": ["two"]}
    with pytest.raises(Conflict, match=f"'Bobby' .{alias['entity']}"):
        await call(world, robert, "Bobby")
    await merge(world, alias["entity"], robert)
    assert await said_of(world) == {"Robert Chen": ["one", "two"]}
    for document in ("one", "two"):
        await forget(world, document)
    assert [await world.count(table) for table in ("entity", "entity_name")] == [0, 0]


async def test_other_digits_may_be_merged_by_hand(world: World) -> None:
    await tell(world, "one", "Locker 41")
    await tell(world, "two", "Locker 41b")
    await merge(world, await entity(world, "Locker 41b"), await entity(world, "Locker 41"))
    assert await said_of(world) == {"Locker 41": ["one", "two"]}


async def test_what_cannot_be_merged(world: World) -> None:
    await tell(world, "one", "Bob")
    await tell(world, "two", "Robert Chen")
    bob, robert = await entity(world, "Bob"), await entity(world, "Robert Chen")
    with pytest.raises(InvalidInput, match="itself"):
        await merge(world, bob, bob)
    for viewer, source in ((OPERATOR, new_id()), (Viewer(()), bob)):
        with pytest.raises(NotFound):
            await merge(world, source, robert, viewer)
    with pytest.raises(NotFound):
        await unmerge(world, bob)
    with pytest.raises(InvalidInput, match="empty"):
        await call(world, bob, " ")
    await merge(world, bob, robert)
    with pytest.raises(NotFound):
        await unmerge(world, bob, Viewer(()))
    with pytest.raises(NotFound):
        await merge(world, bob, robert)


async def test_no_audience_learns_a_name_by_a_merge_of_another(world: World) -> None:
    mine = world.audience
    await tell(world, "one", "Bob")
    async with world.database.connection() as connection:
        cursor = await connection.execute(
            "INSERT INTO audience (bank, kind, agent) VALUES (%s, 'agent', %s) RETURNING id",
            [world.bank.id, new_id()],
        )
        world.audience = (await cursor.fetchall())[0]["id"]
    await tell(world, "two", "Robert Chen")
    bob, robert = await entity(world, "Bob"), await entity(world, "Robert Chen")
    with pytest.raises(Conflict):
        await merge(world, bob, robert)
    world.audience = mine
    await tell(world, "three", "Robert Chen")
    await merge(world, bob, robert, Viewer((mine,)))
    assert await said_of(world) == {"Robert Chen": ["one", "three", "two"]}


async def test_names_are_merged_and_pruned_while_retains_mention_them(world: World) -> None:
    """Sweeps and merges in a loop beside retains of the same names: no failure, no lost mention."""

    def shuffled(text: str) -> object:
        names = random.Random(text).sample(NAMES, len(NAMES))
        return {"facts": [{"what": f"{text} {name}", "entities": [name, names[0]]} for name in names]}

    await tell(world, "start", *NAMES[:2])
    world.model = ScriptedModel(shuffled)
    ids = [await entity(world, name) for name in NAMES[:2]]
    done, merged = asyncio.Event(), 0

    async def sweep() -> None:
        while not done.is_set():
            async with world.database.transaction() as connection:
                rows = await (await connection.execute("SELECT id FROM entity")).fetchall()
                await entities.prune(connection, world.bank.id, [row["id"] for row in rows])

    async def join_and_part() -> None:
        nonlocal merged
        while not done.is_set():
            await merge(world, *ids)
            await unmerge(world, ids[0])
            merged += 1

    loops = [asyncio.create_task(loop()) for loop in (sweep, join_and_part)]
    submitted = [await world.submit(item(f"text {n}"), interactive=True) for n in range(8)]
    statuses = await asyncio.gather(*(world.work(one.children[0]) for one in submitted))
    done.set()
    await asyncio.gather(*loops)
    assert statuses == [Status.COMPLETED] * 8
    assert merged > 0
    said = await said_of(world)
    assert all(len([text for text in said[name] if text.endswith(name)]) == 8 for name in NAMES)
    assert await world.rows("SELECT 1 FROM unit_entity WHERE keys IS NOT NULL") == []
