"""What is stated is kept word for word and found at once; corrected, retired, forgotten with all that stands on it."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from curate_world import (
    ACTIVE,
    AIDE,
    ALL,
    ARCHIVED,
    AT,
    BOT,
    EVERYBODY,
    GENERAL,
    MIA,
    OLGA,
    OPS,
    OWN,
    SUPERSEDED,
    World,
    terms,
)

from memorybank.audience import Audience, AudienceKind, PrincipalKind, Surface, Viewer
from memorybank.errors import (
    FactNotOneParagraph,
    FactTooLong,
    InvalidInput,
    MemoryFull,
    NotFound,
    SourceNotPublic,
    WrongState,
)
from memorybank.model import FactType, Source
from memorybank.storage.stated import Page

SAID = "  Ana deploys with `make ship`,\nnever on Fridays. "
NOBODY = Viewer(())
SCOPED = {
    "surface": Surface.FACTS,
    "taxonomy": None,
    "source": Source("message", AT, "m1", GENERAL),
}


async def _observe(world: World, memory: UUID) -> UUID:
    """Let an observation stand on a memory."""
    observation = uuid4()
    async with world.database.transaction() as connection:
        for sql in (
            "INSERT INTO memory_unit (id, bank, audience_id, document_number, position, fact_type, text, created_at,"
            " updated_at) SELECT %(id)s, bank, audience_id, nextval('document_number'), 2147483647, 'observation',"
            " 'Observed: ' || text, now(), now() FROM memory_unit WHERE id = %(memory)s",
            "INSERT INTO observation_source (observation, source, bank, audience_id)"
            " SELECT %(id)s, id, bank, audience_id FROM memory_unit WHERE id = %(memory)s",
        ):
            await connection.execute(sql, {"id": observation, "memory": memory})
    return observation


async def test_a_statement_is_kept_word_for_word_and_found_at_once(world: World) -> None:
    id_ = await world.keep(SAID, fact_type=FactType.EXPERIENCE, pinned=True)
    kept = await world.get(id_)
    assert (kept.text, kept.fact_type, kept.audience, kept.bank_id) == (SAID, "experience", OWN, "team")
    assert (kept.kept_by_kind, kept.kept_by, kept.source) == ("agent", AIDE, Source("session", AT, "s1"))
    assert kept.pinned_at is not None
    assert (kept.corrected, kept.status, kept.memory_kind) == (False, "active", "stated")
    assert (kept.system, kept.type, kept.segment, kept.metadata) == (
        "long_term",
        "semantic",
        "agent",
        {"tags": ["x"]},
    )
    assert await world.recalled("When does Ana ship?") == [SAID]
    assert [row["name"] for row in await world.rows("SELECT name FROM entity")] == ["Ana"]
    vectors, words = await world.searched(id_)
    assert vectors == 1
    assert words > 3


async def test_secrets_are_masked_and_blanks_refused(world: World) -> None:
    id_ = await world.keep("The key is AKIAIOSFODNN7EXAMPLE.")
    assert "AKIA" not in (await world.get(id_)).text
    for blank in ("", " \n ", "\u200b"):
        with pytest.raises(InvalidInput):
            await world.keep(blank)


async def test_a_correction_is_found_at_once_and_its_old_words_nowhere(world: World) -> None:
    id_ = await world.keep("Ana lives in Graz.")
    observation = await _observe(world, id_)
    source = Source("person", AT + timedelta(days=1), person=OLGA)
    await world.change(id_, fields={"text": "Ana lives in Linz."}, source=source)
    kept = await world.get(id_)
    assert (kept.text, kept.corrected, kept.source) == ("Ana lives in Linz.", True, source)
    assert await world.recalled("Graz") == await world.recalled("Linz") == ["Ana lives in Linz."]
    assert await world.texts(terms=terms("graz")) == []
    assert await world.texts(terms=terms("linz")) == ["Ana lives in Linz."]
    with pytest.raises(NotFound):
        await world.get(observation)
    assert {row["name"] for row in await world.rows("SELECT name FROM entity")} == {"Ana", "Linz"}


async def test_states_are_given_taken_back_and_kept_apart(world: World) -> None:
    id_ = await world.keep("Ana lives in Graz.")
    await world.change(id_, status=ARCHIVED, among=(ACTIVE,))
    assert await world.searched(id_) == (0, 0)
    assert await world.recalled("Ana in Graz") == await world.texts() == []
    assert await world.texts(statuses=("archived",), terms=terms("graz")) == ["Ana lives in Graz."]
    await world.change(id_, status=ACTIVE, among=(ARCHIVED,))
    assert await world.recalled("Ana in Graz") == ["Ana lives in Graz."]
    await world.change(id_, status=SUPERSEDED, among=(ACTIVE, ARCHIVED))
    with pytest.raises(WrongState):
        await world.change(id_, status=ACTIVE, among=(ARCHIVED,))
    with pytest.raises(WrongState):
        await world.change(id_, fields={"text": "Ana lives in Linz."})
    # Again is no change.
    before = (await world.get(id_)).updated_at
    await world.change(id_, status=SUPERSEDED, among=(ACTIVE, ARCHIVED, SUPERSEDED))
    assert (await world.get(id_)).updated_at == before


async def test_forgetting_takes_along_what_stands_on_it(world: World) -> None:
    id_, other = await world.keep("Ana lives in Graz."), await world.keep("Ana owns a boat.")
    await _observe(world, id_)
    erased = await world.forget(id_)
    assert (erased.memory, erased.observations, erased.entities, erased.chunks) == (id_, 1, 1, 0)
    assert await world.texts() == ["Ana owns a boat."]
    assert await world.recalled("Graz") == ["Ana owns a boat."]
    with pytest.raises(NotFound):
        await world.forget(id_)
    # No tombstone: the same words are a new memory.
    assert await world.keep("Ana lives in Graz.") not in (id_, other)
    assert "Ana lives in Graz." in await world.recalled("Graz")


async def test_what_is_not_seen_is_not_there(world: World) -> None:
    id_ = await world.keep("Ana lives in Graz.")
    assert await world.texts(NOBODY) == []
    for attempt in (
        world.get(id_, NOBODY),
        world.forget(id_, NOBODY),
        world.change(id_, NOBODY, fields={"text": "x"}),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await world.texts(await world.viewer(PrincipalKind.AGENT, AIDE)) == ["Ana lives in Graz."]
    assert await world.texts(await world.viewer(PrincipalKind.PERSON, MIA)) == []


@pytest.mark.parametrize("paged", ["key", "offset"])
async def test_lists_go_page_by_page_the_newest_first(world: World, paged: str) -> None:
    kept = [f"Step {number}" for number in range(5)]
    for text in kept:
        await world.keep(text)
    seen: list[str] = []
    page = Page(2, counted=paged == "offset")
    while True:
        found = await world.listed(page=page, stated=True)
        if not found.memories:
            break
        seen += [memory.text for memory in found.memories]
        last = found.memories[-1]
        page = (
            replace(page, offset=page.offset + 2)
            if page.counted
            else replace(page, after=(last.created_at, last.id))
        )
    assert seen == kept[::-1]
    assert found.total == (5 if paged == "offset" else None)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"kind": "stated"}, {"agent", "all", "subject"}),
        ({"kind": "kv"}, set()),
        ({"surface": Surface.FACTS}, set()),
        ({"circle": AudienceKind.ORGANIZATION}, {"all"}),
        ({"subject": MIA}, {"subject"}),
        ({"author": BOT}, {"all"}),
        ({"said_in": [OPS]}, {"subject"}),
        ({"pinned": True}, {"agent"}),
        ({"segment": "user"}, set()),
        ({"system": "long_term", "type": "semantic"}, {"agent", "all", "subject"}),
        ({"terms": terms("an agents memory")}, {"agent"}),
    ],
)
async def test_lists_are_narrowed(world: World, asked: dict[str, object], found: set[str]) -> None:
    ids = {
        "agent": await world.keep("An agent's memories.", pinned=True),
        "all": await world.keep("For all.", ALL, agent=BOT, kept_by=BOT),
        "subject": await world.keep(
            "On Mia.", Audience.about(MIA, AIDE, None), source=Source("message", AT, "m", OPS)
        ),
    }
    listed = await world.listed(**asked)
    assert {memory.id for memory in listed.memories} == {ids[name] for name in found}
    assert listed.total == len(found)


@pytest.mark.parametrize(
    ("text", "more", "error"),
    [
        ("x" * 501, {}, FactTooLong),
        ("one\n\ntwo", {}, FactNotOneParagraph),
        ("said in #ops", {"source": Source("message", AT, "m", OPS)}, SourceNotPublic),
        ("said nowhere", {"source": Source("session", AT, "s")}, SourceNotPublic),
        ("told by a member", {"source": Source("person", AT, person=MIA), "kept_by": MIA}, SourceNotPublic),
    ],
)
async def test_the_database_holds_the_rules_on_facts(
    world: World, text: str, more: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await world.keep(text, ALL, **SCOPED | more)
    assert await world.rows("SELECT 1 FROM memory_unit UNION ALL SELECT 1 FROM fact_count") == []


async def test_a_correction_by_any_way_keeps_to_the_size_of_facts(world: World) -> None:
    fact = await world.keep("x" * 500, ALL, **SCOPED)
    for text, error in (("y" * 501, FactTooLong), ("one\n\ntwo", FactNotOneParagraph)):
        with pytest.raises(error):
            await world.change(fact, fields={"text": text})
    longer = await world.keep("of Band")
    await world.change(longer, fields={"text": "y" * 600})


async def test_two_at_once_for_the_last_place_and_one_gets_it(world: World) -> None:
    """Exact, however many come together; what is forgotten makes room, other interfaces count for nothing."""
    first = await world.keep("first", ALL, **SCOPED)
    async with world.database.connection() as connection:
        await connection.execute("UPDATE fact_count SET facts = 1999")
    ends = await asyncio.gather(
        *(world.keep(f"last {number}", ALL, **SCOPED) for number in range(4)), return_exceptions=True
    )
    assert [type(end) for end in ends if isinstance(end, BaseException)] == [MemoryFull] * 3
    assert len(await world.texts(surface=Surface.FACTS)) == 2
    await world.keep("of Band", ALL)
    await world.change(first, fields={"text": "corrected"})
    await world.forget(first)
    await world.keep("another", ALL, **SCOPED)
    with pytest.raises(MemoryFull):
        await world.keep("one more", ALL, **SCOPED)


async def test_a_pin_is_put_and_taken_away(world: World) -> None:
    id_ = await world.keep("Ana lives in Graz.")

    async def pin(pinned: bool, viewer: Viewer = EVERYBODY) -> None:
        await world.stating.pin(world.bank, id_, viewer, pinned)

    await pin(True)
    at = (await world.get(id_)).pinned_at
    await pin(True)
    assert (await world.get(id_)).pinned_at == at is not None
    await pin(False)
    assert (await world.get(id_)).pinned_at is None
    with pytest.raises(NotFound):
        await pin(True, NOBODY)


async def test_two_agents_who_state_the_same_do_not_wait_for_each_other(world: World) -> None:
    texts = [f"Ana and Ben met Carl in Graz, day {number}." for number in range(8)]
    await asyncio.gather(*(world.keep(text) for text in texts for _ in range(2)))
    assert len(await world.texts()) == 16
    assert len({row["name"] for row in await world.rows("SELECT name FROM entity")}) == 4
