"""What the pool makes of errors that pass: each says in its own words what went wrong."""

import asyncio

import pytest

from memorybank.errors import DatabaseUnavailable
from memorybank.storage.pool import Database

LOCK = "SELECT pg_advisory_xact_lock(%s)"


async def test_a_lost_connection_says_so(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match="connection to PostgreSQL was lost: AdminShutdown"):
        async with database.connection() as connection:
            await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    await database.ping()


async def test_a_connection_that_ended_while_idle_is_not_lent(database: Database) -> None:
    async with database.connection() as first, database.connection() as second:
        ended = {first.info.backend_pid, second.info.backend_pid}
    async with database.connection() as third:
        for pid in ended - {third.info.backend_pid}:
            await third.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        async with database.connection() as lent:
            assert lent.info.backend_pid not in ended
            await lent.execute("SELECT 1")


async def test_a_deadlock_is_no_lost_connection(database: Database) -> None:
    both = asyncio.Barrier(2)

    async def take(first: int, second: int) -> None:
        async with database.transaction() as connection:
            await connection.execute(LOCK, [first])
            await both.wait()
            await connection.execute(LOCK, [second])

    ends = await asyncio.gather(take(1, 2), take(2, 1), return_exceptions=True)
    (error,) = filter(None, ends)
    assert isinstance(error, DatabaseUnavailable)
    assert "in each other's way" in error.message


async def test_a_statement_that_takes_too_long_names_its_setting(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"longer than database\.statement_timeout_seconds"):
        async with database.transaction() as connection:
            await connection.execute("SET LOCAL statement_timeout = 50")
            await connection.execute("SELECT pg_sleep(10)")


async def test_a_server_out_of_resources_is_no_lost_connection(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match="not enough memory, disk or connections: DiskFull"):
        async with database.connection() as connection:
            await connection.execute("DO $$ BEGIN RAISE EXCEPTION SQLSTATE '53100'; END $$")
