"""Names in a sentence: people, places, organisations, products."""

import re
from collections.abc import Iterable, Iterator, Sequence

from memorybank.llm.extractive.capitals import Reader
from memorybank.llm.extractive.evidence import Evidence, known_words
from memorybank.llm.extractive.german import GermanReader
from memorybank.llm.extractive.lexicon import Lexicon, lexicon_of, places
from memorybank.llm.extractive.tokens import WORD, Token, masked, tokenize
from memorybank.llm.extractive.tongues import KANA, UNSPACED, language_of_text
from memorybank.llm.extractive.unspaced import find_names
from memorybank.text import name_key

#: Longer names are no names.
LONGEST_NAME = 80
#: Names of places have at most this many words.
_PLACE_WORDS = 4
#: A quoted name has at most this many words; longer quotations are speech.
LONGEST_TITLE = 7
_QUOTED = re.compile(
    r"“([^“”]{2,80})”|„([^“”„]{2,80})[“”]|«\s?([^«»]{2,80}?)\s?»|»([^«»]{2,80})«|\"([^\"]{2,80})\"|‘([^‘’]{2,60})’(?!\w)"
    r"|(?<![\w'])'([A-Z][^']{1,60})'(?!\w)|‚([^‘’‚]{2,60})[‘’]"
)


def names(sentence: str, language: str | None = None, *, known: frozenset[str] = frozenset()) -> list[str]:
    """The names in a sentence as written, in order, each once; `known` are names that are sure to be ones."""
    return names_in(sentence, language or language_of_text(sentence), Evidence(known_words(known)))


def names_in(sentence: str, language: str, evidence: Evidence) -> list[str]:
    """The names in a sentence in the light of the text around it."""
    hidden = masked(sentence)
    if UNSPACED.search(hidden):
        japanese = language == "ja" or (language != "zh" and bool(KANA.search(hidden)))
        return _distinct(find_names(hidden, "ja" if japanese else "zh", evidence))
    return _distinct(_alphabetic(hidden, lexicon_of(language), evidence))


def _alphabetic(sentence: str, lexicon: Lexicon, evidence: Evidence) -> list[str]:
    found: list[tuple[int, str]] = []
    for match in _QUOTED.finditer(sentence):
        title = (match[match.lastindex] if match.lastindex else "").strip(" ,")
        if _is_title(title, match, lexicon):
            found.append((match.start(), title))
            sentence = sentence[: match.start()] + "\x00" * len(match[0]) + sentence[match.end() :]
    tokens = tokenize(sentence, lexicon)
    reader = GermanReader if lexicon.code == "de" else Reader
    found += reader(sentence, tokens, lexicon, evidence).names()
    # The writer does without capitals (but for "I" and the first word).
    if not any(token.capital and not token.first and token.text != "I" for token in tokens):
        found += _small_names(tokens, lexicon, evidence)
    return [name for _, name in sorted(found)]


def _is_title(name: str, quotation: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether a quotation is a name: "Word" is one behind "called", capital letters throughout in English."""
    words = WORD.findall(name)
    lows = [word.lower() for word in words]
    if not 0 < len(words) <= LONGEST_TITLE or any(mark in name for mark in ".!?;:"):
        return False
    if not words[0][0].isupper() or lexicon.words["personal"].intersection(lows) or max(map(len, lows)) < 2:
        return False
    before = quotation.string[: quotation.start()]
    if lexicon.words["introducers"].intersection(before.lower().split()[-2:]):
        return True
    if lexicon.patterns["speech"].search(before):
        return False
    if lexicon.code == "en" and quotation[0][0] not in "«»„‚":
        # English titles are capitalised throughout; a quotation that is not is speech or emphasis.
        return all(not word[0].islower() or lexicon.is_a(word.lower(), "function") for word in words)
    plain = ("function",) if lexicon.code == "de" else ("function", "common")
    return len(words) > 1 or not lexicon.is_a(lows[0], *plain)


def _small_names(tokens: Sequence[Token], lexicon: Lexicon, evidence: Evidence) -> Iterator[tuple[int, str]]:
    """Names written small: listed first names and places, known names, and what is called so."""
    at = 0
    while at < len(tokens):
        length = _small_name_length(tokens, at, lexicon, evidence)
        if length:
            yield tokens[at].start, " ".join(token.text for token in tokens[at : at + length])
        at += max(length, 1)


def _small_name_length(tokens: Sequence[Token], at: int, lexicon: Lexicon, evidence: Evidence) -> int:
    """How many tokens from a place on are a name written small."""
    token = tokens[at]
    if token.capital or not token.word:
        return 0
    for length in range(min(_PLACE_WORDS, len(tokens) - at), 1, -1):
        if " ".join(each.low for each in tokens[at : at + length]) in places():
            return length
    plain = lexicon.knows(token.low)
    if plain or token.low in evidence.known:
        return int(not plain)
    if "finite" in token.kinds or len(token.low) < 3:
        return 0
    if at and _names_next(tokens[at - 1]):
        unlikely = token.low.endswith(("ed", "ing")) or "relations" in token.kinds
        if lexicon.code != "en" or not unlikely:
            return 1
    given = "given" in token.kinds and not token.is_a("ambiguous_names", "relations")
    return int(given or ("places" in token.kinds and "small_words" not in token.kinds))


def _names_next(token: Token) -> bool:
    return "introducers" in token.kinds or ("titles" in token.kinds and token.text.endswith("."))


def _distinct(found: Iterable[str]) -> list[str]:
    by_key: dict[str, str] = {}
    for name in found:
        name = " ".join(name.replace("\x00", " ").split()).strip(" .,;:")
        key = name_key(name)
        if key and len(name) <= LONGEST_NAME and any(char.isalpha() for char in name):
            by_key.setdefault(key, name)
    return list(by_key.values())
