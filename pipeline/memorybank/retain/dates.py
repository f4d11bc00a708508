"""Dates of facts: a date that the model gives is kept when the text or its date supports it, else dropped. Pure.

None is better than a wrong one. Where the words leave open which Friday or whose May is meant, the model may choose
(it has read the whole), and nothing is reckoned for it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property

from memorybank import text
from memorybank.llm.extractive.records import read_records
from memorybank.retain.schema import Draft
from memorybank.timeline import (
    EARLIEST,
    LATEST,
    TimeSpan,
    dated,
    find_times,
    lengths,
    line_stamps,
    phrase_window,
)
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

    What lasts or is due until a day has only an end, what has lasted since one only a start. A moment is in the zone in
    which it was told, a calendar day in UTC.
    """

    start: datetime | None = None
    end: datetime | None = None

    @property
    def days(self) -> str:
        """The day, or the first and the last one, as ISO dates."""
        ends = [each.date().isoformat() for each in (self.start, self.end) if each]
        # A dash is read in every language.
        return "–".join(dict.fromkeys(ends))

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
    def lengths(self) -> frozenset[tuple[str, int]]:
        """The lengths of time that the text names: units and how many."""
        return frozenset(lengths(self.source))

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
        anchor, said = self._anchor_of(draft.what), self._said(draft)
        until = _claimed(draft.occurred_end, anchor)
        first, last = (
            self._supported(each, said) for each in (_claimed(draft.occurred_start, anchor), until)
        )
        if first and until and not last and self._is_as_long(first, until):
            last = until
        if first:
            return _lasting(first, last, until, _opened(draft.when, anchor, first))
        return Occurred(None, last.end) if last else self._told(draft, anchor)

    def _told(self, draft: Draft, anchor: datetime | None) -> Occurred:
        """Return when an event happened by its own words, as far as the text supports them."""
        windows = (phrase_window(said, anchor, self._is_sure) for said in (draft.when, draft.what))
        told = next(filter(None, windows), None)
        if told is None:
            return Occurred()
        if None not in told.bounds:
            told = _there(told, anchor)
        return Occurred(*told.bounds)

    def _is_sure(self, span: TimeSpan) -> bool:
        return not span.open and self._is_supported(span)

    def _is_as_long(self, first: TimeSpan, until: TimeSpan) -> bool:
        """Tell whether from the start to an end it is as long as the text says somewhere: "for eighteen months"."""
        return any(
            over - SLACK <= until.end.date() <= over for over in _ends(first.start.date(), self.lengths)
        )

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


def _claimed(stamp: str, anchor: datetime | None) -> TimeSpan | None:
    """Return the time that a model wrote as an ISO date, or None."""
    found = find_times(stamp, None) if stamp else []
    # What is no date by itself is none; a clock time without a zone is in the anchor's.
    return _there(find_times(found[0].text, anchor)[0], anchor) if found else None


def _there(span: TimeSpan, anchor: datetime | None) -> TimeSpan:
    """Return a moment in the zone of the anchor; a calendar day as it is."""
    if span.grain not in ("instant", "hour"):
        return span
    zone = anchor.tzinfo if anchor else None
    start, end = (each.astimezone(zone or UTC) for each in (span.start, span.end))
    return replace(span, start=start, end=end)


def _lasting(
    first: TimeSpan, last: TimeSpan | None, until: TimeSpan | None, said: TimeSpan | None
) -> Occurred:
    """Return when something happened that began at `first`.

    `last` is its end as far as it is supported, `until` as it was claimed; `said` is what the words beside leave open.
    """
    if last and last.end > first.end:
        return Occurred(first.start, last.end)
    # An end that was claimed but is not supported is not known, and what is open in words has none.
    if (until and not last and until.start > first.end) or (said and said.end == LATEST):
        return Occurred(first.start, None)
    # "Until Friday" on the Friday is no Friday.
    if said and said.start == EARLIEST:
        return Occurred(None, first.end)
    return Occurred(first.start, last.end if last and last.end >= first.start else first.end)


def _opened(when: str, anchor: datetime | None, first: TimeSpan) -> TimeSpan | None:
    """Return the window that the words of a time open at the claimed one: "since May", "until Friday"."""

    def is_meant(span: TimeSpan) -> bool:
        return any(each.start <= first.end and first.start <= each.end for each in _readings(span, first))

    return phrase_window(when, anchor, is_meant)


def _ends(start: date, named: Iterable[tuple[str, int]]) -> Iterator[date]:
    """Yield the days so long after a start; none for what is no number of days or leaves the years 1 to 9999."""
    for unit, count in named:
        with suppress(ValueError, OverflowError):
            yield shift(start, unit, count)


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
