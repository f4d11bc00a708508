"""THE tokenizer: the terms under which a text is stored and asked for. One for all languages.

Order of work: fold -> runs without spaces as character pairs -> words -> language -> per word: stop word,
stem, or identifier with its parts. What a word becomes depends only on the word and the language, so it is
remembered.
"""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b

import snowballstemmer

from memorybank.text.language import SAMPLE_CHARS, language_of_words
from memorybank.text.normal import fold
from memorybank.text.scripts import CYRILLIC_CHAR, LONE_HAN, MARKS, UNSPACED_RUN
from memorybank.text.stopwords import ELIDED, STOP_WORDS

#: Longer words are neither stemmed nor remembered: they are no words of a language.
LONGEST_WORD = 64
#: Longest term. What follows is cut off, alike when storing and when asking.
LONGEST_TERM = 128

#: Signs that may stand inside an identifier, an address, a number or a contraction.
_JOINTS = "-_.'@/:+&=?%#~,‐‑"
#: A mark alone is no word.
_LETTERS = f"[^\\W_]+(?:[{MARKS}]+[^\\W_]*)*"
_WORD = re.compile(f"{_LETTERS}(?:[{_JOINTS}]+{_LETTERS})*(?:\\+\\+|#(?!\\w))?")
_ASCII_WORD = re.compile(f"[a-z0-9]+(?:[{_JOINTS}]+[a-z0-9]+)*(?:\\+\\+|#(?!\\w))?", re.ASCII)
_SPLIT = re.compile(f"[{_JOINTS}]+")
#: 1,000,000 is one number however it is grouped; 1.000,50 too, but 1.000 alone may be a decimal and 1.2.3 a
#: version.
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_GROUPED_BY_DOTS = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
#: KL644: letters and digits grown together are also found apart.
_LETTERS_DIGITS = re.compile(r"([^\W\d_]{2,})(\d{2,})|(\d{2,})([^\W\d_]{2,})")
_CONTRACTION = re.compile(r"(.+?)(?:n't|'(?:s|re|ve|ll|d|m))")
_ADDRESS = re.compile(r"\w[\w.+%-]*@[\w-]+(?:\.[\w-]+)+")
_DOTTED = re.compile(r"\w+(?:[._-]\w+)*[._]\w+(?:[._-]\w+)*")
_SCHEMES = frozenset(("http", "https", "www"))
_DIGIT = re.compile(r"\d")

_STEMMERS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "ru": "russian",
}
#: reuniões, pães: the Portuguese stemmer does not lead them to reunião, pão.
_PT_PLURALS = ("ões", "ães")
#: Stemmers keep state while they work and are shared by all threads.
_stemming = threading.Lock()
_stemmers = {code: snowballstemmer.stemmer(name) for code, name in _STEMMERS.items()}


def terms(text: str) -> list[str]:
    """Index terms of a text, in order of writing (character pairs first), repeats kept.

    Stop words of the text's language are left out, unless nothing else is there. A text that is not English
    has its words under the stem of its language and, where it differs, under the English stem: a question of
    one or two words does not show its language.
    """
    folded = fold(text)
    found: list[str] = []
    if folded.isascii():
        words = _ASCII_WORD.findall(folded)
    else:
        found, folded = _take_pairs(folded)
        words = _WORD.findall(folded.replace("’", "'"))
    code = language_of_words(words, folded[:SAMPLE_CHARS]) if words else "und"
    if code not in _STEMMERS:
        code = "en"
    for word in words:
        found.extend(_terms_of(word, code, False))
    if not found:
        for word in words:
            found.extend(_terms_of(word, code, True))
    return found


