"""One time expression as it was found."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, cast

from memorybank.timeline.grammar import Grammar, Mode, Rule
from memorybank.timeline.numerals import number

Tense = Literal["past", "future", "unknown"]


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
