"""The rules on workspace facts, each by its number: who adds, sees, changes and is told what, and where.

Olga owns the workspace and is in #general; Mia is in #ops too, Nils is not. A thread is in #ops.
"""

import asyncio
from collections.abc import Awaitable
from uuid import UUID, uuid4

import pytest
from curate_world import (
    AIDE,
    AT,
    CONVERSATION,
    EVERYWHERE,
    GENERAL,
    HERS,
    JUST_YOU,
    MIA,
    NILS,
    OLGA,
    OPS,
    OTHER,
    PLAN,
    TALK,
    THREAD,
    WORKSPACE,
    World,
    leave,
    refused,
    told_at,
)

from memorybank.audience import PrincipalKind
from memorybank.curate.scopes import NewFact
from memorybank.errors import (
    FactNotOneParagraph,
    FactTooLong,
    InvalidInput,
    MemoryFull,
    NotFound,
    OwnerRequired,
    SourceNotPublic,
)
from memorybank.recall.query import RecallQuery
from memorybank.storage import stated
from memorybank.storage.queries import execute


async def _changes(world: World, who: UUID, id_: UUID) -> list[Awaitable[object]]:
    principal = await world.person(who)
    return [
        world.facts.change(world.shelf, principal, id_, text="changed"),
        world.facts.change(world.shelf, principal, id_, pinned=False),
        world.facts.forget(world.shelf, principal, id_),
    ]


async def _join(world: World, place: UUID, who: UUID) -> None:
    async with world.database.transaction() as connection:
        await execute(connection, "directory.join", {"place": place, "members": [who]})


async def test_w01_what_an_agent_may_recall_somebody_can_see(world: World) -> None:
    for place in (GENERAL, OPS, TALK, HERS):
        await world.learn(f"Learned in {place}.", place)
    await world.keep("Stated by Band.")
    listed = set().union(*[await world.seen_by(who) for who in (OLGA, MIA, NILS)])
    for place in (None, *EVERYWHERE):
        viewer = await world.viewer(PrincipalKind.AGENT, AIDE, place)
        found = await world.facts.placed(world.bank, world.config, RecallQuery("learned stated"), viewer)
        assert {hit.text for hit in found.hits} <= listed


async def test_w03_a_workspace_fact_is_recalled_anywhere(world: World) -> None:
    await world.add(PLAN)
    assert await told_at(world) == set(EVERYWHERE)


async def test_w04_a_workspace_fact_is_seen_by_everyone(world: World) -> None:
    await world.add(PLAN)
    for who in (OLGA, MIA, NILS):
        assert await world.seen_by(who, scope=WORKSPACE) == {PLAN}


async def test_w05_only_owners_add_and_change_workspace_facts(world: World) -> None:
    fact = await world.add(PLAN)
    await refused([world.add("no", MIA), *await _changes(world, MIA, fact.memory.id)], OwnerRequired)
    assert [one.can_change for one in (await world.facts_of(MIA)).facts] == [False]
    for change in await _changes(world, OLGA, fact.memory.id):
        await change
    assert await world.seen_by(OLGA) == set()


async def test_w06_a_conversation_fact_is_recalled_in_its_channel_and_threads_alone(world: World) -> None:
    await world.add(PLAN, MIA, CONVERSATION, OPS)
    assert await told_at(world) == {OPS, THREAD}


async def test_w07_a_conversation_fact_is_seen_and_changed_by_those_who_are_there(world: World) -> None:
    fact = await world.learn(PLAN, OPS)
    id_ = fact.memory.id
    for who in (NILS, OLGA):
        assert await world.seen_by(who) == set()
        principal = await world.person(who)
        await refused(
            [world.facts.get(world.shelf, principal, id_), *await _changes(world, who, id_)], NotFound
        )
    assert await world.seen_by(MIA, place=OPS) == await world.seen_by(MIA, place=THREAD) == {PLAN}
    for change in await _changes(world, MIA, id_):
        await change
    assert await world.seen_by(MIA) == set()


