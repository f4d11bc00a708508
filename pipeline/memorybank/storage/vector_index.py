"""A large bank's own index of its vectors: when it is due, its build beside readers and writers, its end.

It is a partial HNSW index on the partition that holds the bank: PostgreSQL cannot build one on the partitioned table
without a lock, and each index is looked at by every statement on its partition, so small banks have none.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import ceil

from memorybank.ids import new_id
from memorybank.operations import Kind
from memorybank.storage import operations
from memorybank.storage.operations import NewOperation
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection, execute, fetch_all, fetch_one, fetch_row, load

#: Any fixed number: the advisory lock of who builds.
BUILD_LOCK = 0x6D627669
#: Bytes that a build needs for a vector besides two a dimension; with 180 MB for 100,000 pgvector 0.8 had enough.
_VECTOR_BYTES = 1_100
#: Megabytes for a build at least (PostgreSQL's own default) and at most.
MEMORY_LEAST, MEMORY_MOST = 64, 2_048
MEGABYTE = 1 << 20


async def queue(connection: Connection, bank: int, audience_id: int, model: int, exact: int) -> bool:
    """Queue the build of an index where the bank has more than `exact` vectors and none; returns whether it did."""
    asked = {"bank": bank, "model": model, "exact": exact}
    if await fetch_one(connection, "vector_index.due", asked) is None:
        return False
    await execute(connection, "vector_index.hold", {"bank": bank})
    if await fetch_one(connection, "vector_index.due", asked) is None:
        return False
    made = NewOperation(new_id(), bank, audience_id, Kind.VECTOR_INDEX, {"model": model})
    await operations.submit(connection, [made])
    return True


async def sweep(connection: Connection, model: int, exact: int) -> int:
    """Queue the builds that nobody queued, as retain does after its own writes; return how many."""
    grown = await fetch_all(connection, "vector_index.grown", {"model": model, "exact": exact})
    return sum([await queue(connection, row["bank"], row["audience_id"], model, exact) for row in grown])


async def build(database: Database, bank: int, model: int) -> int | None:
    """Build the index where there is none, or a broken one; returns its vectors. None: another build is under way.

    Indexes of banks that are gone go first.
    """
    async with _alone(database) as connection:
        if connection is None:
            return None
        await _drop_orphans(connection)
        place = await fetch_row(connection, "vector_index.place", {"bank": bank, "model": model})
        name = f"embedding_hnsw_{int(bank)}_{int(model)}"
        known = {row["name"]: row["valid"] for row in await fetch_all(connection, "vector_index.known", {})}
        if place["leaf"] and not known.get(name):
            if name in known:
                await _run(connection, "drop", name=name)
            needed = ceil(place["units"] * (2 * place["dimensions"] + _VECTOR_BYTES) / MEGABYTE)
            memory = f"{min(max(needed, MEMORY_LEAST), MEMORY_MOST)}MB"
            await fetch_row(connection, "vector_index.patience", {"memory": memory})
            own = {"leaf": place["leaf"], "dimensions": int(place["dimensions"]), "bank": int(bank)}
            await _run(connection, "build", name=name, model=int(model), **own)
            await _drop_orphans(connection)
        return int(place["units"])


async def adopt(connection: Connection, bank: int, model: int) -> None:
    """Let recall use the index from now on."""
    await execute(connection, "vector_index.adopt", {"bank": bank, "model": model})


async def prune(database: Database) -> None:
    """Drop the indexes of banks that are gone; a build that is under way does it at its end."""
    async with _alone(database) as connection:
        if connection is not None:
            await _drop_orphans(connection)


@asynccontextmanager
async def _alone(database: Database) -> AsyncIterator[Connection | None]:
    """Give a connection that alone may build and drop, as long as it is open; None where another has that right."""
    async with database.apart() as connection:
        row = await fetch_row(connection, "vector_index.alone", {"lock": BUILD_LOCK})
        yield connection if row["alone"] else None


async def _drop_orphans(connection: Connection) -> None:
    for row in await fetch_all(connection, "vector_index.known", {}):
        if not row["owned"]:
            await _run(connection, "drop", name=row["name"])


async def _run(connection: Connection, statement: str, **names: str | int) -> None:
    """Run a statement on what cannot be a parameter: names and numbers of our own making."""
    await connection.execute(load()[f"vector_index.{statement}"].sql.format(**names).encode())
