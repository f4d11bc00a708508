"""Names in languages that capitalise only names: English, French, Spanish and their like."""

import re
from collections.abc import Sequence

from memorybank.llm.extractive.chains import Chain, breaks, chains
from memorybank.llm.extractive.evidence import Evidence
from memorybank.llm.extractive.lexicon import Lexicon, given_names, places, word_set
from memorybank.llm.extractive.tokens import Token

#: A sentence of at least so many words, all capital but for those below, is a heading: its capitals mean nothing.
SHOUTED_WORDS = 5
_SMALL_IN_HEADINGS = word_set(
    """
    a an the of in on at to for and or with by from de la le les l' du des d' et y el en del
    """
)
_COPULAS = word_set(
    """
    is was isn't wasn't will would can could might should must does doesn't did didn't are just always never also
    """
)
#: What begins the explanation of a name.
_APPOSITIVES = word_set(
    """
    my our your his her their the a an who which mi nuestro nuestra mis su el la un una quien mon ma mes notre son sa le
    l' une qui il mio mia
    """
)
#: An unknown word with this ending that opens a sentence is rather several things than a name.
_PLURAL = re.compile(r"[^suiwoa]s$")
_FLIGHT = re.compile(r"[A-Z]{2}\d{2,4}")
_LETTER_DIGITS = re.compile(r"[A-Z]\d{1,3}[A-Z]?|\d\w*")


def names_in_chains(
    sentence: str, tokens: Sequence[Token], lexicon: Lexicon, evidence: Evidence
) -> list[tuple[int, str]]:
    """The names among a sentence's chains, with their places."""
    found = []
    shouted = _is_shouted(tokens)
    asked = bool(tokens) and tokens[-1].text == "?"
    for chain in chains(tokens, lexicon):
        kept = _trim(chain, lexicon, evidence, asked)
        if (
            kept is not None
            and (_is_certain(kept, evidence) or not shouted)
            and _is_name(kept, tokens, lexicon, evidence)
        ):
            found.append((kept.tokens[0].start, kept.text(sentence)))
    return found


def _is_shouted(tokens: Sequence[Token]) -> bool:
    words = [token for token in tokens if token.word and not token.number]
    return len(words) >= SHOUTED_WORDS and all(
        token.capital or token.low in _SMALL_IN_HEADINGS for token in words
    )


def _trim(chain: Chain, lexicon: Lexicon, evidence: Evidence, asked: bool) -> Chain | None:
    """The chain without titles and without an opening word that only stands in front of a name."""
    while len(chain.tokens) > 1:
        token, follower = chain.tokens[0], chain.tokens[1]
        auxiliary = asked and token.low in lexicon.function
        opener = token.first and (
            auxiliary or token.low in lexicon.verbs or _only_qualifies(chain, lexicon, evidence)
        )
        titled = token.low in lexicon.titles and not (token.low == "st" or follower.low in lexicon.heads)
        if not (opener or titled):
            break
        chain = chain.without(1)
        while len(chain.tokens) > 1 and not chain.tokens[0].capital:
            chain = chain.without(1)
    if chain.tokens[0].low in lexicon.titles and len(chain.tokens) == 1:
        return None
    return chain


def _only_qualifies(chain: Chain, lexicon: Lexicon, evidence: Evidence) -> bool:
    """ "Poor Tom", "Climbing Kilimanjaro": an ordinary word in front of a name that stands by itself."""
    token, follower = chain.tokens[0], chain.tokens[1]
    if _FLIGHT.fullmatch(follower.text) and is_ordinary(token.low, lexicon):
        return True
    if token.low.endswith("ing") and follower.capital and is_ordinary(token.low, lexicon):
        return follower.low not in lexicon.heads
    if not is_ordinary(token.low, lexicon) or token.low in lexicon.heads or token.low in given_names():
        return False
    if not follower.capital:
        return len(chain.tokens) > 2 and chain.tokens[-1].low in places()
    return follower.low in given_names() or follower.low in evidence.known


def _is_certain(chain: Chain, evidence: Evidence) -> bool:
    lows = [token.low for token in chain.capitals]
    phrase = " ".join(token.low for token in chain.tokens)
    return phrase in places() or all(low in given_names() or evidence.speaks_for(low) for low in lows)


