"""From the parts of an expression to days: one small function per action of the grammar.

Where words leave a choice, these are the rules:

- "last Friday" is the Friday before today, never today; "next Friday" the first one after today; "this Friday"
  today or the first one after. "Friday of last week" goes by weeks from Monday to Sunday.
- A bare weekday is the next one in a clause about the future, else the last one, today included.
- A month, date or season without a year is the next one in a clause about the future, the last one (begun
  already) in a clause about the past or in a question, else the nearest; "this summer" is the nearest one. A
  weekday beside a date says which year is meant.
- "two weeks ago" is the whole week that holds the day 14 days ago; days, months and years likewise. Of several units
  ("a year and two months ago") the finest counts; decades and centuries count as years.
- A year at the end of a range is that of its last day: "30 December to 2 January 2023" begins in 2022.
- "in three days" is no date in a clause about the past: there it is a duration.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import cast

from memorybank.timeline import ranges
from memorybank.timeline.grammar import read_parts
from memorybank.timeline.ranges import Days
from memorybank.timeline.reading import NoAnchor, Reading
from memorybank.timeline.span import TimeSpan, of_days

#: Seconds of the units that are halved ("half an hour"); a month is a twelfth of a mean year.
_HALVED = {"minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_629_746}
_CLOCK = {"second": 1, "minute": 60, "hour": 3600}
_SECONDS = _CLOCK | {"day": 86_400, "week": 604_800, "fortnight": 1_209_600}
#: From fine to coarse.
_UNITS = (
    "second", "minute", "hour", "day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade", "century"
)  # fmt: skip
#: A decade ago is a year, not a decade.
_AS_YEAR = {"decade": "year", "century": "year"}


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


def _day(reading: Reading) -> Days:
    return ranges.unit_of(reading.today + timedelta(days=reading.number("day_word")), "day")


def _unit(reading: Reading) -> Days:
    """Last week, this month, next year: the unit that holds today, moved; or its beginning, middle or end."""
    first = ranges.unit_of(reading.today, reading.unit)[0]
    return _maybe_part(
        reading, ranges.unit_of(ranges.shift(first, reading.unit, reading.shift), reading.unit)
    )


def _weekend(reading: Reading) -> Days:
    """The weekend: this week's, or the one before when the clause is about the past and it has not begun."""
    days = ranges.unit_of(reading.today, "weekend")
    if reading.tense() == "past" and days[0] > reading.today:
        return ranges.unit_of(reading.today - timedelta(days=7), "weekend")
    return days


def _distance(reading: Reading) -> Days | TimeSpan | None:
    """Some units ago (shift -1) or from now (+1). Done in three days, not seen in three days: no time to come."""
    if reading.rule.mode == "near" and reading.rule.shift > 0 and reading.tense() == "past":
        return None
    if reading.has("half"):
        return _half(reading)
    if reading.has("vague"):
        return _vague(reading)
    at, steps = reading.now, _steps(reading)
    for unit, count in steps:
        off = count * reading.rule.shift
        if isinstance(off, float) or unit in _CLOCK:
            at += timedelta(seconds=off * _SECONDS[unit])
        else:
            at = datetime.combine(ranges.shift(at.date(), unit, off), at.timetz())
    finest = min((unit for unit, _ in steps), key=_UNITS.index)
    if finest in _CLOCK:
        return _moment(at, finest)
    return ranges.unit_of(at.date(), "day" if reading.has("exact") else _AS_YEAR.get(finest, finest))


def _steps(reading: Reading) -> list[tuple[str, int | float]]:
    """The units of an amount with their numbers; a unit alone is one of it ("an hour" without the "an").

    A fraction ("2.5 hours") raises ValueError where the unit has no fixed length.
    """
    chain = reading.grammar.step.finditer(reading.parts.get("chain", ""))
    steps = [replace(reading, parts=read_parts(step)) for step in chain] or [reading]
    return [(step.unit, _count(step)) for step in steps]


def _count(step: Reading) -> int | float:
    if not step.has("fraction"):
        return step.number("n") if step.has("n") else 1
    if step.unit not in _SECONDS:
        raise ValueError(f"no fraction of a {step.unit}")
    return float(step.parts["fraction"].replace(",", "."))


def _moment(at: datetime, unit: str) -> TimeSpan:
    at = at.astimezone(UTC)
    if unit != "hour":
        return TimeSpan(at, at, grain="instant")
    hour = at.replace(minute=0, second=0, microsecond=0)
    return TimeSpan(hour, hour + timedelta(hours=1, microseconds=-1), grain="hour")


