"""Names in German, where every noun has a capital: what tells a name is what stands around it."""

from dataclasses import dataclass, field

from memorybank.llm.extractive.capitals import Reader
from memorybank.llm.extractive.chains import Chain
from memorybank.llm.extractive.tokens import Token

#: Endings of adjectives: "der alte Vogtmann" is somebody, but "alte Uhren" are things.
_ADJECTIVE_ENDINGS = ("e", "en", "er", "es", "em")
_ADJECTIVE_LETTERS = 4
#: Streets are names with an article too: "in der Kastanienallee".
_STREETS = ("allee", "gasse", "straße", "strasse")
_STREET_LETTERS = 10
#: Shorter words with a verb's ending are rather something else.
_VERB_LETTERS = 3
_SEPARATED = ("und", "oder", "&")


@dataclass(frozen=True, slots=True)
class GermanReader(Reader):
    """Reads one sentence; `ends` remembers where names ended, for "Anna und Vogtmann"."""

    ends: set[int] = field(default_factory=set)

    def name(self, chain: Chain) -> Chain | None:
        """What of a chain is a name."""
        kept, sure = self._trimmed(chain)
        if kept is None or not (sure or self._is_name(kept)):
            return None
        self.ends.add(kept.end)
        return kept

    def written(self, chain: Chain) -> str:
        """A name in the nominative: "Sabines Bruder" is about Sabine."""
        text, low = chain.text(self.sentence), chain.last.low
        if not text.endswith("s") or not (chain.behind().capital and chain.behind().glued):
            return text
        if self._is_known(low[:-1]):
            return text[:-1]
        return text if "given" in chain.last.kinds or text.endswith("ss") else text[:-1]

    def _trimmed(self, chain: Chain) -> tuple[Chain | None, bool]:
        """The chain without titles and relations, and whether one of them vouches for the rest."""
        sure = "introducers" in chain.before.kinds
        while len(chain) > 1:
            first, second = chain.tokens[:2]
            behind_link = not second.capital and not second.number and self._is_noun(first)
            if not behind_link:
                if "kin_titles" in first.kinds and "article" not in chain.before.kinds:
                    return chain, not self._is_noun(second)
                if "heads" in first.kinds and "relations" not in first.kinds:
                    return self._headed(chain), True
                if not first.is_a("titles", "relations"):
                    break
                sure = "titles" in first.kinds or not self._is_noun(second)
            # "Werkstatt von Herrn Vogtmann": what stands behind the small words is looked at by itself.
            chain = chain.behind_first() if behind_link else chain.without(1)
        if len(chain) == 1 and (chain.first.breaks or chain.first.is_a("titles", "relations")):
            return None, False
        return (chain, True) if sure else self._without_nouns(chain)

    def _headed(self, chain: Chain) -> Chain | None:
        """ "Hochschule Eschenried" is a name, "Hotel Restaurant" is none."""
        rest = chain.tokens[1:]
        numbered = len(rest) == 1 and rest[0].number
        return (
            chain if numbered or any(token.capital and not self._is_noun(token) for token in rest) else None
        )

    def _without_nouns(self, chain: Chain) -> tuple[Chain | None, bool]:
        """Leaves ordinary nouns around a name out: "Sabines Bruder", "Kollege Vogtmann", "Montag Abend"."""
        if len(chain) == 2 and chain.last.number:
            return (None if "step_nouns" in chain.first.kinds else chain), False
        if len(chain) > 1 and "tails" in chain.last.kinds and not _measures(chain.first):
            return chain, True
        measured = True
        while len(chain) > 1 and self._is_noun(chain.first):
            measured = _measures(chain.first)
            chain = chain.without(1)
        # A name behind a noun explains it: "unsere Kinder Frieda und Emil".
        explains = not measured and not any(self._is_noun(token) for token in chain.capitals)
        while len(chain) > 1 and chain.last.capital and self._is_noun(chain.last):
            chain = chain.without(back=1)
        while len(chain) > 1 and not chain.last.capital:
            chain = chain.without(back=1)
        return chain, explains

    def _is_name(self, chain: Chain) -> bool:
        tokens, first = chain.capitals, chain.capitals[0]
        article = "article" in chain.before.kinds
        if first.branded or any(self._is_listed(token) for token in tokens):
            # "die Rosa", "ein Mark": a name that is a noun here.
            return not (len(chain) == 1 and article and self._is_noun(first))
        if chain.last.number and len(chain) == 2:
            return not article and not first.breaks
        if any(char.isdecimal() for char in first.text) or first.upper or len(first.text) < 3:
            return len(tokens) > 1 and not first.upper
        if len(first.low) >= _STREET_LETTERS and first.low.endswith(_STREETS):
            return True
        if any(self._is_noun(token) for token in tokens if not token.number):
            return False
        return len(tokens) > 1 or self._stands_like_a_name(chain)

    def _is_listed(self, token: Token) -> bool:
        if token.is_a("given", "places") or token.low in self.evidence.known:
            return True
        return token.low.endswith("s") and len(token.low) > 3 and self._is_known(token.low[:-1])

    def _is_known(self, low: str) -> bool:
        return self.lexicon.is_a(low, "given") or low in self.evidence.known

    def _stands_like_a_name(self, chain: Chain) -> bool:
        """A single unknown noun is a name where a noun would want an article."""
        before, token, behind = chain.before, chain.first, chain.behind()
        if "article" in before.kinds or self._is_adjective(before):
            return False
        if before.low in _SEPARATED:
            return chain.start - 1 in self.ends
        genitive = token.low.endswith("s") and behind.capital and (token.first or behind.glued)
        if genitive and self._is_noun(behind):
            return True
        return self._acts(chain) if token.first else "prepositions" in before.kinds

    def _acts(self, chain: Chain) -> bool:
        """Whether what follows is a verb of the third person singular, as far as its ending tells."""
        behind = chain.behind()
        if "finite" in behind.kinds:
            return True
        plain = not behind.capital and "function" not in behind.kinds
        return plain and len(behind.low) > _VERB_LETTERS and behind.low.endswith(("t", "te"))

    def _is_adjective(self, token: Token) -> bool:
        if token.capital or not token.word or len(token.low) < _ADJECTIVE_LETTERS:
            return False
        return token.low.endswith(_ADJECTIVE_ENDINGS) and not token.is_a("function", "finite")

    def _is_noun(self, token: Token) -> bool:
        return self.lexicon.is_ordinary(token.low)


def _measures(token: Token) -> bool:
    return token.is_a("measures", "calendar", "function")
