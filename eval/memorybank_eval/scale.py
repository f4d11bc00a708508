"""Recall as a bank grows: seconds per question one by one and side by side, and what retaining so much takes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memorybank_eval.client import Client, turn_item
from memorybank_eval.datasets import Conversation, Turn
from memorybank_eval.install import size_of
from memorybank_eval.processes import Meter, memory
from memorybank_eval.retrieval import requests_of
from memorybank_eval.server import RunningServer, running
from memorybank_eval.startup import megabytes
from memorybank_eval.timing import TOGETHER, Target, medians, timed
from memorybank_eval.workload import further

BANK = "scale"
#: Turns in one request of further turns, and requests that are under way at once.
REQUEST_TURNS, REQUESTS_AT_ONCE = 100, 4


@dataclass(frozen=True)
class Plan:
    """Bank sizes in facts, questions of one measurement, and how often each is repeated."""

    sizes: Sequence[int]
    questions: int
    rounds: int


def measure(conversation: Conversation, plan: Plan) -> dict[str, Any]:
    """Grow one bank to each size in turn and ask at each."""
    with running() as server:
        return asyncio.run(_grow(server, conversation, plan))


async def _grow(server: RunningServer, conversation: Conversation, plan: Plan) -> dict[str, Any]:
    questions = [question.text for question in conversation.questions]
    turns = further(conversation.turns, max(plan.sizes))
    async with Client(server.url) as client:
        await client.configure(BANK, {"retain_extraction_mode": "chunks"})
        for items in requests_of(conversation):
            await client.retain(BANK, items)
        steps = []
        for size in plan.sizes:
            held = await client.count(BANK)
            wanted = [turn for _, turn in zip(range(size - held), turns, strict=False)]
            filled = await _fill(client, server, wanted, held) if wanted else None
            asked = await _ask(client, server.pid, questions, plan)
            steps.append({"facts": await client.count(BANK), "filled": filled, **asked})
    return {"steps": steps, "memory_mb": megabytes(memory(server.pid))}


async def _fill(client: Client, server: RunningServer, turns: Sequence[Turn], held: int) -> dict[str, Any]:
    """Retain turns in the background, a few requests at a time; measures throughput and growth on disk."""
    before = database_bytes(server.home)
    gate = asyncio.Semaphore(REQUESTS_AT_ONCE)

    async def retain(part: Sequence[Turn]) -> None:
        async with gate:
            items = [turn_item(turn.text, turn.id, turn.at, "A conversation.") for turn in part]
            await client.wait(BANK, await client.submit(BANK, items))

    parts = [turns[start : start + REQUEST_TURNS] for start in range(0, len(turns), REQUEST_TURNS)]
    meter = Meter(server.pid)
    await asyncio.gather(*map(retain, parts))
    used = meter.stop()
    added = await client.count(BANK) - held
    return {
        "turns": len(turns),
        "facts": added,
        "facts_per_second": round(added / used.wall_seconds, 1),
        "facts_per_cpu_second": round(added / used.cpu_total, 1),
        "cpu_seconds": {role: round(seconds, 1) for role, seconds in used.cpu_seconds.items()},
        "other_cpu_seconds": round(used.other_cpu_seconds, 1),
        "database_bytes_per_fact": round((database_bytes(server.home) - before) / max(1, added)),
    }


def database_bytes(home: Path) -> int:
    """Return the bytes of the embedded server's tables and indexes: its data without the write-ahead log."""
    return size_of(home / "postgres" / "base")


async def _ask(client: Client, pid: int, questions: Sequence[str], plan: Plan) -> dict[str, Any]:
    asked = Target(client, (BANK,), (pid,))
    alone = [await timed(asked, questions, plan.questions, 1, f"a{n}-") for n in range(plan.rounds)]
    side = [await timed(asked, questions, plan.questions, TOGETHER, f"b{n}-") for n in range(plan.rounds)]
    return {"one_at_a_time": medians(alone, "p50_ms"), f"{TOGETHER}_at_once": medians(side, "p50_ms")}
