"""What keeps work going: a worker's sign of life, its doorbell, and the sweep after workers that are gone.

`Pulse` and `Doorbell` are sync and have a connection of their own, because they belong to threads: a
blocked event loop must not look like a dead worker.
"""

import asyncio
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from memorybank.errors import DatabaseUnavailable
from memorybank.operations import Ending, Lease, RoundEnd
from memorybank.storage import operations, queries
from memorybank.storage.pool import Conninfo, Database
from memorybank.storage.queries import Row

#: The first number of the advisory locks that say "this worker lives"; the second is its `lock_key`.
LIVENESS_SPACE = 0x6D626C76
#: Workers that were gone this many seconds ago, and hold nothing, are forgotten.
FORGET_SECONDS = 3600.0
#: Seconds that one try to connect may take.
CONNECT_SECONDS = 5


@dataclass(frozen=True)
class Beat:
    """One lease after a beat."""

    token: UUID
    cancel_requested: bool


class _Session:
    """A sync connection that comes back: after an error it is closed, and the next call opens another."""

    def __init__(self, conninfo: Conninfo) -> None:
        self._conninfo = conninfo
        self._connection: Connection[DictRow] | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def _open(self) -> Connection[DictRow]:
        """Return the connection, a new one where there is none; raises DatabaseUnavailable."""
        if self._connection is None:
            # A loop of its own: that of the process may be the one that is blocked.
            where = asyncio.run(self._where())
            try:
                self._connection = psycopg.connect(
                    where, autocommit=True, row_factory=dict_row, connect_timeout=CONNECT_SECONDS
                )
                self._connection.execute(queries.load()["workers.hurry"].sql)
                self._greet(self._connection)
            except psycopg.Error as error:
                raise self._lost(error) from error
        return self._connection

    async def _where(self) -> str:
        return await self._conninfo()

    def _greet(self, connection: Connection[DictRow]) -> None:
        """Say what a new connection says first."""

    def _rows(self, name: str, parameters: dict[str, Any]) -> list[Row]:
        """Run a named query; raises DatabaseUnavailable, after which the connection is a new one."""
        connection = self._open()
        try:
            return connection.execute(queries.load()[name].sql, parameters).fetchall()
        except psycopg.Error as error:
            raise self._lost(error) from error

    def _lost(self, error: psycopg.Error) -> DatabaseUnavailable:
        self.close()
        return DatabaseUnavailable(f"the connection to PostgreSQL was lost: {type(error).__name__}")


class Pulse(_Session):
    """The heartbeat session of one worker: connected, it is registered and holds the liveness lock."""

    def __init__(self, conninfo: Conninfo, worker: UUID, lease_seconds: float) -> None:
        super().__init__(conninfo)
        self._worker = worker
        self._lease_seconds = lease_seconds

    def beat(self, tokens: Sequence[UUID], loose: Sequence[UUID] = ()) -> list[Beat]:
        """Renew the leases of `tokens`, end those of `loose`; returns what was found of both.

        Raises DatabaseUnavailable; the next beat connects again.
        """
        if not self._rows("workers.beat", {"id": self._worker}):
            self.close()  # forgotten while it stood still: the next connection registers again
            self._open()
        rows = self._rows(
            "workers.beat_leases",
            {
                "id": self._worker,
                "tokens": list(tokens),
                "loose": list(loose),
                "lease_seconds": self._lease_seconds,
            },
        )
        return [Beat(row["lease_token"], row["cancel_requested"]) for row in rows]

    def end(self) -> None:
        """Unregister and close; raises DatabaseUnavailable."""
        try:
            self._open().execute(queries.load()["workers.unregister"].sql, {"id": self._worker})
        except psycopg.Error as error:
            raise self._lost(error) from error
        self.close()

    def _greet(self, connection: Connection[DictRow]) -> None:
        identity = {"id": self._worker, "host": socket.gethostname(), "pid": os.getpid()}
        row = connection.execute(queries.load()["workers.register"].sql, identity).fetchone()
        if row is not None:
            lock = {"space": LIVENESS_SPACE, "lock_key": row["lock_key"]}
            connection.execute(queries.load()["workers.hold"].sql, lock)


@dataclass(frozen=True)
class Rung:
    """One operation that this worker was rung for, and nobody else for a while."""

    operation_id: UUID
    kind: str


class Doorbell(_Session):
    """Where a worker process waits for work."""

    def ring(self, kinds: Sequence[str], limit: int, rering_seconds: float) -> list[Rung]:
        """Return at most `limit` due operations of these kinds; raises DatabaseUnavailable."""
        rows = self._rows(
            "workers.ring", {"kinds": list(kinds), "limit": limit, "rering_seconds": rering_seconds}
        )
        return [Rung(row["id"], row["kind"]) for row in rows]

    def wait(self, seconds: float) -> bool:
        """Wait until somebody rings, at most so long; returns whether one did. Raises DatabaseUnavailable."""
        connection = self._open()
        try:
            return bool(list(connection.notifies(timeout=seconds, stop_after=1)))
        except psycopg.Error as error:
            raise self._lost(error) from error

    def give_back(self, ids: Sequence[UUID]) -> None:
        """Let others ring for these operations at once; raises DatabaseUnavailable."""
        connection = self._open()
        try:
            connection.execute(queries.load()["workers.unring"].sql, {"ids": list(ids)})
            connection.execute(queries.load()["operations.notify"].sql)
        except psycopg.Error as error:
            raise self._lost(error) from error

    def _greet(self, connection: Connection[DictRow]) -> None:
        connection.execute(queries.load()["workers.listen"].sql)


async def sweep(database: Database, dead_seconds: float, max_attempts: int) -> int:
    """Queue again what workers that are gone held; what spent its attempts fails. Returns how many ended."""
    async with database.connection() as connection:
        rows = await queries.fetch_all(
            connection, "workers.lapsed", {"dead_seconds": dead_seconds, "space": LIVENESS_SPACE}
        )
        await queries.execute(connection, "workers.prune", {"forget_seconds": FORGET_SECONDS})
    end = RoundEnd(Ending.TROUBLE, "the worker died, or stood still for longer than its lease")
    ended = [
        await operations.lapse(
            database, Lease(row["id"], row["lease_token"]), row["parent"], end, max_attempts
        )
        for row in rows
    ]
    return sum(status is not None for status in ended)


async def living(connection: queries.Connection) -> int:
    """Return how many workers are connected now (a pooler in transaction mode hides them)."""
    row = await queries.fetch_row(connection, "workers.living", {"space": LIVENESS_SPACE})
    return int(row["living"])
