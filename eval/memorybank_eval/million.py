"""Recall over many banks at once: does a bank answer as fast among a million facts of others as alone? And what a fact
takes on disk.

One server each for every shape of database; they are asked in turns, so that a crowded minute meets all of them.
"""

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memorybank.storage.embedded import EmbeddedServer
from memorybank_eval import bulk, crowd, machine, report
from memorybank_eval.bulk import Plan, statements
from memorybank_eval.client import Client, RecallOptions
from memorybank_eval.crowd import Source
from memorybank_eval.metrics import percentile
from memorybank_eval.processes import memory
from memorybank_eval.server import RunningServer, running
from memorybank_eval.startup import megabytes
from memorybank_eval.timing import TOGETHER, Target, medians, timed

#: Banks and facts of each: 1,000,000, and 100,000 with banks of the same size and with as many banks.
SHAPES = ("200x5000", "20x5000", "200x500")
PREFIX = "crowd"
#: Figures of one measurement that are reported, besides p50 of each round.
ALONE, SIDE = "one_at_a_time", f"{TOGETHER}_at_once"


@dataclass(frozen=True)
class Shape:
    """A database: its name (BANKSxFACTS), what it holds, the server that answers for it and what loading it took."""

    name: str
    plan: Plan
    server: RunningServer
    loaded: bulk.Loaded

    @property
    def banks(self) -> tuple[str, ...]:
        """The ids of its banks."""
        return tuple(map(self.plan.bank_id, range(self.plan.banks)))


@dataclass(frozen=True)
class Wanted:
    """Which shapes, where their homes are kept, questions of one measurement, rounds, processes that load."""

    shapes: Sequence[str]
    homes: Path
    questions: int
    rounds: int
    processes: int


def measure(wanted: Wanted) -> dict[str, Any]:
    """Fill what is not filled yet, then ask all shapes in turns."""
    wanted.homes.mkdir(parents=True, exist_ok=True)
    source = crowd.source_kept(wanted.homes / "turns.npz")
    with ExitStack() as closing:
        shapes = [_shape(closing, wanted, name, source) for name in wanted.shapes]
        return asyncio.run(_ask(shapes, wanted))


def _shape(closing: ExitStack, wanted: Wanted, name: str, source: Source) -> Shape:
    """Start the server of a shape and fill it."""
    banks, each = map(int, name.split("x"))
    home = wanted.homes / name
    home.mkdir(exist_ok=True)
    server = closing.enter_context(running(home, command="serve"))
    plan = Plan(PREFIX, banks, each, wanted.processes)
    conninfo = EmbeddedServer(home).conninfo()
    loaded = bulk.load(conninfo, plan, source, lambda line: report.say(f"{name}: {line}"))
    return Shape(name, plan, server, loaded)


async def _ask(shapes: Sequence[Shape], wanted: Wanted) -> dict[str, Any]:
    questions = list(crowd.questions())
    results = {shape.name: await _described(shape, questions) for shape in shapes}
    rounds: dict[str, dict[str, list[dict[str, float]]]] = {
        shape.name: {ALONE: [], SIDE: []} for shape in shapes
    }
    for number in range(wanted.rounds):
        for way, callers in ((ALONE, 1), (SIDE, TOGETHER)):
            for shape in shapes:
                report.say(f"round {number + 1}, {way}: {shape.name} …")
                async with Client(shape.server.url) as client:
                    asked = Target(client, shape.banks, (shape.server.pid,))
                    one = await timed(asked, questions, wanted.questions, callers, f"{way[0]}{number}-")
                rounds[shape.name][way].append(one)
    for shape in shapes:
        results[shape.name] |= {way: medians(runs, "p95_ms") for way, runs in rounds[shape.name].items()}
        results[shape.name]["memory_mb"] = megabytes(memory(shape.server.pid))
    return {"shapes": results, "times_as_slow": compared(results)}


async def _described(shape: Shape, questions: Sequence[str]) -> dict[str, Any]:
    """Return what a shape holds and takes, and how long the first question to each bank took."""
    facts = shape.plan.banks * shape.plan.facts_each
    seconds = []
    async with Client(shape.server.url) as client:
        for number, bank in enumerate(shape.banks):
            began = time.perf_counter()
            await client.recall(bank, questions[number % len(questions)], RecallOptions())
            seconds.append(time.perf_counter() - began)
    first = {f"p{rank}_ms": round(percentile(seconds, rank) * 1000, 2) for rank in (50, 95)}
    loaded = {name: round(value, 1) for name, value in vars(shape.loaded).items()}
    return {
        "facts": facts,
        # What an earlier run has filled took no time in this one.
        **({"loaded": loaded} if shape.loaded.facts else {}),
        "bytes_per_fact": await _sizes(shape, facts),
        "first_question_of_a_bank": first,
    }


async def _sizes(shape: Shape, facts: int) -> dict[str, Any]:
    """Return the bytes that a fact takes in each table and its indexes, and in all."""
    conninfo = EmbeddedServer(shape.server.home).conninfo()
    async with bulk.opened(conninfo) as database, database.connection() as connection:
        rows = await (await connection.execute(statements()["sizes"])).fetchall()
    each = {
        row["name"]: [round(row["data_bytes"] / facts), round(row["index_bytes"] / facts)]
        for row in rows
        if row["data_bytes"] + row["index_bytes"] > facts
    }
    total = [sum(one[place] for one in each.values()) for place in (0, 1)]
    return {"all": total, **each}


def compared(results: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return how many times as slow (p95) the first shape is as each other one, by way of asking."""
    first, *others = results
    return {
        other: {
            way: round(results[first][way]["p95_ms"] / results[other][way]["p95_ms"], 2)
            for way in (ALONE, SIDE)
        }
        for other in others
    }


def table(result: Mapping[str, Any]) -> str:
    """Return a result as text."""
    head = ("banks x facts", "p50 / p95 alone", f"p50 / p95 of {TOGETHER}", "CPU", "a second", "bytes a fact")
    rows = []
    for name, one in result["shapes"].items():
        alone, side = one[ALONE], one[SIDE]
        rows.append(
            (
                name,
                f"{alone['p50_ms']:.1f} / {alone['p95_ms']:.1f} ms",
                f"{side['p50_ms']:.1f} / {side['p95_ms']:.1f} ms",
                f"{alone['cpu_ms']:.1f} ms",
                f"{side['per_second']:.0f}",
                " + ".join(map(str, one["bytes_per_fact"]["all"])),
            )
        )
    return f"{report.table(head, rows)}\n\np95, times as slow as: {result['times_as_slow']}"


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare `million`."""
    parser = commands.add_parser(
        "million", help="does a bank answer as fast among a million facts of others?"
    )
    parser.add_argument("--homes", type=Path, required=True, help="folder for the databases (8 GB); kept")
    parser.add_argument("--shape", action="append", help=f"BANKSxFACTS (repeatable); else {' '.join(SHAPES)}")
    parser.add_argument("--questions", type=int, default=200, help="of one measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2, help="that load")
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    parser.set_defaults(run=_million)


def _million(given: argparse.Namespace) -> None:
    shapes = given.shape or SHAPES
    wanted = Wanted(shapes, given.homes, given.questions, given.rounds, given.processes)
    described = machine.describe()
    result = {"kind": "million", **described, **measure(wanted)}
    print(table(result))
    if given.out:
        report.write_json(given.out, result)
