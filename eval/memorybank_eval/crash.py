"""`python -m memorybank_eval.crash`: kill -9 of a worker in the middle of an async retain, again and again.

One API with its database, real worker processes, and a scripted model whose gate lets through as many answers as a
run says. So each kill falls at a chosen moment: some chunks stored, others with the model or not begun. Then another
worker, or a new one, does the rest. Each run is a bank of its own; what it holds in the end is compared with what
went in.
"""

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from memorybank.errors import MemoryBankError
from memorybank.testing.scripted_llm import ScriptedLLM
from memorybank_eval import machine, report
from memorybank_eval.client import Client, bank_path
from memorybank_eval.server import running

RUNS, SESSIONS = 20, 20
#: Turns of a short session and of a long one.
SHORT, LONG = 3, 12
#: Tokens of one operation here: 20 short sessions are one, 20 long ones are several.
BATCH_TOKENS = 2_000
#: Seconds that a worker's times are cut to where a run should be quick; the others are as shipped.
QUICK: Mapping[str, float] = {
    "heartbeat_seconds": 0.2,
    "dead_seconds": 0.6,
    "lease_seconds": 3,
    "sweep_seconds": 0.2,
    "rering_seconds": 0.6,
}
#: What a worker writes once it works.
READY = "the worker is ready"
#: Seconds between two looks at an operation.
LOOK_SECONDS = 0.01
#: Seconds that anything here may take.
PATIENCE = 90.0
#: Seconds between an answer and the kill, in turn: the kill falls before, in and after the transaction that stores it.
RACES = (0.0, 0.01, 0.02, 0.04, 0.08)


@dataclass(frozen=True)
class Plan:
    """One run. `race`: let one more answer through and kill so many seconds later, else kill when all stands still.

    `other`: another worker has been running; it stands still until the kill, so that the one to be killed has the
    work. Else a new one is started after the kill. `quick`: with the times of QUICK.
    """

    number: int
    answers: int
    race: float | None
    other: bool
    turns: int
    quick: bool


@dataclass(frozen=True)
class Kill:
    """What one kill cost: chunks stored, chunks pending and calls with the model when it fell; seconds until the next
    chunk was stored, and until all were; calls that were made twice.
    """

    stored: int
    pending: int
    flying: int
    resumed_seconds: float
    ended_seconds: float
    repeated_calls: int


