"""What the tests of worker processes share: processes, operations for them, and the effects they leave."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from memorybank.audience import Viewer
from memorybank.errors import DatabaseUnavailable
from memorybank.ids import new_id
from memorybank.operations import Kind
from memorybank.storage import operations
from memorybank.storage.operations import NewOperation
from memorybank.storage.pool import Database

SCRIPT = Path(__file__).with_name("toy_worker.py")
TIMES: dict[str, Any] = {
    "concurrency": 4,
    "max_attempts": 3,
    "retry_seconds": 0.1,
    "heartbeat_seconds": 0.2,
    "dead_seconds": 0.8,
    "lease_seconds": 2,
    "sweep_seconds": 0.2,
    "rering_seconds": 1,
    "round_seconds": 60,
    "round_cap_seconds": 600,
    "grace_seconds": 2,
}


class Effect(NamedTuple):
    operation: UUID
    step: int
    pid: int


class Process:
    """One worker process."""

    def __init__(self, where: str, **changes: Any) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT), where, json.dumps(TIMES | changes)],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float = 20) -> int:
        return self._process.wait(seconds)

    def log(self) -> str:
        assert self._process.stderr is not None
        return self._process.stderr.read()

    def end(self) -> None:
        """Leave nothing behind."""
        if self.running:
            self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()


class World:
    """A bank, the workers of a test, and a look at what they did."""

    def __init__(self, database: Database, where: str, bank: int, audience: int) -> None:
        self.database = database
        self.where = where
        self.bank = bank
        self.audience = audience
        self.processes: list[Process] = []

    def start(self, **changes: Any) -> Process:
        process = Process(self.where, **changes)
        self.processes.append(process)
        return process

    async def submit(self, payloads: Sequence[dict[str, Any]], **values: Any) -> list[UUID]:
        """Queue operations in one transaction."""
        new = [
            NewOperation(new_id(), self.bank, self.audience, Kind.RETAIN, payload, **values)
            for payload in payloads
        ]
        async with self.database.transaction() as connection:
            await operations.submit(connection, new)
        return [operation.id for operation in new]

    async def rows(self, statement: str) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(statement.encode())).fetchall()

    async def effects(self) -> list[Effect]:
        rows = await self.rows("SELECT operation, step, pid FROM effect ORDER BY at, step")
        return [Effect(**row) for row in rows]

    async def status(self, operation: UUID) -> str:
        async with self.database.connection() as connection:
            record = await operations.get(connection, self.bank, operation, Viewer.operator())
        assert record is not None
        return record.status.value

    async def ended(self, wanted: Sequence[UUID], seconds: float = 20) -> None:
        """Wait until operations have ended."""

        async def all_ended() -> bool:
            states = {await self.status(one) for one in wanted}
            return states <= {"completed", "failed", "cancelled"}

        await self.until(all_ended, seconds)

    async def until(self, true: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
        """Wait until something is true; a server that is away is waited for."""
        end = time.monotonic() + seconds
        while True:
            with suppress(DatabaseUnavailable):
                if await true():
                    return
            assert time.monotonic() < end, "not in time"
            await asyncio.sleep(0.02)

    async def stepped(self, count: int) -> None:
        """Wait until so many effects are there."""

        async def enough() -> bool:
            return len(await self.effects()) >= count

        await self.until(enough)

    async def exactly_once(self, operation: UUID, steps: int) -> None:
        found = [effect.step for effect in await self.effects() if effect.operation == operation]
        assert sorted(found) == list(range(steps))


async def build(database: Database, where: str) -> World:
    async with database.transaction() as connection:
        await connection.execute(
            "CREATE TABLE effect (operation uuid, step int, pid int, at timestamptz DEFAULT clock_timestamp())"
        )
        cursor = await connection.execute(
            "WITH b AS (INSERT INTO bank (bank_id, name, created_at, updated_at)"
            " VALUES (%s, 'toys', now(), now()) RETURNING id)"
            " INSERT INTO audience (bank, kind) SELECT id, 'bank' FROM b RETURNING bank, id",
            [str(uuid4())],
        )
        row = await cursor.fetchone()
        assert row is not None
    return World(database, where, row["bank"], row["id"])
