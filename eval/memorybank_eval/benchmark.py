"""The benchmark: what it costs to install, start, fill and ask memorybank. A measurement, not a test."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memorybank_eval import install, scale, startup, throughput, workload
from memorybank_eval.datasets import Conversation
from memorybank_eval.machine import CHECKOUT

#: Facts in the bank when recall is timed: a conversation, and years of them.
SIZES, QUICK_SIZES = (420, 20_000), (420, 2_000)
ROUNDS, QUICK_ROUNDS = 3, 1
QUESTIONS, QUICK_QUESTIONS = 200, 50
PARTS = ("install", "startup", "scripted", "extractive", "scale")


@dataclass(frozen=True)
class Wanted:
    """Which parts run, on which conversation, and how thoroughly."""

    parts: tuple[str, ...]
    locomo: Path | None
    quick: bool


def run(wanted: Wanted, say: Callable[[str], None]) -> dict[str, Any]:
    """Run the parts one after the other, never two at once; `say` is told what begins."""
    conversation = workload.conversation(wanted.locomo)
    rounds = QUICK_ROUNDS if wanted.quick else ROUNDS
    questions, sizes = (QUICK_QUESTIONS, QUICK_SIZES) if wanted.quick else (QUESTIONS, SIZES)
    plan = scale.Plan(sizes, questions, rounds)
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "install": lambda: install.measure(CHECKOUT),
        "startup": lambda: _startup(rounds),
        "scripted": lambda: _scripted(conversation, rounds),
        "extractive": lambda: throughput.measure(conversation, rounds),
        "scale": lambda: scale.measure(conversation, plan),
    }
    result: dict[str, Any] = {"conversation": "locomo 0" if wanted.locomo else "made up"}
    for name in wanted.parts:
        say(f"measuring {name} …")
        result[name] = parts[name]()
    return result


def _startup(rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="memorybank-eval-", ignore_cleanup_errors=True) as folder:
        return startup.measure(Path(folder), rounds)


def _scripted(conversation: Conversation, rounds: int) -> dict[str, Any]:
    """Retain with the scripted model; its own CPU is not counted. Counts are of all rounds and the first retain."""
    with throughput.scripted_model() as base_url:
        measured = throughput.measure(conversation, rounds, throughput.scripted_environment(base_url))
        return {**measured, "model_calls": throughput.calls_of(base_url)}
