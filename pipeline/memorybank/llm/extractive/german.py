"""Names in German, where every noun has a capital: what tells a name is what stands around it."""

from collections.abc import Sequence

from memorybank.llm.extractive.chains import Chain, breaks, chains
from memorybank.llm.extractive.evidence import Evidence
from memorybank.llm.extractive.latin import SHOUTED_WORDS
from memorybank.llm.extractive.lexicon import Lexicon, given_names, places, word_set
from memorybank.llm.extractive.tokens import Token

#: Shortest noun that counts as the head of a compound, and shortest word before it.
_HEAD_LETTERS, _MODIFIER_LETTERS = 4, 3
#: Endings of surnames and places that are ordinary nouns too; a compound with one of them proves nothing.
_NAME_ENDINGS = word_set(
    """
    berg berge burg bach feld wald stein steine mann hof stadt dorf see brücke brunnen haus hausen kirch
    baum bauer vogel fuchs wolf könig schneider horn land ried thal tal heim hain hügel rose stern hut
    müller maier kopf fisch hahn hammer ufer mühle wiese garten weg gold silber feder kraut zahn herz
    bart kamp rock ring mut post bein
    """
)
_ENDINGS = ("", "n", "en", "e", "s", "es", "er", "ern", "ns", "nen", "innen")
#: Endings of adjectives: "der alte Vogtmann" is somebody, but "alte Uhren" are things.
_ADJECTIVE_ENDINGS = ("e", "en", "er", "es", "em")
_ADJECTIVE_LETTERS = 4
_MEASURES = word_set(
    """
    stück flasche flaschen tasse tassen glas gläser liter kilo gramm packung dose dosen tüte schachtel paar scheibe
    becher portion teller löffel kiste uhr euro prozent ende anfang mitte
    """
)
#: Streets are names with an article too: "in der Kastanienallee".
_STREETS = ("allee", "gasse", "straße", "strasse")
_STREET_LETTERS = 10
#: Shorter words with a verb's ending are rather something else.
_VERB_LETTERS = 3
_SEPARATED = frozenset(("und", "oder", "&"))


def names_in_chains(
    sentence: str, tokens: Sequence[Token], lexicon: Lexicon, evidence: Evidence
) -> list[tuple[int, str]]:
    """The names among a sentence's capital words, with their places."""
    reader = _Reader(sentence, tokens, lexicon, evidence)
    found = []
    for chain in chains(tokens, lexicon):
        if (name := reader.name(chain)) is not None:
            found.append(name)
    return found


