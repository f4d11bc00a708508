"""The comparison with a peer: the driver's figures in ours, and medians with ratios."""

import os
from pathlib import Path
from typing import Any

import pytest

from memorybank_eval import beside, processes
from memorybank_eval.beside import CONSOLIDATION, FIGURES, Side, Wanted, figures, retained, summary


def phase(pid_seconds: float) -> dict[str, Any]:
    return {
        "turns": 400,
        "wall_s": 9.5,
        "other_cpu_s": 1.0,
        "cpu_s": {"pid1": pid_seconds, "pid2": 1.0, "client": 5.0, "_machine_busy": 30.0},
        "llm": {
            "extract": {
                "calls": 30,
                "prompt_tokens": 60_000,
                "completion_tokens": 9,
                "prefix_tokens": 45_000,
            },
            "repair": {"calls": 2, "prompt_tokens": 1_000, "completion_tokens": 9, "prefix_tokens": 0},
        },
    }


def test_a_retain_counts_all_kinds_of_calls_and_the_processes_of_the_server_alone() -> None:
    assert figures(phase(3.0)) == {
        "turns": 400,
        "calls": 32,
        "prompt_tokens": 61_000,
        "outside_prefix_tokens": 16_000,
        "cpu_ms_a_turn": 10.0,
        "wall_s": 9.5,
        "other_cpu_s": 1.0,
    }


def test_ratios_are_those_of_the_medians() -> None:
    ours, theirs = ([figures(phase(seconds)) for seconds in run] for run in ((3, 1, 90), (7, 7, 90)))
    result = summary({"ours": ours, "peer": theirs})
    assert result["medians"]["ours"]["cpu_ms_a_turn"] == 10.0
    assert result["peer_to_ours"]["cpu_ms_a_turn"] == 2.0
    assert result["peer_to_ours"]["calls"] == 1.0
    assert len(result["runs"]["peer"]) == 3


def test_consolidation_has_figures_of_its_own_for_each_turn_retained(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def drive(wanted: Wanted, side: Side, bank: str, *more: str) -> list[dict[str, Any]]:
        asked.extend(more)
        consolidated = {name: value for name, value in phase(7.0).items() if name != "turns"}
        return [phase(3.0), consolidated][: len(more[-1].split(","))]

    monkeypatch.setattr(beside, "drive", drive)
    side = Side("ours", "", ())
    alone = retained(Wanted((), "", "", (), Path(), 1), side, "b")
    both = retained(Wanted((), "", "", (), Path(), 1, consolidate=True), side, "b")
    assert asked == ["--phases", "retain", "--phases", "retain,consolidate"]
    assert alone == figures(phase(3.0))
    assert set(both) - set(alone) == set(CONSOLIDATION)
    assert both["consolidation_cpu_ms_a_turn"] == 20.0
    assert summary({"ours": [both], "peer": [both]})["peer_to_ours"] == dict.fromkeys(
        (*FIGURES, *CONSOLIDATION), 1.0
    )


def test_threads_of_a_process_hold_its_main_one() -> None:
    sum(range(1_000_000))
    assert processes.threads(os.getpid())[os.getpid()] > 0
