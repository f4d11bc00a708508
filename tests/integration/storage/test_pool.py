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
