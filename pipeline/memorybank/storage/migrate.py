"""Brings a database to the newest schema: forward only, one migration a transaction, under an advisory lock."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from memorybank.errors import DatabaseUnavailable

_FOLDER = Path(__file__).parent / "migrations"
#: Any fixed number: two processes that start together must not migrate together.
MIGRATION_LOCK = 0x6D656D62
#: The first with iterative index scans, which filtered vector search needs.
MINIMUM_PGVECTOR = (0, 8)
#: The oldest that we test; the schema itself (UNIQUE NULLS NOT DISTINCT) would need 15.
MINIMUM_POSTGRES = 160_000


@dataclass(frozen=True)
class Migration:
    """One step: its number, its name and its statements."""

    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """Return every shipped migration in order; a gap or a doubled number is an error."""
    found = [
        Migration(int(path.stem[:4]), path.stem[5:], path.read_text(encoding="utf-8"))
        for path in sorted(_FOLDER.glob("*.sql"))
    ]
    if [step.version for step in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations must be numbered 0001, 0002, … without a gap")
    return found


async def migrate(conninfo: str) -> list[Migration]:
    """Apply what is missing and return it; raises DatabaseUnavailable when the server or its schema cannot serve us."""
    try:
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connection.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
            await check_server(connection)
            missing = _missing(await _applied(connection))
            for step in missing:
                await _apply(connection, step)
            return missing
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(f"cannot connect to PostgreSQL: {error}") from error


async def check_server(connection: AsyncConnection[TupleRow]) -> None:
    """Make sure that server and pgvector are new enough; creates the extension where that is allowed."""
    if connection.info.server_version < MINIMUM_POSTGRES:
        raise DatabaseUnavailable(
            f"PostgreSQL 16 or newer is needed; this server is {connection.info.server_version // 10_000}"
        )
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            "pgvector 0.8 or newer is needed: install it on the server, then run"
            f" `CREATE EXTENSION vector` as a superuser ({error.sqlstate}: {type(error).__name__})"
        ) from error
    cursor = await connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    row = await cursor.fetchone()
    version = str(row[0]) if row else "0"
    if tuple(int(part) for part in version.split(".")[:2]) < MINIMUM_PGVECTOR:
        raise DatabaseUnavailable(
            f"pgvector 0.8 or newer is needed, this database has {version}: run `ALTER EXTENSION vector UPDATE`"
        )


async def _applied(connection: AsyncConnection[TupleRow]) -> dict[int, str]:
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_migration"
        " (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    cursor = await connection.execute("SELECT version, name FROM schema_migration")
    return dict(await cursor.fetchall())


def _missing(applied: Mapping[int, str]) -> list[Migration]:
    steps = migrations()
    for step in steps:
        name = applied.get(step.version, step.name)
        if name != step.name:
            raise DatabaseUnavailable(
                f"this database was made by another memorybank: its migration {step.version} is `{name}`,"
                f" ours `{step.name}`; give this one a database of its own"
            )
    return [step for step in steps if step.version not in applied]


async def _apply(connection: AsyncConnection[TupleRow], step: Migration) -> None:
    async with connection.transaction():
        await connection.execute(step.sql)
        await connection.execute(
            "INSERT INTO schema_migration (version, name) VALUES (%s, %s)", [step.version, step.name]
        )
