"""Dates in digits, the same in all languages: 2026-03-01, 1.3.2026, 3/1/2026, with a time in the ISO form."""

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

from memorybank.timeline.span import TimeSpan, of_days

#: Two-digit years up to this belong to this century.
_TURN_OF_CENTURY = 69
#: Years outside are not believed without a word that says so: they are mostly other numbers.
_YEARS = range(1000, 2200)

_ISO = (
    r"(?P<y>\d{4})(?P<ys>[-/])(?P<m>\d{1,2})(?P=ys)(?P<d>\d{1,2})"
    r"(?:(?:[Tt]|,? )(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d{1,9})?)?"
    r"(?: ?(?P<zone>[Zz]|[+-]\d{2}:?\d{2}))?)?"
)
_ISO_WEEK = r"(?P<wy>\d{4})-?W(?P<week>\d{2})(?:-?(?P<weekday>[1-7]))?"
_OTHER = r"(?P<a>\d{1,2})(?P<s>[./-])(?P<b>\d{1,2})(?P=s)(?P<c>\d{4}|(?<=/)\d{2})"
_DATE = re.compile(rf"(?<![\w$€£¥#])(?<!\d[.,:/\-])(?:{_ISO}|{_ISO_WEEK}|{_OTHER})(?!\w)(?![./:\-]\w)")


def find_numeric(text: str, month_first: bool, unzoned: tzinfo = UTC) -> list[tuple[int, int, TimeSpan]]:
    """Dates in digits with the places where they begin and end; a clock time without a zone is in `unzoned`.

    Where both could be the month, `month_first` decides (3/1/2026 is 1 March in America), except between dots,
    where the day always stands first.
    """
    found = []
    for match in _DATE.finditer(text):
        span = _read(match, month_first, unzoned)
        if span:
            found.append((match.start(), match.end(), span))
    return found


def _read(match: re.Match[str], month_first: bool, unzoned: tzinfo) -> TimeSpan | None:
    try:
        if match["y"]:
            return _read_iso(match, unzoned)
        if match["week"]:
            return _read_week(match)
        day = _read_other(match, month_first)
    except ValueError:
        return None
    return of_days(day, day, "day", match[0]) if day.year in _YEARS else None


def _read_iso(match: re.Match[str], unzoned: tzinfo) -> TimeSpan | None:
    day = date(int(match["y"]), int(match["m"]), int(match["d"]))
    if day.year not in _YEARS:
        return None
    if not match["H"] or match["H"] == "24":
        return of_days(day, day, "day", match[0])
    second = int(match["S"] or 0)
    there = zone(match["zone"]) if match["zone"] else unzoned
    local = datetime(day.year, day.month, day.day, int(match["H"]), int(match["M"]), second, tzinfo=there)
    at = local.astimezone(UTC)
    return TimeSpan(at, at, match[0], "instant")


def _read_week(match: re.Match[str]) -> TimeSpan | None:
    """A week of ISO 8601 (2026-W10), or a day of one (2026-W10-3)."""
    first = date.fromisocalendar(int(match["wy"]), int(match["week"]), int(match["weekday"] or 1))
    if match["weekday"]:
        return of_days(first, first, "day", match[0])
    return of_days(first, first + timedelta(days=6), "week", match[0])


def zone(text: str | None) -> timezone:
    """The zone of "Z", "+02:00" or "+0200"; UTC without one. ValueError if the offset is impossible."""
    if not text or text in "Zz":
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _read_other(match: re.Match[str], month_first: bool) -> date:
    first, second, year = int(match["a"]), int(match["b"]), int(match["c"])
    if len(match["c"]) == 2:
        year += 2000 if year <= _TURN_OF_CENTURY else 1900
    month_leads = month_first and match["s"] != "."
    if (month_leads and first > 12) or (not month_leads and second > 12 and match["s"] != "."):
        month_leads = not month_leads
    return date(year, first, second) if month_leads else date(year, second, first)
