"""Directives in the database: which hold for a request, in which order, and never more than a bank may have."""

import asyncio
from collections.abc import Sequence

import pytest

from memorybank import clock
from memorybank.errors import BadRequest, InvalidInput, NotFound
from memorybank.ids import new_id
from memorybank.storage import banks, directives
from memorybank.storage.directives import Changes, Directive
from memorybank.storage.pool import Database


@pytest.fixture
async def bank(database: Database) -> int:
    async with database.connection() as connection:
        return (await banks.ensure(connection, "team", clock.now())).id


async def add(
    database: Database, bank: int, name: str, *tags: str, priority: int = 0, active: bool = True
) -> Directive:
    async with database.transaction() as connection:
        return await directives.add(connection, bank, Changes(name, f"Keep {name}.", priority, active, tags))


@pytest.mark.parametrize(
    ("tags", "everything", "names"),
    [
        (None, False, ["all", "low"]),
        ([], False, ["all", "low"]),
        (["a"], False, ["a", "all", "ab", "low"]),
        (["b"], False, ["all", "ab", "low"]),
        (["b", "x"], False, ["all", "ab", "low"]),
        (["A", "x"], False, ["all", "low"]),
        (["a\u0000"], False, ["a", "all", "ab", "low"]),
        (None, True, ["a", "all", "ab", "low"]),
        (["x"], True, ["a", "all", "ab", "low"]),
    ],
)
async def test_what_holds_for_a_request(
    database: Database, bank: int, tags: Sequence[str] | None, everything: bool, names: list[str]
) -> None:
    async with database.connection() as connection:
        other = (await banks.ensure(connection, "other", clock.now())).id
    await add(database, other, "elsewhere")
    await add(database, bank, "low", priority=-1)
    await add(database, bank, "ab", "a", "b")
    await add(database, bank, "all")
    await add(database, bank, "a", "a", priority=5)
    await add(database, bank, "off", priority=9, active=False)
    async with database.connection() as connection:
        found = await directives.in_scope(connection, bank, tags, everything=everything)
    assert [one.name for one in found] == names


async def test_those_who_add_at_once_keep_the_limits(database: Database, bank: int) -> None:
    for number in range(directives.MAX_DIRECTIVES - 2):
        await add(database, bank, str(number))
    made = await asyncio.gather(*(add(database, bank, f"new {n}") for n in range(5)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in made) == ["BadRequest"] * 3 + ["Directive"] * 2


async def test_all_active_ones_together_have_a_limit(database: Database, bank: int) -> None:
    long = "x" * directives.MAX_CONTENT_CHARS
    async with database.transaction() as connection:
        for _ in range(directives.MAX_ACTIVE_CHARS // len(long)):
            await directives.add(connection, bank, Changes("n", long, 0, True, ()))
        spare = await directives.add(connection, bank, Changes("n", long, 0, False, ()))
    for change in (Changes(is_active=True), Changes(is_active=True, content="y")):
        with pytest.raises(BadRequest, match="together"):
            async with database.transaction() as connection:
                await directives.update(connection, bank, spare.id, change)
    async with database.connection() as connection:
        assert await directives.get(connection, bank, spare.id) == spare


@pytest.mark.parametrize("change", [Changes(name=" "), Changes(content="\u0000"), Changes(name="x" * 201)])
async def test_what_cannot_be_stored_changes_nothing(database: Database, bank: int, change: Changes) -> None:
    one = await add(database, bank, "kind")
    with pytest.raises(InvalidInput):
        async with database.transaction() as connection:
            await directives.update(connection, bank, one.id, change)
    async with database.connection() as connection:
        assert await directives.get(connection, bank, one.id) == one


async def test_what_is_not_there(database: Database, bank: int) -> None:
    async with database.transaction() as connection:
        with pytest.raises(NotFound):
            await directives.get(connection, bank, new_id())
        with pytest.raises(NotFound):
            await directives.update(connection, bank, new_id(), Changes(name="x"))
        with pytest.raises(NotFound):
            await directives.delete(connection, bank, new_id())


async def test_they_go_with_their_bank(database: Database, bank: int) -> None:
    await add(database, bank, "kind")
    async with database.transaction() as connection:
        await banks.delete(connection, "team")
        row = await (await connection.execute("SELECT count(*) AS left FROM directive")).fetchone()
    assert row == {"left": 0}
