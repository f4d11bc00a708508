"""Chains of capital words: the raw material of names in alphabetic scripts."""

from collections.abc import Sequence
from dataclasses import dataclass

from memorybank.llm.extractive.lexicon import Lexicon, word_set
from memorybank.llm.extractive.tokens import Token

#: Small words inside names: Bank of Lisbon, Rio de Janeiro, Pieter van der Meer.
_CONNECTORS = word_set(
    """
    of de du des del della di da do dos das d' la le les van von der den ter ten zu zum zur y e al el bin
    ibn
    """
)
#: These must be followed by another connector or a capital, and only "of"-like ones may begin the link.
_LINKS = word_set("of de du des del della di da do dos das d' van von ter ten zu zum zur bin ibn")
#: Articles that belong to a name when they are capitalised inside a sentence: The Hague, La Rochelle.
_ARTICLES = word_set("the la le les el los las den der die das il o")
#: Abbreviations that end names of products: Solace CRM.
_PRODUCT_WORDS = frozenset(("crm", "erp", "api", "ai", "tv", "sql", "os", "ui", "gps", "bbq", "dj"))
#: Longest number that may end a name ("Lumo 7", "Locker 41", "Expo 2030").
_NUMBER_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Chain:
    """Neighbouring tokens that may be a name; `at` is the place of the first among all tokens."""

    tokens: tuple[Token, ...]
    at: int

    @property
    def after(self) -> int:
        """The place of the token behind the chain."""
        return self.at + len(self.tokens)

    @property
    def capitals(self) -> list[Token]:
        """Its words without the small ones."""
        return [token for token in self.tokens if token.capital or token.number]

    def without(self, count: int) -> "Chain":
        """The chain without its first tokens."""
        return Chain(self.tokens[count:], self.at + count)

    def text(self, sentence: str) -> str:
        """The chain as written, without a possessive at its end."""
        last = self.tokens[-1]
        return " ".join((sentence[self.tokens[0].start : last.start] + last.text).split())


def chains(tokens: Sequence[Token], lexicon: Lexicon) -> list[Chain]:
    """All chains of a sentence, in order; none overlap."""
    found: list[Chain] = []
    at = 0
    while at < len(tokens):
        end = _end_of_chain(tokens, at, lexicon)
        if end > at:
            found.append(Chain(tuple(tokens[at:end]), at))
        at = max(end, at + 1)
    return found


def _end_of_chain(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> int:
    """The place behind the chain that starts at a token; the token's own place if none does."""
    if not _starts(tokens, at, lexicon):
        return at
    end = at + 1
    while (following := _next_end(tokens, end, lexicon)) > end:
        end = following
    return end


def _starts(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    token = tokens[at]
    if not token.capital or not token.word:
        return False
    if not breaks(token, lexicon):
        return True
    follower = _glued(tokens, at + 1)
    if follower is None or not follower.capital or breaks(follower, lexicon):
        return False
    article = token.low in _ARTICLES and not token.first and lexicon.code != "de"
    return article or token.low in lexicon.kin_titles or token.low in lexicon.titles


def _next_end(tokens: Sequence[Token], end: int, lexicon: Lexicon) -> int:
    """Where the chain ends with one more word; `end` itself if no word fits."""
    last, token = tokens[end - 1], _glued(tokens, end)
    if token is None or last.number:
        return end
    if last.possessive:
        return end + 1 if token.capital and token.low in lexicon.heads else end
    if token.text == "&":
        joined = _glued(tokens, end + 1)
        return end + 2 if joined is not None and joined.capital else end
    if token.number:
        return end + 1 if _numbers_the_chain(tokens, end, lexicon) else end
    if token.capital:
        inside = token.low in _ARTICLES and lexicon.code != "de" and _is_capital(tokens, end + 1)
        named = token.upper and token.low in _PRODUCT_WORDS and not last.upper
        return end if breaks(token, lexicon) and not (inside or named) else end + 1
    return _linked_end(tokens, end)


def _linked_end(tokens: Sequence[Token], end: int) -> int:
    """The end behind "of Lisbon", "van der Meer", "de La Tour"."""
    if tokens[end].low not in _LINKS:
        return end
    at = end + 1
    while (token := _glued(tokens, at)) is not None and token.low in _CONNECTORS and at < end + 3:
        at += 1
    return at + 1 if _is_capital(tokens, at) else end


def _numbers_the_chain(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    number, follower = tokens[at], _glued(tokens, at + 1)
    if len(number.text) > _NUMBER_DIGITS or not number.glued:
        return False
    if follower is None:
        return True
    return not (
        follower.low in lexicon.units
        or follower.number
        or follower.text in "%€$£:°"
        or follower.low in lexicon.calendar
    )


def _is_capital(tokens: Sequence[Token], at: int) -> bool:
    token = _glued(tokens, at)
    return token is not None and token.capital and token.word


def _glued(tokens: Sequence[Token], at: int) -> Token | None:
    """The token at a place if it stands directly behind its neighbour."""
    return tokens[at] if at < len(tokens) and tokens[at].glued else None


def breaks(token: Token, lexicon: Lexicon) -> bool:
    """Whether a capital word is no part of any name: "I", "Monday", "The", "HR"."""
    if token.low in lexicon.ambiguous_names and not token.upper:
        return False
    low = token.low
    if low in lexicon.function or low in lexicon.calendar:
        return True
    return token.upper and low in lexicon.acronyms
