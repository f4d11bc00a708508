"""Time stamps: reading them from requests and transcripts, and writing them."""

import re
from datetime import UTC, date, datetime, timedelta, tzinfo

from memorybank.timeline.find import find_times
from memorybank.timeline.numeric import zone

_STAMP = re.compile(
    r"(\d{4})-?(\d{2})-?(\d{2})"
    r"(?:[Tt ](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([Zz]|[+-]\d{2}(?::?\d{2})?))?)?"
)
#: What stands at the beginning of a transcript's line: a date with a time, in brackets or before a dash or name.
_LINE = re.compile(
    r"\s*[-*>]?\s*[\[(<]?\s*"
    r"(?:(?P<iso>\d{4}-\d{2}-\d{2}(?:[Tt]|,? )\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
    r"(?: ?(?:[Zz]|UTC|GMT|[+-]\d{2}:?\d{2}))?)"
    r"|(?P<day>\d{4}-\d{2}-\d{2})(?=\s*[\])>:|-])"
    r"|(?P<a>\d{1,2})(?P<s>[./-])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2}),?\s+"
    r"(?P<clock1>\d{1,2}:\d{2}(?::\d{2})?)\s?(?P<half1>[ap]\.?m\.?)?"
    r"|(?P<clock2>\d{1,2}:\d{2}(?::\d{2})?)\s?(?P<half2>[ap]\.?m\.?)?,?\s+(?:on\s+)?"
    r"(?P<words2>[^\]\n:|)]{6,30}?\d{4})"
    r"|(?P<words1>(?:[^\W\d_]{3,9},?\s+)?(?:\d{1,2}\.?\s+[^\W\d_]{3,9}|[^\W\d_]{3,9}\.?\s+\d{1,2}),?\s+\d{4}),?\s+"
    r"(?:at\s+)?(?P<clock3>\d{1,2}:\d{2}(?::\d{2})?)\s?(?P<half3>[ap]\.?m\.?)?)",
    re.IGNORECASE,
)
#: A line longer than this is only looked at up to here.
_HEAD_CHARS = 80


def parse_timestamp(value: str) -> datetime:
    """An ISO 8601 date or time as UTC; without a zone it is UTC, without a time the beginning of the day.

    Raises ValueError for anything else, and for a year outside of 1 to 9999.
    """
    return parse_stamp(value).astimezone(UTC)


def parse_stamp(value: str, unzoned: tzinfo = UTC) -> datetime:
    """As `parse_timestamp`, in the zone that was written, else in `unzoned`: relative words need the day there."""
    match = _STAMP.fullmatch(value.strip())
    if not match:
        raise ValueError(f"not an ISO 8601 date or time: {value[:40]!r}")
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    offset = match[8]
    if offset and len(offset) == 3:
        offset += ":00"
    micro = int((match[7] or "").ljust(6, "0")[:6])
    # The end of a day may be written as its 24th hour.
    ends = hour == 24 and not (minute or second or micro)
    hour = 0 if ends else hour
    stamp = datetime(
        year, month, day, hour, minute, second, micro, tzinfo=zone(offset) if offset else unzoned
    )
    try:
        stamp += timedelta(days=ends)
        stamp.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"outside of the years 1 to 9999: {value[:40]!r}") from error
    return stamp


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with the offset +00:00; a naive datetime is UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat()


def day(at: datetime | None) -> str:
    """Return the calendar day, empty for none."""
    return at.date().isoformat() if at else ""


def period(start: datetime | None, end: datetime | None) -> str:
    """Return one day, the first and the last day, or the last one alone; empty for none."""
    first, last = day(start), day(end)
    if not last or last == first:
        return first
    return f"{first} to {last}" if first else f"up to {last}"


def days_told(start: datetime | None, end: datetime | None, said: datetime | None) -> list[str]:
    """Return in words when something happened and when it was said, each as far as it is known."""
    named = (("happened", period(start, end)), ("said", day(said)))
    return [f"{what} {when}" for what, when in named if when]


def line_stamps(text: str, unzoned: tzinfo = UTC) -> list[tuple[int, datetime]]:
    """Index and time of each line that begins with a date, as transcripts have them; in `unzoned` without a zone.

    Known are "[2026-02-02 10:00] A: …", "2026-02-02T10:00:00Z A: …", "[2026-02-02] …", "02/05/26, 10:15 - A: …",
    "1:56 pm on 8 May, 2023 …" and "May 8, 2023 13:56 …". Whether a day or a month stands first is decided by the
    whole transcript: by a number above 12, else by which order makes the stamps rise; else such lines have none.
    """
    heads = [(at, _LINE.match(line[:_HEAD_CHARS])) for at, line in enumerate(text.split("\n"))]
    matches = [(at, head) for at, head in heads if head]
    if not matches:
        return []
    month_first = _month_first([head for _, head in matches if head["a"]])
    stamps = [(at, _read(head, month_first, unzoned)) for at, head in matches]
    return [(at, stamp) for at, stamp in stamps if stamp]


def _read(head: re.Match[str], month_first: bool | None, unzoned: tzinfo) -> datetime | None:
    try:
        if head["iso"] or head["day"]:
            return parse_stamp(_tidy(head["iso"]) if head["iso"] else head["day"], unzoned)
        stamp = _worded(head, month_first)
        return stamp and stamp.replace(tzinfo=unzoned)
    except ValueError:
        return None


def _worded(head: re.Match[str], month_first: bool | None) -> datetime | None:
    if head["a"]:
        return _with_clock(_numeric_day(head, month_first), head["clock1"], head["half1"])
    words, at = (head["words2"], "2") if head["words2"] else (head["words1"], "3")
    spans = find_times(words, None)
    day = spans[0].start.date() if spans and spans[0].grain == "day" else None
    return _with_clock(day, head["clock" + at], head["half" + at])


def _tidy(stamp: str) -> str:
    """Hours with two digits, no comma before the time, UTC as Z."""
    stamp = re.sub(r" ?(?:UTC|GMT)$", "Z", stamp, flags=re.IGNORECASE)
    return re.sub(r"(?:,? |[Tt])(\d):", r"T0\1:", stamp.replace(", ", " ", 1))


def _with_clock(day: date | None, clock: str, half: str | None) -> datetime | None:
    if day is None:
        return None
    hour, minute, *rest = (int(part) for part in clock.split(":"))
    if half:
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    return datetime(day.year, day.month, day.day, hour, minute, rest[0] if rest else 0)


def _numeric_day(head: re.Match[str], month_first: bool | None) -> date | None:
    first, second, year = int(head["a"]), int(head["b"]), int(head["y"])
    year += 2000 if year < 100 else 0
    if head["s"] == ".":
        month_first = False
    if month_first is None:
        return None
    return date(year, first, second) if month_first else date(year, second, first)


def _month_first(heads: list[re.Match[str]]) -> bool | None:
    """Whether the month leads in 02/05/26; None when the transcript does not show it."""
    if any(int(head["a"]) > 12 for head in heads):
        return False
    if any(int(head["b"]) > 12 for head in heads):
        return True
    rising = [order for order in (False, True) if _rises(heads, order)]
    return rising[0] if len(rising) == 1 else None


def _rises(heads: list[re.Match[str]], month_first: bool) -> bool:
    order = ("y", "a", "b") if month_first else ("y", "b", "a")
    days = [tuple(int(head[part]) for part in order) for head in heads]
    return days == sorted(days)
