"""A range of time, as it was named."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Literal

Grain = Literal["instant", "hour", "day", "week", "month", "season", "quarter", "year"]

#: The ends of what a datetime can hold, for windows that are open on one side.
EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)

_LAST_MOMENT = time(23, 59, 59, 999_999, tzinfo=UTC)
_FIRST_MOMENT = time(0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From the first moment to the last one (a microsecond), both inside and in UTC; `text`: the words that named it.

    `grain`: the unit that was named, which says how exact it is; a decade has the grain "year". `open`: the unit that
    the words leave open, so that the span is one of several that may be meant: the week of "on Friday", the month of
    "on the 31st", the year of "in May". None where they and the anchor fix it.
    """

    start: datetime
    end: datetime
    text: str = ""
    grain: Grain = "day"
    open: Grain | None = None

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """First and last moment; None for an end of a window that is open there."""
        return self.start if self.start > EARLIEST else None, self.end if self.end < LATEST else None


def of_days(first: date, last: date, grain: Grain, text: str = "") -> TimeSpan:
    """The calendar days from `first` to `last`, both included."""
    return TimeSpan(datetime.combine(first, _FIRST_MOMENT), datetime.combine(last, _LAST_MOMENT), text, grain)
