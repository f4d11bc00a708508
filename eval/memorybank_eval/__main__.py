"""`python -m memorybank_eval`: measures memorybank. See eval/README.md."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memorybank.errors import MemoryBankError
from memorybank_eval import (
    ablation,
    ann,
    audiences,
    benchmark,
    beside,
    beside_recall,
    beside_reflect,
    bulk,
    entities,
    fitting,
    machine,
    malformed,
    million,
    planted,
    prompts,
    report,
    retrieval,
    timeline,
)
from memorybank_eval.client import Client
from memorybank_eval.datasets import DATASETS
from memorybank_eval.server import running


def main(arguments: list[str] | None = None) -> None:
    """Run one command; an error of ours is one line and status 1."""
    given = _parser().parse_args(arguments)
    try:
        given.run(given)
    except MemoryBankError as error:
        print(error.message, file=sys.stderr)
        raise SystemExit(1) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memorybank_eval", description=__doc__)
    commands = parser.add_subparsers(required=True)
    asked = commands.add_parser("retrieval", help="does recall find the evidence?")
    asked.add_argument("--dataset", choices=sorted(DATASETS), required=True)
    asked.add_argument("--path", type=Path, required=True, help="the set's file (BEAM: or a folder of files)")
    asked.add_argument("--mode", choices=retrieval.MODES, default="chunks", help="verbatim: with names")
    asked.add_argument("--out", type=Path, help="write the result as JSON")
    asked.add_argument("--each", type=Path, help="write the metrics of each question as JSON lines")
    asked.add_argument("--url", help="measure this server; else one is started in a temporary home")
    asked.add_argument("--reuse", action="store_true", help="ask banks of an earlier run as they are")
    asked.set_defaults(run=_retrieval)
    cost = commands.add_parser("benchmark", help="what does it cost to install, start, fill and ask?")
    cost.add_argument("--out", type=Path, help="write the result as JSON")
    cost.add_argument("--locomo", type=Path, help="a LoCoMo file to take the conversation from; else made up")
    cost.add_argument("--quick", action="store_true", help="fewer rounds, 2,000 facts, no install")
    cost.add_argument("--no-install", action="store_true", help="do not measure the install")
    cost.add_argument(
        "--only", choices=benchmark.PARTS, action="append", help="measure this part (repeatable)"
    )
    cost.set_defaults(run=_benchmark)
    ablation.add_commands(commands)
    ann.add_command(commands)
    audiences.add_command(commands)
    beside.add_command(commands)
    beside_recall.add_command(commands)
    beside_reflect.add_command(commands)
    bulk.add_command(commands)
    entities.add_command(commands)
    fitting.add_command(commands)
    malformed.add_command(commands)
    million.add_command(commands)
    planted.add_command(commands)
    prompts.add_command(commands)
    timeline.add_command(commands)
    return parser


def _retrieval(given: argparse.Namespace) -> None:
    dataset = DATASETS[given.dataset]
    conversations = dataset.read(given.path)

    async def measure(url: str) -> None:
        async with Client(url) as client:
            measured, each = await retrieval.measure(
                client, given.dataset, dataset, conversations, given.reuse, given.mode
            )
        result = {"kind": "retrieval", "dataset": given.dataset, **machine.describe(), **measured}
        print(report.retrieval(result))
        if given.out:
            report.write_json(given.out, result)
        if given.each:
            report.write_lines(given.each, each)

    with _server(given.url) as url:
        asyncio.run(measure(url))


@contextmanager
def _server(url: str | None) -> Iterator[str]:
    """Give the address of a running server: the one named, else one of our own."""
    if url:
        yield url
        return
    with running() as server:
        yield server.url


def _benchmark(given: argparse.Namespace) -> None:
    parts = tuple(given.only or benchmark.PARTS)
    if given.no_install or (given.quick and not given.only):
        parts = tuple(part for part in parts if part != "install")
    described = machine.describe()
    wanted = benchmark.Wanted(parts, given.locomo, given.quick)
    measured = benchmark.run(wanted, report.say)
    result = {"kind": "benchmark", **described, **measured}
    print(report.benchmark(result))
    if given.out:
        report.write_json(given.out, result)


if __name__ == "__main__":
    main()
