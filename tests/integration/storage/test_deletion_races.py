"""A bank that is deleted while others write to it: nobody deadlocks, nothing is left, and who came late is told."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest

from memorybank.audience import Viewer
from memorybank.errors import LeaseLost, NotFound
from memorybank.ids import new_id
from memorybank.model import Bank, LlmCall, TokenUsage
from memorybank.operations import Kind, Lease, Progress
from memorybank.storage import banks, documents, links, llm_calls, mentions, operations
from memorybank.storage.documents import NewDocument
from memorybank.storage.links import Link
from memorybank.storage.llm_calls import Caller
from memorybank.storage.operations import NewOperation
from memorybank.storage.pool import Database

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
CALL = LlmCall("retain", "scripted", 1, "ok", None, TokenUsage(1, 1), 1.0, AT)


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
            await llm_calls.add(connection, caller, CALL)

    async with database.transaction() as connection:
        await operations.delete_bank(connection, bank.id)
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
        await mentions.alone(connection, bank.id)
        deleting = await blocked(database, delete_bank())
        assert await documents.delete(connection, bank.id, "d", Viewer.operator()) == 1
    assert await deleting == 0, "the document was gone when the bank was counted"
    assert await left(database) == 0


async def test_work_reports_twice_while_its_bank_goes(database: Database, bank: Bank) -> None:
    async with database.transaction() as connection:
        audience = await banks.default_audience(connection, bank.id)
        parent = NewOperation(new_id(), bank.id, audience, Kind.BATCH_RETAIN, is_parent=True)
        part = NewOperation(new_id(), bank.id, audience, Kind.RETAIN, {}, parent.id)
        await operations.submit(connection, [parent, part])
    lease = Lease(part.id, new_id())
    async with database.transaction() as connection:
        assert await operations.claim(connection, lease, new_id(), 30)

    async def delete_bank() -> None:
        async with database.transaction() as connection:
            await banks.delete(connection, bank.bank_id)

    async with operations.writing(database, lease) as (connection, _):
        await operations.progress(connection, lease, Progress("staging", AT, 1, 2))
        deleting = await blocked(database, delete_bank())
        # The second change of a row in one transaction looks at its parent again.
        await operations.progress(connection, lease, Progress("staging", AT, 2, 2))
    await deleting
    with pytest.raises(LeaseLost):
        async with operations.writing(database, lease):
            pass
    assert await left(database) == 0


async def test_links_to_facts_that_go_are_left_out(database: Database, bank: Bank) -> None:
    facts = [new_id() for _ in range(3)]
    async with database.transaction() as connection:
        audience = await banks.default_audience(connection, bank.id)
        for position, fact in enumerate(facts):
            await connection.execute(
                "INSERT INTO memory_unit (id, bank, audience_id, document_number, position, fact_type, text,"
                " created_at, updated_at) VALUES (%s, %s, %s, 1, %s, 'world', 'text', now(), now())",
                [fact, bank.id, audience, position],
            )
    made = [Link(facts[0], target, "semantic", 0.9) for target in (facts[1], facts[2], new_id())]
    async with database.transaction() as deleting:
        await deleting.execute("DELETE FROM memory_unit WHERE id = %s", [facts[2]])
        async with database.transaction() as writing:
            assert await links.add(writing, bank.id, made) == 1
    async with database.connection() as connection:
        rows = await (await connection.execute("SELECT target FROM unit_link")).fetchall()
    assert [row["target"] for row in rows] == [facts[1]]


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
            await llm_calls.add(connection, caller, CALL)
    assert await left(database) == 0
