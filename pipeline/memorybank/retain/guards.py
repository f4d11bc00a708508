"""What no stored fact may be: endless, looping, doubled, recalled before, or a sentence of our own prompt. Pure."""

import re
import zlib

from memorybank import text

#: Longest fact, in characters.
MAX_FACT_CHARS = 2_000
#: A cut is moved back to a space among so many characters, so that it rarely falls into a word.
BREAK_CHARS = 100
#: A text that packs to less than this share of its bytes says the same thing again and again; short ones are let be.
LOOP_SHARE, LOOP_BYTES = 0.2, 300
#: A sentence of the prompt shorter than this may be said by anybody.
ECHO_CHARS = 16

#: Cut at every mark: a loop does not care for capitals, as sentences in prose do.
_ENDS = re.compile(r"(?<=[.!?;。！？])\s*|\n+")
#: A block of recalled memories, as clients put it into a turn: <memories>, <hindsight_memories>, <relevant-memories>.
#: One that is not closed is text like any other: nothing behind it may be lost.
_RECALLED = re.compile(
    r"<(?P<tag>(?:\w+[_-])?memories)(?:\s[^<>]*)?>.*?</(?P=tag)\s*>", re.DOTALL | re.IGNORECASE
)
_SPACES = re.compile(r"\s+")


def without_recalled(content: str) -> str:
    """Return a text without the memories that were recalled into it: kept again, they would echo for ever."""
    return _RECALLED.sub(" ", content) if "<" in content else content


def loops(fact: str) -> bool:
    """Tell whether a text is one thing said over and over."""
    raw = fact.encode("utf-8", "surrogatepass")
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


def same_key(fact: str) -> str:
    """Return what is equal for facts that differ only in case, punctuation or spaces; signs of numbers count."""
    return _SPACES.sub(
        " ", re.sub(r"[^\w\s.,%€$£+-]|[.,](?!\d)|(?<!\w)-(?!\d)", " ", text.fold(fact))
    ).strip()


def echoes(fact: str, prompt: str, source: str) -> bool:
    """Tell whether a fact stands in the prompt, letter by letter, and not in the text that was to be read."""
    said = text.fold(fact).strip(" .")
    return len(said) >= ECHO_CHARS and said in text.fold(prompt) and said not in text.fold(source)
