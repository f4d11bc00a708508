"""The one seam for "now": everything that asks for the time asks here, so that tests can set it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime


def _system() -> datetime:
    return datetime.now(UTC)


_source: Callable[[], datetime] = _system


def now() -> datetime:
    """Return the current time, UTC."""
    return _source()


@contextmanager
def fixed(at: datetime) -> Iterator[None]:
    """Let `now()` answer `at` inside the block (for tests and recordings)."""
    global _source
    before = _source
    _source = lambda: at  # noqa: E731
    try:
        yield
    finally:
        _source = before
