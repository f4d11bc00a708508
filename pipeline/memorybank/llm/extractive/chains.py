"""Chains of capital words: the raw material of names in alphabetic scripts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memorybank.llm.extractive.tokens import NOTHING, Token

#: Longest number that may end a name ("Lumo 7", "Locker 41", "Expo 2030").
_NUMBER_DIGITS = 4
#: Small words in a row inside a name: "of the", "van der".
_SMALL_WORDS = 2


@dataclass(frozen=True, slots=True)
class Chain:
    """Neighbouring tokens of a sentence that may be a name, from `start` to `end` (behind the last)."""

    sentence: Sequence[Token]
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def tokens(self) -> Sequence[Token]:
        """Its tokens."""
        return self.sentence[self.start : self.end]

    @property
    def first(self) -> Token:
        """Its first token."""
        return self.sentence[self.start]

    @property
    def last(self) -> Token:
        """Its last token."""
        return self.sentence[self.end - 1]

    @property
    def before(self) -> Token:
        """The token before it."""
        return self.sentence[self.start - 1] if self.start else NOTHING

    def behind(self, count: int = 0) -> Token:
        """A token behind it."""
        return _at(self.sentence, self.end + count)

    @property
    def capitals(self) -> list[Token]:
        """Its words without the small ones."""
        return [token for token in self.tokens if token.capital or token.number]

    def without(self, front: int = 0, back: int = 0) -> "Chain":
        """The chain without tokens at its ends."""
        return replace(self, start=self.start + front, end=self.end - back)

    def behind_first(self) -> "Chain":
        """The chain without its first word, and the small ones behind that."""
        chain = self.without(1)
        while len(chain) > 1 and not chain.first.capital:
            chain = chain.without(1)
        return chain

    def text(self, sentence: str) -> str:
        """The chain as written, without a possessive at its end."""
        return " ".join((sentence[self.first.start : self.last.start] + self.last.text).split())


def chains(tokens: Sequence[Token]) -> Iterator[Chain]:
    """All chains of a sentence, in order; none overlap."""
    at = 0
    while at < len(tokens):
        end = at + _starts(tokens[at], _glued(tokens, at + 1))
        while end > at and (following := _next_end(tokens, end)) > end:
            end = following
        if end > at:
            yield Chain(tokens, at, end)
        at = max(end, at + 1)


def _starts(token: Token, follower: Token) -> bool:
    """Whether a chain starts at a token."""
    if not token.capital or not token.breaks:
        return token.capital
    if not follower.capital or follower.breaks:
        return False
    return ("articles" in token.kinds and not token.first) or token.is_a("kin_titles", "titles")


def _next_end(tokens: Sequence[Token], end: int) -> int:
    """Where the chain ends with one more word; `end` itself if no word fits."""
    last, token, follower = tokens[end - 1], _glued(tokens, end), _glued(tokens, end + 1)
    if last.number or token is NOTHING:
        return end
    if last.possessive:
        return end + (token.capital and "heads" in token.kinds)
    if token.text == "&":
        return end + 2 * follower.capital
    if token.number:
        return end + (len(token.text) <= _NUMBER_DIGITS and not _counts(follower))
    if token.capital:
        inside = "articles" in token.kinds and follower.capital
        named = token.upper and "product_words" in token.kinds and not last.upper
        return end + (inside or named or not token.breaks)
    return _linked_end(tokens, end) if "links" in token.kinds else end


def _linked_end(tokens: Sequence[Token], end: int) -> int:
    """The end behind "of Lisbon", "van der Meer", "de La Tour"."""
    at = end + 1
    while at <= end + _SMALL_WORDS and "connectors" in _glued(tokens, at).kinds:
        at += 1
    return at + 1 if _glued(tokens, at).capital else end


def _counts(follower: Token) -> bool:
    """Whether a number belongs to what follows it."""
    return follower.number or follower.is_a("units", "calendar") or follower.text in tuple("%€$£:°")


def _at(tokens: Sequence[Token], at: int) -> Token:
    return tokens[at] if at < len(tokens) else NOTHING


def _glued(tokens: Sequence[Token], at: int) -> Token:
    """The token at a place if it stands directly behind its neighbour."""
    token = _at(tokens, at)
    return token if token.glued else NOTHING
