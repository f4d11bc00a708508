"""Calendar arithmetic: the day, week, month, season, … that holds a date, and the one n further on.

Weeks run from Monday to Sunday (ISO 8601). Seasons are the meteorological ones of the northern half of the earth
and belong to the year in which they begin: winter 2024 is December 2024 to February 2025.
Every function may raise ValueError or OverflowError outside of the years 1 to 9999.
"""

from calendar import monthrange
from datetime import date, timedelta

from memorybank.timeline.span import Grain

#: First day, last day, and the unit.
Days = tuple[date, date, Grain]

#: First month of each season.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}

_DAYS_PER = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}
_YEARS_PER = {"year": 1, "decade": 10, "century": 100}
_MONTHS_PER = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}


def shift(day: date, unit: str, count: int) -> date:
    """The same day `count` units on; a day that the month does not have becomes its last."""
    if unit in _DAYS_PER:
        return day + timedelta(days=count * _DAYS_PER[unit])
    if unit not in _MONTHS_PER:
        raise ValueError(f"no unit of days: {unit}")
    months = day.year * 12 + day.month - 1 + count * _MONTHS_PER[unit]
    year, month = divmod(months, 12)
    first = date(year, month + 1, 1)
    return first.replace(day=min(day.day, monthrange(first.year, first.month)[1]))


def unit_of(day: date, unit: str) -> Days:
    """The whole unit that holds the day. A weekend is that of the day's week; a decade starts with a 0."""
    if unit == "day":
        return day, day, "day"
    if unit in ("week", "fortnight", "weekend"):
        monday = day - timedelta(days=day.weekday())
        if unit == "weekend":
            return monday + timedelta(days=5), monday + timedelta(days=6), "day"
        return monday, monday + timedelta(days=6), "week"
    if unit == "month":
        return month(day.year, day.month)
    if unit == "quarter":
        return quarter(day.year, (day.month + 2) // 3)
    if unit not in _YEARS_PER:
        raise ValueError(f"no unit of days: {unit}")
    return years(day.year, _YEARS_PER[unit])


def month(year: int, number: int) -> Days:
    """A calendar month; `number` 1 to 12."""
    first = date(year, number, 1)
    return first, first.replace(day=monthrange(year, number)[1]), "month"


def quarter(year: int, number: int) -> Days:
    """A calendar quarter; `number` 1 to 4."""
    return date(year, 3 * number - 2, 1), month(year, 3 * number)[1], "quarter"


def half(year: int, number: int) -> Days:
    """A half of a year; `number` 1 or 2."""
    return date(year, 6 * number - 5, 1), month(year, 6 * number)[1], "season"


def season(year: int, name: str) -> Days:
    """A season that begins in the year."""
    first = date(year, SEASONS[name], 1)
    return first, month(*_next_month(year, SEASONS[name], 2))[1], "season"


def years(year: int, count: int = 1) -> Days:
    """The year, or the decade or century (`count` 10 or 100) that holds it."""
    first = max(year - year % count, 1)
    return date(first, 1, 1), date(year - year % count + count - 1, 12, 31), "year"


def part(days: Days, third: int) -> Days:
    """The first, middle or last third (0, 1, 2) of a month or of something longer."""
    first, last, grain = days
    if grain == "month":
        bounds = ((1, 10), (11, 20), (21, last.day))[third]
        return first.replace(day=bounds[0]), first.replace(day=bounds[1]), "week"
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    begin = month(*_next_month(first.year, first.month, third * months // 3))[0]
    end = month(*_next_month(first.year, first.month, (third + 1) * months // 3 - 1))[1]
    return begin, end, "month" if months <= 3 else "season"


def nth_weekday(year: int, number: int, weekday: int, nth: int) -> date:
    """The nth weekday (Monday 0) of a month; nth 1 to 5, or -1 for the last. ValueError if there is none."""
    first, last, _ = month(year, number)
    if nth < 0:
        return last - timedelta(days=(last.weekday() - weekday) % 7)
    day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))
    if day > last:
        raise ValueError(f"no weekday number {nth} in {year}-{number:02}")
    return day


def nth_week(year: int, number: int, nth: int) -> Days:
    """The nth seven days of a month, counted from its first day; -1 for the last seven."""
    first, last, _ = month(year, number)
    if nth < 0:
        return last - timedelta(days=6), last, "week"
    begin = first + timedelta(days=7 * (nth - 1))
    if begin > last:
        raise ValueError(f"no week number {nth} in {year}-{number:02}")
    return begin, min(begin + timedelta(days=6), last), "week"


def _next_month(year: int, number: int, count: int) -> tuple[int, int]:
    return year + (number - 1 + count) // 12, (number - 1 + count) % 12 + 1