def _half(reading: Reading) -> Days | TimeSpan:
    """Half a year ago, a year and a half ago."""
    unit, sign = reading.unit, reading.rule.shift
    whole = reading.number("n") if reading.has("n") else 0
    if unit == "year":
        return ranges.unit_of(ranges.shift(reading.today, "month", sign * (12 * whole + 6)), "month")
    if unit not in _HALVED:
        raise ValueError(f"no half of a {unit}")
    at = reading.now + timedelta(seconds=sign * _HALVED[unit] * (2 * whole + 1) // 2)
    return _moment(at, "minute") if unit in _CLOCK else ranges.unit_of(at.date(), "day")


def _vague(reading: Reading) -> Days | TimeSpan:
    """A few days ago: from the most to the least that the word may mean."""
    least, most = cast(tuple[int, int], reading.value("vague"))
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


def _rolling(reading: Reading) -> Days | TimeSpan | None:
    """The last three days, the next two weeks: from today, today included."""
    unit, sign = reading.unit, reading.shift
    if reading.has("vague"):
        count = cast(tuple[int, int], reading.value("vague"))[1]
    else:
        count = reading.number("n") if reading.has("n") else 1
    if unit in _CLOCK:
        ends = sorted((reading.now, reading.now + timedelta(seconds=sign * count * _CLOCK[unit])))
        return TimeSpan(ends[0].astimezone(UTC), ends[1].astimezone(UTC), grain="hour")
    first, last = sorted((reading.today, ranges.shift(reading.today, unit, sign * count)))
    return first, last, "day" if unit == "day" else ranges.unit_of(reading.today, unit)[2]


def _weekday(reading: Reading) -> Days:
    """A weekday; with a number so many weeks off ("Monday two weeks ago", "a week from Friday")."""
    wanted, today, mode = reading.number("weekday"), reading.today, reading.mode
    shift = reading.rule.shift if not reading.has("n") else reading.rule.shift * reading.number("n")
    if mode == "week":
        weeks = shift or reading.shift
        return ranges.unit_of(today + timedelta(days=wanted - today.weekday() + 7 * weeks), "day")
    if mode == "near":
        ahead = reading.tense() == "future"
        day = _weekday_after(today, wanted) if ahead else _weekday_before(today + timedelta(days=1), wanted)
    elif mode == "past":
        day = _weekday_before(today, wanted)
        # The last of two is one week before the last.
        shift += 1 if reading.has("n") else 0
    else:
        day = _weekday_after(today if mode == "next" else today - timedelta(days=1), wanted)
    # "The Tuesday before last".
    shift += max(abs(reading.shift) - 1, 0) * (1 if reading.shift > 0 else -1) if reading.has("shift") else 0
    return ranges.unit_of(day + timedelta(days=7 * shift), "day")


def _weekday_before(day: date, wanted: int) -> date:
    return day - timedelta(days=(day.weekday() - wanted - 1) % 7 + 1)


def _weekday_after(day: date, wanted: int) -> date:
    return day + timedelta(days=(wanted - day.weekday() - 1) % 7 + 1)


def _in_year(reading: Reading, build: Callable[[int], Days]) -> Days:
    """What returns every year, in the year that is meant."""
    if reading.says_year:
        return build(reading.year)
    mode, today = reading.mode, reading.today
    if mode == "year":
        return build(today.year + reading.shift)
    candidates = [days for year in range(today.year - 4, today.year + 5) if (days := _or_none(build, year))]
    if mode == "past":
        return max(days for days in candidates if days[1] < today)
    if mode == "next":
        return min(days for days in candidates if days[0] > today)
    tense = "unknown" if mode == "this" else reading.tense()
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
    if reading.says_year or reading.mode == "year" or not reading.has("weekday"):
        return None
    wanted, today = reading.number("weekday"), reading.today
    years = (_or_none(build, year) for year in range(today.year - 1, today.year + 2))
    fitting = [days for days in years if days and days[0].weekday() == wanted]
    return min(fitting, key=lambda days: _days_off(days, today), default=None)


def _week_of(reading: Reading) -> Days:
    """The week of 3 March: from Monday to Sunday."""
    return ranges.unit_of(_date(reading)[0], "week")


def _week(reading: Reading) -> Days:
    """Week 14 of a year, as ISO 8601 counts."""
    number_ = reading.number("week_no")

    def build(year: int) -> Days:
        return ranges.unit_of(date.fromisocalendar(year, number_, 1), "week")

    return build(reading.year if reading.says_year else reading.today.year)


def _holiday(reading: Reading) -> Days:
    month, day = cast(tuple[int, int], reading.value("holiday"))
    return _in_year(reading, lambda year: ranges.unit_of(date(year, month, day), "day"))


def _day_of_unit(reading: Reading) -> Days:
    """The 1st of last month."""
    day = _unit(reading)[0].replace(day=reading.number("day"))
    return ranges.unit_of(day, "day")


def _day_of_month(reading: Reading) -> Days:
    """On the 5th: of this month, or of one before or after it; the nearest where the clause does not say."""
    wanted, today, tense = reading.number("day"), reading.today, reading.tense()
    months = (ranges.shift(today.replace(day=1), "month", count) for count in (-2, -1, 0, 1, 2))
    days = [first.replace(day=wanted) for first in months if wanted <= ranges.unit_of(first, "month")[1].day]
    if tense == "past":
        days = [day for day in days if day <= today]
    elif tense == "future":
        days = [day for day in days if day >= today]
    return ranges.unit_of(min(days, key=lambda day: abs(day - today)), "day")


def _date_range(reading: Reading) -> Days:
    """7 to 9 May, 30 April to 2 May."""
    last_month = reading.number("month2" if reading.has("month2") else "month")
    first_month, first_day, last_day = reading.number("month"), reading.number("day"), reading.number("day2")

    def build(year: int) -> Days:
        return (
            date(_first_year(reading, year), first_month, first_day),
            date(year, last_month, last_day),
            "day",
        )

    return _in_year(_of_last_year(reading), build)


def _of_last_year(reading: Reading) -> Reading:
    """The year of a range is that of its end."""
    ends = reading.parts.get("year2")
    return replace(reading, parts={**reading.parts, "year": ends}) if ends else reading


def _first_year(reading: Reading, last: int) -> int:
    """The year in which a range begins that ends in the year `last`."""
    if reading.has("year") and reading.has("year2") and reading.parts["year"] != reading.parts["year2"]:
        return reading.year
    turned = reading.has("month2") and reading.number("month2") < reading.number("month")
    return last - turned


def _month(reading: Reading) -> Days:
    month = reading.number("month")
    return _maybe_part(reading, _in_year(reading, lambda year: ranges.month(year, month)))


def _month_range(reading: Reading) -> Days:
    first, last = reading.number("month"), reading.number("month2")

    def build(year: int) -> Days:
        return ranges.month(_first_year(reading, year), first)[0], ranges.month(year, last)[1], "month"

    return _in_year(_of_last_year(reading), build)


def _season(reading: Reading) -> Days:
    name = str(reading.value("season"))
    return _maybe_part(reading, _in_year(reading, lambda year: ranges.season(year, name)))


def _quarter(reading: Reading) -> Days:
    """A quarter or a half of a year."""
    nth = reading.number("quarter" if reading.has("quarter") else "ordinal")
    if reading.has("unit") and reading.unit == "half":
        return _in_year(reading, lambda year: ranges.half(year, nth))
    return _in_year(reading, lambda year: ranges.quarter(year, nth))


def _year(reading: Reading) -> Days:
    return _maybe_part(reading, ranges.years(reading.year))


def _year_range(reading: Reading) -> Days:
    return date(reading.number("year"), 1, 1), date(reading.number("year2"), 12, 31), "year"


def _decade(reading: Reading) -> Days:
    """The 1990s; with two digits those of the last century. The 1800s and 1900s are whole centuries."""
    year = reading.number("decade")
    year += 1900 if year < 100 else 0
    return _maybe_part(reading, ranges.years(year, 100 if year % 100 == 0 and year < 2000 else 10))


def _century(reading: Reading) -> Days:
    """The 19th century: 1801 to 1900."""
    nth = reading.number("n")
    return _maybe_part(reading, (date(100 * nth - 99, 1, 1), date(100 * nth, 12, 31), "year"))


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
    "day": _day,
    "unit": _unit,
    "distance": _distance,
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
    "part_of_unit": _unit,
    "weekend": _weekend,
    "week": _week,
    "week_of": _week_of,
    "day_of_unit": _day_of_unit,
    "century": _century,
    "decade": _decade,
    "nth": _nth,
}
