"""What one conversation costs here and on a peer: model calls, prompt tokens, CPU, in alternation on one machine.

It is retained, and on demand consolidated.

Both servers speak the same API, so one driver fills both, and one model server, which counts, answers both. Driver,
model server and peer are not part of this repository; see eval/README.md for what they have to do.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memorybank_eval import machine, processes, report
from memorybank_eval.server import running
from memorybank_eval.throughput import scripted_environment

OURS, PEER = "ours", "peer"
#: Figures of a run, in the order of the report: the unit is in the name.
FIGURES = ("calls", "prompt_tokens", "outside_prefix_tokens", "cpu_ms_a_turn", "wall_s")
#: The same of consolidation, where it is measured.
CONSOLIDATION = tuple(f"consolidation_{figure}" for figure in FIGURES)
#: Figures of ours alone.
PARTS = ("embedder_ms_a_turn", "besides_ms_a_turn")


@dataclass(frozen=True)
class Wanted:
    """The instruments (`driver`: a command line), the peer with its root processes, the conversation, the rounds.

    `consolidate`: each bank is consolidated once it is filled.
    """

    driver: tuple[str, ...]
    model_url: str
    peer_url: str
    peer_pids: tuple[int, ...]
    locomo: Path
    rounds: int
    consolidate: bool = False


@dataclass(frozen=True)
class Side:
    """One of the two servers: its address, its root processes."""

    name: str
    url: str
    pids: tuple[int, ...]


def run(wanted: Wanted, tell: Callable[[str], None]) -> dict[str, Any]:
    """Fill both servers in turns and return medians, ratios (peer / ours) and every run.

    The first round of each loads what loads once, and does not count.
    """
    runs: dict[str, list[dict[str, Any]]] = {OURS: [], PEER: []}
    with running(environ=scripted_environment(f"{wanted.model_url}/v1")) as server:
        sides = (
            Side(OURS, server.url, (server.pid,)),
            Side(PEER, wanted.peer_url, wanted.peer_pids),
        )
        for number in range(wanted.rounds + 1):
            for side in sides:
                tell(f"round {number} of {wanted.rounds}: {side.name} …")
                threads = processes.threads(server.pid)
                measured = retained(wanted, side, f"beside-{server.pid}-{number}")
                if side.name == OURS:
                    measured |= _parts(server.pid, threads, measured)
                runs[side.name].append(measured)
    return summary({name: measured[1:] for name, measured in runs.items()})


def retained(wanted: Wanted, side: Side, bank: str) -> dict[str, Any]:
    """Have the driver retain the conversation in a new bank, and consolidate it where that is wanted."""
    phases = "retain,consolidate" if wanted.consolidate else "retain"
    first, *more = drive(wanted, side, bank, "--phases", phases)
    measured = figures(first)
    for phase in more:
        of = figures(phase | {"turns": first["turns"]})
        measured |= {name: of[figure] for name, figure in zip(CONSOLIDATION, FIGURES, strict=True)}
    return measured


def drive(wanted: Wanted, side: Side, bank: str, *more: str) -> list[dict[str, Any]]:
    """Have the driver do the phases that `more` names with a bank of one side; returns what it says of each."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [
            *wanted.driver, "--base-url", side.url, "--locomo", str(wanted.locomo), "--conv", "0",
            "--bank", bank, "--fake-llm", wanted.model_url, "--pids", ",".join(map(str, side.pids)),
            "--out", str(out), *more,
        ]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        phases: list[dict[str, Any]] = json.loads(out.read_text())["phases"]
        return phases


