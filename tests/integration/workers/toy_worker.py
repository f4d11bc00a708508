"""A real worker process over a toy handler: `toy_worker.py WHERE SETTINGS`.

WHERE is a conninfo, or `home:PATH` for the embedded server of that home. Each step of an operation is a "call" (a
sleep), then a row in `effect`, committed with the progress; there is no unique key, so a doubled effect is seen.
"""

import asyncio
import json
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from uuid import UUID

from memorybank import rounds
from memorybank.liveness import Worker
from memorybank.operations import Kind, Outcome
from memorybank.rounds import Round
from memorybank.settings import WorkerSettings, load
from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.pool import Database
from memorybank_workers import run


class ToyPlace:
    def __init__(self, database: Database, worker: Worker, settings: WorkerSettings) -> None:
        self.database = database
        self.worker = worker
        self.settings = settings

    async def work(self, operation_id: UUID) -> None:
        handlers = {Kind.RETAIN: self.steps}
        await rounds.run(self.database, handlers, operation_id, self.worker, self.settings)

    async def catch_up(self) -> None:
        """Nothing is left behind here."""

    def drain(self) -> None:
        self.worker.drain()

    async def steps(self, round_: Round) -> Outcome:
        payload = round_.claim.payload
        operation = round_.claim.lease.operation_id
        first, total = await self.written(operation), payload.get("steps", 1)
        for step in range(first, total):
            if round_.over():
                return Outcome(more=True)
            await call(payload)
            async with round_.writing() as connection:
                await connection.execute(
                    "INSERT INTO effect (operation, step, pid) VALUES (%s, %s, %s)",
                    [operation, step, os.getpid()],
                )
                await round_.report(connection, "toy", step + 1, total)
        return Outcome(result={"facts_kept": total})

    async def written(self, operation: UUID) -> int:
        async with self.database.connection() as connection:
            cursor = await connection.execute(
                "SELECT count(*) AS n FROM effect WHERE operation = %s", [operation]
            )
            row = await cursor.fetchone()
            assert row is not None
            return int(row["n"])


async def call(payload: dict[str, object]) -> None:
    """What the payload says a step does before it writes."""
    match payload.get("does"):
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "time out":
            raise TimeoutError("a socket")
        case "block":
            time.sleep(float(str(payload["seconds"])))  # noqa: ASYNC251 - the loop is blocked on purpose
        case _:
            await asyncio.sleep(float(str(payload.get("seconds", 0))))


@asynccontextmanager
async def opened(where: str, settings: WorkerSettings) -> AsyncIterator[ToyPlace]:
    async def conninfo() -> str:
        home = where.removeprefix("home:")
        return EmbeddedServer(Path(home)).conninfo() if home != where else where

    database = Database(conninfo, load(environ={}).database.model_copy(update={"acquire_timeout_seconds": 2}))
    await database.open()
    worker = Worker(database, settings)
    await worker.start()
    yield ToyPlace(database, worker, settings)
    await worker.stop()
    await database.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    times = WorkerSettings(**json.loads(sys.argv[2]))
    sys.exit(run(partial(opened, sys.argv[1], times), times))
