"""An item's time keeps the zone in which it was written, on the way in."""

from datetime import timedelta

import pytest

from memorybank.serve.http.schemas.memories import MemoryItem


@pytest.mark.parametrize(
    ("written", "hours"),
    [("2026-03-01T23:30:00-08:00", -8), ("2026-03-01T23:30:00Z", 0), ("2026-03-01", 0)],
)
def test_the_zone_is_kept(written: str, hours: int) -> None:
    timestamp = MemoryItem(content="x", timestamp=written).timestamp
    assert not isinstance(timestamp, str | None)
    assert (timestamp.day, timestamp.utcoffset()) == (1, timedelta(hours=hours))


def test_unset_is_no_time() -> None:
    assert MemoryItem(content="x", timestamp="Unset").timestamp == "unset"
