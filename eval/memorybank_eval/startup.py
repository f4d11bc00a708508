"""How soon a server answers, and what it weighs before any work."""

import asyncio
import statistics
import time
from pathlib import Path
from typing import Any

from memorybank_eval.client import Client, RecallOptions, turn_item
from memorybank_eval.processes import Memory, memory
from memorybank_eval.server import free_home, running
from memorybank_eval.workload import START

#: Seconds a started server is left alone before its idle memory is read.
SETTLE_SECONDS = 3.0
BANK = "startup"


def measure(folder: Path, rounds: int) -> dict[str, Any]:
    """Start with an empty home (cold) and again with the same home (warm), `rounds` times each; medians in seconds."""
    cold, warm, first, idle = [], [], [], {}
    for _ in range(rounds):
        home = free_home(folder)
        with running(home) as server:
            cold.append(server.start_seconds)
        with running(home) as server:
            warm.append(server.start_seconds)
            time.sleep(SETTLE_SECONDS)
            idle = memory(server.pid)
            first.append(asyncio.run(first_work(server.url)))
    return {
        "rounds": rounds,
        "cold_seconds": spread(cold),
        "warm_seconds": spread(warm),
        "first_retain_seconds": spread([retain for retain, _ in first]),
        "first_recall_seconds": spread([recall for _, recall in first]),
        "idle_memory_mb": megabytes(idle),
    }


async def first_work(url: str) -> tuple[float, float]:
    """Return the seconds of the first retain and the first recall of a fresh server: models load here."""
    async with Client(url) as client:
        began = time.perf_counter()
        await client.retain(BANK, [turn_item("Ana moved to Lisbon in May.", "D1:1", START, "")])
        between = time.perf_counter()
        await client.recall(BANK, "Where does Ana live?", RecallOptions())
        return between - began, time.perf_counter() - between


def spread(values: list[float], digits: int = 2) -> dict[str, float]:
    """Return median, least and greatest."""
    return {
        "median": round(statistics.median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
    }


def megabytes(by_role: dict[str, Memory]) -> dict[str, dict[str, float]]:
    """Return memory as JSON: RSS and PSS in megabytes by role."""
    return {
        role: {"rss": round(used.rss_mb, 1), "pss": round(used.pss_mb, 1)} for role, used in by_role.items()
    }
