"""Banks: made on first use, listed with what they hold, deleted whole."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from memorybank.audience import Viewer
from memorybank.errors import InvalidInput, NotFound
from memorybank.ids import new_id
from memorybank.model import Bank
from memorybank.storage import banks, documents
from memorybank.storage.documents import NewDocument
from memorybank.storage.pool import Database

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
OPERATOR = Viewer.operator()


async def make(database: Database, bank_id: str, at: datetime = AT) -> Bank:
    async with database.connection() as connection:
        return await banks.ensure(connection, bank_id, at)


async def write(database: Database, bank: Bank, document: str, at: datetime) -> None:
    async with database.transaction() as connection:
        audience = await banks.default_audience(connection, bank.id)
        new = NewDocument(document, "text", 4, "hash", at)
        await documents.put(connection, bank.id, audience, new, at)


async def test_a_bank_and_its_audience_are_made_once(database: Database) -> None:
    made = await asyncio.gather(*(make(database, "b") for _ in range(8)))
    assert len({bank.id for bank in made}) == 1
    assert (made[0].name, made[0].config, made[0].created_at) == ("b", {}, AT)
    async with database.connection() as connection:
        rows = await (await connection.execute("SELECT kind FROM audience")).fetchall()
        assert rows == [{"kind": "bank"}]
        assert await banks.get(connection, "b") == await banks.by_number(connection, made[0].id)


@pytest.mark.parametrize("bank_id", ["", " ", "x" * 513])
async def test_an_id_that_is_none_is_refused(database: Database, bank_id: str) -> None:
    with pytest.raises(InvalidInput):
        await make(database, bank_id)


async def test_an_unknown_bank_is_not_found_and_not_made(database: Database) -> None:
    async with database.connection() as connection:
        for ask in (
            banks.get(connection, "none"),
            banks.by_number(connection, 7),
            banks.lock(connection, "none"),
        ):
            with pytest.raises(NotFound):
                await ask
        assert (await banks.list_(connection, OPERATOR, None, 10, 0)).total == 0


async def test_name_and_config_are_replaced(database: Database) -> None:
    bank = await make(database, "b")
    later = AT + timedelta(days=1)
    async with database.transaction() as connection:
        locked = await banks.lock(connection, "b")
        await banks.set_name(connection, locked, "Team memory", later)
        changed = await banks.set_config(connection, locked, {"retain_chunk_size": 900}, later)
    assert (changed.id, changed.name, changed.updated_at) == (bank.id, "Team memory", later)
    assert changed.config == {"retain_chunk_size": 900}


async def test_the_bank_written_to_last_comes_first(database: Database) -> None:
    first, second, third = [
        await make(database, name, AT + timedelta(hours=hour))
        for hour, name in enumerate(("One", "two", "three"))
    ]
    await write(database, first, "d", AT + timedelta(days=2))
    async with database.connection() as connection:
        page = await banks.list_(connection, OPERATOR, None, 10, 0)
        assert [listing.bank.bank_id for listing in page.banks] == ["One", "three", "two"]
        assert (page.banks[0].last_write_at, page.banks[0].fact_count) == (AT + timedelta(days=2), 0)
        assert page.banks[1].last_write_at is None
        found = await banks.list_(connection, OPERATOR, "ON", 10, 0)
        assert ([listing.bank.id for listing in found.banks], found.total) == ([first.id], 1)
        nothing = await banks.list_(connection, OPERATOR, None, 0, 0)
        assert (nothing.banks, nothing.total) == ((), 3)
        rest = await banks.list_(connection, OPERATOR, "t", 1, 1)
        assert ([listing.bank.id for listing in rest.banks], rest.total) == ([second.id], 2)
    assert third.name == "three"


async def test_who_may_not_see_a_document_sees_no_trace_of_it_in_the_list(database: Database) -> None:
    bank = await make(database, "b")
    await write(database, bank, "d", AT + timedelta(days=2))
    async with database.connection() as connection:
        [listing] = (await banks.list_(connection, Viewer(()), None, 10, 0)).banks
    assert (listing.last_document_at, listing.last_write_at) == (None, None)


async def test_an_unknown_bank_is_deleted_without_an_error(database: Database) -> None:
    async with database.transaction() as connection:
        assert (await banks.delete(connection, "none")).total == 0


async def test_a_bank_goes_whole_and_another_stays(database: Database) -> None:
    for name in ("gone", "kept"):
        await write(database, await make(database, name), "d", AT)
    async with database.transaction() as connection:
        deleted = await banks.delete(connection, "gone")
    assert (deleted.total, deleted.documents) == (1, 1)
    async with database.connection() as connection:
        [listing] = (await banks.list_(connection, OPERATOR, None, 10, 0)).banks
        assert (listing.bank.bank_id, listing.last_document_at) == ("kept", AT)
        assert new_id() is not None
