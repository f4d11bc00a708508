"""Finding every time expression in a text."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise

from memorybank.text import language
from memorybank.timeline.grammar import SPACED_CODES, Grammar, Rule, bare, grammar, read_parts
from memorybank.timeline.numeric import find_numeric
from memorybank.timeline.reading import Reading, Tense
from memorybank.timeline.resolve import resolve
from memorybank.timeline.span import TimeSpan

#: How far a clause is read for its tense.
_CLAUSE_CHARS = 160
#: How far before an expression "since" may stand.
_BEGUN_CHARS = 12
_CLAUSE_END = re.compile(r"[.!?;\n。！？；](?!\d)")
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
#: Numbers that may be a time without any word beside them: years, decades, ordinals, "7.5.".
_DATELIKE = re.compile(
    r"(?<!\d)(?:(?:1\d|20|21)\d\d(?!\d)|[5-9]0(?=s|er)|\d{1,2}(?:st|nd|rd|th)|\d{1,2}\.\d{1,2}\.(?!\d))"
)
#: A year outside of a date in digits.
_YEAR = re.compile(r"(?<![\d.,:/-])(?:1\d|20|21)\d\d(?![\d:/-])")
#: What may stand between two times that say the same: "yesterday, 3 March", "last week (2026-02-23".
_BESIDE = re.compile(r"\W{0,3}")
_YEAR_BEHIND = re.compile(r"\W{0,2}\d{4}")
_BRACKET = re.compile(r"\((?=\d)")
#: Up to so many letters a word of another language says little in an English text.
_SHORT_WORD = 4
#: A text whose language nothing shows is read in all of them up to so many characters.
_SHORT_TEXT = 200
#: An expression begins at most so many characters before the word or number that shows it.
_REACH = 40
#: Scripts whose languages are tried when a single one of their characters is there.
_UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")


_NO_RULE = Rule("nothing", "")


@dataclass(frozen=True, slots=True)
class Found:
    """A span, its place in the text, and the action of the rule that read it (empty: a date in digits).

    `sure` is False where the days are a guess: "at the end of the month", and "in three days" where no word shows a
    time to come, so that it may be how long something takes. `code` is the language of the rule.
    """

    start: int
    end: int
    span: TimeSpan
    action: str = ""
    sure: bool = True
    code: str = ""


def find_times(text: str, anchor: datetime | None) -> list[TimeSpan]:
    """Every time expression in a text, in order of writing; none overlap.

    Relative ones count from the anchor (a naive one is UTC) and are left out without it; a date with a clock time and
    no zone is in the anchor's. What is no certain time
    gives nothing: prices, versions, clock times, "every Friday", years before our era.
    """
    return [found.span for found in locate(text, anchor)]


def lengths(text: str) -> Iterator[tuple[str, int]]:
    """Yield every length of time that a text names as a number of units: "for eighteen months" is ("month", 18)."""
    text = unicodedata.normalize("NFC", text)
    low = bare(text)
    for spoken in _languages(text, low, bool(_DIGIT.search(low))):
        for match in spoken.step.finditer(low):
            reading = Reading(_NO_RULE, read_parts(match), spoken, None, lambda: "unknown")
            if reading.has("n") and (not spoken.spaced or _is_apart(low, match)):
                yield reading.unit, reading.number("n")


def _is_apart(low: str, match: re.Match[str]) -> bool:
    """Whether words begin and end where an expression does."""
    inside = low[max(0, match.start() - 1) : match.start()] + low[match.end() : match.end() + 1]
    return not _WORD.search(inside)


def dated(text: str, anchor: datetime | None, believed: Callable[[TimeSpan], bool] = lambda _: True) -> str:
    """The text with the days that relative times mean behind them: "last week (2026-02-23–2026-03-01)".

    Only those that the anchor fixes and that are `believed`, so no bare weekday, day or month; a time that says its
    own date, or stands beside another one, stays as it is.
    """
    text = unicodedata.normalize("NFC", text)
    for found in reversed(_apart(text, locate(text, anchor))):
        relative = found.sure and not found.span.open and not find_times(found.span.text, None)
        if relative and not _YEAR_BEHIND.match(text, found.end) and believed(found.span):
            text = f"{text[: found.end]} ({days(found.span, anchor)}){text[found.end :]}"
    return text


def _apart(text: str, found: list[Found]) -> list[Found]:
    """The times that stand beside no other one."""
    beside = [
        {first.start, second.start}
        for first, second in pairwise(found)
        if _BESIDE.fullmatch(text, first.end, second.start)
    ]
    taken = {start for pair in beside for start in pair}
    return [each for each in found if each.start not in taken]


def days(span: TimeSpan, anchor: datetime | None = None) -> str:
    """The day of a span, or the first and the last one, as ISO dates; of a moment the day at the anchor."""
    zone = anchor.tzinfo if anchor and span.grain in ("instant", "hour") else None
    first, last = (each.astimezone(zone or UTC).date().isoformat() for each in (span.start, span.end))
    # A dash is read in every language.
    return first if first == last else f"{first}–{last}"


def locate(text: str, anchor: datetime | None, question: bool = False) -> list[Found]:
    """As `find_times`, with places. In a question a time without tense or year lies in the past."""
    if not text:
        return []
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if anchor is not None and anchor.tzinfo is None:
        anchor = anchor.replace(tzinfo=UTC)
    low = bare(text)
    numeric = bool(_DIGIT.search(low))
    chosen = _languages(text, low, numeric)
    found = []
    if numeric:
        month_first = chosen[0].code == "en" if chosen else language(text) in ("en", "und")
        zone = (anchor.tzinfo if anchor else None) or UTC
        found = [Found(start, end, span) for start, end, span in find_numeric(text, month_first, zone)]
    for spoken in chosen:
        read = list(_in_language(text, low, spoken, anchor, question, found))
        found += read
        if read and spoken.spaced:
            break
    return sorted(found, key=lambda each: each.start)


def _languages(text: str, low: str, numeric: bool) -> list[Grammar]:
    """The languages whose rules may fit: by script and by a word of theirs that is there."""
    if not low.isascii() and _UNSPACED.search(low):
        code = "ko" if _HANGUL.search(low) else "ja" if _KANA.search(low) else "zh"
        return [grammar(code), *_spaced(text, low, numeric)]
    return _spaced(text, low, numeric)


def _spaced(text: str, low: str, numeric: bool) -> list[Grammar]:
    triggers = _triggers()
    shown = {word for word in set(_WORD.findall(low)) if word in triggers}
    hit = {code for word in shown for code in triggers[word]}
    if hit == {"en"}:
        return [grammar("en")]
    year = numeric and _DATELIKE.search(low) is not None
    if not hit and not year:
        return []
    spoken = language(text)
    if spoken == "en":
        # Short words of other languages are English words too: "set", "out", "mars".
        hit = (hit & {"en"}) | {code for word in shown if len(word) > _SHORT_WORD for code in triggers[word]}
    if year:
        hit |= {spoken} & set(SPACED_CODES)
        if not hit:
            unknown = spoken == "und" and len(text) <= _SHORT_TEXT and _YEAR.search(low)
            hit = set(SPACED_CODES if unknown else ("en",))
    return [
        grammar(code) for code in sorted(hit, key=lambda code: (code != spoken, SPACED_CODES.index(code)))
    ]


@lru_cache(maxsize=1)
def _triggers() -> dict[str, tuple[str, ...]]:
    """Word -> codes of the languages of which it may begin an expression."""
    table: dict[str, tuple[str, ...]] = {}
    for code in SPACED_CODES:
        for word in grammar(code).triggers:
            table[word] = (*table.get(word, ()), code)
    return table


def _in_language(
    text: str, low: str, spoken: Grammar, anchor: datetime | None, question: bool, taken: list[Found]
) -> Iterator[Found]:
    busy = sorted((found.start, found.end) for found in taken)
    for match in _matches(low, spoken) if spoken.spaced else spoken.finder.finditer(low):
        start, end = match.span()
        if busy and _overlaps(busy, start, end):
            continue
        found = _read(text, low, match, spoken, anchor, question)
        if found:
            yield found


def _overlaps(busy: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether the place meets one of those that are taken (sorted, none overlapping)."""
    at = bisect_left(busy, (end, 0))
    return at > 0 and busy[at - 1][1] > start


