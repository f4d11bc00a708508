"""What a question costs here and on a peer: time, questions a second and CPU, in alternation on one machine.

All sides hold the same facts: LoCoMo's first conversation, and further lines of the driver's. Ours runs once for each
embedding model asked for, all at the same time as the peer.
"""

import argparse
import asyncio
import itertools
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memorybank.errors import MemoryBankError
from memorybank_eval import machine, processes, report
from memorybank_eval.beside import (
    OURS,
    PEER,
    Side,
    Wanted,
    add_arguments,
    drive,
    embedder_seconds,
    medians,
    wanted_of,
)
from memorybank_eval.client import Client
from memorybank_eval.datasets import locomo
from memorybank_eval.server import running
from memorybank_eval.throughput import scripted_environment
from memorybank_eval.timing import TOGETHER, WARM_UP, Target, timed

#: Callers at once in the two measurements of a round.
CALLERS = (1, TOGETHER)
#: Seconds the driver may take to fill a bank.
FILL_SECONDS = 4 * 3600
#: Figures in the order of the report, and of them the one of which more is better.
FIGURES, RATE = ("p50_ms", "p95_ms", "cpu_ms", "per_second"), "per_second"
#: Share of the facts that a bank of an earlier run may lack or have over: a model may give some turns none.
TOLERANCE = 0.02


@dataclass(frozen=True)
class Plan:
    """Sizes of the banks in facts, questions of one measurement, our embedding models, where our homes are kept."""

    sizes: Sequence[int]
    questions: int
    models: Sequence[str]
    homes: Path


def run(wanted: Wanted, plan: Plan) -> dict[str, Any]:
    """Fill every bank that is empty, let each side answer in turns, and return medians, ratios and every run."""
    conversation = locomo(wanted.locomo)[0]
    questions = [question.text for question in conversation.questions]
    with ExitStack() as stack:
        sides = [_started(stack, wanted, plan.homes, model) for model in plan.models]
        sides.append(Side(PEER, wanted.peer_url, wanted.peer_pids))
        for size, side in itertools.product(plan.sizes, sides):
            report.say(f"{side.name}: {size} facts …")
            _fill(wanted, side, size, len(conversation.turns))
        found = [
            {"facts": size, **{side.name: _evidence(wanted, side, bank_of(size)) for side in sides}}
            for size in plan.sizes
        ]
        measured = asyncio.run(_measure(wanted, plan, sides, questions))
    return {"measured": measured, "evidence_in_first_10": found}


def _started(stack: ExitStack, wanted: Wanted, homes: Path, model: str) -> Side:
    """Start a server of ours with an embedding model; its home stays, so that it is filled once."""
    home = homes / model
    home.mkdir(parents=True, exist_ok=True)
    environ = {**scripted_environment(f"{wanted.model_url}/v1"), "MEMORYBANK_EMBEDDINGS__MODEL": model}
    server = stack.enter_context(running(home, environ))
    return Side(f"{OURS} ({model})", server.url, (server.pid,))


def bank_of(size: int) -> str:
    """Return the name of the bank with so many facts."""
    return f"r{size // 1000}k" if size >= 1000 else f"r{size}"


def _fill(wanted: Wanted, side: Side, size: int, turns: int) -> None:
    """Have the driver fill a bank unless an earlier run has; raises MemoryBankError where something is missing."""
    bank = bank_of(size)
    if not _count(side, bank):
        drive(wanted, side, bank, "--phases", "retain")
        if size > turns:
            more = ("--scale", str(size - turns), "--timeout", str(FILL_SECONDS))
            drive(wanted, side, bank, "--phases", "scale", *more)
    held = _count(side, bank)
    if abs(held - size) > TOLERANCE * size:
        raise MemoryBankError(f"bank {bank} of {side.name} holds {held} facts instead of {size}")


def _count(side: Side, bank: str) -> int:
    async def count() -> int:
        async with Client(side.url) as client:
            await client.call("PUT", f"/v1/default/banks/{bank}", {})
            return await client.count(bank)

    return asyncio.run(count())