def _is_name(chain: Chain, tokens: Sequence[Token], lexicon: Lexicon, evidence: Evidence) -> bool:
    capitals = chain.capitals
    if all(token.low in lexicon.roles or token.low in lexicon.nationalities for token in capitals):
        return False
    if len(capitals) > 1:
        return _is_long_name(chain, lexicon)
    token = capitals[0]
    if _LETTER_DIGITS.fullmatch(token.text):
        return False
    if any(char.isdecimal() for char in token.text):
        return bool(_FLIGHT.fullmatch(token.text)) or sum(char.isalpha() for char in token.text) > 2
    if len(token.text.rstrip(".")) < 2 or (breaks(token, lexicon) and token.low not in given_names()):
        return False
    if token.upper and is_ordinary(token.low, lexicon):
        return False
    if token.first:
        return _opens_with_name(token, tokens[chain.after : chain.after + 2], lexicon, evidence)
    return token.low not in lexicon.kin_titles


def _is_long_name(chain: Chain, lexicon: Lexicon) -> bool:
    first, last = chain.tokens[0], chain.tokens[-1]
    if last.number and len(chain.tokens) == 2:
        if first.low in lexicon.step_nouns or first.low in lexicon.verbs:
            return False
        return not (first.low in given_names() or first.low in places())
    return not (
        first.first
        and all(is_ordinary(token.low, lexicon) for token in chain.capitals)
        and len(chain.capitals) < 3
        and last.number
    )


def _opens_with_name(token: Token, behind: Sequence[Token], lexicon: Lexicon, evidence: Evidence) -> bool:
    """Whether a capital word that opens a sentence is a name: by lists, by the rest of the text, by what follows."""
    low = token.low
    if token.branded or low in evidence.known:
        return True
    if low in lexicon.ambiguous_names:
        return token.possessive or _acts_in_person(token, behind, lexicon)
    if low in given_names() or (low in places() and low not in lexicon.common and low not in lexicon.verbs):
        return True
    if is_ordinary(low, lexicon) or low in evidence.plain:
        return False
    if _PLURAL.search(low) and not evidence.speaks_for(low):
        return False
    if evidence.speaks_for(low) or token.possessive:
        return True
    if not behind:
        return False
    return _acts(behind, lexicon) or (behind[0].text in ",(" and _explains(behind))


def _acts(behind: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether what follows is a verb of the third person, or "and" with another capital word."""
    if not behind:
        return False
    low = behind[0].low
    if low == "from":
        return True
    if low in ("and", "&", "y", "e", "et", "und", "en"):
        return len(behind) > 1 and behind[1].capital
    return low in lexicon.finite or (lexicon.code == "en" and low.endswith("ed") and len(low) > 4)


def _acts_in_person(token: Token, behind: Sequence[Token], lexicon: Lexicon) -> bool:
    """The same for a word that is also an ordinary one: "Bill is due" is no person, "Bill said" is."""
    if behind and behind[0].low in _COPULAS and (token.low in lexicon.common or token.low in lexicon.verbs):
        return False
    return _acts(behind, lexicon) or (bool(behind) and behind[0].text in ",(" and _explains(behind))


def _explains(behind: Sequence[Token]) -> bool:
    """ "Pepper, our greyhound": an apposition behind the mark."""
    return len(behind) > 1 and behind[1].low in _APPOSITIVES and not behind[1].capital


def is_ordinary(low: str, lexicon: Lexicon) -> bool:
    """Whether a word is an ordinary one in some form."""
    if any(
        form in words for form in _forms(low) for words in (lexicon.common, lexicon.verbs, lexicon.function)
    ):
        return True
    if (
        low in lexicon.nationalities
        or low in lexicon.calendar
        or low in lexicon.roles
        or low in lexicon.relations
    ):
        return True
    return len(low) > 5 and low.endswith(lexicon.not_suffixes)


def _forms(low: str) -> list[str]:
    """A word and what it may be an inflected form of."""
    forms = [low]
    if low.endswith("s"):
        forms += [low[:-1], low[:-2]]
    if low.endswith("ies"):
        forms.append(low[:-3] + "y")
    if low.endswith("ed"):
        forms += [low[:-1], low[:-2]]
    if low.endswith("ing"):
        forms += [low[:-3], low[:-3] + "e"]
    return forms
