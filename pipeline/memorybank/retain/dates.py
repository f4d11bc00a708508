"""Dates of facts: a date that the model gives is kept when the text or its date supports it, else dropped. Pure.

None is better than a wrong one. Where the words leave open which Friday or whose May is meant, the model may choose
(it has read the whole), and nothing is reckoned for it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from memorybank import text
from memorybank.llm.extractive.records import read_records
from memorybank.retain.schema import Draft
from memorybank.timeline import TimeSpan, dated, days, find_times, line_stamps
from memorybank.timeline.ranges import shift
from memorybank.timeline.span import of_days

#: A text's day and the day in another time zone differ by no more.
SLACK = timedelta(days=1)
#: "the 15th" means a day not further from the date of the text than this.
NAMED_DAY_REACH = timedelta(days=62)
#: How many weeks, months or years off an open time may be meant.
_READINGS = {"week": 9, "month": 2, "year": 1}
#: A year as written, or a date that holds one.
_YEAR = re.compile(r"\d{4}")

#: A number that may be a year or a day: no price, part of a number, clock time or version.
_NUMBER = re.compile(
    r"(?<![\w$€£¥#])(?<!\d[.,:])\d{1,4}(?!\d|[.,:]\d| ?[$€£¥%]| ?(?:euros?|dollars?|pesos?|yen|usd|eur|gbp|kg|km)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Occurred:
    """When something happened: first and last moment, both inside; None where it is not known.

    What lasts or is due until a day has only an end.
    """

    start: datetime | None = None
    end: datetime | None = None

    @property
    def days(self) -> str:
        """The day, or the first and the last one, as ISO dates."""
        start, end = self.start or self.end, self.end or self.start
        return days(TimeSpan(start, end)) if start and end else ""

    def may_be(self, span: TimeSpan) -> bool:
        """Tell whether it may have happened then."""
        after = self.start is not None and self.start - span.end > SLACK
        return not after and not (self.end is not None and span.start - self.end > SLACK)


@dataclass(frozen=True)
class Line:
    """What was said at a time of its own, a turn or a line of a transcript, and the terms in it."""

    said_at: datetime
    text: str
    terms: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """What a text says about time: `anchor` is its date, None where it has none."""

    source: str
    anchor: datetime | None

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The turns or lines that carry a time of their own, each with the lines behind it."""
        turns = [(turn.said, turn.text) for turn in read_records(self.source) or () if turn.said]
        return tuple(
            Line(said_at, said, frozenset(text.terms(said))) for said_at, said in turns or self._stamped()
        )

    def _stamped(self) -> list[tuple[datetime, str]]:
        zone = self.anchor.tzinfo if self.anchor else None
        stamps = line_stamps(self.source, zone or UTC)
        written = self.source.split("\n")
        ends = [*(at for at, _ in stamps[1:]), len(written)]
        return [(stamp, "\n".join(written[at:end])) for (at, stamp), end in zip(stamps, ends, strict=False)]

    @cached_property
    def spans(self) -> tuple[TimeSpan, ...]:
        """Every time that the text names, counted from the date of its line or of the whole."""
        if not self.lines:
            return tuple(find_times(self.source, self.anchor))
        # What stands before the first stamp, or has none, is read too, but only where it says its own date.
        said = (span for line in self.lines for span in find_times(line.text, line.said_at))
        return (*said, *find_times(self.source, None))

    @cached_property
    def anchors(self) -> tuple[datetime, ...]:
        """The dates of the text and of its lines."""
        stamps = tuple(line.said_at for line in self.lines)
        return (*stamps, self.anchor) if self.anchor else stamps

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The numbers of up to four digits in the text."""
        return frozenset(int(number) for number in _NUMBER.findall(self.source))

    def said_at(self, fact: str) -> datetime | None:
        """Return when a fact was said, by the stamped line that shares most of its words; None without stamps."""
        line = self._line_of(fact)
        return line.said_at if line else None

    def occurred(self, draft: Draft) -> Occurred:
        """Return when an event happened, as far as the text supports it."""
        if not draft.is_event:
            return Occurred()
        said = self._said(draft)
        until = _claimed(draft.occurred_end)
        first, last = (self._supported(each, said) for each in (_claimed(draft.occurred_start), until))
        if first is None and last is None:
            first = next((span for span in said if not span.open and self._is_supported(span)), None)
        if first is None or (last and last.end >= first.start):
            return Occurred(first.start if first else None, last.end if last else None)
        # An end that was claimed but is not supported is not known; without one, or with an earlier one, it is a day.
        lasts = until is not None and last is None and until.start > first.end
        return Occurred(first.start, None if lasts else first.end)

    def dated(self, draft: Draft, occurred: Occurred) -> Draft:
        """Return a fact with the days that its relative words mean, as far as the text supports them.

        In `what` not those that `when` says with a date of its own, nor such as are at odds with when it happened.
        """
        anchor, when = self._anchor_of(draft.what), draft.when
        told = text.fold(when) if _YEAR.search(when) else ""

        def is_new(span: TimeSpan) -> bool:
            return text.fold(span.text) not in told and occurred.may_be(span) and self._is_supported(span)

        what = dated(draft.what, anchor, is_new)
        if when and not told:
            meant = occurred.days
            when = f"{when} ({meant})" if meant else dated(when, anchor, self._is_supported)
        return replace(draft, what=what, when=when)

    def _anchor_of(self, fact: str) -> datetime | None:
        return self.said_at(fact) or self.anchor

    def _said(self, draft: Draft) -> list[TimeSpan]:
        """Return the times that the fact itself names."""
        anchor = self._anchor_of(draft.what)
        return [*find_times(draft.when, anchor), *find_times(draft.what, anchor)]

    def _is_supported(self, span: TimeSpan) -> bool:
        return self._supported(span) is not None

    def _supported(self, claimed: TimeSpan | None, said: Sequence[TimeSpan] = ()) -> TimeSpan | None:
        """Return the claimed time, widened to the range that the text named; None where nothing supports it.

        Not widened where the text, or the fact in what it `said`, names a day there.
        """
        if claimed is None:
            return None
        near = [span for each in self.spans for span in _readings(each, claimed)]
        if near:
            widest = max(near, key=lambda span: span.end - span.start)
            of_fact = [span for span in said if _touch(span, claimed)]
            stands_for_range = widest.start.date() == claimed.start.date()
            is_day = _name_a_day([*near, *of_fact])
            return widest if stands_for_range and not is_day and widest.end > claimed.end else claimed
        if any(_near(claimed, anchor, SLACK) for anchor in self.anchors):
            return claimed
        if claimed.start.year in self.numbers:
            return claimed
        by_day = claimed.start.day in self.numbers
        if by_day and any(_near(claimed, anchor, NAMED_DAY_REACH) for anchor in self.anchors):
            return claimed
        return None

    def _line_of(self, fact: str) -> Line | None:
        if not self.lines:
            return None
        wanted = frozenset(text.terms(fact))
        best = max(self.lines, key=lambda line: len(line.terms & wanted))
        return best if best.terms & wanted else None


def _claimed(stamp: str) -> TimeSpan | None:
    """Return the time that a model wrote as an ISO date, or None."""
    found = find_times(stamp, None) if stamp else []
    return found[0] if found else None


def _readings(span: TimeSpan, claimed: TimeSpan) -> Iterator[TimeSpan]:
    """Yield the times at the claimed one that the words of a span may mean: itself, or another Friday, May, …"""
    if _touch(span, claimed):
        yield span
    elif span.open:
        reach = _READINGS.get(span.open, 0)
        others = (_moved(span, span.open, count) for count in range(-reach, reach + 1))
        yield from (each for each in others if each.start <= claimed.end and claimed.start <= each.end)


def _moved(span: TimeSpan, unit: str, count: int) -> TimeSpan:
    """Return the days of a span so many units on; the span itself at the ends of time."""
    try:
        first, last = (shift(moment.date(), unit, count) for moment in (span.start, span.end))
    except (ValueError, OverflowError):
        return span
    return of_days(first, last, span.grain, span.text)


def _touch(span: TimeSpan, claimed: TimeSpan) -> bool:
    return span.start - claimed.end <= SLACK and claimed.start - span.end <= SLACK


def _name_a_day(spans: list[TimeSpan]) -> bool:
    """Tell whether one of the times is as exact as a day: then the claimed day is meant as a day."""
    return any(span.grain in ("instant", "hour", "day") for span in spans)


def _near(claimed: TimeSpan, anchor: datetime, reach: timedelta) -> bool:
    # Days are calendar days: what counts is the date that was written.
    at = anchor.replace(tzinfo=UTC)
    return claimed.start - at <= reach and at - claimed.end <= reach
