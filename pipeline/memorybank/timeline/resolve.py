"""From the parts of an expression to days: one small function per action of the language tables.

Where words leave a choice, these are the rules:

- "last Friday" is the Friday before today, never today; "next Friday" the first one after today; "this Friday"
  today or the first one after. "Friday of last week" goes by weeks from Monday to Sunday.
- A bare weekday is the next one in a clause about the future, else the last one, today included.
- A month, date or season without a year is the next one in a clause about the future, the last one (begun
  already) in a clause about the past or in a question, else the nearest; "this summer" is the nearest one. A
  weekday beside a date says which year is meant.
- "two weeks ago" is the whole week that holds the day 14 days ago; days, months and years likewise.
- "in three days" is no date in a clause about the past: there it is a duration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal, cast

from memorybank.timeline import ranges
from memorybank.timeline.grammar import Rule
from memorybank.timeline.numerals import number
from memorybank.timeline.ranges import Days
from memorybank.timeline.span import TimeSpan, of_days

Tense = Literal["past", "future", "unknown"]

#: Seconds of the units that are halved ("half an hour"); a month is a twelfth of a mean year.
_HALVED = {"minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_629_746}
_CLOCK = {"second": 1, "minute": 60, "hour": 3600}


class NoAnchor(Exception):
    """The expression is relative and nothing is known to count from."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One expression as found: its rule, its parts as written, the language's words, and where time stands."""

    rule: Rule
    parts: Mapping[str, str]
    words: Mapping[str, Mapping[str, object]]
    anchor: datetime | None
    tense: Callable[[], Tense]

    @property
    def now(self) -> datetime:
        if self.anchor is None:
            raise NoAnchor
        return self.anchor

    @property
    def today(self) -> date:
        return self.now.date()

    def has(self, name: str) -> bool:
        return name in self.parts

    def number(self, name: str) -> int:
        """A part as a number: digits, a word of the language's table, or numerals of East Asia."""
        word = self.parts[name]
        known = self.words.get(name.rstrip("2"), {}).get(word)
        return known if isinstance(known, int) else number(word)

    def name(self, table: str, part: str = "") -> str:
        return str(self.words[table][self.parts[part or table]])

    @property
    def unit(self) -> str:
        return self.rule.unit or self.name("unit")


def resolve(reading: Reading, text: str) -> TimeSpan | None:
    """The span of an expression; None when it names none (no such day, outside of the years 1 to 9999, …)."""
    try:
        found = _ACTIONS[reading.rule.action](reading)
    except (NoAnchor, ValueError, OverflowError):
        return None
    if found is None or isinstance(found, TimeSpan):
        return found and TimeSpan(found.start, found.end, text, found.grain)
    first, last, grain = found
    return of_days(first, last, grain, text) if first <= last else None


def _nothing(_: Reading) -> None:
    """Words that look like a time and are none: every Friday, 312 BC."""


def _day(reading: Reading) -> Days:
    return ranges.unit_of(reading.today + timedelta(days=reading.rule.shift), "day")


def _unit(reading: Reading) -> Days:
    """Last week, this month, next year: the unit that holds today, moved."""
    unit = reading.unit
    if reading.rule.mode == "near" and unit == "weekend" and not reading.rule.shift:
        return _near_weekend(reading)
    return ranges.unit_of(ranges.shift(_first(reading.today, unit), unit, reading.rule.shift), unit)


def _near_weekend(reading: Reading) -> Days:
    """The weekend: this week's, or the one before when the clause is about the past and it has not begun."""
    days = ranges.unit_of(reading.today, "weekend")
    if reading.tense() == "past" and days[0] > reading.today:
        return ranges.unit_of(reading.today - timedelta(days=7), "weekend")
    return days


def _first(day: date, unit: str) -> date:
    """A day from which months can be counted without losing any."""
    return day.replace(day=1) if unit in ("month", "quarter", "year", "decade", "century") else day


def _distance(reading: Reading) -> Days | TimeSpan | None:
    """N units ago (shift -1) or from now (+1)."""
    if _is_duration(reading):
        return None
    return _at_distance(reading, (reading.number("n") if reading.has("n") else 1) * reading.rule.shift)


def _is_duration(reading: Reading) -> bool:
    """Done in three days, not seen in three days: no time to come."""
    return reading.rule.mode == "near" and reading.rule.shift > 0 and reading.tense() == "past"


def _at_distance(reading: Reading, count: int) -> Days | TimeSpan:
    """The unit that holds the moment `count` units off; with a second part ("and 2 months") the finer of both."""
    steps = [(reading.unit, count)]
    if reading.has("unit2"):
        steps.append((reading.name("unit", "unit2"), reading.number("n2") * reading.rule.shift))
    at, finest = reading.now, steps[-1][0]
    for unit, off in steps:
        if unit in _CLOCK:
            at += timedelta(seconds=off * _CLOCK[unit])
        else:
            at = datetime.combine(ranges.shift(at.date(), unit, off), at.timetz())
    return _moment(at, finest) if finest in _CLOCK else ranges.unit_of(at.date(), finest)


