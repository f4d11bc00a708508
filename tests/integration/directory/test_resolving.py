"""What SQL finds in reach is what the rule says, in random worlds; what is not theirs is not there."""

import asyncio
import random
from collections.abc import Sequence
from uuid import UUID

import pytest

from memorybank import clock
from memorybank.audience import (
    OPERATOR,
    Audience,
    AudienceKind,
    Place,
    Principal,
    PrincipalKind,
    Reach,
    Viewer,
    may_see,
)
from memorybank.errors import NotFound
from memorybank.ids import stable_id
from memorybank.storage import audiences, banks, directory, keys
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection, execute

ORGANIZATIONS, PEOPLE, AGENTS, PLACES, BANKS = 3, 6, 6, 8, 3


def _some(chance: random.Random, kind: str, count: int) -> UUID | None:
    """One of them, or none."""
    number = chance.randrange(count + 1)
    return None if number == count else stable_id(kind, f"{number}")


def _one(chance: random.Random, kind: str, count: int) -> UUID:
    return stable_id(kind, f"{chance.randrange(count)}")


async def _populate(connection: Connection, chance: random.Random) -> None:
    now = clock.now()

    async def put(table: str, number: int, **columns: object) -> None:
        named = {"id": stable_id(table, f"{number}"), "external_id": f"{number}", "name": f"{table} {number}"}
        more = {
            "handle": "",
            "description": "",
            "title": "",
            "email": None,
            "memory_access": True,
            "now": now,
        }
        await execute(connection, f"directory.put_{table}", named | more | columns)

    for number in range(ORGANIZATIONS):
        await put("organization", number)
    for number in range(PEOPLE):
        role = chance.choice(["owner", "member"])
        await put("person", number, organization=_some(chance, "organization", ORGANIZATIONS), role=role)
    for number in range(AGENTS):
        organization, owner = _some(chance, "organization", ORGANIZATIONS), _some(chance, "person", PEOPLE)
        bank_id = f"bank {chance.randrange(BANKS)}"
        await put("agent", number, organization=organization, owner=owner, bank_id=bank_id)
    for number in range(PLACES):
        kind = chance.choice(["public", "private", "dm"])
        agent = _one(chance, "agent", AGENTS) if kind == "dm" else _some(chance, "agent", AGENTS)
        organization = _some(chance, "organization", ORGANIZATIONS)
        root = stable_id("place", f"{number}")
        await put("place", number, kind=kind, organization=organization, agent=agent, root=root)
        members = {_one(chance, "person", PEOPLE) for _ in range(1 if kind == "dm" else 3)}
        await execute(connection, "directory.join", {"place": root, "members": list(members)})


def _circle(chance: random.Random) -> Audience:
    agent, person = _one(chance, "agent", AGENTS), _one(chance, "person", PEOPLE)
    organization = _one(chance, "organization", ORGANIZATIONS)
    match chance.choice(list(AudienceKind)):
        case AudienceKind.AGENT:
            return Audience(AudienceKind.AGENT, agent=agent)
        case AudienceKind.ORGANIZATION:
            return Audience(AudienceKind.ORGANIZATION, organization=organization)
        case AudienceKind.SUBJECT:
            subject = chance.choice([agent, person])
            return Audience.about(subject, _one(chance, "agent", AGENTS), chance.choice([organization, None]))
        case AudienceKind.PLACE:
            return Audience(AudienceKind.PLACE, place=_one(chance, "place", PLACES))
        case AudienceKind.DM:
            return Audience(AudienceKind.DM, agent=agent, person=person)
    return Audience(AudienceKind.BANK)


async def _principals(connection: Connection) -> list[Principal]:
    found = [OPERATOR, Principal(PrincipalKind.OPERATOR, banks=frozenset({"bank 0"}))]
    for kind, count in ((PrincipalKind.PERSON, PEOPLE), (PrincipalKind.AGENT, AGENTS)):
        for number in range(count):
            one = await keys.principal(connection, kind, stable_id(kind, f"{number}"))
            assert one is not None
            found.append(one)
    return found


async def _seen(
    connection: Connection, principal: Principal, bank_id: str | None, place: Place | None
) -> Viewer | None:
    try:
        return await audiences.resolve(connection, principal, bank_id, place and place.id)
    except NotFound:
        return None


@pytest.mark.parametrize("seed", range(8))
async def test_sql_sees_what_the_rule_says(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    async with database.transaction() as connection:
        await _populate(connection, chance)
        circles: dict[int, tuple[str, Audience]] = {}
        for number in range(BANKS):
            bank = await banks.ensure(connection, f"bank {number}", clock.now())
            for _ in range(30):
                circle = _circle(chance)
                circles[await audiences.ensure(connection, bank.id, circle)] = (bank.bank_id, circle)
        places: Sequence[Place | None] = [None] + [
            await directory.place(connection, f"{number}") for number in range(PLACES)
        ]
        checked = 0
        for principal in await _principals(connection):
            for place in places:
                for bank_id in (f"bank {number}" for number in range(BANKS)):
                    seen = await _seen(connection, principal, bank_id, place)
                    expected = {
                        id_
                        for id_, (where, circle) in circles.items()
                        if where == bank_id and may_see(principal, bank_id, circle, place)
                    }
                    if seen is None:
                        # Not theirs: nothing is lost by it, but what the agents of another bank say in the place.
                        assert not expected or place is not None
                        continue
                    assert seen.sees_all == (principal.operates and place is None)
                    assert seen.sees_all or set(seen.audiences) == expected
                    checked += 1
        assert checked > 50


async def test_an_audience_is_one_row_however_many_ask_for_it(database: Database) -> None:
    async with database.transaction() as connection:
        bank = await banks.ensure(connection, "bank", clock.now())
    circle = Audience(AudienceKind.ORGANIZATION, organization=stable_id("organization", "a"))

    async def ensured() -> int:
        async with database.transaction() as connection:
            return await audiences.ensure(connection, bank.id, circle)

    numbers = await asyncio.gather(*(ensured() for _ in range(8)))
    assert len(set(numbers)) == 1
    async with database.connection() as connection:
        assert await audiences.get(connection, numbers[0]) == circle


@pytest.mark.parametrize("named", ["nowhere", "\x00", "\ud800", "a" * 10_000])
async def test_an_unknown_place_is_not_found(database: Database, named: str) -> None:
    async with database.connection() as connection:
        with pytest.raises(NotFound):
            await audiences.resolve(connection, OPERATOR, "bank", named)


def test_ids_of_callers_are_stable() -> None:
    """Stored rows were found by them: a change of the rule would lose who they are."""
    given = "0192F0C8-7B1A-7CDE-8123-456789ABCDEF"
    assert stable_id("agent", given) == UUID(given)
    assert str(stable_id("agent", "aide")) == "11a12eae-1943-5f24-be21-f647f94ab0ab"
    assert stable_id("agent", "Ca\u0301") == stable_id("agent", "C\u00e1")
    assert len({stable_id("agent", "a"), stable_id("person", "a"), stable_id("agent", "a ")}) == 3


def test_a_reach_of_nobody_is_empty() -> None:
    assert not Reach().sees("bank", Audience(AudienceKind.BANK))