class _Reader:
    """Reads one sentence; `accepted` remembers where names ended, for "Anna und Vogtmann"."""

    def __init__(self, sentence: str, tokens: Sequence[Token], lexicon: Lexicon, evidence: Evidence) -> None:
        self.sentence, self.tokens, self.lexicon, self.evidence = sentence, tokens, lexicon, evidence
        self.accepted: set[int] = set()
        words = [token for token in tokens if token.word]
        self.shouted = len(words) >= SHOUTED_WORDS and all(token.capital or token.number for token in words)

    def name(self, chain: Chain) -> tuple[int, str] | None:
        """The name in a chain, if there is one, with its place."""
        kept, strong = self._trim(chain)
        if kept is None or self.shouted:
            return None
        if not strong and not self._is_name(kept):
            return None
        self.accepted.add(kept.after)
        text = kept.text(self.sentence)
        return kept.tokens[0].start, self._nominative(kept, text)

    def _trim(self, chain: Chain) -> tuple[Chain | None, bool]:
        """The chain without titles and relations, and whether one of them vouches for the rest."""
        strong = self._is_introduced(chain)
        while len(chain.tokens) > 1:
            low, follower = chain.tokens[0].low, chain.tokens[1]
            if not follower.capital and not follower.number and self.is_noun(low):
                chain = self._behind_link(chain)
                continue
            if low in self.lexicon.kin_titles and not self._has_article(chain.at):
                return chain, not self.is_noun(follower.low)
            if low in self.lexicon.heads and low not in self.lexicon.relations:
                return self._headed(chain), True
            if low not in self.lexicon.titles and low not in self.lexicon.relations:
                break
            strong = low in self.lexicon.titles or not self.is_noun(follower.low)
            chain = chain.without(1)
        if self._is_bare_title(chain):
            return None, False
        return self._without_nouns(chain, strong)

    def _behind_link(self, chain: Chain) -> Chain:
        """ "Werkstatt von Herrn Vogtmann": what stands behind the small words is looked at by itself."""
        chain = chain.without(1)
        while len(chain.tokens) > 1 and not chain.tokens[0].capital:
            chain = chain.without(1)
        return chain

    def _is_bare_title(self, chain: Chain) -> bool:
        low = chain.tokens[0].low
        return len(chain.tokens) == 1 and (
            low in self.lexicon.titles
            or low in self.lexicon.relations
            or breaks(chain.tokens[0], self.lexicon)
        )

    def _headed(self, chain: Chain) -> Chain | None:
        """ "Hochschule Eschenried" is a name, "Hotel Restaurant" is none."""
        rest = chain.tokens[1:]
        if rest[-1].number and len(rest) == 1:
            return chain
        return chain if any(not self.is_noun(token.low) for token in rest if token.capital) else None

    def _without_nouns(self, chain: Chain, strong: bool) -> tuple[Chain | None, bool]:
        """Leaves ordinary nouns around a name out: "Sabines Bruder", "Kollege Vogtmann", "Montag Abend"."""
        if strong:
            return chain, True
        tokens = chain.tokens
        if len(tokens) == 2 and tokens[1].number:
            return (chain, False) if tokens[0].low not in self.lexicon.step_nouns else (None, False)
        if len(tokens) > 1 and tokens[-1].low in self.lexicon.tails and not self._is_measure(tokens[0].low):
            return chain, True
        measured = True
        while len(chain.tokens) > 1 and self.is_noun(chain.tokens[0].low):
            measured = self._is_measure(chain.tokens[0].low)
            chain = chain.without(1)
        # A name behind a noun explains it: "unsere Kinder Frieda und Emil".
        explains = not measured and not any(self.is_noun(token.low) for token in chain.capitals)
        while len(chain.tokens) > 1 and chain.tokens[-1].capital and self.is_noun(chain.tokens[-1].low):
            chain = Chain(chain.tokens[:-1], chain.at)
        while len(chain.tokens) > 1 and not chain.tokens[-1].capital:
            chain = Chain(chain.tokens[:-1], chain.at)
        return chain, explains

    def _is_measure(self, low: str) -> bool:
        return low in _MEASURES or low in self.lexicon.calendar or low in self.lexicon.function

    def _is_introduced(self, chain: Chain) -> bool:
        before = self._before(chain.at)
        return before is not None and before.low in self.lexicon.introducers

    def _is_name(self, chain: Chain) -> bool:
        tokens = chain.capitals
        first = tokens[0]
        if any(self._is_listed(token.low) for token in tokens) or first.branded:
            return not self._is_misplaced(chain)
        if chain.tokens[-1].number and len(chain.tokens) == 2:
            return not self._has_article(chain.at) and not breaks(first, self.lexicon)
        if any(char.isdecimal() for char in first.text) or first.upper or len(first.text) < 3:
            return len(tokens) > 1 and not first.upper
        if len(first.low) >= _STREET_LETTERS and first.low.endswith(_STREETS):
            return True
        if any(self.is_noun(token.low) for token in tokens if not token.number):
            return False
        if len(tokens) > 1:
            return True
        return self._stands_like_a_name(chain)

    def _is_listed(self, low: str) -> bool:
        if (
            low in given_names()
            or low in places()
            or (self.evidence.speaks_for(low) and low in self.evidence.known)
        ):
            return True
        return (
            low.endswith("s")
            and len(low) > 3
            and (low[:-1] in given_names() or low[:-1] in self.evidence.known)
        )

    def _is_misplaced(self, chain: Chain) -> bool:
        """A listed name that is a noun here: "die Rosa", "ein Mark"; only words on both lists are in doubt."""
        token = chain.tokens[0]
        return len(chain.tokens) == 1 and self.is_noun(token.low) and self._has_article(chain.at)

    def _stands_like_a_name(self, chain: Chain) -> bool:
        """A single unknown noun is a name where a noun would want an article."""
        before, token = self._before(chain.at), chain.tokens[0]
        if self._has_article(chain.at) or self._has_adjective(chain.at):
            return False
        behind = self.tokens[chain.after] if chain.after < len(self.tokens) else None
        if token.first:
            if behind is None:
                return False
            genitive = token.low.endswith("s") and behind.capital and self.is_noun(behind.low)
            return genitive or self._acts(behind)
        if before is None:
            return False
        if before.low in _SEPARATED:
            return chain.at - 1 in self.accepted
        genitive = (
            token.low.endswith("s")
            and behind is not None
            and behind.capital
            and behind.glued
            and self.is_noun(behind.low)
        )
        return genitive or before.low in self.lexicon.prepositions

    def _acts(self, behind: Token) -> bool:
        """Whether what follows is a verb of the third person singular, as far as its ending tells."""
        if behind.low in self.lexicon.finite:
            return True
        plain = not behind.capital and behind.low not in self.lexicon.function
        return plain and len(behind.low) > _VERB_LETTERS and behind.low.endswith(("t", "te"))

    def _nominative(self, chain: Chain, text: str) -> str:
        """ "Sabines Bruder" is about Sabine."""
        last = chain.tokens[-1]
        behind = self.tokens[chain.after] if chain.after < len(self.tokens) else None
        if behind is None or not behind.capital or not behind.glued or not text.endswith("s"):
            return text
        known = last.low[:-1] in given_names() or last.low[:-1] in self.evidence.known
        if last.low in given_names() and not known:
            return text
        return text[:-1] if known or not text.endswith("ss") else text

    def _before(self, at: int) -> Token | None:
        return self.tokens[at - 1] if at > 0 else None

    def _has_article(self, at: int) -> bool:
        before = self._before(at)
        return before is not None and before.low in self.lexicon.article

    def _has_adjective(self, at: int) -> bool:
        before = self._before(at)
        if before is None or before.capital or not before.word or len(before.low) < _ADJECTIVE_LETTERS:
            return False
        plain = before.low in self.lexicon.function or before.low in self.lexicon.finite
        return not plain and before.low.endswith(_ADJECTIVE_ENDINGS)

    def is_noun(self, low: str) -> bool:
        """Whether a word is an ordinary noun: listed, inflected, by its ending, or a compound of a listed one."""
        lexicon = self.lexicon
        if (
            low in lexicon.function
            or low in lexicon.calendar
            or low in lexicon.nationalities
            or low in lexicon.roles
        ):
            return True
        if low in lexicon.relations or low in lexicon.units or low in lexicon.heads or low in lexicon.verbs:
            return True
        if self._is_listed_noun(low) or (len(low) > 5 and low.endswith(lexicon.not_suffixes)):
            return True
        if "-" in low:
            return self.is_noun(low.rsplit("-", 1)[1])
        starts = range(_MODIFIER_LETTERS, len(low) - _HEAD_LETTERS + 1)
        return any(low[at:] not in _NAME_ENDINGS and self._is_listed_noun(low[at:]) for at in starts)

    def _is_listed_noun(self, low: str) -> bool:
        common = self.lexicon.common
        return any(low.endswith(ending) and low[: len(low) - len(ending)] in common for ending in _ENDINGS)