def _evidence(wanted: Wanted, side: Side, bank: str) -> dict[str, float]:
    """Return the shares of questions (categories 1 to 4) that find their turns, as the driver counts them."""
    measured = drive(wanted, side, bank, "--phases", "recall")[0]
    shares = measured["evidence@10"]
    return {**{name: shares[name] for name in ("any", "all", "frac")}, "hits": measured["results_mean"]}


async def _measure(
    wanted: Wanted, plan: Plan, sides: Sequence[Side], questions: Sequence[str]
) -> list[dict[str, Any]]:
    """Ask all sides in turns: rounds times, at each size, one question at a time and several at once."""
    runs: dict[tuple[int, int], dict[str, list[dict[str, float]]]] = {
        key: {side.name: [] for side in sides} for key in itertools.product(plan.sizes, CALLERS)
    }
    for number, (key, side) in enumerate(itertools.product([*runs] * wanted.rounds, sides)):
        size, callers = key
        report.say(
            f"{number + 1} of {wanted.rounds * len(runs) * len(sides)}: {size} facts, {callers}: {side.name} …"
        )
        async with Client(side.url) as client:
            asked = Target(client, (bank_of(size),), side.pids)
            before = processes.threads(side.pids[0])
            one = await timed(asked, questions, plan.questions, callers, f"q{number}x")
        if side.name != PEER:
            used = embedder_seconds(side.pids[0], before)
            one["embedder_ms"] = 1000 * used / (plan.questions + WARM_UP)
        runs[key][side.name].append({name: round(value, 2) for name, value in one.items()})
    return [{"facts": key[0], "callers": key[1], **compared(one)} for key, one in runs.items()]


def compared(runs: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, Any]:
    """Return the medians of all sides, how many times better than the peer each of ours is, and the runs."""
    middle = medians(runs)
    theirs = middle[PEER]
    better = {
        name: {
            figure: round(
                ours[figure] / theirs[figure] if figure == RATE else theirs[figure] / ours[figure], 2
            )
            for figure in FIGURES
        }
        for name, ours in middle.items()
        if name != PEER
    }
    return {
        "medians": middle,
        "times_better": better,
        "runs": {name: list(one) for name, one in runs.items()},
    }


def table(measured: Sequence[Mapping[str, Any]]) -> str:
    """Return the medians as text: a row a figure, a column a side, in brackets how many times better than the peer."""
    names = list(measured[0]["medians"])
    rows = [
        [f"{one['facts']:,} facts, {one['callers']} at once: {figure}", *(_cell(one, name, figure) for name in names)]
        for one in measured
        for figure in (*FIGURES, "embedder_ms", "other_cpu_share")
    ]  # fmt: skip
    return report.table(["median", *names], rows)


def _cell(one: Mapping[str, Any], name: str, figure: str) -> str:
    value = one["medians"][name].get(figure, "")
    better = one["times_better"].get(name, {}).get(figure)
    return f"{value} ({better}×)" if better else str(value)


def add_command(commands: Any) -> None:
    """Add `beside-recall` to the command line."""
    asked = commands.add_parser("beside-recall", help="what does a question cost, here and on a peer?")
    add_arguments(asked)
    asked.add_argument(
        "--size", type=int, action="append", help="facts in a bank (420 and 20,000; repeatable)"
    )
    asked.add_argument("--model", action="append", help="embedding model of ours (repeatable)")
    asked.add_argument("--questions", type=int, default=150, help="of one measurement (150)")
    asked.add_argument("--homes", type=Path, help="keep our homes here, filled; else in a temporary folder")
    asked.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    models = given.model or ["all-MiniLM-L6-v2", "all-MiniLM-L6-v2-int8"]
    described = machine.describe()
    with tempfile.TemporaryDirectory(prefix="memorybank-eval-", ignore_cleanup_errors=True) as folder:
        plan = Plan(given.size or (420, 20_000), given.questions, models, given.homes or Path(folder))
        result = run(wanted_of(given), plan)
    print(table(result["measured"]))
    if given.out:
        report.write_json(given.out, {"kind": "beside-recall", **described, **result})
