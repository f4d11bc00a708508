"""What a whole text shows about its words, so that one sentence can be read in the light of the others."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
#: Behind these a capital says nothing: a sentence, a line, a quotation starts.
_OPENERS = frozenset(".!?:;…\"'“”„«»()[]{}*#-–—>|•\n")
_LONGEST_NAME_WORD = 40


@dataclass(frozen=True, slots=True)
class Evidence:
    """`known`: lower-case names given as such; `capital`: words capitalised inside sentences; `plain`: words seen in
    lower case. Words are lower-case here, a possessive ending is taken off."""

    known: frozenset[str] = frozenset()
    capital: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()

    def speaks_for(self, word: str) -> bool:
        """Whether a word (lower-case) is a name elsewhere in the text."""
        return word in self.known or (word in self.capital and word not in self.plain)


def gather(texts: Iterable[str], known: Iterable[str] = ()) -> Evidence:
    """The evidence of a text's parts and of names known beforehand."""
    capital: set[str] = set()
    plain: set[str] = set()
    for text in texts:
        for match in _WORD.finditer(text):
            word = match[0]
            if len(word) > _LONGEST_NAME_WORD:
                continue
            if word[0].islower():
                plain.add(word)
            elif not word.isupper() and _inside(text, match.start()):
                capital.add(without_possessive(word.lower()))
    return Evidence(known_words(known), frozenset(capital), frozenset(plain))


def known_words(names: Iterable[str]) -> frozenset[str]:
    """Names in lower case, whole and word by word."""
    found: set[str] = set()
    for name in names:
        low = name.lower().strip()
        if low:
            found.update((low, *(word for word in low.split() if len(word) > 2)))
    return frozenset(found)


def without_possessive(word: str) -> str:
    """A word without 's."""
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _inside(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t") if start < 200 else text[start - 200 : start].rstrip(" \t")
    return bool(before) and before[-1] not in _OPENERS