def _matches(low: str, spoken: Grammar) -> Iterator[re.Match[str]]:
    """As `finditer`, but only tried at words that stand shortly before one that may be a time (4 × faster)."""
    done = 0
    for start in _starts(low, spoken.triggers):
        if start >= done:
            match = spoken.finder.match(low, start)
            if match:
                done = match.end()
                yield match


def _starts(low: str, triggers: frozenset[str]) -> list[int]:
    """Places where an expression may begin, in order."""
    words = [(match.start(), match[0] in triggers) for match in _WORD.finditer(low)]
    words += [(match.start(), True) for match in _DATELIKE.finditer(low)]
    words += [(match.start(), False) for match in _BRACKET.finditer(low)]
    words.sort(reverse=True)
    starts, shown = [], len(low) + _REACH + 1
    for start, shows in words:
        shown = start if shows else shown
        if shown - start <= _REACH:
            starts.append(start)
    return starts[::-1]


def _read(
    text: str, low: str, match: re.Match[str], spoken: Grammar, anchor: datetime | None, question: bool
) -> Found | None:
    at = int((match.lastgroup or "r0")[1:])
    rule = spoken.rules[at]
    if rule.action == "nothing":
        return None
    parts = spoken.reader(at).match(low, match.start())
    if parts is None or (rule.proper and _is_common(text, parts, spoken)):
        return None
    start, end = match.span()
    tense = _tense_of(low, (start, end), spoken, question, ranged=rule.action.endswith("_range"))
    reading = Reading(rule, read_parts(parts), spoken, anchor, tense)
    span = resolve(reading, text[start:end])
    if span is None:
        return None
    may_last = rule.action == "distance" and rule.mode == "near" and rule.shift > 0
    is_meant = not may_last or spoken.tense["future"].search(low, *_clause(low, start, end)) is not None
    sure = is_meant and not reading.has("part")
    return Found(start, end, replace(span, open=reading.left_open(span)), rule.action, sure, spoken.code)


