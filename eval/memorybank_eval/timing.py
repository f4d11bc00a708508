"""How long banks take to answer questions, one caller alone or several side by side, and what CPU that needs."""

import asyncio
import itertools
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorybank_eval.client import Client, RecallOptions
from memorybank_eval.metrics import percentile
from memorybank_eval.processes import Meter
from memorybank_eval.workload import distinct

#: Questions that are asked and not counted before a measurement.
WARM_UP = 10
#: Callers that ask at the same time, beside one alone.
TOGETHER = 8


@dataclass(frozen=True)
class Target:
    """Banks of a server, asked in turns, and its root processes: their CPU is counted, descendants included."""

    client: Client
    banks: tuple[str, ...]
    roots: tuple[int, ...]


async def timed(
    asked: Target, questions: Sequence[str], count: int, callers: int, mark: str
) -> dict[str, float]:
    """Ask `count` questions with `callers` at once; milliseconds, CPU milliseconds each, questions a second.

    Each question ends in `mark` and its number, so that no cache answers as long as no mark comes twice.
    """
    banks = itertools.cycle(asked.banks)
    for question in distinct(questions, WARM_UP, f"{mark}w"):
        await asked.client.recall(next(banks), question, RecallOptions())
    waiting = iter(distinct(questions, count, mark))
    seconds: list[float] = []

    async def caller() -> None:
        for question in waiting:
            began = time.perf_counter()
            await asked.client.recall(next(banks), question, RecallOptions())
            seconds.append(time.perf_counter() - began)

    meter = Meter(*asked.roots)
    await asyncio.gather(*(caller() for _ in range(callers)))
    used = meter.stop()
    return {
        "p50_ms": percentile(seconds, 50) * 1000,
        "p95_ms": percentile(seconds, 95) * 1000,
        "cpu_ms": used.cpu_total / len(seconds) * 1000,
        "per_second": len(seconds) / used.wall_seconds,
        "other_cpu_share": used.other_cpu_seconds / used.wall_seconds,
    }


def medians(rounds: Sequence[Mapping[str, float]], shown: str) -> dict[str, Any]:
    """Return the median of each figure over rounds, and the `shown` one of each round, which tells how quiet it was."""
    middle = {name: round(statistics.median(one[name] for one in rounds), 2) for name in rounds[0]}
    return {**middle, f"{shown}_by_round": [round(one[shown], 2) for one in rounds]}
