"""Names in a sentence: people, places, organisations, products."""

from collections.abc import Iterable

from memorybank.llm.extractive import german, latin
from memorybank.llm.extractive.evidence import Evidence, known_words
from memorybank.llm.extractive.lexicon import Lexicon, given_names, lexicon_of, places, word_set
from memorybank.llm.extractive.quotes import quoted_names
from memorybank.llm.extractive.tokens import Token, masked, tokenize
from memorybank.llm.extractive.tongues import KANA, UNSPACED, language_of_text
from memorybank.llm.extractive.unspaced import find_names
from memorybank.text import name_key

#: Longer names are no names.
LONGEST_NAME = 80
#: Names of places have at most this many words.
_PLACE_WORDS = 4
#: Places that are ordinary words when written small.
_SMALL_WORDS = word_set(
    "nice reading bath split turkey china chad hull cork mobile male brest essen lima pune"
)


def names(sentence: str, language: str | None = None, *, known: frozenset[str] = frozenset()) -> list[str]:
    """The names in a sentence as written, in order, each once; `known` are names that are sure to be ones."""
    return names_in(sentence, language or language_of_text(sentence), Evidence(known_words(known)))


def names_in(sentence: str, language: str, evidence: Evidence) -> list[str]:
    """The names in a sentence in the light of the text around it."""
    hidden = masked(sentence)
    if UNSPACED.search(hidden):
        japanese_text = language == "ja" or (language != "zh" and bool(KANA.search(hidden)))
        return _distinct(find_names(hidden, "ja" if japanese_text else "zh", evidence))
    return _distinct(_alphabetic(hidden, lexicon_of(language), evidence))


def _alphabetic(sentence: str, lexicon: Lexicon, evidence: Evidence) -> list[str]:
    found: list[tuple[int, str]] = []
    for quoted in quoted_names(sentence, lexicon):
        found.append((quoted.start, quoted.name))
        sentence = sentence[: quoted.start] + "\x00" * (quoted.end - quoted.start) + sentence[quoted.end :]
    tokens = tokenize(sentence, lexicon.code)
    reader = german if lexicon.code == "de" else latin
    found += reader.names_in_chains(sentence, tokens, lexicon, evidence)
    if _is_typed_small(tokens):
        found += _small_names(tokens, lexicon, evidence)
    return [name for _, name in sorted(found)]


def _is_typed_small(tokens: list[Token]) -> bool:
    """Whether the writer does without capitals (but for "I" and the first word)."""
    return not any(token.capital and not token.first and token.text != "I" for token in tokens)


def _small_names(tokens: list[Token], lexicon: Lexicon, evidence: Evidence) -> list[tuple[int, str]]:
    """Names written small: listed first names and places, known names, and what is called so."""
    found = []
    at = 0
    while at < len(tokens):
        length = _small_name_length(tokens, at, lexicon, evidence)
        if length:
            found.append((tokens[at].start, " ".join(token.text for token in tokens[at : at + length])))
        at += max(length, 1)
    return found


def _small_name_length(tokens: list[Token], at: int, lexicon: Lexicon, evidence: Evidence) -> int:
    """How many tokens from a place on are a name written small."""
    token = tokens[at]
    if token.capital or not token.word:
        return 0
    for length in range(min(_PLACE_WORDS, len(tokens) - at), 1, -1):
        if " ".join(each.low for each in tokens[at : at + length]) in places():
            return length
    low = token.low
    if low in evidence.known and not lexicon.knows(low):
        return 1
    before = tokens[at - 1].low if at else ""
    named = before in lexicon.introducers or (before in lexicon.titles and tokens[at - 1].text.endswith("."))
    if lexicon.knows(low) or low in lexicon.finite or len(low) < 3:
        return 0
    if named and lexicon.code != "en":
        return 1
    if named and not low.endswith(("ed", "ing")) and low not in lexicon.relations:
        return 1
    listed = low in given_names() and low not in lexicon.ambiguous_names and low not in lexicon.relations
    return int(listed or (low in places() and low not in _SMALL_WORDS))


def _distinct(found: Iterable[str]) -> list[str]:
    by_key: dict[str, str] = {}
    for name in found:
        name = " ".join(name.replace("\x00", " ").split()).strip(" .,;:")
        key = name_key(name)
        if key and len(name) <= LONGEST_NAME and any(char.isalpha() for char in name):
            by_key.setdefault(key, name)
    return list(by_key.values())
