"""The time window that a question names."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from memorybank.timeline.find import Found, locate
from memorybank.timeline.grammar import bare
from memorybank.timeline.span import EARLIEST, LATEST, Grain, TimeSpan

#: From exact to wide: of two times in a question the more exact one is the window.
_GRAINS: tuple[Grain, ...] = ("instant", "hour", "day", "week", "month", "quarter", "season", "year")
_EXACTNESS = {grain: at for at, grain in enumerate(_GRAINS)}
#: Distances hold words of their own that open nothing: "vor drei Tagen" is three days ago.
_DISTANCES = frozenset(("distance", "vague", "half"))
#: How far around an expression a preposition is looked for.
_NEAR_CHARS = 24
_ARTICLE = r"(?: (?:the|el|la|los|las|le|les|il|lo|o|os|as|den|dem|der|das|l'))?"
_EAST = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"

#: Words before a time (in any language, without accents), and words behind it (East Asia).
_OPENERS = {
    "since": (
        r"since|ever since|seit|ab|depuis|desde|a partir d[ei]|dal|dalla|dallo|da|с|自从|自從|自|从|從",
        r"以来|以來|起|から|이후로|이후|부터",
    ),
    "after": (
        r"after|nach|apres|despues del?|tras|dopo|depois d[eoa]|apos|после",
        r"之后|以后|之後|以後|の後|より後|다음에|후에",
    ),
    "before": (
        r"before|prior to|earlier than|vor|avant|antes del?|antes d[eoa]|prima d[ei]l?|до",
        r"之前|以前|の前|より前|이전|전에",
    ),
    "until": (
        r"until|till|up to|bis|bis zum|jusqu'[ae]n?|jusqu'au|hasta|fino al?|ate|直到|到",
        r"まで|까지|为止|為止",
    ),
}
_JOINT = re.compile(
    r"[\s,]*(?:and|to|until|till|through|-|–|und|bis|et|au|a|y|al|hasta|e|fino al?|ate|и|по|до|"
    r"到|至|和|から|부터|와|과|~|～)\s*(?:the |el |le |il |o |zum |dem )?"
)
#: Joints that make a range by themselves.
_JOINT_ALONE = re.compile(r"[\s]*(?:到|至|から|부터|에서|~|～|–)\s*")
_RANGE = re.compile(
    r"(?:^|[\s¿(])(?:between|from|zwischen|von|vom|entre|du|de|desde|del|tra|fra|dal|da|между|с) ?"
    r"(?:the |el |le |il |o |dem )?$"
)


@dataclass(frozen=True, slots=True)
class _Opener:
    kind: str
    before: re.Pattern[str]
    own: re.Pattern[str]
    behind: re.Pattern[str]


def _opener(kind: str, before: str, behind: str) -> _Opener:
    return _Opener(
        kind,
        re.compile(rf"(?:^|[^\w]|(?<={_EAST}))(?:{before}){_ARTICLE} ?$"),
        re.compile(rf"(?:{before})(?!\w)"),
        re.compile(rf" ?(?:{behind})"),
    )


_COMPILED = tuple(_opener(kind, *words) for kind, words in _OPENERS.items())


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
        return joined
    best = min(found, key=lambda each: _EXACTNESS[each.span.grain])
    return _opened(low, best, anchor)


def _joined(low: str, found: list[Found]) -> TimeSpan | None:
    """Two times that a question puts around a window: between 3 May and last week."""
    for first, second in pairwise(found):
        between, head = low[first.end : second.start], low[max(0, first.start - _NEAR_CHARS) : first.start]
        opened = _RANGE.search(head) or _RANGE.search(f" {first.span.text.lower().split(' ')[0]} ")
        joined = (opened and _JOINT.fullmatch(between)) or _JOINT_ALONE.fullmatch(between)
        if joined and first.span.start <= second.span.end:
            text = f"{first.span.text}{between}{second.span.text}"
            return TimeSpan(first.span.start, second.span.end, text, first.span.grain)
    return None


def _opened(low: str, found: Found, anchor: datetime) -> TimeSpan:
    """The window of one time, opened to the side that the words around it name."""
    head, own = low[max(0, found.start - _NEAR_CHARS) : found.start], low[found.start : found.end]
    tail = low[found.end : found.end + _NEAR_CHARS]
    for opener in _COMPILED:
        inside = found.action not in _DISTANCES and opener.own.match(own)
        if inside or opener.before.search(head) or opener.behind.match(tail):
            return _open(opener.kind, found.span, anchor)
    return found.span


def _open(kind: str, span: TimeSpan, anchor: datetime) -> TimeSpan:
    if kind in ("since", "after"):
        start = span.start if kind == "since" or span.end >= LATEST else span.end + timedelta(microseconds=1)
        now = anchor.astimezone(UTC)
        return TimeSpan(start, now if now >= start else LATEST, span.text, span.grain)
    end = span.end if kind == "until" or span.start <= EARLIEST else span.start - timedelta(microseconds=1)
    return TimeSpan(EARLIEST, end, span.text, span.grain)
