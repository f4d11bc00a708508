"""kill -9 of a worker in the middle of a consolidation: what comes out is what an undisturbed run makes.

One bank is filled once; before each run all its observations are cleared. Its facts are in five scopes, which are
decided on side by side, and in each most things are said two or three times, so what becomes of a fact depends on those
before it: the texts would differ if a crash put batches together otherwise. Compared are texts, tags, dates, proof
counts, the ids of the sources, names, and what each observation said before.
"""

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from memorybank.errors import MemoryBankError
from memorybank_eval.client import bank_path
from memorybank_eval.crash_site import Site, site, until
from memorybank_eval.nursery import Nursery

BANK = "crash"
RUNS, KILLS_OF_ONE = 50, 10
SCOPES, DOCUMENTS, LINES = 5, 4, 20
FACTS = SCOPES * DOCUMENTS * LINES
#: Facts of a call (`consolidation_llm_batch_size`), lanes side by side (`…_parallelism`): each call is a full one.
BATCH, AT_ONCE = 8, 4
CALLS = FACTS // BATCH
#: Different things that are said in a scope; the rest says them again, in later documents.
MATTERS = 30
#: Seconds of an answer, and seconds between a batch and the kill at most: it falls anywhere between two batches.
LATENCY, DELAY = 0.1, 0.2
#: Seconds in which calls that a dead worker had sent arrive.
SETTLE = 0.1
SEED = 5
SETTINGS = {
    "MEMORYBANK_BANK__CONSOLIDATION_LLM_BATCH_SIZE": str(BATCH),
    "MEMORYBANK_BANK__CONSOLIDATION_LLM_PARALLELISM": str(AT_ONCE),
}
#: What is compared of an observation; its id and the times of the run are new each time.
COMPARED = (
    "text",
    "tags",
    "date",
    "occurred_start",
    "occurred_end",
    "mentioned_at",
    "proof_count",
    "entities",
)
BEFORE = ("previous_text", "previous_tags", "previous_mentioned_at")


@dataclass(frozen=True)
class Moment:
    """When a worker is killed: once so many facts are done, and so many seconds later."""

    facts: int
    delay: float


@dataclass(frozen=True)
class Kill:
    """What one kill met: facts done, calls sent for facts that were not; and the seconds until more was done."""

    stored: int
    flying: int
    resumed_seconds: float


@dataclass(frozen=True)
class Run:
    """A run with its kills, the calls that it took beyond those of an undisturbed one, and how long it took."""

    kills: tuple[Kill, ...]
    extra_calls: int
    seconds: float