def _moment(at: datetime, unit: str) -> TimeSpan:
    at = at.astimezone(UTC)
    if unit != "hour":
        return TimeSpan(at, at, grain="instant")
    hour = at.replace(minute=0, second=0, microsecond=0)
    return TimeSpan(hour, hour + timedelta(hours=1, microseconds=-1), grain="hour")


def _half(reading: Reading) -> Days | TimeSpan:
    """Half a year ago; with a second part ("a year and a half ago") that many months more."""
    unit, sign = reading.unit, reading.rule.shift
    whole = reading.number("n") if reading.has("n") else 0
    if unit == "year":
        return ranges.unit_of(ranges.shift(reading.today, "month", sign * (12 * whole + 6)), "month")
    if unit not in _HALVED:
        raise ValueError(f"no half of a {unit}")
    at = reading.now + timedelta(seconds=sign * _HALVED[unit] * (2 * whole + 1) // 2)
    return _moment(at, "minute") if unit in _CLOCK else ranges.unit_of(at.date(), "day")


def _vague(reading: Reading) -> Days | TimeSpan | None:
    """A few days ago: from the most to the least that the word may mean."""
    if _is_duration(reading):
        return None
    least, most = cast(tuple[int, int], reading.words["vague"][reading.parts["vague"]])
    unit, sign = reading.unit, reading.rule.shift
    if unit in _CLOCK:
        near, far = (
            _moment(reading.now + timedelta(seconds=sign * count * _CLOCK[unit]), unit)
            for count in (least, most)
        )
        return TimeSpan(min(near.start, far.start), max(near.end, far.end), grain=near.grain)
    near_days, far_days = (
        ranges.unit_of(ranges.shift(reading.today, unit, sign * count), unit) for count in (least, most)
    )
    return min(near_days[0], far_days[0]), max(near_days[1], far_days[1]), near_days[2]


def _rolling(reading: Reading) -> Days | TimeSpan:
    """The last three days, the next two weeks: from today, today included."""
    if reading.has("vague"):
        count = cast(tuple[int, int], reading.words["vague"][reading.parts["vague"]])[1]
    else:
        count = reading.number("n") if reading.has("n") else 1
    unit, sign = reading.unit, reading.rule.shift
    if unit in _CLOCK:
        ends = sorted((reading.now, reading.now + timedelta(seconds=sign * count * _CLOCK[unit])))
        return TimeSpan(ends[0].astimezone(UTC), ends[1].astimezone(UTC), grain="hour")
    first, last = sorted((reading.today, ranges.shift(reading.today, unit, sign * count)))
    return first, last, "day" if unit == "day" else ranges.unit_of(reading.today, unit)[2]


def _weekday(reading: Reading) -> Days:
    wanted, today, mode = reading.number("weekday"), reading.today, reading.rule.mode
    if mode == "week":
        day = today + timedelta(days=wanted - today.weekday() + 7 * reading.rule.shift)
        return day, day, "day"
    if mode == "near":
        ahead = reading.tense() == "future"
        day = _weekday_after(today, wanted) if ahead else _weekday_before(today + timedelta(days=1), wanted)
    elif mode == "past":
        day = _weekday_before(today, wanted)
    else:
        day = _weekday_after(today if mode == "next" else today - timedelta(days=1), wanted)
    day += timedelta(days=7 * reading.rule.shift)
    return day, day, "day"


def _weekday_before(day: date, wanted: int) -> date:
    return day - timedelta(days=(day.weekday() - wanted - 1) % 7 + 1)


def _weekday_after(day: date, wanted: int) -> date:
    return day + timedelta(days=(wanted - day.weekday() - 1) % 7 + 1)


def _in_year(reading: Reading, build: Callable[[int], Days]) -> Days:
    """What returns every year, in the year that is meant."""
    if reading.has("year"):
        return build(reading.number("year"))
    mode, today = reading.rule.mode, reading.today
    if mode in ("year", "this"):
        return build(today.year + reading.rule.shift)
    candidates = [days for year in range(today.year - 4, today.year + 5) if (days := _or_none(build, year))]
    if mode == "past":
        return max(days for days in candidates if days[1] < today)
    if mode == "next":
        return min(days for days in candidates if days[0] > today)
    tense = reading.tense()
    if tense == "past":
        return max(days for days in candidates if days[0] <= today)
    if tense == "future":
        return min(days for days in candidates if days[1] >= today)
    return min(candidates, key=lambda days: _days_off(days, today))


def _days_off(days: Days, today: date) -> timedelta:
    return max(days[0] - today, today - days[1], timedelta(0))


def _or_none(build: Callable[[int], Days], year: int) -> Days | None:
    """No 29 February in most years."""
    try:
        return build(year)
    except (ValueError, OverflowError):
        return None


def _date(reading: Reading) -> Days:
    month, day = reading.number("month"), reading.number("day")

    def build(year: int) -> Days:
        return ranges.unit_of(date(year, month, day), "day")

    return _on_weekday(reading, build) or _in_year(reading, build)


def _on_weekday(reading: Reading, build: Callable[[int], Days]) -> Days | None:
    """A day without a year whose weekday is said: of this year and those beside it, the nearest that fits."""
    if reading.has("year") or not reading.has("weekday"):
        return None
    wanted, today = reading.number("weekday"), reading.today
    years = (_or_none(build, year) for year in range(today.year - 1, today.year + 2))
    fitting = [days for days in years if days and days[0].weekday() == wanted]
    return min(fitting, key=lambda days: _days_off(days, today), default=None)


def _holiday(reading: Reading) -> Days:
    month, day = cast(tuple[int, int], reading.words["holiday"][reading.parts["holiday"]])
    return _in_year(reading, lambda year: ranges.unit_of(date(year, month, day), "day"))


def _day_of_month(reading: Reading) -> Days:
    """On the 5th: of this month, or of the one before or after it."""
    months = (ranges.shift(reading.today.replace(day=1), "month", count) for count in (-2, -1, 0, 1, 2))
    wanted = reading.number("day")
    days = [day for month in months if (day := _day_in(month, wanted))]
    if reading.tense() == "future":
        day = min(day for day in days if day >= reading.today)
    else:
        day = max(day for day in days if day <= reading.today)
    return day, day, "day"


def _day_in(month: date, day: int) -> date | None:
    try:
        return month.replace(day=day)
    except ValueError:
        return None


def _date_range(reading: Reading) -> Days:
    """7 to 9 May, 30 April to 2 May."""
    last_month = reading.number("month2" if reading.has("month2") else "month")
    first_month, first_day, last_day = reading.number("month"), reading.number("day"), reading.number("day2")

    def build(year: int) -> Days:
        later = year + (last_month < first_month)
        return date(year, first_month, first_day), date(later, last_month, last_day), "day"

    return _in_year(reading, build)


def _month(reading: Reading) -> Days:
    month = reading.number("month")
    return _maybe_part(reading, _in_year(reading, lambda year: ranges.month(year, month)))


def _month_range(reading: Reading) -> Days:
    first, last = reading.number("month"), reading.number("month2")

    def build(year: int) -> Days:
        return ranges.month(year, first)[0], ranges.month(year + (last < first), last)[1], "month"

    return _in_year(reading, build)


def _season(reading: Reading) -> Days:
    name = reading.name("season")
    if reading.rule.mode == "this":
        seasons = (ranges.season(reading.today.year + count, name) for count in (-1, 0, 1))
        return _maybe_part(reading, min(seasons, key=lambda days: _days_off(days, reading.today)))
    return _maybe_part(reading, _in_year(reading, lambda year: ranges.season(year, name)))


def _quarter(reading: Reading) -> Days:
    number_ = reading.number("quarter" if reading.has("quarter") else "ordinal")
    return _in_year(reading, lambda year: ranges.quarter(year, number_))


def _year(reading: Reading) -> Days:
    return _maybe_part(reading, ranges.years(reading.number("year")))


def _year_range(reading: Reading) -> Days:
    return date(reading.number("year"), 1, 1), date(reading.number("year2"), 12, 31), "year"


def _part_of_unit(reading: Reading) -> Days:
    """The beginning of this year, the end of last month."""
    return _maybe_part(reading, _unit(reading))


def _decade(reading: Reading) -> Days:
    """The 1990s; with two digits those of the last century. The 1800s and 1900s are whole centuries."""
    year = reading.number("decade") if reading.has("decade") else reading.number("ordinal")
    year += 1900 if year < 100 else 0
    return _maybe_part(reading, ranges.years(year, 100 if year % 100 == 0 and year < 2000 else 10))


def _nth(reading: Reading) -> Days:
    """The second week, the first weekend or the last Friday of a month."""
    nth, month = reading.number("ordinal"), reading.number("month")

    def build(year: int) -> Days:
        if reading.has("weekday"):
            return ranges.unit_of(ranges.nth_weekday(year, month, reading.number("weekday"), nth), "day")
        if reading.unit == "weekend":
            return ranges.unit_of(ranges.nth_weekday(year, month, 5, nth), "weekend")
        return ranges.nth_week(year, month, nth)

    return _in_year(reading, build)


def _maybe_part(reading: Reading, days: Days) -> Days:
    return ranges.part(days, reading.number("part")) if reading.has("part") else days


_ACTIONS: dict[str, Callable[[Reading], Days | TimeSpan | None]] = {
    "nothing": _nothing,
    "day": _day,
    "unit": _unit,
    "distance": _distance,
    "half": _half,
    "vague": _vague,
    "rolling": _rolling,
    "weekday": _weekday,
    "date": _date,
    "holiday": _holiday,
    "day_of_month": _day_of_month,
    "date_range": _date_range,
    "month": _month,
    "month_range": _month_range,
    "season": _season,
    "quarter": _quarter,
    "year": _year,
    "year_range": _year_range,
    "part_of_unit": _part_of_unit,
    "decade": _decade,
    "nth": _nth,
}
