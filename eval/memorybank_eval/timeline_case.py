"""A text with the times that should be found in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

#: First and last moment.
Range = tuple[datetime, datetime]


@dataclass(frozen=True)
class Case:
    """A text and the times that a reader finds in it.

    Attributes:
        within: None where the ranges are those that were labelled; else they are moments or days, and this is how
            long a range that holds one may be.
    """

    language: str
    text: str
    anchor: datetime | None
    expected: tuple[Range, ...]
    within: timedelta | None = None

    def is_right(self, found: Sequence[Range]) -> bool:
        """Tell whether the found ranges are those that were expected, and no others."""
        if self.within is None or not self.expected:
            return tuple(found) == self.expected
        if len(found) > len(self.expected):
            return False
        if len(found) == 1 and len(self.expected) > 1:
            # From the first day to the last one, read as one range.
            return found[0][0] == self.expected[0][0] and found[0][1] == self.expected[-1][1]
        longest = self.within
        return all(
            any(start <= last and first <= end and end - start <= longest for start, end in found)
            for first, last in self.expected
        )


def whole_day(day: date) -> Range:
    """Return the first and the last moment of a day."""
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return start, start + timedelta(days=1, microseconds=-1)
