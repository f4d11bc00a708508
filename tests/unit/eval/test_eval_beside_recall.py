"""Recall beside a peer: names of banks, how many times better, and the table."""

import pytest

from memorybank_eval.beside_recall import bank_of, compared, table

OURS = "ours (small)"


def run(p50: float, rate: float) -> dict[str, float]:
    return {"p50_ms": p50, "p95_ms": 2 * p50, "cpu_ms": p50 / 2, "per_second": rate, "other_cpu_share": 0.5}


@pytest.mark.parametrize(("size", "bank"), [(420, "r420"), (20_000, "r20k"), (100_000, "r100k")])
def test_a_bank_is_named_by_its_size(size: int, bank: str) -> None:
    assert bank_of(size) == bank


def test_better_is_less_time_and_more_questions_by_the_medians() -> None:
    ours = [run(10, 80), run(20, 60), run(90, 100)]
    result = compared({OURS: ours, "peer": [run(80, 20), run(80, 20), run(8, 200)]})
    assert result["medians"][OURS]["p50_ms"] == 20
    assert result["times_better"] == {OURS: {"p50_ms": 4, "p95_ms": 4, "cpu_ms": 4, "per_second": 4}}
    assert result["runs"][OURS] == ours


def test_the_table_has_a_row_for_each_figure_and_a_column_for_each_side() -> None:
    measured = compared({OURS: [{**run(10, 80), "embedder_ms": 3.0}], "peer": [run(40, 20)]})
    lines = table([{"facts": 20_000, "callers": 8, **measured}]).splitlines()
    head, row, share = ([cell.strip() for cell in lines[at].split("|")[1:-1]] for at in (0, 2, 6))
    assert head == ["median", OURS, "peer"]
    assert row == ["20,000 facts, 8 at once: p50_ms", "10 (4.0×)", "40"]
    assert share == ["20,000 facts, 8 at once: embedder_ms", "3.0", ""]
