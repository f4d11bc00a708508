"""`python -m memorybank_eval.crash`: kill -9 of a worker in the middle of an async retain, again and again.

One API with its database, real worker processes, and a scripted model whose gate lets through as many answers as a
run says. So each kill falls at a chosen moment: some chunks stored, others with the model or not begun. Then another
worker, or a new one, does the rest. Each run is a bank of its own; what it holds in the end is compared with what
went in. `--stage consolidation` does the same to a consolidation.
"""

import argparse
import asyncio
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memorybank.errors import MemoryBankError
from memorybank_eval import crash_consolidation, machine, report
from memorybank_eval.client import bank_path
from memorybank_eval.crash_site import Site, as_program, site, until

RUNS, SESSIONS = 20, 20
#: Turns of a short session and of a long one.
SHORT, LONG = 3, 12
#: Tokens of one operation here: 20 short sessions are one, 20 long ones are several.
SETTINGS = {"MEMORYBANK_RETAIN__BATCH_TOKENS": "2000"}
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
    resumed, ended = await at.recovered(bank, operation, stored)
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


async def _retain(runs: Sequence[Plan]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="memorybank-crash-") as home:
        async with site(Path(home), as_program, SETTINGS) as at:
            kills = await measure(at, runs, _say)
    by_kind = {
        "another worker": [kill for plan, kill in zip(runs, kills, strict=True) if plan.other],
        "a new worker": [kill for plan, kill in zip(runs, kills, strict=True) if not plan.other],
    }
    each = [asdict(plan) | asdict(kill) for plan, kill in zip(runs, kills, strict=True)]
    return {**{kind: summary(some) for kind, some in by_kind.items() if some}, "each": each}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="memorybank_eval.crash", description=__doc__)
    parser.add_argument("--stage", choices=("retain", "consolidation"), default="retain")
    parser.add_argument("--runs", type=int, help=f"{RUNS}, {crash_consolidation.RUNS} of consolidation")
    parser.add_argument("--quick", action="store_true", help="with shorter times of the workers than shipped")
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    given = parser.parse_args()
    if given.stage == "retain":
        kind, measured = "crash", _retain(plans(given.runs or RUNS, given.quick))
    else:
        kind, measured = "crash-consolidation", crash_consolidation.run(given.runs, given.quick, _say)
    figures = asyncio.run(measured)
    print({name: value for name, value in figures.items() if name != "each"})
    if given.out:
        report.write_json(given.out, {"kind": kind, **machine.describe(), **figures})


if __name__ == "__main__":
    main()
