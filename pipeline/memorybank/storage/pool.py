"""The database seen from one process: a pool of connections and the two ways to use one.

`Database.open` must run in the event loop that will use the pool: a pool opened in another loop works until the first
dropped connection and then times out for ever.
"""

import asyncio
import select
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Concatenate, ParamSpec, TypeVar

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, IsolationLevel, errors
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from memorybank.errors import Conflict, ConnectionLost, DatabaseUnavailable
from memorybank.settings import DatabaseSettings
from memorybank.storage.queries import Connection

#: A generic plan for `audience_id = ANY(...)` was measured 17 times slower than a custom one. Look-ups by key differ:
#: `search.by_key`.
SESSION_SETTINGS = (
    "SET plan_cache_mode = force_custom_plan",
    "SET timezone = 'UTC'",
    "SET jit = off",
    # A bank's own vector index: units that it keeps in view (docs/decisions.md says why), and that it goes on where
    # a filter leaves too few, in nearly the right order: the strict one loses the best of them.
    "SET hnsw.ef_search = 300",
    "SET hnsw.iterative_scan = relaxed_order",
)

#: The class of SQLSTATEs of a server that has too little of something.
OUT_OF_RESOURCES = "53"

#: Seconds between the attempts of a read whose connection was lost: a server that starts again needs less than these.
RETRY_SECONDS = (0.5, 1.0, 2.0)

Conninfo = Callable[[], Awaitable[str]]
T = TypeVar("T")
P = ParamSpec("P")


class Database:
    """A pool of connections to one PostgreSQL; `conninfo` is asked again for each new connection."""

    def __init__(self, conninfo: Conninfo, settings: DatabaseSettings) -> None:
        self.conninfo = conninfo
        self._settings = settings
        self._pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
            conninfo,
            min_size=settings.pool_min,
            max_size=settings.pool_max,
            open=False,
            kwargs={"row_factory": dict_row, "autocommit": True},
            configure=self._configure,
            check=_check,
            timeout=settings.acquire_timeout_seconds,
            name="memorybank",
        )

    async def open(self) -> None:
        """Open the pool in the running loop and wait for a first connection; raises DatabaseUnavailable."""
        try:
            await self._pool.open(wait=True, timeout=self._settings.acquire_timeout_seconds)
        except PoolTimeout as error:
            await self._pool.close()
            raise DatabaseUnavailable(f"PostgreSQL does not answer: {error}") from error

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend a connection in autocommit, for reads of one statement."""
        try:
            async with self._pool.connection() as connection:
                yield connection
        except PoolTimeout as error:
            raise DatabaseUnavailable(
                "no database connection became free; raise database.pool_max"
            ) from error
        except psycopg.OperationalError as error:
            raise _typed(error) from error
        except errors.ForeignKeyViolation as error:
            raise Conflict("what it belongs to was removed meanwhile: try again") from error

    async def ask(
        self, query: Callable[Concatenate[Connection, P], Awaitable[T]], *arguments: P.args, **named: P.kwargs
    ) -> T:
        """Return what one query gives, on a connection of its own."""
        async with self.connection() as connection:
            return await query(connection, *arguments, **named)

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[Connection]:
        """Give a connection in autocommit that is none of the pool's, for what takes minutes; it is closed then."""
        try:
            made = await psycopg.AsyncConnection[DictRow].connect(
                await self.conninfo(), autocommit=True, row_factory=dict_row
            )
            async with made as connection:
                yield connection
        except psycopg.OperationalError as error:
            raise _typed(error) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """Lend a connection inside a transaction: all of it is committed, or nothing."""
        async with self.connection() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        """Lend a connection whose statements all see the same moment; for reads of several statements."""
        async with self.connection() as connection:
            # Said before BEGIN, which then says it to the server: one trip less.
            await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
            await connection.set_read_only(True)
            try:
                async with connection.transaction():
                    yield connection
            finally:
                if connection.info.transaction_status is TransactionStatus.IDLE:
                    await connection.set_isolation_level(None)
                    await connection.set_read_only(None)
                else:  # broken off in the middle: nobody may write on it
                    await connection.close()

    async def patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """Return what a read gives, asked again where the server goes away in the middle; raises what came last."""
        for seconds in RETRY_SECONDS:
            try:
                return await read()
            except ConnectionLost:
                await asyncio.sleep(seconds)
        return await read()

    async def ping(self) -> None:
        """Ask the server for an answer; raises DatabaseUnavailable."""
        async with self.connection() as connection:
            await connection.execute("SELECT 1")

    def statistics(self) -> dict[str, int]:
        """Return the pool's counters, for /health and /metrics."""
        return dict(self._pool.get_stats())

    async def _configure(self, connection: AsyncConnection[DictRow]) -> None:
        for setting in SESSION_SETTINGS:
            await connection.execute(setting)
        milliseconds = int(self._settings.statement_timeout_seconds * 1000)
        await connection.execute("SELECT set_config('statement_timeout', %s, false)", [str(milliseconds)])
        await register_vector_async(connection)


async def _check(connection: AsyncConnection[DictRow]) -> None:
    """Raise where the server has ended a connection that is to be lent.

    An idle server says nothing, so only what has something to say is asked: asking each time was a sixth of all
    statements of a retain.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        await AsyncConnectionPool.check_connection(connection)


def _typed(error: psycopg.OperationalError) -> DatabaseUnavailable:
    """Return what went wrong. All of it may pass, so a round is tried again, and so may a request be."""
    if isinstance(error, errors.DeadlockDetected | errors.SerializationFailure):
        return DatabaseUnavailable(
            "two transactions were in each other's way, and this one gave way: try again"
        )
    if isinstance(error, errors.QueryCanceled):
        return DatabaseUnavailable("a statement took longer than database.statement_timeout_seconds")
    if error.sqlstate and error.sqlstate.startswith(OUT_OF_RESOURCES):
        return DatabaseUnavailable(
            f"PostgreSQL has not enough memory, disk or connections: {type(error).__name__}"
        )
    return ConnectionLost(f"the connection to PostgreSQL was lost: {type(error).__name__}")
