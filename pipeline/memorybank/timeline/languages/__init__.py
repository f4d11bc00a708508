"""The languages whose time expressions are known: a table of words each, read when first needed."""

from functools import cache

from memorybank.timeline.grammar import Grammar
from memorybank.timeline.rules import SPACED, SPACED_PIECES, UNSPACED, UNSPACED_PIECES

#: Languages with spaces, English first: where the language of a text is unknown, the first to claim words keeps them.
SPACED_CODES = ("en", "de", "fr", "es", "it", "pt", "ru")
CODES = (*SPACED_CODES, "zh", "ja", "ko")


@cache
def grammar(code: str) -> Grammar:
    """The grammar of a language."""
    if code in SPACED_CODES:
        return Grammar(code, SPACED, SPACED_PIECES)
    return Grammar(code, UNSPACED, UNSPACED_PIECES)
