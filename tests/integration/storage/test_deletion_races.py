"""A bank that is deleted while others write to it: nobody deadlocks, nothing is left, and who came late is told."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest

from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.ids import new_id
from memorybank.model import Bank
from memorybank.operations import Kind
from memorybank.storage import banks, documents, llm_calls, operations
from memorybank.storage.documents import NewDocument
from memorybank.storage.llm_calls import Call, Caller
from memorybank.storage.operations import NewOperation
from memorybank.storage.pool import Database

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
CALL = Call("retain", "scripted", 1, "ok", None, (1, 1, 0, 0), 0.0, 1.0, AT)


async def blocked(database: Database, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Start work and wait until it waits for a lock."""
    task = asyncio.create_task(work)
    waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    for _ in range(1000):
        async with database.connection() as connection:
            if await (await connection.execute(waiting)).fetchone():
                return task
        assert not task.done(), "it did not have to wait"
        await asyncio.sleep(0.01)
    raise AssertionError("it waits for no lock")


@pytest.fixture
async def bank(database: Database) -> Bank:
    async with database.connection() as connection:
        return await banks.ensure(connection, "b", AT)


async def queued(database: Database, bank: Bank) -> Caller:
    async with database.transaction() as connection:
        audience = await banks.default_audience(connection, bank.id)
        operation = NewOperation(new_id(), bank.id, audience, Kind.RETAIN, {})
        await operations.submit(connection, [operation])
    return Caller(bank.id, audience, operation.id)


async def left(database: Database) -> int:
    counted = "SELECT (SELECT count(*) FROM bank) + (SELECT count(*) FROM operation) + (SELECT count(*) FROM llm_call)"
    async with database.connection() as connection:
        row = await (await connection.execute(f"{counted} AS rows".encode())).fetchone()
    assert row is not None
    return int(row["rows"])


async def test_an_attempt_is_recorded_while_its_bank_goes(database: Database, bank: Bank) -> None:
    caller = await queued(database, bank)

    async def record() -> None:
        async with database.connection() as connection:
            await llm_calls.add(connection, caller, [CALL])

    async with database.transaction() as connection:
        await operations.clear(connection, bank.id)
        recording = await blocked(database, record())
        await banks.delete(connection, bank.bank_id)
    with pytest.raises(NotFound):
        await recording
    assert await left(database) == 0


async def test_a_document_is_deleted_while_its_bank_goes(database: Database, bank: Bank) -> None:
    async with database.transaction() as connection:
        audience = await banks.default_audience(connection, bank.id)
        number = await documents.put(
            connection, bank.id, audience, NewDocument("d", "text", 4, "hash", AT), AT
        )
        await connection.execute(
            "INSERT INTO memory_unit (id, bank, audience_id, document, document_number, position, fact_type, text,"
            " created_at, updated_at) VALUES (%s, %s, %s, %s, %s, 0, 'world', 'text', now(), now())",
            [new_id(), bank.id, audience, number, number],
        )

    async def delete_bank() -> int:
        async with database.transaction() as connection:
            return (await banks.delete(connection, bank.bank_id)).total

    async with database.transaction() as connection:
        await connection.execute("SELECT 1 FROM document WHERE number = %s FOR UPDATE", [number])
        deleting = await blocked(database, delete_bank())
        assert await documents.delete(connection, bank.id, "d", Viewer.operator()) == 1
    assert await deleting == 0, "the document was gone when the bank was counted"
    assert await left(database) == 0


async def test_work_for_a_bank_that_is_gone_is_refused(database: Database, bank: Bank) -> None:
    caller = await queued(database, bank)
    async with database.transaction() as connection:
        await banks.delete(connection, bank.bank_id)
    assert caller.audience_id is not None
    late = NewOperation(new_id(), bank.id, caller.audience_id, Kind.RETAIN, {})
    with pytest.raises(NotFound):
        async with database.transaction() as connection:
            await operations.submit(connection, [late])
    async with database.connection() as connection:
        with pytest.raises(NotFound):
            await llm_calls.add(connection, caller, [CALL])
    assert await left(database) == 0