def plans(runs: int, quick: bool) -> list[Plan]:
    """Return runs that differ in every respect; quick ones too have one in ten with the times as shipped."""
    return [
        Plan(
            number=number,
            answers=1 + number * 7 % (SESSIONS - 2),
            race=RACES[number // 2 % len(RACES)] if number % 2 else None,
            other=number % 3 != 2,
            turns=LONG if number % 4 > 1 else SHORT,
            quick=quick and number % 10 != 0,
        )
        for number in range(runs)
    ]


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
        if found["status"] in ("failed", "cancelled") or found.get("error_message"):
            raise MemoryBankError(f"operation {found['status']}: {found.get('error_message')}")
        return found

    async def stored(self, bank: str, operation: str) -> int:
        """Return how many chunks are stored: progress is written in the transaction that stores."""
        found = await self.state(bank, operation)
        return int((found.get("progress") or {}).get("processed") or 0)


@asynccontextmanager
async def site(home: Path, spawn: Spawn = as_program) -> AsyncIterator[Site]:
    """Give a site in an empty home; nothing of it runs afterwards."""
    with ScriptedLLM() as model:
        environ = {
            "MEMORYBANK_LLM__MODEL": "openai/scripted",
            "MEMORYBANK_LLM__BASE_URL": model.base_url,
            "MEMORYBANK_LLM__API_KEY": "none",
            "MEMORYBANK_HOME": str(home),
            "MEMORYBANK_RETAIN__BATCH_TOKENS": str(BATCH_TOKENS),
            "MEMORYBANK_BANK__ENABLE_AUTO_CONSOLIDATION": "false",
        }
        with running(home, environ, command="serve") as server:
            async with Client(server.url) as client:
                made = Site(model, client, environ, spawn)
                try:
                    yield made
                finally:
                    model.release()
                    made.end()


def sessions(plan: Plan) -> list[list[str]]:
    """Return the turns of each session; every turn of a run is another one."""
    return [
        [
            f"{('Ines', 'Milo')[turn % 2]}: Crate {plan.number}-{session}-{turn} went to shelf {session * 31 + turn}."
            for turn in range(plan.turns)
        ]
        for session in range(SESSIONS)
    ]


def items(plan: Plan) -> list[dict[str, Any]]:
    """Return the sessions as a retain takes them: one item each."""
    return [
        {
            "content": "\n".join(turns),
            "document_id": f"session-{number}",
            # Items of one context may share a call; here each is a call of its own, to be cut off alone.
            "context": f"session {number}",
            "timestamp": f"2026-03-{1 + number:02}T10:00:00Z",
        }
        for number, turns in enumerate(sessions(plan))
    ]


def bank_of(plan: Plan) -> str:
    """Return the bank of a run."""
    return f"crash-{plan.number}"


async def strike(at: Site, plan: Plan) -> Kill:
    """Retain, kill the worker at the planned moment, let others end it, and compare; raises MemoryBankError."""
    at.model.reset()
    other = await at.other(plan.quick) if plan.other else None
    victim = await at.victim(plan.quick)
    at.model.reset()
    at.model.hold()
    bank = bank_of(plan)
    operation = await at.client.submit(bank, items(plan))
    await _let_through(at, plan, operation)
    victim.kill()
    victim.wait()
    killed = time.perf_counter()
    stored = await at.stored(bank, operation)
    flying = at.model.calls - stored
    if not 0 < stored < SESSIONS:
        raise MemoryBankError(f"run {plan.number}: the kill fell with {stored} of {SESSIONS} chunks stored")
    heir = other or at.spawn(plan.quick)
    heir.send_signal(signal.SIGCONT)
    at.model.release()
    resumed, ended = await _recovered(at, bank, operation, stored)
    await _complete(at, plan)
    at.keep(plan.quick, heir)
    repeated = at.model.calls - SESSIONS
    if not 0 <= repeated <= flying:
        raise MemoryBankError(f"run {plan.number}: {repeated} calls were repeated, {flying} were under way")
    return Kill(stored, SESSIONS - stored, flying, resumed - killed, ended - killed, repeated)


async def _let_through(at: Site, plan: Plan, operation: str) -> None:
    """Let the planned answers through, until they are stored; or one more, which may be on its way."""

    async def enough() -> bool:
        return await at.stored(bank_of(plan), operation) >= plan.answers

    at.model.release(plan.answers)
    await until(enough, "the first chunks are not stored")
    if plan.race is not None:
        at.model.release(1)
        await asyncio.sleep(plan.race)


async def _recovered(at: Site, bank: str, operation: str, before: int) -> tuple[float, float]:
    """Wait until a further chunk is stored, then until all is done; returns both moments."""

    async def further() -> bool:
        return await at.stored(bank, operation) > before

    async def done() -> bool:
        return bool((await at.state(bank, operation))["status"] == "completed")

    await until(further, "nobody goes on")
    resumed = time.perf_counter()
    await until(done, "the operation does not end")
    return resumed, time.perf_counter()


async def _complete(at: Site, plan: Plan) -> None:
    """Compare what the bank holds with what went in; raises MemoryBankError."""
    found = await at.client.call("GET", f"{bank_path(bank_of(plan))}/memories/list?limit=1000")
    held = sorted((fact["document_id"], fact["text"]) for fact in found["items"])
    wanted = sorted(
        (f"session-{number}", turn) for number, turns in enumerate(sessions(plan)) for turn in turns
    )
    if held != wanted:
        missing, extra = set(wanted) - set(held), len(held) - len(set(held))
        raise MemoryBankError(f"run {plan.number}: {len(missing)} facts are missing, {extra} are there twice")


async def until(true: Callable[[], Awaitable[bool]], otherwise: str) -> None:
    """Wait until something is so; raises MemoryBankError saying what is not."""
    end = time.monotonic() + PATIENCE
    while not await true():
        if time.monotonic() > end:
            raise MemoryBankError(otherwise)
        await asyncio.sleep(LOOK_SECONDS)


def summary(kills: Sequence[Kill]) -> dict[str, Any]:
    """Return the figures of some kills together."""
    resumed = [kill.resumed_seconds for kill in kills]
    return {
        "kills": len(kills),
        "resumed_seconds": {"p50": round(statistics.median(resumed), 2), "max": round(max(resumed), 2)},
        "repeated_calls": {
            "mean": round(statistics.mean(kill.repeated_calls for kill in kills), 2),
            "max": max(kill.repeated_calls for kill in kills),
        },
    }


async def measure(at: Site, runs: Sequence[Plan], say: Callable[[str], object] = str) -> list[Kill]:
    """Do runs one after the other; raises MemoryBankError for the first fact lost or doubled."""
    kills = []
    for plan in runs:
        kills.append(await strike(at, plan))
        say(f"{plan} {kills[-1]}")
    return kills


async def _measured(runs: Sequence[Plan]) -> list[Kill]:
    with tempfile.TemporaryDirectory(prefix="memorybank-crash-") as home:
        async with site(Path(home)) as at:
            return await measure(at, runs, report.say)


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="memorybank_eval.crash", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--quick", action="store_true", help="with shorter times of the workers than shipped")
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    given = parser.parse_args()
    runs = plans(given.runs, given.quick)
    kills = asyncio.run(_measured(runs))
    by_kind = {
        "another worker": [kill for plan, kill in zip(runs, kills, strict=True) if plan.other],
        "a new worker": [kill for plan, kill in zip(runs, kills, strict=True) if not plan.other],
    }
    figures = {kind: summary(some) for kind, some in by_kind.items() if some}
    each = [asdict(plan) | asdict(kill) for plan, kill in zip(runs, kills, strict=True)]
    print(figures)
    if given.out:
        report.write_json(given.out, {"kind": "crash", **machine.describe(), **figures, "each": each})


if __name__ == "__main__":
    main()