async def test_w08_who_leaves_sees_no_more_and_who_joins_does(world: World) -> None:
    await world.add(PLAN, MIA, CONVERSATION, OPS)
    await _join(world, OPS, NILS)
    assert await world.seen_by(NILS) == {PLAN}
    await leave(world, OPS, [NILS])
    assert await world.seen_by(MIA) == set()
    await refused([world.facts_of(MIA, place=OPS)], NotFound)


async def test_w09_just_you_is_recalled_in_that_persons_talk_with_that_agent_alone(world: World) -> None:
    await world.add(PLAN, MIA, JUST_YOU)
    assert await told_at(world) == {TALK}


async def test_w10_just_you_is_seen_and_changed_by_that_person_alone(world: World) -> None:
    fact = await world.add(PLAN, MIA, JUST_YOU)
    for who in (NILS, OLGA):
        listed = await world.facts_of(who)
        assert (list(listed.facts), listed.count) == ([], 0)
        assert await world.seen_by(who, q="release") == set()
        await refused(await _changes(world, who, fact.memory.id), NotFound)
    assert await world.seen_by(MIA, q="release") == await world.seen_by(MIA, place=TALK) == {PLAN}
    assert (await world.facts_of(MIA)).count == 1


async def test_w11_what_an_agent_learned_goes_no_further_than_where_it_was_said(world: World) -> None:
    await refused([world.learn("no", OPS, WORKSPACE), world.learn("no", TALK, WORKSPACE)], SourceNotPublic)
    await refused([world.learn("no", OPS, CONVERSATION, goes_to=OTHER)], SourceNotPublic)
    for place, told in ((GENERAL, set(EVERYWHERE)), (OPS, {OPS, THREAD}), (TALK, {TALK})):
        await world.learn(f"From {place}.", place)
        assert await told_at(world, f"From {place}.") == told
    await world.learn("Narrower.", GENERAL, CONVERSATION, goes_to=OTHER)
    assert await told_at(world, "Narrower.") == {OTHER}
    await world.learn("For Mia.", OPS, JUST_YOU, person=MIA)
    assert await told_at(world, "For Mia.") == {TALK}


async def test_w12_or_when_an_owner_gives_it_one(world: World) -> None:
    await _join(world, OPS, OLGA)
    await world.learn(PLAN, OPS, WORKSPACE, kind="person", person=OLGA)
    assert await told_at(world) == set(EVERYWHERE)
    await refused([world.learn("no", OPS, WORKSPACE, kind="person", person=MIA)], OwnerRequired)
    await refused([world.learn("no", GENERAL, WORKSPACE, kind="person", person=MIA)], OwnerRequired)
    await refused([world.learn("no", OPS, WORKSPACE, kind="person", person=NILS)], NotFound)


async def test_w13_owners_do_not_see_the_private_facts_of_others(world: World) -> None:
    for fact in (await world.add(PLAN, MIA, JUST_YOU), await world.learn(PLAN, OPS)):
        assert await world.seen_by(OLGA) == set()
        with pytest.raises(NotFound):
            await world.facts.get(world.shelf, await world.person(OLGA), fact.memory.id)
    viewer = await world.viewer(PrincipalKind.PERSON, OLGA)
    assert await world.recalled("release", viewer) == []


async def test_w14_every_fact_shows_who_kept_it_where_it_is_from_and_when(world: World) -> None:
    [told] = (await world.facts_of(OLGA, q="plan")).facts if await world.learn("A plan.", GENERAL) else ()
    source = told.memory.source
    assert (told.memory.kept_by_kind, told.memory.kept_by, told.kept_by_name) == ("agent", AIDE, "Aide")
    assert source is not None
    assert (source.kind, source.place, source.ref, source.at) == ("message", GENERAL, "m1", AT)
    added = await world.add(PLAN)
    source = added.memory.source
    assert (added.memory.kept_by_kind, added.memory.kept_by, added.kept_by_name) == ("person", OLGA, "Olga")
    assert source is not None
    assert (source.kind, source.person) == ("person", OLGA)
    # The place of a source only to who may read there.
    await _join(world, OPS, OLGA)
    await world.learn("From an owner.", OPS, WORKSPACE, kind="person", person=OLGA)
    for who, shows in ((OLGA, True), (MIA, True), (NILS, False)):
        [fact] = (await world.facts_of(who, q="owner")).facts
        assert fact.shows_source is shows


