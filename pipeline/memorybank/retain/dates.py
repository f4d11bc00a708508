"""Dates of facts: a date that the model gives is kept when the text or its date supports it, else dropped. Pure.

None is better than a wrong one.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from memorybank import text
from memorybank.llm.extractive.records import read_records
from memorybank.retain.schema import Draft
from memorybank.timeline import TimeSpan, dated, days, find_times, line_stamps

#: A text's day and the day in another time zone differ by no more.
SLACK = timedelta(days=1)
#: "the 15th" means a day not further from the date of the text than this.
NAMED_DAY_REACH = timedelta(days=62)

#: A number that may be a year or a day: no price, part of a number, clock time or version.
_NUMBER = re.compile(
    r"(?<![\w$€£¥#])(?<!\d[.,:])\d{1,4}(?!\d|[.,:]\d| ?[$€£¥%]| ?(?:euros?|dollars?|pesos?|yen|usd|eur|gbp|kg|km)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Occurred:
    """When something happened: first and last moment, both inside; None where it is not known."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def days(self) -> str:
        """The day, or the first and the last one, as ISO dates."""
        if self.start is None or self.end is None:
            return ""
        return days(TimeSpan(self.start, self.end))


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
        claimed = self._supported(_claimed(draft.occurred_start))
        if claimed is None:
            claimed = self._named(draft)
        if claimed is None:
            return Occurred()
        last = self._supported(_claimed(draft.occurred_end))
        end = last.end if last and last.end >= claimed.start else claimed.end
        return Occurred(claimed.start, end)

    def dated(self, what: str) -> str:
        """Return what a fact says with the days that its relative words mean, as far as the text supports them."""
        return dated(what, self._anchor_of(what), lambda span: self._supported(span) is not None)

    def _anchor_of(self, fact: str) -> datetime | None:
        return self.said_at(fact) or self.anchor

    def _named(self, draft: Draft) -> TimeSpan | None:
        """Return the time that the fact itself names, where the text names it too."""
        anchor = self._anchor_of(draft.what)
        found = find_times(draft.when, anchor) or find_times(draft.what, anchor)
        return self._supported(found[0]) if found else None

    def _supported(self, claimed: TimeSpan | None) -> TimeSpan | None:
        """Return the claimed time, widened to the range that the text named; None where nothing supports it."""
        if claimed is None:
            return None
        near = [span for span in self.spans if _touch(span, claimed)]
        if near:
            widest = max(near, key=lambda span: span.end - span.start)
            stands_for_range = widest.start.date() == claimed.start.date() and not _has_day_between(near)
            return widest if stands_for_range and widest.end > claimed.end else claimed
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


def _touch(span: TimeSpan, claimed: TimeSpan) -> bool:
    return span.start - claimed.end <= SLACK and claimed.start - span.end <= SLACK


def _has_day_between(spans: list[TimeSpan]) -> bool:
    """Tell whether one of the times is as exact as a day: then the claimed day is meant as a day."""
    return any(span.grain in ("instant", "hour", "day") for span in spans)


def _near(claimed: TimeSpan, anchor: datetime, reach: timedelta) -> bool:
    # Days are calendar days: what counts is the date that was written.
    at = anchor.replace(tzinfo=UTC)
    return claimed.start - at <= reach and at - claimed.end <= reach
