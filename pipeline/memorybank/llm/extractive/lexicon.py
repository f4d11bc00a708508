"""The word lists of the engine, read once from `data/`."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

_DATA = Path(__file__).with_name("data")
#: Languages with lists of their own; all others share `other`.
_OWN = frozenset(("en", "de", "fr", "es", "zh", "ja"))
#: A word is judged by its ending if it is longer than this.
_SUFFIXED_LETTERS = 5
#: Shortest word before the head of a compound, and shortest head.
_MODIFIER_LETTERS, _HEAD_LETTERS = 3, 4


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The lists of one language; what each means stands at the top of `data/shared.toml`.

    `words` and `patterns` hold them by name (a missing one is empty), `kinds` the names of the lists that hold a word.
    """

    code: str
    words: Mapping[str, frozenset[str]]
    patterns: Mapping[str, re.Pattern[str]]
    kinds: Mapping[str, frozenset[str]]

    def is_a(self, word: str, *lists: str) -> bool:
        """Whether one of these lists holds a lower-case word."""
        return not self.kinds.get(word, frozenset()).isdisjoint(lists)

    def knows(self, word: str) -> bool:
        """Whether a lower-case word is an ordinary word of the language, as far as the lists go."""
        return self.is_a(word, "function", "common", "verbs", "calendar")

    def is_ordinary(self, word: str) -> bool:
        """Whether it is one in some form: listed, inflected, by its ending, or a compound of a listed one."""
        return _is_ordinary(self.code, word)


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
    words: dict[str, frozenset[str]] = defaultdict(frozenset)
    patterns: dict[str, re.Pattern[str]] = defaultdict(lambda: re.compile("(?!)"))
    for name, value in {**raw("shared"), **raw(code)}.items():
        if isinstance(value, str):
            words[name] = frozenset(value.split())
        elif isinstance(value, list) and value and isinstance(value[0], str):
            patterns[name] = re.compile("|".join(f"(?:{pattern})" for pattern in value))
    kinds: dict[str, frozenset[str]] = defaultdict(frozenset)
    for name, listed in {**words, "given": given_names(), "places": places()}.items():
        for word in listed:
            kinds[word] |= {name}
    return Lexicon(code, words, patterns, dict(kinds))


@lru_cache(maxsize=10_000)
def _is_ordinary(code: str, word: str) -> bool:
    lexicon = _lexicon(code)
    words = lexicon.words
    if lexicon.is_a(word, *words["ordinary"]) or _is_inflected(lexicon, word):
        return True
    if len(word) > _SUFFIXED_LETTERS and word.endswith(tuple(words["not_suffixes"])):
        return True
    if not words["name_endings"]:
        return False
    if "-" in word:
        return _is_ordinary(code, word.rsplit("-", 1)[1])
    heads = (word[at:] for at in range(_MODIFIER_LETTERS, len(word) - _HEAD_LETTERS + 1))
    return any(head not in words["name_endings"] and _is_inflected(lexicon, head) for head in heads)


def _is_inflected(lexicon: Lexicon, word: str) -> bool:
    """Whether a word is a listed one, or becomes one by an ending's exchange."""
    lists = lexicon.words["inflected"]
    exchanges = [exchange.split(":") for exchange in lexicon.words["inflections"]]
    return lexicon.is_a(word, *lists) or any(
        word.endswith(ending) and lexicon.is_a(word.removesuffix(ending) + back, *lists)
        for ending, back in exchanges
    )


def words_of(code: str, name: str) -> frozenset[str]:
    """One list of a language."""
    return lexicon_of(code).words[name]


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
