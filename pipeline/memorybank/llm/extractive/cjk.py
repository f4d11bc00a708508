"""What Chinese and Japanese share: a text whose found names are struck out, so that none is read twice."""

import re
from collections.abc import Iterable
from functools import cache

from memorybank.llm.extractive.evidence import Evidence
from memorybank.llm.extractive.lexicon import places, word_set, words_of

_LATIN_NAME = re.compile(
    r"[A-Z][A-Za-z]+(?:[ ·&-]+[A-Z0-9][A-Za-z0-9]*)*(?:[ ]?\d{1,4}(?![\d.:年月日号時点%]))?|[a-z]{1,2}[A-Z][a-z]+"
)
_MODEL = re.compile(
    r"[ ]?[A-Z][A-Za-z]{0,3}-?\d{1,4}[A-Za-z]{0,2}(?![A-Za-z0-9])|[ ]?\d{1,2}(?:Pro|Max|Plus)"
)
_COMMON_LATIN = word_set(
    """
    ok app ai api pdf vip ceo hr it pc tv dvd cd usb wifi wi-fi url id qq pm am ui ux ppt kpi gps sim
    atm line sns cpu gpu db sql bug hi hello bye ng gw web email mail a b c
    """
)
#: Stands in for what was taken out.
STRUCK = "\x00"


def alternatives(words: Iterable[str]) -> str:
    """The words as a pattern, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


@cache
def listed(code: str, name: str) -> str:
    """One list of a language as a pattern."""
    return alternatives(words_of(code, name))


@cache
def listed_places(character: str) -> tuple[str, ...]:
    """The places written in characters of this class alone, the longest first."""
    written = (name for name in places() if re.fullmatch(f"{character}+", name))
    return tuple(sorted(written, key=lambda name: (-len(name), name)))


class Sheet:
    """A sentence on which names are marked and struck out one kind after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: list[tuple[int, str]] = []

    def take(self, start: int, end: int, name: str | None = None) -> None:
        """Notes a name at a place and strikes the place out."""
        self._found.append((start, name if name is not None else self.text[start:end]))
        self.strike(start, end)

    def strike(self, start: int, end: int) -> None:
        """Strikes a place out without a name."""
        self.text = self.text[:start] + STRUCK * (end - start) + self.text[end:]

    def names(self) -> list[str]:
        """The names in order of writing."""
        return [name for _, name in sorted(self._found)]

    def take_known(self, evidence: Evidence) -> None:
        """Names that are known to be ones, wherever they stand."""
        for name in sorted(evidence.known, key=len, reverse=True):
            if len(name) > 1 and not name.isascii():
                for match in re.finditer(re.escape(name), self.text):
                    self.take(match.start(), match.end())

    def take_latin(self) -> None:
        """Names in Latin letters: capitals are names in a text without them."""
        for match in _LATIN_NAME.finditer(self.text):
            if match[0].lower() not in _COMMON_LATIN and not (match[0].isupper() and len(match[0]) < 3):
                self.take(match.start(), match.end())

    def model_behind(self, end: int) -> int:
        """The end of a model number behind a place ("星瞳 X9"), or the place itself."""
        match = _MODEL.match(self.text, end)
        return match.end() if match else end

    def take_listed(self, names: Iterable[str], not_before: re.Pattern[str]) -> None:
        """Listed names, the longest first, unless what follows makes another word of them."""
        for name in names:
            at = self.text.find(name)
            while at >= 0:
                end = at + len(name)
                if not not_before.match(self.text, end):
                    self.take(at, end)
                at = self.text.find(name, end)
