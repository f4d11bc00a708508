"""From a language's tables to one compiled alternation.

A table row is a `Rule`: an action of `resolve.py`, a pattern, and how the action is meant. Patterns are regular
expressions over lower-case text without accents, in which `<month>`, `<n>`, `<unit>` … stand for the words of
the language; a trailing digit (`<month2>`) names a second one. The first row that fits wins, so special rows
stand above general ones; the action "nothing" takes words away from the rows below.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Mode = Literal["near", "past", "next", "this", "year", "week"]

#: Numbers that patterns may hold beside a language's own words.
_NUMBERS = {
    "n": r"[0-9０-９]{1,4}",
    "day": r"3[01]|[12][0-9]|0?[1-9]",
    "month_number": r"1[0-2]|0?[1-9]",
    "year": r"(?:19|20|21)[0-9]{2}(?![0-9])",
    "old_year": r"1[0-9]{3}(?![0-9])",
    "quarter": r"[1-4]",
    "recent_year": r"(?:19[5-9][0-9]|20(?!00)[0-5][0-9])(?![0-9])",
    "decade": r"(?:1[0-9]|20)[0-9]0",
    "short_decade": r"[5-9]0",
}
#: Several holders read into the same part: full month names and all month names are both a month.
_PARTS = {
    "any_month": "month",
    "sure_month": "month",
    "month_number": "month",
    "any_weekday": "weekday",
    "old_year": "year",
    "recent_year": "year",
    "short_decade": "decade",
}
_HOLDER = re.compile(r"(?<!\?P)<([a-z_]+?)(2?)>")

#: Neither inside a word, nor a price, an issue number, a fraction, a clock time or a version.
_BEFORE = r"(?<![\w$€£¥#])(?<![0-9][.,:/\-])"
_AFTER = r"(?!\w)(?![.,:/\-]?[0-9])(?! ?[%€£$])"
#: Scripts without spaces: only numbers need a limit.
_BEFORE_UNSPACED = r"(?<![0-9])(?<![0-9][.:/\-])"
_AFTER_UNSPACED = r""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of a language's table.

    Attributes:
        action: name of a function of `resolve.py`, or "nothing".
        pattern: regular expression with holders.
        mode: which of the possible ones is meant, where the words alone do not say.
        shift: units before (-) or after (+) the anchor.
        unit: the unit when the pattern has none.
        proper: a month or weekday that is also a common word counts only with a capital letter.
    """

    action: str
    pattern: str
    mode: Mode = "near"
    shift: int = 0
    unit: str = ""
    proper: bool = False


@dataclass(frozen=True)
class Language:
    """Words and rules of one language. Keys are written as usual; accents and case do not matter.

    Attributes:
        code: ISO 639-1.
        months, weekdays: full names -> 1 to 12, Monday 0 to Sunday 6; the `short_` ones are abbreviations.
        units, seasons, parts: words -> name of the unit, name of the season, third 0 to 2.
        numbers, ordinals: number words (-1: the last); `vague`: words for "a few" -> least and most.
        holidays: names -> month and day.
        macros: pieces of patterns, for holders of their own.
        extra: holders that read into another part: name -> part and pattern.
        words: further words without which no rule of the language fits (beside all the above).
        shaky: month and weekday words that are also common words.
        future, past, likely: patterns of a clause's tense; `likely` also speaks for the future, but less.
        begun: words before or at the start of an expression that put it into the past ("since").
        arranged: what ends right before an expression and puts it ahead ("moved the launch to").
        spaced: False for scripts without spaces between words.
    """

    code: str
    rules: tuple[Rule, ...]
    months: Mapping[str, int] = field(default_factory=dict)
    weekdays: Mapping[str, int] = field(default_factory=dict)
    short_months: Mapping[str, int] = field(default_factory=dict)
    short_weekdays: Mapping[str, int] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    seasons: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    ordinals: Mapping[str, int] = field(default_factory=dict)
    vague: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    holidays: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    macros: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    words: str = ""
    shaky: str = ""
    future: str = r"(?!)"
    past: str = r"(?!)"
    likely: str = r"(?!)"
    begun: str = r"(?!)"
    arranged: str = r"(?!)"
    spaced: bool = True

    @cached_property
    def compiled(self) -> "Grammar":
        """The tables as regular expressions; made when first used."""
        return Grammar(self)

    @cached_property
    def triggers(self) -> frozenset[str]:
        """Folded words of which a text must hold one before any rule is tried."""
        tables = (
            self.months,
            self.weekdays,
            self.short_months,
            self.short_weekdays,
            self.units,
            self.seasons,
        )
        keys = [key for table in (*tables, self.holidays) for key in table]
        longest = (max(re.findall(r"[^\W\d_]+", bare(key)), key=len) for key in keys)
        return frozenset((*longest, *re.findall(r"\w+", bare(self.words))))


