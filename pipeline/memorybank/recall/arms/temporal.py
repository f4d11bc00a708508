"""The time arm: how near in time a unit is to the window that the question names. It ranks, it never filters.

A unit without any date gets nothing, which is less than what a dated unit gets: only a question that names a time asks
this arm at all, so no other question pays for undated or year-only facts.
"""

from datetime import datetime, timedelta

import numpy as np

from memorybank.recall.space import Floats, Space
from memorybank.storage.found import Dated
from memorybank.timeline import Grain, TimeSpan
from memorybank.timeline.span import EARLIEST, LATEST

_DAY = 86_400.0
#: Days after which a unit outside the window counts 1/e of one inside. A day that is named is often a day off; what
#: is said of a month is said some days around it.
_FADING_DAYS: dict[Grain, float] = {
    "instant": 3.0,
    "hour": 3.0,
    "day": 3.0,
    "week": 5.0,
    "month": 10.0,
    "quarter": 20.0,
    "season": 20.0,
    "year": 30.0,
}
#: Beyond this many times the fading a unit counts less than 1/50: it is not read.
REACH = 4.0
#: What was said so long after the question is later than it: time stamps come from clocks in all zones.
_SLACK = timedelta(days=1)
#: The least breadth of a window: against "at noon", what lasted all day is no less exact.
_LEAST_BREADTH = _DAY


def reach(window: TimeSpan) -> tuple[datetime, datetime]:
    """Return the dates between which units are worth reading: the window and what lies near it."""
    days = timedelta(days=REACH * _FADING_DAYS[window.grain])
    start = window.start - days if window.start - EARLIEST > days else EARLIEST
    end = window.end + days if LATEST - window.end > days else LATEST
    return start, end


def end_of_asking(asked_at: datetime | None, now: datetime) -> datetime | None:
    """Return the moment after which nothing can answer a question asked in the past; None for one asked now."""
    return asked_at + _SLACK if asked_at and now - asked_at > _SLACK else None


def closeness(space: Space, window: TimeSpan, dated: Dated) -> Floats:
    """Return the nearness of each unit to the window, 0 to 1 (n,): the better of when it happened and was said."""
    at, known = space.find(dated.addresses)
    happened = _nearness(window, dated.occurred_start[known], dated.occurred_end[known])
    said = _nearness(window, dated.mentioned_at[known], dated.mentioned_at[known])
    total = np.zeros(len(space))
    total[at[known]] = np.fmax(happened, said)
    return np.nan_to_num(total)


def _nearness(window: TimeSpan, start: Floats, end: Floats) -> Floats:
    """Return exp(-gap / fading), less where a unit is much wider than the window: a year-only date is a range."""
    first, last = window.start.timestamp(), window.end.timestamp()
    gap = np.maximum(0.0, np.maximum(start - last, first - end)) / _DAY
    breadth = max(last - first, _LEAST_BREADTH)
    exactness = np.sqrt(np.minimum(1.0, breadth / np.maximum(end - start, breadth)))
    return np.exp(-gap / _FADING_DAYS[window.grain]) * exactness
