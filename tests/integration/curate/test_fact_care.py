"""Beyond the numbered rules: what agents change, pages, places that become private, agents that go, values of keys."""

import pytest
from curate_world import (
    AIDE,
    CONVERSATION,
    EVERYWHERE,
    GENERAL,
    JUST_YOU,
    MIA,
    NILS,
    OLGA,
    OPS,
    PLAN,
    WORKSPACE,
    World,
    leave,
    refused,
    told_at,
)

from memorybank.audience import PlaceKind, Surface, Viewer
from memorybank.curate.facts import Wanted
from memorybank.errors import (
    BadRequest,
    NotFound,
    SourceNotPublic,
)
from memorybank.storage import applying, stated
from memorybank.storage.declared import Declared, NewPlace, Removal
from memorybank.storage.stated import Asked, Page


async def test_an_agent_changes_what_it_kept_where_it_is_and_nothing_else(world: World) -> None:
    own, others = await world.learn(PLAN, OPS), await world.add("Told by Mia.", MIA, CONVERSATION, OPS)
    agent = await world.agent()
    with pytest.raises(NotFound):
        await world.facts.get(world.shelf, agent, own.memory.id)
    changed = await world.facts.change(world.shelf, agent, own.memory.id, text="Mended.", place=str(OPS))
    assert changed.memory.source is not None and changed.memory.source.kind == "message"
    listed = await world.facts.list_(world.shelf, agent, Wanted(place=str(OPS)), Page(10))
    assert {fact.memory.text: fact.can_change for fact in listed.facts} == {
        "Mended.": True,
        others.memory.text: False,
    }


async def test_pages_follow_each_other(world: World) -> None:
    for number in range(5):
        await world.add(f"Fact {number}.")
    olga, seen, after = await world.person(OLGA), [], None
    while True:
        listed = await world.facts.list_(world.shelf, olga, Wanted(), Page(2, after))
        seen += [fact.memory.text for fact in listed.facts]
        assert listed.count == 5
        if not listed.more:
            break
        after = (listed.facts[-1].memory.created_at, listed.facts[-1].memory.id)
    assert seen == [f"Fact {number}." for number in (4, 3, 2, 1, 0)]


async def test_what_was_said_in_public_stays_in_a_place_that_becomes_private(world: World) -> None:
    fact = await world.learn(PLAN, GENERAL)
    told = await world.learn("Olga says so.", GENERAL, WORKSPACE, kind="person", person=OLGA)
    await leave(world, GENERAL, [MIA])
    private = Declared(places=[NewPlace(str(GENERAL), PlaceKind.PRIVATE, "acme")])
    async with world.database.transaction() as connection:
        await applying.apply(connection, private)
    assert await told_at(world) == {GENERAL}
    assert await told_at(world, "Olga says so.") == set(EVERYWHERE)
    assert await world.seen_by(MIA, scope=CONVERSATION) == {PLAN}
    assert await world.seen_by(NILS) == {told.memory.text}
    assert (await world.facts.get(world.shelf, await world.person(MIA), fact.memory.id)).memory.text == PLAN
    assert await world.at(GENERAL, "When is the release?") == [PLAN, "Olga says so."]
    with pytest.raises(SourceNotPublic):
        await world.learn("no", GENERAL, WORKSPACE)


async def test_when_an_agent_goes_its_own_go_and_what_it_told_others_stays(world: World) -> None:
    await world.add(PLAN, MIA, JUST_YOU)
    await world.learn("Learned in public.", GENERAL)
    await world.keep("Its own.")
    gone = Declared(remove=[Removal("agent", str(AIDE))])
    async with world.database.transaction() as connection:
        await applying.apply(connection, gone)
        await connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    async with world.database.connection() as connection:
        left = await stated.list_(connection, world.bank.id, Viewer.operator(), Asked(), Page(10))
    assert [(memory.text, memory.kept_by, memory.agent) for memory in left.memories] == [
        ("Learned in public.", None, None)
    ]


async def test_the_value_of_a_key_is_no_text_to_correct(world: World) -> None:
    id_ = await world.keep("tone: dry", surface=Surface.KV, taxonomy=None)
    olga = await world.person(OLGA)
    listed = await world.facts_of(OLGA, kind="kv")
    assert [fact.memory.id for fact in listed.facts] == [id_]
    await refused([world.facts.change(world.shelf, olga, id_, text="tone: warm")], BadRequest)
    await world.facts.change(world.shelf, olga, id_, pinned=True)
    await world.facts.forget(world.shelf, olga, id_)
    assert await world.seen_by(OLGA) == set()
