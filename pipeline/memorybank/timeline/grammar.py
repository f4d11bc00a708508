"""From a language's words and the shared order patterns to one compiled alternation.

`languages/spaced.toml` and `unspaced.toml` hold the patterns, the other files the words. Patterns are regular
expressions over lower-case text without accents, in which `<month>`, `<n>`, `<unit>` … stand for words of the language
or for pieces of patterns; a trailing digit (`<month2>`, `<date2>`) names a second one. The first row that fits wins.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

from memorybank.paths import table

Mode = Literal["near", "past", "next", "this", "year", "week"]
Table = Mapping[str, Any]

#: Languages with spaces, English first: where the language of a text is unknown, the first to claim words keeps them.
SPACED_CODES = ("en", "de", "fr", "es", "it", "pt", "ru")
CODES = (*SPACED_CODES, "zh", "ja", "ko")

_NEVER = "(?!)"


def read_file(name: str) -> dict[str, Any]:
    """Return a file of `languages/`."""
    return table(f"timeline/languages/{name}.toml")


_SHARED = read_file("shared")
_PIECES: dict[str, str] = _SHARED["pieces"]
_FROM_ONE, _KEPT = (frozenset(_SHARED[name].split()) for name in ("from_one", "kept"))
#: Holders that read into a part of another name.
_PARTS: dict[str, str] = {
    holder: part for part, holders in _SHARED["parts"].items() for holder in holders.split()
}
#: Groups of direction words ("before last", "last", "this", "next", "after next"), and by how much each moves.
_DIRECTIONS = ("before_last", "just_last", "this_one", "just_next", "after_next")
_SHIFTS = {group: str(at - 2) for at, group in enumerate(_DIRECTIONS)}
_HOLDER = re.compile(r"(?<!\?P)<([a-z_]+?)(2?)>")

#: Neither inside a word, nor a price, an issue number, a fraction, a clock time or a version.
_BEFORE = r"(?<![\w$€£¥#])(?<![0-9][.,:/\-])"
_AFTER = r"(?!\w)(?![.,:/\-]?[0-9])(?! ?[%€£$])"
#: Scripts without spaces: only numbers need a limit.
_BEFORE_UNSPACED = r"(?<![0-9])(?<![0-9][.:/\-])"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the grammar: the name of a function of `resolve.py`, or "nothing", and a pattern with holders.

    `mode`: which of the possible ones is meant, where the words alone do not say; "year" and "week" say that a
    direction word ("last") moves the year or the week, not the thing itself. `shift`: units before (-) or after (+) the
    anchor, where no direction word says it. `unit`: where the pattern has none. `proper`: a month or weekday that is
    also a common word counts only with a capital letter.
    """

    action: str
    pattern: str
    mode: Mode = "near"
    shift: int = 0
    unit: str = ""
    proper: bool = False


