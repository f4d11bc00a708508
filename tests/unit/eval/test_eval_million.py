"""How shapes of a database are compared."""

from typing import Any

from memorybank_eval import million
from memorybank_eval.timing import medians


def _asked(p95: float) -> dict[str, Any]:
    return medians(
        [{"p50_ms": 1.0, "p95_ms": each, "cpu_ms": 1.0, "per_second": 9.0} for each in (p95, 1, 99)], "p95_ms"
    )


def test_a_shape_is_as_slow_as_the_median_of_its_rounds_over_that_of_another() -> None:
    results = {
        name: {
            million.ALONE: _asked(10 * size),
            million.SIDE: _asked(20 * size),
            "bytes_per_fact": {"all": [2, 3]},
        }
        for name, size in (("200x5000", 3), ("20x5000", 2))
    }
    slow = million.compared(results)
    assert slow == {"20x5000": {million.ALONE: 1.5, million.SIDE: 1.5}}
    shown = million.table({"shapes": results, "times_as_slow": slow})
    assert "1.0 / 30.0 ms" in shown and "2 + 3" in shown
    assert results["20x5000"][million.ALONE]["p95_ms_by_round"] == [20, 1, 99]
