"""A declaration is put whole or not at all; again it changes nothing; what goes takes along what was its alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memorybank import clock
from memorybank.audience import Audience, AudienceKind, PlaceKind, PrincipalKind, Viewer
from memorybank.errors import Conflict, InvalidInput, MemoryBankError, NotFound
from memorybank.ids import new_id, stable_id
from memorybank.serve.http.schemas.directory import DirectoryRequest
from memorybank.storage import applying, audiences, banks, directory, keys
from memorybank.storage.applying import Applied
from memorybank.storage.declared import (
    Declared,
    NewAgent,
    NewOrganization,
    NewPerson,
    NewPlace,
    Removal,
)
from memorybank.storage.pool import Database

ACME = NewOrganization("acme", "Acme")
ANA = NewPerson("ana", "Ana", organization="acme", role="owner")
BEN = NewPerson("ben", organization="acme", key="bens-own-key-0123456789")
CARL = NewPerson("carl", key=False)
AIDE = NewAgent("aide", owner="ana", organization="acme", bank="team")
GENERAL = NewPlace("general", PlaceKind.PUBLIC, "acme", members=("ana", "ben"))
THREAD, DEEPER = NewPlace("thread", parent="general"), NewPlace("deeper", parent="thread", title="Below")
TALK = NewPlace("talk", PlaceKind.DM, agent="aide", members=["ana"])
# Threads before their roots: the order of a file says nothing.
ALL = Declared([ACME], [ANA, BEN, CARL], [AIDE], [DEEPER, THREAD, TALK, GENERAL])


async def _apply(database: Database, declared: Declared) -> Applied:
    async with database.transaction() as connection:
        return await applying.apply(connection, declared)


async def _shown(database: Database) -> directory.Directory:
    async with database.snapshot() as connection:
        return await directory.show(connection)


async def _opened(database: Database, key: str) -> keys.Opened | None:
    async with database.connection() as connection:
        return await keys.opened(connection, key=key)


async def test_keys_are_made_once_and_an_operators_with_the_first(database: Database) -> None:
    first = await _apply(database, ALL)
    assert [(key.kind, key.id) for key in first.keys] == [
        (PrincipalKind.PERSON, "ana"),
        (PrincipalKind.AGENT, "aide"),
        (PrincipalKind.OPERATOR, None),
    ]
    for made in first.keys:
        opened = await _opened(database, made.key)
        assert opened is not None and (opened.principal.kind, opened.principal.id) == (made.kind, made.uuid)
    given = await _opened(database, "bens-own-key-0123456789")
    assert given is not None and given.principal.id == stable_id("person", "ben")
    before = await _shown(database)
    assert await _apply(database, ALL) == Applied((), (), 0)
    assert await _shown(database) == before


async def test_threads_are_their_root(database: Database) -> None:
    await _apply(database, ALL)
    async with database.connection() as connection:
        for thread in ("thread", "deeper", "general"):
            found = await directory.place(connection, thread)
            assert (found.id, found.kind) == (stable_id("place", "general"), PlaceKind.PUBLIC)
            assert len(await directory.members(connection, thread)) == 2
        talk = await directory.place(connection, stable_id("place", "talk"))
        assert (talk.person, talk.organization) == (
            stable_id("person", "ana"),
            stable_id("organization", "acme"),
        )
        assert await directory.members(connection, "nowhere") == frozenset()


async def test_who_leaves_sees_nothing_more_and_who_is_not_named_stays(database: Database) -> None:
    await _apply(database, ALL)
    async with database.transaction() as connection:
        bank = await banks.ensure(connection, "team", clock.now())
        general = Audience(AudienceKind.PLACE, place=stable_id("place", "general"))
        number = await audiences.ensure(connection, bank.id, general)

    async def seen() -> bool:
        opened = await _opened(database, "bens-own-key-0123456789")
        assert opened is not None
        async with database.connection() as connection:
            return number in (await audiences.resolve(connection, opened.principal, "team")).audiences

    assert await seen()
    assert (await _apply(database, Declared(places=[replace(GENERAL, members=None)]))).removed == 0
    assert await seen()
    await _apply(database, Declared(places=[replace(GENERAL, members=["ana"])]))
    assert not await seen()
    assert len((await _shown(database)).people) == 3


async def test_a_public_place_that_is_private_from_now_on_is_told(database: Database) -> None:
    await _apply(database, ALL)
    private = Declared(places=[replace(GENERAL, kind=PlaceKind.PRIVATE)])
    assert (await _apply(database, private)).made_private == (stable_id("place", "general"),)
    assert (await _apply(database, private)).made_private == ()
    kinds = {place.external_id: place.kind for place in (await _shown(database)).places}
    assert kinds["general"] == kinds["deeper"] == "private"


async def test_what_an_entry_does_not_say_stays(database: Database) -> None:
    """A file that names somebody for their key alone must not take their role or organization away."""
    await _apply(database, ALL)
    before = await _shown(database)
    places = [NewPlace(one.id) for one in ALL.places]
    people, agents = [NewPerson(one.id) for one in ALL.people], [NewAgent(one.id) for one in ALL.agents]
    await _apply(database, Declared([NewOrganization("acme")], people, agents, places))
    after = await _shown(database)

    def told(found: Any) -> list[Any]:
        every = (*found.organizations, *found.people, *found.agents, *found.places)
        return [{**vars(one), "updated_at": None} for one in every]

    assert told(after) == told(before)


async def test_null_says_nobody(database: Database) -> None:
    await _apply(database, ALL)
    said = DirectoryRequest.model_validate(
        {"people": [{"id": "ana", "organization": None, "role": "member"}]}
    )
    await _apply(database, said.declared)
    [ana] = [one for one in (await _shown(database)).people if one.external_id == "ana"]
    assert (ana.organization, ana.role, ana.name) == (None, "member", ANA.name)


def _with(**lists: Sequence[Any]) -> Declared:
    return replace(ALL, **lists)


@pytest.mark.parametrize(
    ("declared", "where"),
    [
        (_with(people=[replace(ANA, organization="nobody")]), ("people", 0, "organization")),
        (_with(agents=[replace(AIDE, owner="nobody")]), ("agents", 0, "owner")),
        (_with(agents=[replace(AIDE, bank="a\x00b")]), ("bank_id",)),
        (_with(agents=[replace(AIDE, id="all")]), ("agents", 0, "id")),
        (_with(people=[ANA, ANA]), ("people", 1, "id")),
        (_with(people=[replace(ANA, id="")]), ("people", 0, "id")),
        (_with(people=[replace(ANA, id=" ana")]), ("people", 0, "id")),
        (_with(people=[replace(ANA, id="a\x00")]), ("people", 0, "id")),
        (_with(people=[replace(ANA, name="\ud800")]), ("people", 0, "name")),
        (_with(people=[replace(ANA, name="two\nlines")]), ("people", 0, "name")),
        (_with(people=[replace(ANA, email="a" * 201)]), ("people", 0, "email")),
        (_with(agents=[replace(AIDE, description="a" * 4001)]), ("agents", 0, "description")),
        (_with(people=[ANA, replace(BEN, key="too short")]), ("people", 1, "key")),
        (_with(people=[ANA, replace(BEN, key="with a space 0123456789")]), ("people", 1, "key")),
        (_with(people=[ANA, replace(BEN, key="a" * 257)]), ("people", 1, "key")),
        (_with(places=[NewPlace("p")]), ("places", 0, "kind")),
        (_with(places=[NewPlace("p", PlaceKind.DM, members=["ana"])]), ("places", 0)),
        (_with(places=[NewPlace("p", PlaceKind.DM, agent="aide")]), ("places", 0)),
        (_with(places=[replace(TALK, members=["ana", "ben"])]), ("places", 0)),
        (_with(places=[replace(GENERAL, members=["nobody"])]), ("places", 0, "members")),
        (_with(places=[NewPlace("p", parent="nowhere")]), ("places", 0, "parent")),
        (_with(places=[NewPlace("p", PlaceKind.PUBLIC, parent="p")]), ("places", 0, "parent")),
        (_with(places=[NewPlace("p", parent="q"), NewPlace("q", parent="p")]), ("places", 0, "parent")),
        (_with(places=[GENERAL, replace(THREAD, members=["ana"])]), ("places", 1, "members")),
        (_with(places=[GENERAL, replace(THREAD, kind=PlaceKind.DM)]), ("places", 1, "kind")),
        (_with(remove=[Removal("person", "ana")]), ("remove", 0, "id")),
        (_with(organizations=[NewOrganization(f"{n}") for n in range(10_001)]), ("organizations",)),
    ],
)
async def test_what_cannot_be_is_refused_whole(
    database: Database, declared: Declared, where: tuple[str | int, ...]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await _apply(database, declared)
    assert refused.value.loc[-len(where) :] == where
    assert await _shown(database) == directory.Directory((), (), (), ())


async def test_nobody_is_a_person_and_an_agent(database: Database) -> None:
    both = str(new_id())
    with pytest.raises(InvalidInput, match="a person and an agent"):
        await _apply(database, Declared(people=[NewPerson(both)], agents=[NewAgent(both)]))


@pytest.mark.parametrize(
    "declared",
    [
        Declared(agents=[replace(AIDE, bank="another")]),
        Declared(places=[NewPlace("general", parent="talk")]),
        Declared(places=[NewPlace("talk", PlaceKind.PRIVATE, "acme", agent="aide")]),
        Declared(remove=[Removal("organization", "acme")]),
        Declared(remove=[Removal("person", "ana")]),
        Declared(people=[replace(CARL, key="bens-own-key-0123456789")]),
    ],
)
async def test_what_others_need_or_hold_stays(database: Database, declared: Declared) -> None:
    await _apply(database, ALL)
    before = await _shown(database)
    with pytest.raises(Conflict):
        await _apply(database, declared)
    assert await _shown(database) == before


async def test_a_revoked_key_is_not_given_again_and_none_is_made_in_its_place(database: Database) -> None:
    await _apply(database, ALL)
    async with database.transaction() as connection:
        for key in await keys.list_(connection):
            await keys.revoke(connection, key.id)
    assert await _opened(database, "bens-own-key-0123456789") is None
    with pytest.raises(Conflict, match="revoked"):
        await _apply(database, ALL)
    again = replace(ALL, people=[ANA, replace(BEN, key=None)])
    assert (await _apply(database, again)).keys == ()
    async with database.connection() as connection:
        assert await keys.exist(connection), "a key that was revoked still closes the door"


async def test_an_agent_that_goes_takes_along_what_was_its_alone(database: Database) -> None:
    """Its own circle and its talks; what it said of others and to all stays, without an author."""
    made = await _apply(database, ALL)
    aide, ana = stable_id("agent", "aide"), stable_id("person", "ana")
    circles = {
        "own": Audience(AudienceKind.AGENT, agent=aide),
        "talk": Audience(AudienceKind.DM, agent=aide, person=ana),
        "about": Audience.about(ana, aide, stable_id("organization", "acme")),
        "alone about": Audience.about(ana, aide, None),
        "all": Audience(AudienceKind.BANK),
    }
    async with database.transaction() as connection:
        bank = await banks.ensure(connection, "team", clock.now())
        for number, (text, circle) in enumerate(circles.items()):
            audience = await audiences.ensure(connection, bank.id, circle)
            await connection.execute(
                "INSERT INTO memory_unit (id, bank, audience_id, document_number, position, fact_type, text,"
                " kept_by_kind, kept_by, created_at, updated_at)"
                " VALUES (%s, %s, %s, %s, 0, 'world', %s, 'agent', %s, now(), now())",
                [new_id(), bank.id, audience, -1 - number, text, aide],
            )
    assert (await _apply(database, Declared(remove=[Removal("agent", "aide")]))).removed == 1
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT text, kept_by FROM memory_unit ORDER BY text")
        assert [tuple(row.values()) for row in await cursor.fetchall()] == [
            ("about", None),
            ("all", None),
            ("alone about", None),
        ]
        with pytest.raises(NotFound):
            await directory.agent(connection, "aide")
    key = next(key.key for key in made.keys if key.kind is PrincipalKind.AGENT)
    assert await _opened(database, key) is None
    assert "talk" not in {place.external_id for place in (await _shown(database)).places}
    assert (await _apply(database, Declared(remove=[Removal("agent", "aide")]))).removed == 0
    # Now nothing holds Ana, and then nothing holds Acme.
    gone = [
        Removal("organization", "acme"),
        Removal("person", "ana"),
        Removal("person", "ben"),
        Removal("place", "general"),
    ]
    assert (await _apply(database, Declared(remove=gone))).removed == 4


async def test_keys_are_stored_as_hashes_alone(database: Database) -> None:
    made = await _apply(database, ALL)
    secrets = ["bens-own-key-0123456789", *(key.key for key in made.keys)]
    async with database.transaction() as connection:
        opened = await keys.opened(connection, key=secrets[1])
        assert opened is not None
        secrets.append(await keys.begin_session(connection, opened.key, keys.USED_EVERY))
        for table in ("api_key", "session", "person", "agent"):
            cursor = await connection.execute(f"SELECT t::text AS row FROM {table} t")  # noqa: S608
            stored = " ".join(row["row"] for row in await cursor.fetchall())
            assert not any(secret[8:] in stored or secret.encode().hex() in stored for secret in secrets)


@pytest.mark.parametrize("key", ["", "\x00", "\ud800", "ü", "mb_" + "a" * 100_000])
async def test_strange_keys_open_nothing(database: Database, key: str) -> None:
    await _apply(database, ALL)
    assert await _opened(database, key) is None
    async with database.connection() as connection:
        assert await keys.opened(connection, session=key) is None


async def test_last_used_is_written_once_a_minute(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = next(key.key for key in (await _apply(database, ALL)).keys)
    began = clock.now()
    seen = []
    for minutes in (0, 0.5, 0.9, 1.5):
        monkeypatch.setattr(clock, "now", lambda at=began + minutes * keys.USED_EVERY: at)
        assert await _opened(database, key)
        async with database.connection() as connection:
            seen.append({one.last_used_at for one in await keys.list_(connection)} - {None})
    assert seen == [{began}, {began}, {began}, {began + 1.5 * keys.USED_EVERY}]


async def test_a_session_ends_in_time_and_with_its_key(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = next(key.key for key in (await _apply(database, ALL)).keys)
    async with database.transaction() as connection:
        opened = await keys.opened(connection, key=key)
        assert opened is not None
        over = await keys.begin_session(connection, opened.key, -keys.USED_EVERY)
        ended = await keys.begin_session(connection, opened.key, keys.USED_EVERY)
        lasting = await keys.begin_session(connection, opened.key, keys.USED_EVERY)
        assert await keys.opened(connection, session=over) is None
        assert await keys.opened(connection, session=lasting) == opened
        assert await keys.opened(connection, key=lasting) is None, "a session is no key"
        assert await keys.opened(connection, session=key) is None, "a key is no session"
        await keys.end_session(connection, ended)
        assert await keys.opened(connection, session=ended) is None
        await keys.revoke(connection, opened.key)
        assert await keys.opened(connection, session=lasting) is None
        with pytest.raises(NotFound):
            await keys.revoke(connection, new_id())


async def test_lists_hold_what_somebody_knows_of(database: Database) -> None:
    async with database.transaction() as connection:
        for bank_id in ("one", "two", "three"):
            await banks.ensure(connection, bank_id, clock.now())
        known = Viewer((), sees_all=True, banks=("one", "three"))
        page = await banks.list_(connection, known, None, 10, 0)
        assert ({found.bank.bank_id for found in page.banks}, page.total) == ({"one", "three"}, 2)
        assert (await banks.list_(connection, replace(known, banks=()), None, 10, 0)).total == 0


async def test_a_key_names_one_who_is_there(database: Database) -> None:
    async with database.transaction() as connection:
        with pytest.raises(MemoryBankError):
            await keys.create(connection, keys.Holder(PrincipalKind.OPERATOR), name="a" * 201)
        _, key = await keys.create(connection, keys.Holder(PrincipalKind.PERSON, new_id()))
        assert await keys.opened(connection, key=key) is None, "nobody is behind it"
