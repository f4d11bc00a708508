"""One time expression as it was found."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, cast

from memorybank.timeline.grammar import Grammar, Mode, Rule
from memorybank.timeline.span import Grain, TimeSpan

Tense = Literal["past", "future", "unknown"]

#: What the words and the anchor fix, and the unit that the others leave open where it is not the year.
_FIXED = frozenset(("day", "distance", "rolling", "unit", "part_of_unit", "day_of_unit", "decade", "century"))
_LEFT_OPEN: dict[str, Grain] = {"weekday": "week", "weekend": "week", "day_of_month": "month"}
#: Numerals of East Asia.
_DIGITS = {char: at for at, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2, "元": 1}
_TENS = "十"
#: Ordinals of the first Sunday and Monday of all.
_SUNDAY, _MONDAY = 0, 1


class NoAnchor(Exception):
    """The expression is relative and nothing is known to count from."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One expression as found: its rule, its parts as written, its language, and where time stands."""

    rule: Rule
    parts: Mapping[str, str]
    grammar: Grammar
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
        known = self.value(name)
        return known if isinstance(known, int) else number(self.parts[name])

    def value(self, name: str) -> object:
        """What the word of a part means in the language's table; "twenty-one" is a sum."""
        word, table = self.parts[name], self.grammar.words.get(name.rstrip("2"), {})
        if word not in table and name == "n":
            pair = [table[each] for each in re.split("[- ]", word) if each in table]
            return sum(pair) if len(pair) == 2 else None
        return table.get(word)

    @property
    def unit(self) -> str:
        return self.rule.unit or (str(self.value("unit")) if self.has("unit") else "day")

    @property
    def shift(self) -> int:
        """Units before or after: the rule's, or those of a direction word ("last")."""
        return int(self.parts["shift"]) if self.has("shift") else self.rule.shift

    @property
    def mode(self) -> Mode:
        """Which of the possible ones is meant; a direction word says it unless it moves a year or a week."""
        if not self.has("shift") or self.rule.mode in ("year", "week"):
            return self.rule.mode
        return "past" if self.shift < 0 else "next" if self.shift > 0 else "this"

    @property
    def year(self) -> int:
        """The year that is said: a number, or one of an era."""
        if self.has("era"):
            return cast(int, self.value("era")) + number(self.parts["era_year"])
        return number(self.parts["year"])

    @property
    def says_year(self) -> bool:
        return self.has("year") or self.has("era")

    def left_open(self, span: TimeSpan) -> Grain | None:
        """The unit that the words leave open (`TimeSpan.open`) of the span that they were read as.

        "Next Friday" is fixed where it lies in another week than the anchor, "last May" in another year, "this" one
        where in the same: else some people mean the one and some the other. Weeks begin on a Monday or on a Sunday.
        """
        action, moves = self.rule.action, self.has("shift") or self.rule.shift != 0
        if action == "unit" and self.unit == "weekend" and self.shift > 0:
            return "week"
        if self.says_year or action in _FIXED or (moves and self.rule.mode in ("year", "week")):
            return None
        unit = _LEFT_OPEN.get(action, "year")
        fixed = moves and _is_elsewhere(span.start.date(), self.today, unit) == (self.shift != 0)
        return None if fixed else unit


def _is_elsewhere(day: date, today: date, unit: Grain) -> bool:
    """Whether a day lies in another week or year than today."""
    if unit != "week":
        return day.year != today.year
    return any(
        (day.toordinal() - first) // 7 != (today.toordinal() - first) // 7 for first in (_SUNDAY, _MONDAY)
    )


def number(word: str) -> int:
    """The value of digits ("41", "４１") or of numerals ("十二", "二〇二六"); ValueError for anything else."""
    if word.isdecimal():
        return int(word)
    if _TENS not in word:
        return int("".join(str(_digit(char)) for char in word))
    before, after = word.split(_TENS, 1)
    return 10 * (_digit(before) if before else 1) + (_digit(after) if after else 0)


def _digit(char: str) -> int:
    if char not in _DIGITS:
        raise ValueError(f"no numeral: {char!r}")
    return _DIGITS[char]
