"""One line of a text: its stamp, its label, what is left."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memorybank.llm.extractive.lexicon import words_of
from memorybank.llm.extractive.turns import ROLES
from memorybank.timeline import find_times, line_stamps

#: Labels are short: at most this many characters, and words.
LABEL_CHARS, LABEL_WORDS = 32, 4
#: A line with nothing but a date is no longer.
DATE_LINE_CHARS = 60

_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:\s*[AaPp]\.?[Mm]\.?)?(?:\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_STAMP = rf"{_DATE}(?:[T ,]+{_CLOCK})?"
#: The stamp before a label: "[2026-02-02 10:00]", "02/05/26, 10:15 -", "(10:15)".
_STAMPED = re.compile(
    rf"\s*(?:[\[(<](?:{_STAMP}|{_CLOCK}|[^\[\]()]{{3,30}}\d{{4}}[^\[\]()]{{0,10}})[\])>]|{_STAMP}(?=[\s:|,–—-]))\s*(?:[-–—|,]\s+)?"
)
_ROLE = re.compile(r"\s*[\[(](?P<role>[A-Za-z ]{2,20})[\])]\s*:?\s*(?=\S)")
_LABEL = re.compile(
    rf"\s*(?:\*\*|__)?(?P<label>[^\W\d_][^:：\n\[\]()<>*\"“”?!,;]{{0,{LABEL_CHARS}}}?)"
    rf"(?:\s*[\[(](?P<stamp>{_STAMP}|{_CLOCK})[\])])?"
    r"(?:\*\*|__)?\s*[:：](?:\*\*|__)?(?!//)(?=\s|[^\x00-\x7f]|$)\s*"
)
_HEADING = re.compile(r"\s*#{1,6}\s+\S|\s*[=\-_*~]{3,}\s*$|\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line as read; `sure` when its label or stamp is beyond doubt, and then `text` is what stands behind them."""

    number: int
    text: str
    label: str | None = None
    said: datetime | None = None
    sure: bool = False
    #: The whole line, label included.
    whole: str = ""
    #: A heading, a fence, a date: what comes next is a new turn.
    parts: bool = False

    @property
    def blank(self) -> bool:
        """Whether nothing is said in it."""
        return not self.text.strip()


def read(text: str) -> list[Line]:
    """The lines of a text, with code and headings left out and stamps read.

    Where there is nothing but headings, those that say something are kept.
    """
    stamps = dict(line_stamps(text))
    lines = text.split("\n")
    code = _code(lines)
    found = [
        Line(at + 1, "", parts=True) if at in code else _line(at, line, stamps)
        for at, line in enumerate(lines)
    ]
    if all(line.blank and line.label is None for line in found):
        return [line if at in code else _title(line, lines[at]) for at, line in enumerate(found)]
    return found


def _code(lines: Sequence[str]) -> set[int]:
    """The lines of code, fences included.

    Where a text was cut inside code, its fences are odd in number, and either the first or the last has no partner:
    then of the two ways to pair them, the one that leaves out less.
    """
    fences = [at for at, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) % 2 == 0:
        return _between(fences)
    ways = (_between(fences[:-1]), _between(fences[1:]))
    return {*min(ways, key=lambda way: sum(len(lines[at]) for at in way)), *fences}


def _between(fences: Sequence[int]) -> set[int]:
    """The lines from each first to each second fence."""
    pairs = zip(fences[::2], fences[1::2], strict=True)
    return {at for start, end in pairs for at in range(start, end + 1)}


def _title(line: Line, written: str) -> Line:
    """A heading as a line of its own, where it is more than a label or a date."""
    words = written.strip().lstrip("#").strip()
    if len(_LETTERS.findall(words)) <= LABEL_WORDS or date_of_line(written) is not None:
        return line
    return replace(line, text=words, parts=False)


def _line(at: int, text: str, stamps: Mapping[int, datetime]) -> Line:
    number, said = at + 1, stamps.get(at)
    if (date := date_of_line(text)) is not None:
        return Line(number, "", said=said or date, parts=True)
    if _HEADING.match(text):
        return Line(number, "", parts=True)
    stamped = _STAMPED.match(text)
    rest = text[stamped.end() :] if stamped else text
    if (role := _ROLE.match(rest)) and (role["role"].lower() in ROLES or stamped):
        return Line(number, rest[role.end() :], role["role"].strip(), said, True, rest)
    label = _LABEL.match(rest)
    if label is None or len(label["label"].split()) > LABEL_WORDS:
        return Line(number, rest if stamped else text, None, said, bool(stamped), text)
    sure = bool(stamped) or bool(label["stamp"])
    said = said or _moment(label["stamp"])
    return Line(number, rest[label.end() :], label["label"].strip(), said, sure, rest)


def date_of_line(text: str) -> datetime | None:
    """The date of a line that holds nothing else ("## Session 3 (2 March 2026)")."""
    if len(text) > DATE_LINE_CHARS or not any(char.isdecimal() for char in text):
        return None
    spans = find_times(text, None)
    if len(spans) != 1 or spans[0].grain not in ("day", "instant"):
        return None
    beside = _LETTERS.findall(text.replace(spans[0].text, " ").lower())
    return spans[0].start if all(word in words_of("en", "beside_dates") for word in beside) else None


def _moment(stamp: str | None) -> datetime | None:
    spans = find_times(stamp, None) if stamp else []
    return spans[0].start if spans else None