def figures(phase: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of one phase from the driver's own."""
    kinds = list(phase["llm"].values())
    seconds = sum(value for name, value in phase["cpu_s"].items() if name.startswith("pid"))
    prompt = sum(kind["prompt_tokens"] for kind in kinds)
    return {
        "turns": phase["turns"],
        "calls": sum(kind["calls"] for kind in kinds),
        "prompt_tokens": prompt,
        "outside_prefix_tokens": prompt - sum(kind["prefix_tokens"] for kind in kinds),
        "cpu_ms_a_turn": round(1000 * seconds / phase["turns"], 2),
        "wall_s": phase["wall_s"],
        "other_cpu_s": phase["other_cpu_s"],
    }


def _parts(pid: int, before: Mapping[int, float], measured: Mapping[str, Any]) -> dict[str, float]:
    """Return what the embedder used, and all else, in CPU milliseconds a turn."""
    ms = 1000 * embedder_seconds(pid, before) / measured["turns"]
    return {"embedder_ms_a_turn": round(ms, 2), "besides_ms_a_turn": round(measured["cpu_ms_a_turn"] - ms, 2)}


def summary(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the medians of each side, the ratios of the figures, and the runs."""
    middle = medians(runs)
    ours, theirs = middle[OURS], middle[PEER]
    compared = [figure for figure in (*FIGURES, *CONSOLIDATION) if ours.get(figure)]
    ratios = {figure: round(theirs[figure] / ours[figure], 2) for figure in compared}
    return {
        "medians": middle,
        "peer_to_ours": ratios,
        "runs": {name: list(one) for name, one in runs.items()},
    }


def embedder_seconds(pid: int, before: Mapping[int, float]) -> float:
    """Return the CPU seconds of the embedder of our API since its threads stood as in `before`.

    It works in one thread, and no other but the main one works as much.
    """
    spent = {thread: at - before.get(thread, 0.0) for thread, at in processes.threads(pid).items()}
    return max((used for thread, used in spent.items() if thread != pid), default=0.0)


def medians(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, float]]:
    """Return the median of each figure over the runs of each side."""
    return {
        name: {figure: statistics.median(one[figure] for one in measured) for figure in measured[0]}
        for name, measured in runs.items()
    }


def add_command(commands: Any) -> None:
    """Add `beside` to the command line."""
    asked = commands.add_parser("beside", help="what does a conversation cost, here and on a peer?")
    add_arguments(asked)
    asked.add_argument("--consolidate", action="store_true", help="consolidate each bank too")
    asked.set_defaults(run=_run)


def add_arguments(asked: argparse.ArgumentParser) -> None:
    """Add what `wanted_of` reads: the instruments, the peer, the conversation, the rounds; and where to write."""
    asked.add_argument("--driver", type=shlex.split, required=True, help="command line of the driver")
    asked.add_argument("--model-url", required=True, help="the model server that counts, as both reach it")
    asked.add_argument("--peer-url", required=True)
    asked.add_argument("--peer-pids", required=True, help="root processes of the peer and its database: 1,2")
    asked.add_argument(
        "--locomo", type=Path, required=True, help="the first conversation of this file is kept"
    )
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--out", type=Path, help="write the result as JSON")


def wanted_of(given: argparse.Namespace) -> Wanted:
    """Return what the command line asks for."""
    pids = tuple(map(int, given.peer_pids.split(",")))
    instruments = (tuple(given.driver), given.model_url, given.peer_url, pids)
    return Wanted(*instruments, given.locomo, given.rounds, getattr(given, "consolidate", False))


def _run(given: argparse.Namespace) -> None:
    described = machine.describe()
    measured = run(wanted_of(given), report.say)
    print(_table(measured))
    if given.out:
        report.write_json(given.out, {"kind": "beside", **described, **measured})


def _table(measured: Mapping[str, Any]) -> str:
    middle, ratios = measured["medians"], measured["peer_to_ours"]
    rows = [
        [figure, *(str(middle[side].get(figure, "")) for side in (OURS, PEER)), str(ratios.get(figure, ""))]
        for figure in (*FIGURES, *PARTS, *CONSOLIDATION)
        if figure in middle[OURS]
    ]
    return report.table(["median", OURS, PEER, "peer / ours"], rows)