def term_hash(term: str) -> int:
    """Signed 64-bit number of a term (BLAKE2b, 8 bytes, big endian). Stored, so it never changes."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _take_pairs(folded: str) -> tuple[list[str], str]:
    """Character pairs of all runs without spaces, and the text without those runs."""
    pairs: list[str] = []
    for run in UNSPACED_RUN.findall(folded):
        if len(run) == 1:
            pairs.append(run)
            continue
        pairs.extend(run[at : at + 2] for at in range(len(run) - 1))
        pairs.extend(LONE_HAN.findall(run))
    return (pairs, UNSPACED_RUN.sub(" ", folded)) if pairs else (pairs, folded)


def _terms_of(word: str, code: str, keep_stops: bool) -> tuple[str, ...]:
    if len(word) <= LONGEST_WORD:
        return _remembered(word, code, keep_stops)
    return tuple(_expand(word, code, keep_stops))


@lru_cache(maxsize=65_536)
def _remembered(word: str, code: str, keep_stops: bool) -> tuple[str, ...]:
    return tuple(_expand(word, code, keep_stops))


def _expand(word: str, code: str, keep_stops: bool) -> Iterator[str]:
    """The terms of one word, each once."""
    if not keep_stops and word in STOP_WORDS[code]:
        return
    contraction = _CONTRACTION.fullmatch(word) if "'" in word else None
    if contraction:
        word = contraction[1]
        if not keep_stops and word in STOP_WORDS[code]:
            return
    if word.isalpha():
        yield from _stems(word, code)
    else:
        yield from dict.fromkeys(term[:LONGEST_TERM] for term in _expand_mixed(word, code, keep_stops))


def _expand_mixed(word: str, code: str, keep_stops: bool) -> Iterator[str]:
    """A word with digits or joints: numbers and identifiers whole, then their parts."""
    parts = [part for part in _SPLIT.split(word) if part]
    if len(parts) == 1:
        yield from _expand_single(word, code)
    elif _GROUPED.fullmatch(word):
        yield word.replace(",", "")
    elif _GROUPED_BY_DOTS.fullmatch(word):
        yield word.replace(".", "").replace(",", ".")
    elif all(len(part) == 1 for part in parts) and not _DIGIT.search(word):
        yield "".join(parts)
    else:
        if _is_whole(word):
            yield word
        elif "-" in word and "/" not in word:
            yield from _stems("".join(parts), code)
        yield from _expand_parts(parts, code, keep_stops)


def _expand_single(word: str, code: str) -> Iterator[str]:
    """Letters and digits in one piece: 41, 7th, kl644, c++."""
    ordinal = _ORDINAL.fullmatch(word)
    if ordinal:
        yield ordinal[1]
        return
    if not _DIGIT.search(word):
        yield from _stems(word, code) if word[-1] not in "+#" else (word,)
        return
    yield word
    grown = _LETTERS_DIGITS.fullmatch(word)
    if grown:
        yield from (part for part in grown.groups() if part)


def _expand_parts(parts: list[str], code: str, keep_stops: bool) -> Iterator[str]:
    """Parts of at least two characters; a lone letter or digit finds nothing by itself."""
    for part in parts:
        if len(part) < 2 or part in _SCHEMES or part in ELIDED:
            continue
        if keep_stops or part not in STOP_WORDS[code]:
            yield from _expand_single(part, code)


def _is_whole(word: str) -> bool:
    """True for what is asked for as a whole: anything with a digit, addresses, file and dotted names."""
    return bool(_DIGIT.search(word) or "://" in word or _ADDRESS.fullmatch(word) or _DOTTED.fullmatch(word))


def _stems(word: str, code: str) -> Iterator[str]:
    if len(word) > LONGEST_WORD:
        yield word[:LONGEST_TERM]
        return
    if CYRILLIC_CHAR.match(word):
        code = "ru"
    stem = _stem(word, code)
    yield stem
    if code not in ("en", "ru"):
        english = _stem(word, "en")
        if english != stem:
            yield english


def _stem(word: str, code: str) -> str:
    """The stem without accents: they are often left out when asking."""
    if code == "pt" and word.endswith(_PT_PLURALS):
        word = word[:-3] + "ão"
    with _stemming:
        stem: str = _stemmers[code].stemWord(word)
    return stem if stem.isascii() else _plain(stem)


def _plain(stem: str) -> str:
    """Latin, Greek and Cyrillic letters without accents; marks of other scripts are letters and stay."""
    parts = unicodedata.normalize("NFD", stem)
    return unicodedata.normalize("NFC", "".join(char for char in parts if not "\u0300" <= char <= "\u036f"))