async def test_w15_a_correction_is_its_correctors_in_place(world: World) -> None:
    fact = await world.learn(PLAN, OPS)
    changed = await world.facts.change(
        world.shelf, await world.person(MIA), fact.memory.id, text="It is on Monday."
    )
    now, source = changed.memory, changed.memory.source
    assert (now.id, now.text, now.corrected) == (fact.memory.id, "It is on Monday.", True)
    assert source is not None and fact.memory.source is not None
    assert (source.kind, source.person, source.place) == ("person", MIA, None)
    assert source.at > fact.memory.source.at


async def test_w16_the_next_reply_uses_what_was_corrected(world: World) -> None:
    fact = await world.learn(PLAN, OPS)
    await world.facts.change(world.shelf, await world.person(MIA), fact.memory.id, text="Ships on Monday.")
    assert await world.at(OPS, "When is the release?") == ["Ships on Monday."]
    viewer = await world.viewer(PrincipalKind.AGENT, AIDE, OPS)
    assert await world.recalled("release Friday", viewer) == ["Ships on Monday."]
    assert await world.seen_by(MIA, q="Friday") == set()


async def test_w17_peoples_own_facts_are_pinned(world: World) -> None:
    assert (await world.add(PLAN)).memory.pinned_at is not None
    assert (await world.learn(PLAN, GENERAL)).memory.pinned_at is None


async def test_w18_whom_a_person_may_choose(world: World) -> None:
    await refused([world.add(PLAN, NILS, CONVERSATION, OPS)], NotFound)
    await refused([world.add(PLAN, NILS, WORKSPACE)], OwnerRequired)
    nils = await world.person(NILS)
    for new in (NewFact(PLAN), NewFact(PLAN, CONVERSATION)):
        await refused([world.facts.add(world.shelf, nils, new)], InvalidInput)
    await world.add(PLAN, NILS, CONVERSATION, OTHER)
    await world.add(PLAN, NILS, JUST_YOU)
    assert (await world.facts_of(NILS)).count == 2


async def test_w19_a_pin_puts_a_fact_first(world: World) -> None:
    for number in range(50):
        await world.learn(f"The release train number {number}.", GENERAL)
    lunch = await world.learn("Lunch is at noon.", GENERAL)
    await world.facts.change(world.shelf, await world.person(OLGA), lunch.memory.id, pinned=True)
    told = await world.at(OPS, "Which release train?")
    assert told[0] == "Lunch is at noon."
    assert len(told) == 40


async def test_w20_w21_forty_that_apply_there_pinned_first(world: World) -> None:
    for number in range(42):
        await world.add(f"Elsewhere {number}.", MIA, CONVERSATION, OTHER)
        await world.learn(f"Here {number}.", OPS)
    for number in range(3):
        await world.add(f"Pinned {number}.", MIA, CONVERSATION, OPS)
    for query in (None, "Elsewhere"):
        told = await world.at(OPS, query)
        assert len(told) == 40
        assert set(told[:3]) == {f"Pinned {number}." for number in range(3)}
        assert all(text.startswith("Here") for text in told[3:])
    assert (await world.at(OPS))[3] == "Here 41.", "without a question the newest come first"
    assert (await world.at(OPS, "What is here 7?"))[3] == "Here 7."
    # The rest of a reply holds no forty-first.
    await world.keep("Here is what Band knows.")
    viewer = await world.viewer(PrincipalKind.AGENT, AIDE, OPS)
    found = await world.facts.placed(world.bank, world.config, RecallQuery("here"), viewer)
    assert len(found.hits) == 41
    assert found.hits[-1].text == "Here is what Band knows."
    # Fifty pinned ones: forty of them.
    for number in range(3, 50):
        await world.add(f"Pinned {number}.", MIA, CONVERSATION, OPS)
    told = await world.at(OPS)
    assert len(told) == 40
    assert all(text.startswith("Pinned") for text in told)


