"""Reflect beside a peer: medians, the share of the peer's time, what is reached, and the table."""

import pytest

from memorybank_eval.beside_reflect import compared, table


def run(p50: float, tokens: int) -> dict[str, float]:
    return {
        "p50_ms": p50, "p95_ms": 2 * p50, "cpu_ms": p50 / 2, "calls": 1.0, "prompt_tokens": tokens,
        "other_cpu_share": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "tokens", "share", "reached"),
    [
        (50, 4_000, 0.25, {"time": True, "tokens": True}),
        (120, 10_001, 0.6, {"time": False, "tokens": False}),
    ],
)
def test_the_share_is_the_median_of_rounds_side_by_side(
    ours: float, tokens: int, share: float, reached: dict[str, bool]
) -> None:
    runs = {
        "ours": [run(ours, tokens), run(2 * ours, tokens), run(ours, tokens)],
        "peer": [run(200, 20_000), run(400, 20_000), run(10, 20_000)],
    }
    found = compared(runs)
    assert (found["share_of_the_peers_time"], found["reached"]) == (share, reached)
    assert found["medians"]["ours"]["p50_ms"] == ours and found["runs"] == runs
    assert found["peer_to_ours"]["p50_ms"] == pytest.approx(200 / ours, abs=0.01)


def test_the_table_has_a_row_for_each_figure() -> None:
    lines = table(
        [{"state": "before", **compared({"ours": [run(50, 4000)], "peer": [run(200, 20000)]})}]
    ).splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert cells[0] == ["median of a question", "ours", "peer", "peer / ours"]
    assert cells[2] == ["before: p50_ms", "50", "200", "4.0"] and cells[-1][0] == "before: other_cpu_share"
