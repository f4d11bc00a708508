"""What no stored text may be: endless, looping, doubled, or a sentence of our own prompt. Pure."""

import re
import unicodedata
import zlib
from functools import lru_cache

from memorybank.text.normal import fold, visible

#: Longest fact, in characters.
MAX_FACT_CHARS = 2_000
#: Longest part of a stored text that a model is shown, in characters: what is kept word for word may be of any length.
SHOWN_CHARS = 8_000
#: A cut is moved back to a space among so many characters, so that it rarely falls into a word.
BREAK_CHARS = 100
#: A text that packs to less than this share of its bytes says the same thing again and again; short ones are let be.
LOOP_SHARE, LOOP_BYTES = 0.2, 300
#: A sentence of the prompt shorter than this may be said by anybody.
ECHO_CHARS = 16

#: Cut at every mark: a loop does not care for capitals, as sentences in prose do.
_ENDS = re.compile(r"(?<=[.!?;。！？])\s*|\n+")

#: Ways to write one sign: they tell no statements apart.
_ALIKE = str.maketrans(
    {**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‐‑‒–—−", "-")}
)
#: Marks that may end a statement or be left out: not "?", which asks, and no "!" behind a number, where it means more.
_FINAL = re.compile(r"(?:[.…。．]|(?<!\d)[!！])+$")
#: What stands between the parts of a stored fact: what, when, who, why.
PART_BREAK = " | "
#: A text of so many words without a small letter is loud; shorter ones may be abbreviations (IT, US).
LOUD_WORDS = 4
_OPENING = "\"'([{"


def loops(fact: str) -> bool:
    """Tell whether a text is one thing said over and over."""
    raw = visible(fact).encode("utf-8", "surrogatepass")
    return len(raw) >= LOOP_BYTES and len(zlib.compress(raw, 1)) < LOOP_SHARE * len(raw)


def unlooped(fact: str) -> str:
    """Return a text with each sentence once, where it loops; nothing where it still does."""
    if not loops(fact):
        return fact
    once = " ".join(dict.fromkeys(part for part in _ENDS.split(fact) if part))
    return "" if loops(once) else once


def cut(fact: str, limit: int = MAX_FACT_CHARS) -> str:
    """Return at most `limit` characters, ending at a word where there is one near."""
    if len(fact) <= limit:
        return fact
    space = fact.rfind(" ", limit - BREAK_CHARS, limit)
    return fact[: space if space > 0 else limit].rstrip()


def same_key(said: str) -> str:
    """Return what is equal for texts that differ only in spaces, final marks, kinds of quotes and dashes, and case.

    Case counts where it tells things apart: in abbreviations, units, identifiers, words with digits. So does every
    sign inside: C is not C++, 3.1 not 31, "Ben, who left" not "Ben who left".
    """
    if not said.isascii():
        said = unicodedata.normalize("NFC", said).translate(_ALIKE)
    return PART_BREAK.join(_part_key(part) for part in said.split(PART_BREAK))


def _part_key(part: str) -> str:
    words = _FINAL.sub("", part.strip()).split()
    loud = len(words) >= LOUD_WORDS and part.isupper()
    for index, word in enumerate(words):
        if not word.islower() and (loud or _is_capitalised(word, index)) and not _has_digit(word):
            behind_number = index > 0 and words[index - 1][-1].isdigit()
            words[index] = word if behind_number else word.lower()
    return " ".join(words)


def _is_capitalised(word: str, index: int) -> bool:
    """Tell whether a word is written as a name or the first of a sentence; one letter is only where it is the first."""
    bare = word.lstrip(_OPENING)
    return (len(bare) > 1 or not index) and bare[1:] == bare[1:].lower()


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))


def echoes(fact: str, prompt: str, source: str) -> bool:
    """Tell whether a fact stands in the prompt, letter by letter, and not in the text that was to be read."""
    said = fold(fact).strip(" .")
    return len(said) >= ECHO_CHARS and said in _folded(prompt) and said not in fold(source)


@lru_cache(maxsize=16)
def _folded(prompt: str) -> str:
    """The same few prompts are looked at for every fact."""
    return fold(prompt)
