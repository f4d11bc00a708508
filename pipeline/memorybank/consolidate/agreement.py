"""Whether two texts say the same, or the opposite: the guards that no answer of a model and no cosine gets past. Pure.

Both are narrow on purpose. Nearness of vectors does not tell "grew" from "shrank" in a long sentence, nor Graz from
Linz, so what is near is only taken for the same where nothing that could matter differs.
"""

import re
from collections import Counter
from dataclasses import dataclass

from memorybank import text
from memorybank.llm.extractive.lexicon import lexicon_of
from memorybank.paths import table
from memorybank.text.guards import same_key
from memorybank.text.stopwords import STOP_WORDS

#: Two texts make the same claim when they share this part of their stems, negations, numbers and names left aside.
SAME_CLAIM = 0.6
#: The word lists of the stage.
WORDS: dict[str, dict[str, str]] = table("consolidate/words.toml")
_EMPTY = {code: frozenset(words.split()) for code, words in WORDS["empty"].items()}
_NONE: frozenset[str] = frozenset()

_CANNOT = re.compile(r"\bcan(?:['’]t|not)\b", re.IGNORECASE)
_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
#: A word; in scripts without spaces, and of Korean, each sign.
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def same(one: str, other: str) -> bool:
    """Tell whether two texts say the same, but for articles and the like: every other word, in order, is the same."""
    language = text.language(f"{one}\n{other}")
    return _key(one, language) == _key(other, language)


def opposed(one: str, other: str) -> bool:
    """Tell whether two texts make the same claim but for a negation, a number or a name."""
    language = text.language(f"{one}\n{other}")
    left, right = _claim(one, language), _claim(other, language)
    if len(left.stems & right.stems) < SAME_CLAIM * len(left.stems | right.stems):
        return False
    named = (left.names - right.words) | (right.names - left.words)
    return left.negations != right.negations or left.numbers != right.numbers or bool(named)


def related(one: str, *others: str) -> bool:
    """Tell whether a text shares a word with one of the others; one without words is taken to."""
    own, theirs = set(text.terms(one)), {term for other in others for term in text.terms(other)}
    return not own or not theirs or not own.isdisjoint(theirs)


@dataclass(frozen=True)
class _Claim:
    """A text taken apart: `stems` of its words without function words, negations, numbers and names."""

    words: frozenset[str]
    stems: frozenset[str]
    names: frozenset[str]
    numbers: Counter[str]
    negations: int


def _claim(said: str, language: str) -> _Claim:
    said = _spelled(said)
    negating = lexicon_of(language).words["negations"]
    written = _WORD.findall(said)
    words = [text.fold(word) for word in written]
    is_unspaced = language in ("zh", "ja", "ko")
    negations = (
        sum(said.count(word) for word in negating) if is_unspaced else sum(map(negating.__contains__, words))
    )
    stops = STOP_WORDS.get(language, STOP_WORDS["en"])
    pairs = list(zip(written, words, strict=True))
    names = frozenset(word for raw, word in pairs if raw[0].isupper() and word not in stops)
    plain = frozenset(word for word in words if not word[0].isdigit()) - names - negating - stops
    stems = frozenset(term for word in plain for term in text.terms(word))
    return _Claim(frozenset(words), stems, names, Counter(_NUMBER.findall(said)), negations)


def _spelled(said: str) -> str:
    """Return a text with its negations as words."""
    return _NOT.sub(" not", _CANNOT.sub("can not", said))


def _key(said: str, language: str) -> str:
    empty = _EMPTY.get("en" if language == "und" else language, _NONE)
    return " ".join(word for word in same_key(_spelled(said)).split() if word.lower() not in empty)