def moments(runs: int, kills_of_one: int) -> list[tuple[Moment, ...]]:
    """Return when to kill: `runs` times once, anywhere; then so many times in one run."""
    draw = Random(SEED)

    def drawn(most: int) -> Moment:
        return Moment(BATCH * draw.randint(0, most), round(draw.uniform(0, DELAY), 3))

    many = sorted((drawn(CALLS * 3 // 4) for _ in range(kills_of_one)), key=lambda moment: moment.facts)
    return [*((drawn(CALLS - 1),) for _ in range(runs)), tuple(many)]


def items() -> list[dict[str, Any]]:
    """Return the documents as a retain takes them; a line is a fact."""
    return [
        {
            "content": "\n".join(_line(scope, document * LINES + line) for line in range(LINES)),
            "document_id": f"hall {scope} day {document}",
            "context": f"hall {scope} day {document}",
            "timestamp": f"2026-03-{1 + document:02}T10:00:00Z",
            "tags": [f"hall:{scope}"],
        }
        for scope in range(SCOPES)
        for document in range(DOCUMENTS)
    ]


def _line(scope: int, number: int) -> str:
    matter, time_ = number % MATTERS, number // MATTERS
    when = ("first", "then", "later")[time_]
    return (
        f"Ines: {when} we saw crate {matter * 7 + 100} of hall {scope} stand on shelf {matter * 31 + 400}"
        " beside the old north gate"
    )


async def fill(at: Site) -> None:
    """Fill the bank; nothing is consolidated."""
    await at.client.retain(BANK, items())
    held = await at.client.count(BANK)
    if held != FACTS:
        raise MemoryBankError(f"the bank holds {held} facts instead of {FACTS}")


async def consolidate(at: Site, kills: Sequence[Moment], quick: bool) -> Run:
    """Consolidate the bank anew and kill whoever works at each moment; raises MemoryBankError where that costs more."""
    await at.client.call("DELETE", f"{bank_path(BANK)}/observations")
    worker = await at.victim(quick)
    at.model.reset()
    at.model.fail("newest_words", times=None)
    if len(kills) == 1:
        # The last answer is held back until the kill: the run is not over before.
        at.model.hold()
        at.model.release(CALLS - 1)
    began = time.perf_counter()
    operation = str((await at.client.call("POST", f"{bank_path(BANK)}/consolidate", {}))["operation_id"])
    met: list[Kill] = []
    for moment in kills:
        await _reached(at, operation, moment.facts)
        await asyncio.sleep(moment.delay)
        worker.kill()
        worker.wait()
        worker, killed = at.spawn(quick), time.perf_counter()
        await asyncio.sleep(SETTLE)
        stored = await at.stored(BANK, operation)
        flying = at.model.calls - stored // BATCH - sum(kill.flying for kill in met)
        at.model.release()
        await _reached(at, operation, stored + 1)
        met.append(Kill(stored, flying, round(time.perf_counter() - killed, 2)))
    await at.recovered(BANK, operation, 0)
    at.keep(quick, worker)
    run = Run(tuple(met), at.model.calls - CALLS, round(time.perf_counter() - began, 2))
    _check(run)
    return run


async def _reached(at: Site, operation: str, facts: int) -> None:
    """Wait until so many facts are done."""

    async def reached() -> bool:
        return await at.stored(BANK, operation) >= facts

    await until(reached, f"{facts} facts are not done")


def _check(run: Run) -> None:
    """Raise MemoryBankError where a kill fell outside of a run, or calls were repeated that were not under way."""
    if any(kill.stored >= FACTS for kill in run.kills):
        raise MemoryBankError(f"a kill fell when all was done: {run}")
    if any(not 0 <= kill.flying <= AT_ONCE for kill in run.kills):
        raise MemoryBankError(f"more calls were under way than there are lanes at once: {run}")
    if not 0 <= run.extra_calls <= sum(kill.flying for kill in run.kills):
        raise MemoryBankError(f"calls were repeated that were not under way: {run}")


async def observed(at: Site) -> list[dict[str, Any]]:
    """Return what the bank has learned, in one order; raises MemoryBankError where facts wait."""
    path = f"{bank_path(BANK)}/memories"
    done = await at.client.call("GET", f"{path}/list?type=world&consolidation_state=done&limit=0")
    if done["total"] != FACTS:
        raise MemoryBankError(f"{done['total']} of {FACTS} facts are consolidated")
    found = await at.client.call("GET", f"{path}/list?type=observation&limit=1000")
    rows = []
    for one in found["items"]:
        row = {name: one.get(name) for name in COMPARED} | {"sources": sorted(one["source_memory_ids"])}
        history: Any = await at.client.call("GET", f"{path}/{one['id']}/history")
        rows.append(row | {"before": [{name: state.get(name) for name in BEFORE} for state in history]})
    return sorted(rows, key=lambda row: (row["tags"], row["sources"]))


async def measure(
    at: Site, planned: Sequence[Sequence[Moment]], quick: bool, say: Callable[[str], object] = str
) -> tuple[list[dict[str, Any]], list[Run]]:
    """Return the observations of an undisturbed run, and what each planned one cost.

    Raises MemoryBankError for the first that comes to anything else.
    """
    await fill(at)
    await consolidate(at, (), quick)
    expected = await observed(at)
    runs = []
    for kills in planned:
        runs.append(await consolidate(at, kills, quick))
        say(f"{kills} {runs[-1]}")
        found = await observed(at)
        if found != expected:
            other = next((pair for pair in zip(found, expected, strict=False) if pair[0] != pair[1]), None)
            raise MemoryBankError(f"{len(found)} observations, not the {len(expected)} expected: {other}")
    return expected, runs


async def run(runs: int | None, quick: bool, say: Callable[[str], object]) -> dict[str, Any]:
    """Return the figures of runs with one kill, and of one with many."""
    planned = moments(runs or RUNS, KILLS_OF_ONE)
    with tempfile.TemporaryDirectory(prefix="memorybank-crash-") as home, Nursery() as nursery:
        async with site(Path(home), nursery, SETTINGS, LATENCY) as at:
            expected, done = await measure(at, planned, quick, say)
    each = [
        {"moments": [asdict(moment) for moment in kills], **asdict(run)}
        for kills, run in zip(planned, done, strict=True)
    ]
    return {
        "facts": FACTS,
        "calls_undisturbed": CALLS,
        "observations": len(expected),
        "proof_counts": dict(Counter(str(row["proof_count"]) for row in expected)),
        "earlier_states": sum(len(row["before"]) for row in expected),
        "one_kill": summary(done[:-1]),
        "many_kills": summary(done[-1:]),
        "each": each,
    }


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the figures of some runs, all of which came to the same."""
    kills = [kill for run in runs for kill in run.kills]
    resumed = [kill.resumed_seconds for kill in kills]
    return {
        "runs": len(runs),
        "kills": len(kills),
        "equal": len(runs),
        "calls_under_way": sum(kill.flying for kill in kills),
        "extra_calls": {
            "sum": sum(run.extra_calls for run in runs),
            "max": max(run.extra_calls for run in runs),
        },
        "resumed_seconds": {"p50": round(statistics.median(resumed), 2), "max": max(resumed)},
    }
