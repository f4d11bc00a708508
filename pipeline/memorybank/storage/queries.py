"""Named SQL: no statement stands in Python. Files under queries/ hold `-- name: x`, a comment that says why, the SQL.

A query's full name is `file.name`. Every read of a table with an audience carries the two parameters of a Viewer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow

Row = dict[str, Any]
Connection = AsyncConnection[DictRow]
Parameters = Mapping[str, Any]

_FOLDER = Path(__file__).parent / "queries"
_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Query:
    """One named statement; `description` is the comment below its name."""

    name: str
    description: str
    sql: str


@cache
def load() -> Mapping[str, Query]:
    """Return every query by its full name."""
    found: dict[str, Query] = {}
    for path in sorted(_FOLDER.glob("*.sql")):
        _, *parts = _NAME.split(path.read_text(encoding="utf-8"))
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            full = f"{path.stem}.{name}"
            if full in found:
                raise ValueError(f"query {full} stands twice")
            found[full] = _query(full, body)
    return found


def _query(name: str, body: str) -> Query:
    lines = body.strip().splitlines()
    comment = [line[2:].strip() for line in lines if line.startswith("--")]
    sql = "\n".join(line for line in lines if not line.startswith("--")).strip()
    if not comment or not sql:
        raise ValueError(f"query {name} needs a comment that says why, and a statement")
    return Query(name, " ".join(comment), sql)


async def _run(connection: Connection, name: str, parameters: Parameters) -> AsyncCursor[DictRow]:
    return await connection.execute(load()[name].sql, parameters)


async def fetch_all(connection: Connection, name: str, parameters: Parameters) -> list[Row]:
    """Run a query and return all its rows."""
    return await (await _run(connection, name, parameters)).fetchall()


async def fetch_one(connection: Connection, name: str, parameters: Parameters) -> Row | None:
    """Run a query and return its first row, or None."""
    return await (await _run(connection, name, parameters)).fetchone()


async def fetch_row(connection: Connection, name: str, parameters: Parameters) -> Row:
    """Run a query that always gives a row, and return it."""
    row = await fetch_one(connection, name, parameters)
    if row is None:
        raise LookupError(f"query {name} gave no row")
    return row


async def fetch_by_key(connection: Connection, name: str, parameters: Parameters) -> list[Row]:
    """Run a query that each request asks, and that finds by keys: to plan it anew costs more than to run it."""
    async with connection.pipeline():
        await _run(connection, "plans.by_key", {})
        cursor = await _run(connection, name, parameters)
        await _run(connection, "plans.each", {})
    return await cursor.fetchall()


async def execute(connection: Connection, name: str, parameters: Parameters) -> int:
    """Run a statement and return how many rows it touched."""
    return (await _run(connection, name, parameters)).rowcount


async def execute_many(connection: Connection, name: str, rows: Sequence[Parameters]) -> None:
    """Run a statement once for each row of parameters, in one pipeline."""
    if rows:
        async with connection.cursor() as cursor:
            await cursor.executemany(load()[name].sql, rows)