class Grammar:
    """A language's rules, compiled: one alternation to find, one expression per rule to read the parts."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.parts = {**_PARTS, **{name: part for name, (part, _) in language.extra.items()}}
        self.holders = _holders(language)
        self.words = _lookups(language)
        self.shaky = frozenset(bare(language.shaky).split())
        before, after = (_BEFORE, _AFTER) if language.spaced else (_BEFORE_UNSPACED, _AFTER_UNSPACED)
        plain = [f"(?P<r{at}>{self._fill(rule.pattern, False)})" for at, rule in enumerate(language.rules)]
        self.finder = re.compile(f"{before}(?:{'|'.join(plain)}){after}")
        self.readers = [
            re.compile(f"{before}(?:{self._fill(rule.pattern, True)}){after}") for rule in language.rules
        ]
        self.future = re.compile(bare(language.future))
        self.past = re.compile(bare(language.past))
        self.begun = re.compile(rf"(?<!\w)(?:{bare(language.begun)})(?!\w)")
        self.arranged = re.compile(rf"(?<!\w)(?:{bare(language.arranged)})\W*$")
        self.likely = re.compile(bare(language.likely))

    def _fill(self, pattern: str, named: bool) -> str:
        """The pattern with words for its holders. A part named again in an alternative gets a trailing "_"."""
        used: set[str] = set()

        def fill(holder: re.Match[str]) -> str:
            name, second = holder.groups()
            body = self.holders[name]
            if name in self.language.macros:
                return f"(?:{_HOLDER.sub(fill, body)})"
            if not named:
                return f"(?:{body})"
            part = self.parts.get(name, name) + second
            while part in used:
                part += "_"
            used.add(part)
            return f"(?P<{part}>{body})"

        return _HOLDER.sub(fill, bare(pattern))


def read_parts(match: re.Match[str]) -> dict[str, str]:
    """The parts of an expression as written. Where only the second of two is there, it stands for the first."""
    found = {name.rstrip("_"): value for name, value in match.groupdict().items() if value is not None}
    for name in [name for name in found if name.endswith("2")]:
        found.setdefault(name[:-1], found[name])
    return found


def bare(text: str) -> str:
    """Lower case without Latin accents, of the same length, so that places in it are places in the text.

    The text must be in NFC.
    """
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return lower if lower.isascii() else lower.translate(_PLAIN)


def _plain_letters() -> dict[int, str]:
    """Latin letters with accents -> without; typographic apostrophes -> plain; wide digits -> digits."""
    table = {0x2019: "'", 0x2018: "'", 0xA0: " ", 0x202F: " "} | {
        0xFF10 + digit: str(digit) for digit in range(10)
    }
    for code in range(0xC0, 0x250):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base.isascii():
            table[code] = base
    return table


_PLAIN = _plain_letters()


def _either(*tables: Iterable[str]) -> str:
    """The words as an alternation, longest first."""
    words = {bare(word) for table in tables for word in table}
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) or r"(?!)"


def _holders(language: Language) -> dict[str, str]:
    shaky = set(bare(language.shaky).split())
    own = {
        "month": _either(language.months),
        "any_month": _either(language.months, language.short_months),
        "sure_month": _either(month for month in language.months if bare(month) not in shaky),
        "weekday": _either(language.weekdays),
        "any_weekday": _either(language.weekdays, language.short_weekdays),
        "unit": _either(language.units),
        "season": _either(language.seasons),
        "part": _either(language.parts),
        "ordinal": _either(language.ordinals),
        "vague": _either(language.vague),
        "holiday": _either(language.holidays),
        "n": f"{_NUMBERS['n']}|{_either(language.numbers)}",
    }
    macros = {name: bare(pattern) for name, pattern in language.macros.items()}
    extra = {name: bare(pattern) for name, (_, pattern) in language.extra.items()}
    return {**_NUMBERS, **own, **macros, **extra}


def _lookups(language: Language) -> dict[str, dict[str, object]]:
    tables: dict[str, Mapping[str, object]] = {
        "month": {**language.short_months, **language.months},
        "weekday": {**language.short_weekdays, **language.weekdays},
        "unit": language.units,
        "season": language.seasons,
        "part": language.parts,
        "ordinal": language.ordinals,
        "vague": language.vague,
        "holiday": language.holidays,
        "n": language.numbers,
        "day": language.ordinals,
    }
    return {name: {bare(word): value for word, value in table.items()} for name, table in tables.items()}