async def test_w22_who_sees_a_fact_may_change_it_but_for_workspace_ones(world: World) -> None:
    await world.add("All", OLGA)
    await world.add("Channel", NILS, CONVERSATION, OTHER)
    await world.add("Own", MIA, JUST_YOU)
    may = {fact.memory.text: fact.can_change for fact in (await world.facts_of(MIA)).facts}
    assert may == {"All": False, "Channel": True, "Own": True}


async def test_w23_w24_forgotten_is_gone_and_may_be_learned_again(world: World) -> None:
    fact = await world.learn(PLAN, OPS)
    mia = await world.person(MIA)
    erased = await world.facts.forget(world.shelf, mia, fact.memory.id)
    assert erased.memory == fact.memory.id
    assert await told_at(world) == await world.seen_by(MIA) == await world.seen_by(MIA, q="release") == set()
    viewer = await world.viewer(PrincipalKind.AGENT, AIDE, OPS)
    assert await world.recalled("release Friday", viewer) == []
    await refused([world.facts.get(world.shelf, mia, fact.memory.id)], NotFound)
    again = await world.learn(PLAN, OPS)
    assert again.memory.id != fact.memory.id
    assert await told_at(world) == {OPS, THREAD}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" " + "x" * 500 + "\n", "x" * 500),
        ("\U0001f600" * 500, "\U0001f600" * 500),
        ("x" * 501, FactTooLong),
        (" \n ", InvalidInput),
    ],
)
async def test_w25_a_fact_has_at_most_500_characters(
    world: World, text: str, kept: str | type[Exception]
) -> None:
    if isinstance(kept, str):
        assert (await world.add(text)).memory.text == kept
    else:
        await refused([world.add(text)], kept)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("one\ntwo", "one two"),
        ("one \r\n two", "one two"),
        ("one\n \ntwo", FactNotOneParagraph),
        ("a\r\n\r\nb", FactNotOneParagraph),
    ],
)
async def test_w26_a_fact_is_one_paragraph(world: World, text: str, kept: str | type[Exception]) -> None:
    if isinstance(kept, str):
        assert (await world.add(text)).memory.text == kept
    else:
        await refused([world.add(text)], kept)


async def test_w27_2000_facts_an_agent_exact_under_concurrency(world: World) -> None:
    fact = await world.add("first")
    async with world.database.connection() as connection:
        await connection.execute("UPDATE fact_count SET facts = 1999")
    ends = await asyncio.gather(world.add("a"), world.learn("b", OPS), return_exceptions=True)
    assert [type(end) for end in ends if isinstance(end, BaseException)] == [MemoryFull]
    olga = await world.person(OLGA)
    await world.facts.change(world.shelf, olga, fact.memory.id, text="corrected", pinned=False)
    await refused([world.add("c"), world.learn("d", GENERAL)], MemoryFull)
    await world.facts.forget(world.shelf, olga, fact.memory.id)
    await world.add("c")
    assert stated.MAX_FACTS == 2000


async def test_w29_threads_count_as_their_channel(world: World) -> None:
    fact = await world.learn(PLAN, THREAD)
    assert fact.memory.audience.place == OPS
    assert fact.memory.source is not None and fact.memory.source.place == OPS
    assert await told_at(world) == {OPS, THREAD}


async def test_w30_refusals_do_not_leak(world: World) -> None:
    fact = await world.add(PLAN, MIA, JUST_YOU)
    nils, unknown = await world.person(NILS), uuid4()
    for ask in (
        world.facts.get,
        world.facts.forget,
        lambda *where: world.facts.change(*where, text="x" * 600),
    ):
        said = []
        for id_ in (fact.memory.id, unknown):
            with pytest.raises(NotFound) as refused:
                await ask(world.shelf, nils, id_)
            said.append(refused.value.message.replace(str(id_), "…"))
        assert said[0] == said[1]
