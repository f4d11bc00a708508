"""The time window that a question, or a phrase about when something was, names."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from memorybank.timeline.find import Found, locate
from memorybank.timeline.grammar import bare, read_file
from memorybank.timeline.span import EARLIEST, LATEST, Grain, TimeSpan

#: From exact to wide: of two times in a question the more exact one is the window.
_GRAINS: tuple[Grain, ...] = ("instant", "hour", "day", "week", "month", "quarter", "season", "year")
_EXACTNESS = {grain: at for at, grain in enumerate(_GRAINS)}
#: Distances hold words of their own that open nothing: "vor drei Tagen" is three days ago.
_DISTANCES = frozenset(("distance", "vague", "half"))
#: How far around an expression a preposition is looked for.
_NEAR_CHARS = 24
_ARTICLE = r"(?: (?:the|el|la|los|las|le|les|il|lo|o|os|as|den|dem|der|das|l'))?"
#: A day of a month that a date behind it explains: "until the 9th (2026-03-09".
_DAY_NUMBER = r"(?:(?:dia )?\d+\W?\w{0,2} ?\()?"
_EAST = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
#: The words of all languages (`languages/windows.toml`).
_WORDS = read_file("windows")
_IDLE, _PLACED, _LED, _JOINT, _JOINT_ALONE, _RANGE = (
    re.compile(_WORDS[name]) for name in ("idle", "placed", "led", "joint", "joint_alone", "range")
)
#: In a phrase every joint makes a range by itself but "and", which may join two days.
_PHRASE_JOINT = re.compile(rf"(?!\W*(?:{_WORDS['and']})\b)(?:{_JOINT.pattern})")
#: What may stand between a time and the date that explains it: "from Monday on (2026-03-02".
_ASIDE = re.compile(r"\W{0,3}|[\w ]{0,12} \(")
#: Words that begin and end a range too ("desde el 3 hasta el 5"): they do not open it.
_WITHIN_RANGES = ("since", "until")


@dataclass(frozen=True, slots=True)
class _Opener:
    kind: str
    before: re.Pattern[str]
    own: re.Pattern[str]
    behind: re.Pattern[str]


def _opener(kind: str, before: str, behind: str) -> _Opener:
    return _Opener(
        kind,
        re.compile(rf"(?:^|[^\w]|(?<={_EAST}))(?:{before}){_ARTICLE} ?{_DAY_NUMBER}$"),
        re.compile(rf"(?:{before})(?!\w)"),
        re.compile(rf"[ )]*(?:{behind})"),
    )


_COMPILED = tuple(_opener(kind, **opening) for kind, opening in _WORDS["openers"].items())


def query_window(query: str, anchor: datetime) -> TimeSpan | None:
    """The window a question asks about, or None.

    Times without a year or tense lie in the past. "Since", "after", "before" and "until" make windows that are
    open to the anchor or to the beginning of time; "between … and …" joins two times. Of several other times the
    most exact one counts, at equal exactness the first.
    """
    if anchor.tzinfo is None:
        anchor = anchor.replace(tzinfo=UTC)
    query = unicodedata.normalize("NFC", query)
    found = locate(query, anchor, question=True)
    if not found:
        return None
    low = bare(query)
    joined = _joined(low, found)
    if joined:
        return _across(low, *joined)
    best = min(found, key=lambda each: _EXACTNESS[each.span.grain])
    window = _open(_kind(low, best), best.span)
    if window.end < LATEST:
        return window
    now = anchor.astimezone(UTC)
    return replace(window, end=now if now >= window.start else LATEST)


def phrase_window(
    phrase: str, anchor: datetime | None, believed: Callable[[TimeSpan], bool] = lambda _: True
) -> TimeSpan | None:
    """The window that a phrase such as "since Monday (2026-03-02)" names, by the first time in it that is `believed`.

    An end that it leaves open is EARLIEST or LATEST. None where no time is believed, or not both ends of a range.
    """
    phrase = unicodedata.normalize("NFC", phrase)
    found, low = locate(phrase, anchor), bare(phrase)
    joined = _joined(low, found, _PHRASE_JOINT)
    if joined:
        return _across(low, *joined) if all(believed(each.span) for each in joined) else None
    at = next((at for at, each in enumerate(found) if believed(each.span)), None)
    if at is None:
        return None
    first = at
    while first > 0 and _ASIDE.fullmatch(low, found[first - 1].end, found[first].start):
        first -= 1
    kinds = (_kind(low, each) for each in found[first : at + 1])
    return _open(next(filter(None, kinds), ""), found[at].span)


def _joined(
    low: str, found: list[Found], alone: re.Pattern[str] = _JOINT_ALONE
) -> tuple[Found, Found] | None:
    """Two times around a window: between 3 May and last week. `alone` joins them without "between"."""
    for first, second in pairwise(found):
        between, head = low[first.end : second.start], low[max(0, first.start - _NEAR_CHARS) : first.start]
        opened = _RANGE.search(head) or _RANGE.search(f" {first.span.text.lower().split(' ')[0]} ")
        joined = (opened and _JOINT.fullmatch(between)) or alone.fullmatch(between)
        if joined and first.span.start <= second.span.end:
            return first, second
    return None


def _across(low: str, first: Found, second: Found) -> TimeSpan:
    """The window from the first time to the second."""
    text = f"{first.span.text}{low[first.end : second.start]}{second.span.text}"
    return TimeSpan(first.span.start, second.span.end, text, first.span.grain)


def _kind(low: str, found: Found) -> str:
    """To which side the words around a time open it; empty for none."""
    head, own = low[max(0, found.start - _NEAR_CHARS) : found.start], low[found.start : found.end]
    tail, idle = low[found.end : found.end + _NEAR_CHARS], found.code == "en" and _is_idle(head, own)
    for opener in _COMPILED:
        if found.action.endswith("_range") and opener.kind in _WITHIN_RANGES:
            continue
        inside = found.action not in _DISTANCES and opener.own.match(own)
        leads = not idle and (inside or opener.before.search(head))
        if leads or opener.behind.match(tail):
            return opener.kind
    return ""


def _is_idle(head: str, own: str) -> bool:
    """Whether what stands before an English time opens nothing."""
    leads = _LED.match(own)
    return bool(_PLACED.match(own) or _IDLE.search(head + (leads[0] if leads else "")))


def _open(kind: str, span: TimeSpan) -> TimeSpan:
    if not kind:
        return span
    if kind in ("since", "after"):
        start = span.start if kind == "since" or span.end >= LATEST else span.end + timedelta(microseconds=1)
        return TimeSpan(start, LATEST, span.text, span.grain)
    end = span.end if kind == "until" or span.start <= EARLIEST else span.start - timedelta(microseconds=1)
    return TimeSpan(EARLIEST, end, span.text, span.grain)