class Grammar:
    """A language, compiled: one alternation to find, one expression per rule to read the parts.

    Its file holds tables of words (`_table`), `directions` (before and behind what they move: the words for before
    last, last, this, next, after next), `pieces` of patterns, `tense`, rules of its own (`rules` above the shared ones,
    `more` below those of the same action), `shaky` words (months and weekdays that are common words too) and `shown`
    ones (further words without which no rule fits).
    """

    def __init__(self, code: str) -> None:
        self.code, given = code, read_file(code)
        shared = read_file("spaced" if self.spaced else "unspaced")
        self.rules = _ordered(given, shared)
        names = set(" ".join(_SHARED["meanings"].values()).split())
        self._tables = {name: _table(given.get(name, ""), int(name in _FROM_ONE)) for name in names}
        self._directions: Mapping[str, Sequence[str]] = given["directions"]
        self._shown: str = given.get("shown", "")
        self._tense: Mapping[str, str] = given.get("tense", {})
        self.shaky = frozenset(bare(given.get("shaky", "")).split())
        unsaid = dict.fromkeys(shared["never"].split(), _NEVER) | dict.fromkeys(shared["blank"].split(), "")
        self._pieces = _PIECES | unsaid | shared["pieces"] | given.get("pieces", {})

    @cached_property
    def triggers(self) -> frozenset[str]:
        """Words of which a text must hold one before any rule is tried."""
        keys = [key for name in _SHARED["showing"].split() for key in self._tables[name]]
        # Abbreviations of two letters are words of every language.
        keys += [key for key in self._tables["short_weekdays"] if len(key) > 2]
        longest = (max(re.findall(r"[^\W\d_]+", key), key=len) for key in keys)
        return frozenset((*longest, *bare(self._shown).split()))

    @cached_property
    def words(self) -> dict[str, Table]:
        """What the words of a part mean."""
        return {
            part: {word: value for name in names.split() for word, value in self._tables[name].items()}
            for part, names in _SHARED["meanings"].items()
        }

    @cached_property
    def finder(self) -> re.Pattern[str]:
        """All rules as groups r0, r1, … of one expression."""
        rows = (f"(?P<r{at}>{self._fill(rule.pattern, None)})" for at, rule in enumerate(self.rules))
        return re.compile(f"{self._before}(?:{'|'.join(rows)}){self._after}")

    def reader(self, at: int) -> re.Pattern[str]:
        """One rule, its parts as groups."""
        if at not in self._readers:
            pattern = self._fill(self.rules[at].pattern, set())
            self._readers[at] = re.compile(f"{self._before}(?:{pattern}){self._after}")
        return self._readers[at]

    @cached_property
    def step(self) -> re.Pattern[str]:
        """One number with its unit, of a chain of them."""
        return re.compile(self._fill("(?:(?:<fraction>|<n>) ?)?<unit>", set()))

    @cached_property
    def tense(self) -> Mapping[str, re.Pattern[str]]:
        """What shows the tense of a clause.

        future, past, likely: words in the clause (`likely` speaks for the future, but less); begun: words before or
        at the start of an expression ("since"); arranged: what ends right before one ("moved the launch to").
        """
        given = {name: bare(self._tense.get(name, _NEVER)) for name in ("future", "past", "likely")}
        begun, arranged = (bare(self._tense.get(name, _NEVER)) for name in ("begun", "arranged"))
        given |= {"begun": rf"(?<!\w)(?:{begun})(?!\w)", "arranged": rf"(?<!\w)(?:{arranged})\W*$"}
        return {name: re.compile(pattern) for name, pattern in given.items()}

    @property
    def spaced(self) -> bool:
        """False for scripts without spaces between words."""
        return self.code in SPACED_CODES

    @property
    def _before(self) -> str:
        return _BEFORE if self.spaced else _BEFORE_UNSPACED

    @property
    def _after(self) -> str:
        return _AFTER if self.spaced else ""

    @cached_property
    def _readers(self) -> dict[int, re.Pattern[str]]:
        return {}

    @cached_property
    def _holders(self) -> dict[str, str]:
        tables = self._tables
        big = ("week", "weekend", "fortnight", "month", "quarter", "year", "decade", "century")
        return {name: _either(tables[table]) for name, table in _SHARED["holders"].items()} | {
            "any_month": _either(tables["months"], tables["short_months"]),
            "sure_month": _either(month for month in tables["months"] if month not in self.shaky),
            "any_weekday": _either(tables["weekdays"], tables["short_weekdays"]),
            "big_unit": _either(self._units(*big)),
            "unit_of_month": _either(self._units("week", "weekend")),
            "period": _either(self._units("quarter"), tables["periods"]),
            "n": "<digits>|<number_word>",
        }

    def _units(self, *names: str) -> list[str]:
        return [word for word, unit in self._tables["units"].items() if unit in names]

    def _fill(self, pattern: str, used: set[str] | None, second: str = "") -> str:
        """The pattern with words for its holders, named when `used` is given.

        A part named again in an alternative gets a trailing "_".
        """

        def named(name: str, body: str) -> str:
            if used is None:
                return f"(?:{body})"
            while name in used:
                name += "_"
            used.add(name)
            return f"(?P<{name}>{body})"

        def fill(holder: re.Match[str]) -> str:
            name, mark = holder[1], holder[2] or second
            if name in ("before", "behind", *self._directions):
                words = zip(_DIRECTIONS, self._directions.get(name, ()), strict=False)
                rows = [named(group + mark, self._fill(each, None)) for group, each in words if each]
                return f"(?:{'|'.join(rows) or _NEVER})"
            if name in self._holders or name in _PIECES:
                body = self._fill(self._pieces.get(name) or self._holders[name], None)
                return named(_PARTS.get(name, name) + mark, body)
            if name.startswith("units_"):
                return named("unit" + mark, _either(self._units(name.removeprefix("units_"))))
            body = self._fill(self._pieces[name], used, mark)
            return named(_PARTS.get(name, name) + mark, body) if name in _KEPT else f"(?:{body})"

        return _HOLDER.sub(fill, bare(pattern))


@cache
def grammar(code: str) -> Grammar:
    """The grammar of a language, read when it is first needed."""
    return Grammar(code)


def read_parts(match: re.Match[str]) -> dict[str, str]:
    """The parts of an expression as written. Where only the second of two is there, it stands for the first.

    A direction word becomes the part "shift", as a number.
    """
    found: dict[str, str] = {}
    for name, value in match.groupdict().items():
        if value is not None:
            name = name.rstrip("_")
            shift = _SHIFTS.get(name.removesuffix("2"))
            found["shift" if shift else name] = shift or value
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
    table = {ord(mark): "'" for mark in "’‘ʼʻ՚ꞌ＇′‵ʹ"} | {0xA0: " ", 0x202F: " ", 0x3000: " "}
    table |= {0xFF10 + digit: str(digit) for digit in range(10)}
    for code in range(0xC0, 0x250):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base.isascii():
            table[code] = base
    return table


_PLAIN = _plain_letters()


def _ordered(given: Mapping[str, Any], shared: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of a language: its own, the shared ones, and behind the last of each action its `more`."""
    first, common, more = (
        [Rule(*row[:2], **(row[2] if row[2:] else {})) for row in rows]
        for rows in (given.get("rules", ()), shared["rules"], given.get("more", ()))
    )
    rows: list[Rule] = []
    for at, rule in enumerate(common):
        rows.append(rule)
        if rule.action not in {later.action for later in common[at + 1 :]}:
            rows += [each for each in more if each.action == rule.action]
    return (*first, *rows, *(each for each in more if each not in rows))


def _table(text: str, first: int) -> dict[str, Any]:
    """A table of words: "januar/jänner februar 12:dezember ..." -> word to value.

    An entry is words of one meaning, parted by "/" ("_" is a space in one). A key stands before a ":": a number, two
    numbers ("2-5") or a name; without one an entry counts on from the one before.
    """
    found: dict[str, Any] = {}
    value: Any = first - 1
    for entry in bare(text).split():
        key, _, words = entry.rpartition(":")
        value = _key(key) if key else value + 1
        found |= {word.replace("_", " "): value for word in words.split("/") if word != "-"}
    return found


def _key(text: str) -> int | tuple[int, int] | str:
    first, _, second = text.partition("-")
    if first.isdecimal():
        return (int(first), int(second)) if second else int(first)
    return int(text) if second.isdecimal() else text


def _either(*tables: Iterable[str]) -> str:
    """The words as an alternation, longest first."""
    words = {word for table in tables for word in table}
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) or _NEVER
