"""Where workers are killed: an API with its database, real worker processes, and a scripted model."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from memorybank.errors import MemoryBankError
from memorybank.testing.scripted_llm import ScriptedLLM
from memorybank_eval.client import Client, bank_path
from memorybank_eval.server import running

#: Seconds that a worker's times are cut to where a run should be quick; the others are as shipped. A lease is not: who
#: is killed lets go at once, and a crowded machine lets workers stand still.
QUICK: Mapping[str, float] = {
    "heartbeat_seconds": 0.2,
    "dead_seconds": 0.6,
    "sweep_seconds": 0.2,
    "rering_seconds": 0.6,
}
#: What a worker writes once it works.
READY = "the worker is ready"
#: Seconds between two looks at an operation.
LOOK_SECONDS = 0.01
#: Seconds that anything here may take.
PATIENCE = 90.0


class Worker(Protocol):
    """A worker process."""

    def send_signal(self, signal: int, /) -> None:
        """Send it a signal."""

    def kill(self) -> None:
        """End it as the kernel does when memory is short: at once, without a word."""

    def wait(self) -> object:
        """Wait until it has ended."""


#: Starts a worker: gets its environment and the file for its output.
Spawn = Callable[[Mapping[str, str], Path], Worker]


def as_program(environ: Mapping[str, str], output: Path) -> Worker:
    """Start a worker as anybody does."""
    with output.open("ab") as file:
        command = [sys.executable, "-m", "memorybank_workers"]
        return subprocess.Popen(command, env=environ, stdout=file, stderr=file)


class Site:
    """An API with its database, the scripted model, and the workers of the moment."""

    def __init__(self, model: ScriptedLLM, client: Client, environ: Mapping[str, str], spawn: Spawn) -> None:
        self.model = model
        self.client = client
        self._environ = {**os.environ, **environ}
        self._output = Path(environ["MEMORYBANK_HOME"]) / "workers.out"
        self._output.touch()
        self._spawn = spawn
        self._started = 0
        self._running: list[Worker] = []
        #: The other worker by its times, stopped; and a new one of an earlier run, which is the next victim.
        self._others: dict[bool, Worker] = {}
        self._next: dict[bool, Worker] = {}

    async def victim(self, quick: bool) -> Worker:
        """Return a worker that takes whatever comes."""
        return self._next.pop(quick, None) or await self.start(quick)

    async def other(self, quick: bool) -> Worker:
        """Return a worker that has worked before and stands still."""
        if quick not in self._others:
            self._others[quick] = await self.start(quick)
            bank = f"first-{quick}"
            turn = {"content": "Ines: The other worker is awake.", "document_id": bank}
            await self.client.wait(bank, await self.client.submit(bank, [turn]))
            self._others[quick].send_signal(signal.SIGSTOP)
        return self._others[quick]

    def keep(self, quick: bool, worker: Worker) -> None:
        """Keep a worker for the next run with its times."""
        if worker is self._others.get(quick):
            worker.send_signal(signal.SIGSTOP)
        else:
            self._next[quick] = worker

    async def start(self, quick: bool) -> Worker:
        """Start a worker process, and wait until it works."""
        worker = self.spawn(quick)
        await self.ready()
        return worker

    def spawn(self, quick: bool) -> Worker:
        """Start a worker process."""
        times = {f"MEMORYBANK_WORKER__{key.upper()}": str(value) for key, value in QUICK.items()}
        worker = self._spawn(self._environ | (times if quick else {}), self._output)
        self._started += 1
        self._running.append(worker)
        return worker

    async def ready(self) -> None:
        """Wait until every worker that was started has said that it works."""

        async def said() -> bool:
            return self._output.read_text(errors="replace").count(READY) >= self._started

        await until(said, "a worker does not start")

    def end(self) -> None:
        """Leave no worker."""
        for worker in self._running:
            worker.kill()
            worker.wait()

    async def state(self, bank: str, operation: str) -> dict[str, Any]:
        """Return an operation; raises MemoryBankError once something of it was lost."""
        found = await self.client.call("GET", f"{bank_path(bank)}/operations/{operation}")
        lost = found["status"] == "completed" and found.get("error_message")
        if found["status"] in ("failed", "cancelled") or lost:
            raise MemoryBankError(f"operation {found['status']}: {found.get('error_message')}")
        return found

    async def stored(self, bank: str, operation: str) -> int:
        """Return how much is done, in chunks or facts: progress is written in the transaction that stores."""
        found = await self.state(bank, operation)
        return int((found.get("progress") or {}).get("processed") or 0)

    async def recovered(self, bank: str, operation: str, before: int) -> tuple[float, float]:
        """Wait until more is done than before, then until all is; returns both moments."""

        async def further() -> bool:
            return await self.stored(bank, operation) > before

        async def done() -> bool:
            return bool((await self.state(bank, operation))["status"] == "completed")

        await until(further, "nobody goes on")
        resumed = time.perf_counter()
        await until(done, "the operation does not end")
        return resumed, time.perf_counter()


@asynccontextmanager
async def site(
    home: Path, spawn: Spawn, settings: Mapping[str, str], latency: float = 0.0
) -> AsyncIterator[Site]:
    """Give a site in an empty home, under further settings; nothing of it runs afterwards.

    `latency`: seconds of each answer of the model.
    """
    with ScriptedLLM(latency=latency) as model:
        environ = {
            "MEMORYBANK_LLM__MODEL": "openai/scripted",
            "MEMORYBANK_LLM__BASE_URL": model.base_url,
            "MEMORYBANK_LLM__API_KEY": "none",
            "MEMORYBANK_HOME": str(home),
            "MEMORYBANK_BANK__ENABLE_AUTO_CONSOLIDATION": "false",
            **settings,
        }
        with running(home, environ, command="serve") as server:
            async with Client(server.url) as client:
                made = Site(model, client, environ, spawn)
                try:
                    yield made
                finally:
                    model.release()
                    made.end()


async def until(true: Callable[[], Awaitable[bool]], otherwise: str) -> None:
    """Wait until something is so; raises MemoryBankError saying what is not."""
    end = time.monotonic() + PATIENCE
    while not await true():
        if time.monotonic() > end:
            raise MemoryBankError(otherwise)
        await asyncio.sleep(LOOK_SECONDS)