def _is_common(text: str, parts: re.Match[str], spoken: Grammar) -> bool:
    """True for may, march, sat … in small letters: the common words, not the month or the day."""
    return any(
        parts[name] in spoken.shaky and not text[parts.start(name)].isupper()
        for name in parts.re.groupindex
        if name.startswith(("month", "weekday")) and parts[name]
    )


def _tense_of(
    low: str, place: tuple[int, int], spoken: Grammar, question: bool, ranged: bool
) -> Callable[[], Tense]:
    """The tense of the clause around an expression, read only when it is needed: the nearest word that shows it."""
    shows = spoken.tense

    def tense() -> Tense:
        # "From 3 to 5 May" begins with the word for since in some languages.
        if not ranged and shows["begun"].search(low, max(0, place[0] - _BEGUN_CHARS), place[1]):
            return "past"
        if shows["arranged"].search(low, max(0, place[0] - _CLAUSE_CHARS), place[0]):
            return "future"
        begin, end = _clause(low, *place)
        ahead = _nearest(shows["future"], low, begin, end, place)
        behind = _nearest(shows["past"], low, begin, end, place)
        # A word that shows both ("booked") arranges a time to come.
        if ahead is not None and (behind is None or ahead <= behind):
            return "future"
        if question or behind is not None:
            return "past"
        return "future" if shows["likely"].search(low, begin, end) else "unknown"

    return tense


def _nearest(marker: re.Pattern[str], low: str, begin: int, end: int, place: tuple[int, int]) -> int | None:
    """How far the nearest marker stands from the place, in characters; one inside it does not count."""
    start, stop = place
    found = (match.span() for match in marker.finditer(low, begin, end))
    outside = [max(start - last, first - stop, 0) for first, last in found if first < start or last > stop]
    return min(outside, default=None)


def _clause(low: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence around an expression begins and ends."""
    begin = max(0, start - _CLAUSE_CHARS)
    for stop in _CLAUSE_END.finditer(low, begin, start):
        begin = stop.end()
    stop_after = _CLAUSE_END.search(low, end, end + _CLAUSE_CHARS)
    return begin, stop_after.start() if stop_after else min(len(low), end + _CLAUSE_CHARS)
