"""The word lists of the engine, read once from `data/`."""

import re
import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

_DATA = Path(__file__).with_name("data")
#: Languages with lists of their own; all others share `other`.
_OWN = frozenset(("en", "de", "fr", "es", "zh", "ja"))
_NOTHING: frozenset[str] = frozenset()
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The lists of one language; what each means stands at the top of `data/en.toml` and `data/de.toml`."""

    code: str
    function: frozenset[str] = _NOTHING
    calendar: frozenset[str] = _NOTHING
    nationalities: frozenset[str] = _NOTHING
    acronyms: frozenset[str] = _NOTHING
    roles: frozenset[str] = _NOTHING
    titles: frozenset[str] = _NOTHING
    kin_titles: frozenset[str] = _NOTHING
    relations: frozenset[str] = _NOTHING
    introducers: frozenset[str] = _NOTHING
    heads: frozenset[str] = _NOTHING
    tails: frozenset[str] = _NOTHING
    article: frozenset[str] = _NOTHING
    prepositions: frozenset[str] = _NOTHING
    step_nouns: frozenset[str] = _NOTHING
    units: frozenset[str] = _NOTHING
    ambiguous_names: frozenset[str] = _NOTHING
    verbs: frozenset[str] = _NOTHING
    common: frozenset[str] = _NOTHING
    finite: frozenset[str] = _NOTHING
    filler_words: frozenset[str] = _NOTHING
    dependent: frozenset[str] = _NOTHING
    first_person: frozenset[str] = _NOTHING
    negations: frozenset[str] = _NOTHING
    not_suffixes: tuple[str, ...] = ()
    greetings: re.Pattern[str] = field(default=_NEVER)
    fillers: re.Pattern[str] = field(default=_NEVER)
    question_starts: re.Pattern[str] = field(default=_NEVER)
    question_ends: re.Pattern[str] = field(default=_NEVER)
    request_starts: re.Pattern[str] = field(default=_NEVER)
    tags: re.Pattern[str] = field(default=_NEVER)

    def knows(self, word: str) -> bool:
        """Whether a lower-case word is an ordinary word of the language, as far as the lists go."""
        return any(word in words for words in (self.function, self.common, self.verbs, self.calendar))


def lexicon_of(language: str) -> Lexicon:
    """The lists for a language code; English serves where there is no evidence ("und")."""
    if language == "und":
        language = "en"
    return _lexicon(language if language in _OWN else "other")


@cache
def raw(code: str) -> dict[str, Any]:
    """One data file as it stands."""
    with (_DATA / f"{code}.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def _lexicon(code: str) -> Lexicon:
    values: dict[str, Any] = {"code": code}
    table = raw(code)
    for each in fields(Lexicon):
        value = table.get(each.name)
        if value is None or each.name == "code":
            continue
        if isinstance(value, list):
            values[each.name] = re.compile("|".join(f"(?:{pattern})" for pattern in value) or "(?!)")
        elif each.name == "not_suffixes":
            values[each.name] = tuple(value.split())
        else:
            values[each.name] = frozenset(value.split())
    return Lexicon(**values)


def word_set(table: str) -> frozenset[str]:
    """The words of a table written as one string."""
    return frozenset(table.split())


def words_of(code: str, name: str) -> frozenset[str]:
    """One list of a data file as a set."""
    return frozenset(raw(code).get(name, "").split())


@cache
def given_names() -> frozenset[str]:
    """Common first names, lower-case."""
    return frozenset(word for line in _lines("given") for word in line.split())


@cache
def places() -> frozenset[str]:
    """Countries and large cities, lower-case; those of several Latin words too."""
    found: set[str] = set()
    for line in _lines("places"):
        found.update([line[1:].strip()] if line.startswith("=") else line.split())
    return frozenset(found)


def _lines(name: str) -> list[str]:
    text = (_DATA / f"{name}.txt").read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
