"""Names in alphabetic scripts: which chains of capital words are names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memorybank.llm.extractive.chains import Chain, chains
from memorybank.llm.extractive.evidence import Evidence
from memorybank.llm.extractive.lexicon import Lexicon, places
from memorybank.llm.extractive.tokens import Token

#: A sentence of at least so many words, all capital but for small ones, is a heading: its capitals mean nothing.
_SHOUTED_WORDS = 5
_FLIGHT = re.compile(r"[A-Z]{2}\d{2,4}")
_LETTER_DIGITS = re.compile(r"[A-Z]\d{1,3}[A-Z]?|\d\w*")
#: An unknown word with this ending that opens a sentence is rather several things than a name.
_PLURAL = re.compile(r"[^suiwoa]s$")
#: Shortest verb in -ed: "Ed" and "Fred" are none.
_PAST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one sentence in a language that capitalises only names: English, French, Spanish and their like."""

    sentence: str
    tokens: Sequence[Token]
    lexicon: Lexicon
    evidence: Evidence

    def names(self) -> list[tuple[int, str]]:
        """The names, with their places."""
        shouted = self._is_shouted()
        kept = [chain for each in chains(self.tokens) if (chain := self.name(each)) is not None]
        return [
            (chain.first.start, self.written(chain))
            for chain in kept
            if not shouted or self._is_certain(chain)
        ]

    def name(self, chain: Chain) -> Chain | None:
        """What of a chain is a name."""
        while len(chain) > 1 and self._is_in_front(chain):
            chain = chain.behind_first()
        if len(chain) == 1 and "titles" in chain.first.kinds:
            return None
        return chain if self._is_name(chain) else None

    def written(self, chain: Chain) -> str:
        """A name as it is written by itself."""
        return chain.text(self.sentence)

    def _is_shouted(self) -> bool:
        words = [token for token in self.tokens if token.word and not token.number]
        return len(words) >= _SHOUTED_WORDS and all(
            token.capital or "heading_words" in token.kinds for token in words
        )

    def _is_certain(self, chain: Chain) -> bool:
        if " ".join(token.low for token in chain.tokens) in places():
            return True
        return all("given" in token.kinds or self.evidence.speaks_for(token.low) for token in chain.capitals)

    def _is_in_front(self, chain: Chain) -> bool:
        """Whether the first word is a title, or only opens the sentence in front of a name."""
        first, second = chain.tokens[:2]
        if "titles" in first.kinds and first.low != "st" and "heads" not in second.kinds:
            return True
        asks = self.tokens[-1].text == "?" and "function" in first.kinds
        return first.first and (asks or "verbs" in first.kinds or self._only_qualifies(chain))

    def _only_qualifies(self, chain: Chain) -> bool:
        """ "Poor Tom", "Climbing Kilimanjaro": an ordinary word in front of a name that stands by itself."""
        first, second = chain.tokens[:2]
        if not self.lexicon.is_ordinary(first.low):
            return False
        if _FLIGHT.fullmatch(second.text):
            return True
        if first.low.endswith("ing") and second.capital:
            return "heads" not in second.kinds
        if first.is_a("heads", "given"):
            return False
        if not second.capital:
            return len(chain) > 2 and "places" in chain.last.kinds
        return "given" in second.kinds or second.low in self.evidence.known

    def _is_name(self, chain: Chain) -> bool:
        capitals = chain.capitals
        token = capitals[0]
        if all(word.is_a("roles", "nationalities") for word in capitals):
            return False
        if len(capitals) > 1:
            return self._is_long_name(chain)
        if _LETTER_DIGITS.fullmatch(token.text):
            return False
        if any(char.isdecimal() for char in token.text):
            return bool(_FLIGHT.fullmatch(token.text)) or sum(char.isalpha() for char in token.text) > 2
        if len(token.text.rstrip(".")) < 2 or (token.breaks and "given" not in token.kinds):
            return False
        if token.upper and self.lexicon.is_ordinary(token.low):
            return False
        return self._opens_with_name(chain, token) if token.first else "kin_titles" not in token.kinds

    def _is_long_name(self, chain: Chain) -> bool:
        """Numbers make a name of some words ("Locker 41") and not of others ("Step 3", "Anna 20")."""
        first = chain.first
        if not chain.last.number:
            return True
        if len(chain) == 2:
            return not first.is_a("step_nouns", "verbs", "given", "places")
        plain = all(self.lexicon.is_ordinary(token.low) for token in chain.capitals)
        return not (first.first and plain and len(chain.capitals) < 3)

    def _opens_with_name(self, chain: Chain, token: Token) -> bool:
        """Whether a capital word that opens a sentence is a name: by lists, the rest of the text, what follows."""
        lexicon, evidence, low = self.lexicon, self.evidence, token.low
        if token.branded or low in evidence.known:
            return True
        if "ambiguous_names" in token.kinds:
            # "Bill is due" is no person, "Bill said" is.
            unclear = "copulas" in chain.behind().kinds and token.is_a("common", "verbs")
            return token.possessive or (not unclear and self._stands_out(chain))
        if "given" in token.kinds or ("places" in token.kinds and not token.is_a("common", "verbs")):
            return True
        if lexicon.is_ordinary(low) or low in evidence.plain:
            return False
        if evidence.speaks_for(low):
            return True
        return not _PLURAL.search(low) and (token.possessive or self._stands_out(chain))

    def _stands_out(self, chain: Chain) -> bool:
        """ "Vogtmann said", "Pepper, our greyhound": it acts, or is explained behind a mark."""
        follower = chain.behind(1)
        explained = "appositives" in follower.kinds and not follower.capital
        return self._acts(chain) or (explained and chain.behind().text in (",", "("))

    def _acts(self, chain: Chain) -> bool:
        """Whether what follows is a verb of the third person, or "and" with another capital word."""
        behind = chain.behind()
        if "joining" in behind.kinds:
            return chain.behind(1).capital
        past = self.lexicon.code == "en" and behind.low.endswith("ed") and len(behind.low) > _PAST_LETTERS
        return past or behind.low == "from" or "finite" in behind.kinds
