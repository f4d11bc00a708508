"""What an answer costs here and on a peer, before and after consolidation: time, CPU, model calls, prompt tokens.

Both hold LoCoMo's first conversation and are asked the same questions in turns, one at a time. The time that the model
server works on a question, by its own count, is no part of the time; it answers at once, from a script.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from memorybank_eval import machine, report
from memorybank_eval.beside import (
    OURS,
    PEER,
    Side,
    Wanted,
    add_arguments,
    drive,
    medians,
    wanted_of,
)
from memorybank_eval.client import Client, bank_path
from memorybank_eval.datasets import locomo
from memorybank_eval.metrics import percentile
from memorybank_eval.processes import Meter
from memorybank_eval.server import running
from memorybank_eval.throughput import scripted_environment
from memorybank_eval.workload import distinct

#: Questions that are asked and not counted before a measurement.
WARM_UP = 3
STATES = ("before consolidation", "after consolidation")
#: Figures in the order of the report.
FIGURES = ("p50_ms", "p95_ms", "cpu_ms", "calls", "prompt_tokens")
#: What ours has to reach: at most this share of the peer's median time, and so many prompt tokens a question.
SHARE, TOKENS = 0.5, 10_000


def run(wanted: Wanted, questions: int) -> dict[str, Any]:
    """Fill a bank on both sides, ask in turns, consolidate, ask again; returns medians, ratios and every run."""
    asked = [question.text for question in locomo(wanted.locomo)[0].questions]
    measured = []
    with running(environ=scripted_environment(f"{wanted.model_url}/v1")) as server:
        bank = f"reflect-{server.pid}"
        sides = (Side(OURS, server.url, (server.pid,)), Side(PEER, wanted.peer_url, wanted.peer_pids))
        for state, phase in zip(STATES, ("retain", "consolidate"), strict=True):
            for side in sides:
                report.say(f"{side.name}: {phase} …")
                drive(wanted, side, bank, "--phases", phase)
            runs: dict[str, list[dict[str, float]]] = {side.name: [] for side in sides}
            for number in range(wanted.rounds):
                for side in sides:
                    report.say(f"{state}, {number + 1} of {wanted.rounds}: {side.name} …")
                    mark = f"{state[0]}{number}x"
                    runs[side.name].append(
                        asyncio.run(answered(wanted.model_url, side, bank, asked, questions, mark))
                    )
            measured.append({"state": state, **compared(runs)})
    return {"questions": questions, "measured": measured}


async def answered(
    model_url: str, side: Side, bank: str, questions: Sequence[str], count: int, mark: str
) -> dict[str, float]:
    """Ask one side `count` questions, none of which comes twice; medians and means of one question."""
    async with Client(side.url) as client, Client(model_url) as model:
        for question in distinct(questions, WARM_UP, f"{mark}w"):
            await _ask(client, bank, question)
        seconds: list[float] = []
        before = await model.call("GET", "/stats")
        first, meter = before, Meter(*side.pids)
        for question in distinct(questions, count, mark):
            began = time.perf_counter()
            await _ask(client, bank, question)
            took = time.perf_counter() - began
            after = await model.call("GET", "/stats")
            seconds.append(took - (after["fake_busy_s"] - before["fake_busy_s"]))
            before = after
        used = meter.stop()
    spent = {name: before["total"][name] - first["total"][name] for name in ("calls", "prompt_tokens")}
    return {
        "p50_ms": round(percentile(seconds, 50) * 1000, 1),
        "p95_ms": round(percentile(seconds, 95) * 1000, 1),
        "cpu_ms": round(used.cpu_total / count * 1000, 1),
        "calls": round(spent["calls"] / count, 2),
        "prompt_tokens": round(spent["prompt_tokens"] / count),
        "other_cpu_share": round(used.other_cpu_seconds / used.wall_seconds, 2),
    }


async def _ask(client: Client, bank: str, question: str) -> None:
    await client.call("POST", f"{bank_path(bank)}/reflect", {"query": question, "budget": "low"})


def compared(runs: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, Any]:
    """Return medians, how many times the peer's are ours, the median ratio of times by round, goals, and the runs."""
    middle = medians(runs)
    ours, theirs = middle[OURS], middle[PEER]
    times = [one["p50_ms"] / other["p50_ms"] for one, other in zip(runs[OURS], runs[PEER], strict=True)]
    share = round(statistics.median(times), 3)
    return {
        "medians": middle,
        "peer_to_ours": {figure: round(theirs[figure] / ours[figure], 2) for figure in FIGURES},
        "share_of_the_peers_time": share,
        "reached": {"time": share <= SHARE, "tokens": ours["prompt_tokens"] <= TOKENS},
        "runs": {name: list(one) for name, one in runs.items()},
    }


def table(measured: Sequence[Mapping[str, Any]]) -> str:
    """Return the medians as text: a row a figure, a column a side."""
    rows = [
        [f"{one['state']}: {figure}", *(str(one["medians"][side][figure]) for side in (OURS, PEER)),
         str(one["peer_to_ours"].get(figure, ""))]
        for one in measured
        for figure in (*FIGURES, "other_cpu_share")
    ]  # fmt: skip
    return report.table(["median of a question", OURS, PEER, "peer / ours"], rows)


def add_command(commands: Any) -> None:
    """Add `beside-reflect` to the command line."""
    asked = commands.add_parser("beside-reflect", help="what does an answer cost, here and on a peer?")
    add_arguments(asked)
    asked.add_argument("--questions", type=int, default=30, help="of one measurement (30)")
    asked.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    described = machine.describe()
    result = run(wanted_of(given), given.questions)
    print(table(result["measured"]))
    if given.out:
        report.write_json(given.out, {"kind": "beside-reflect", **described, **result})
