"""Cutting a text into sentences, for the languages we speak, without a model."""

import re

from memorybank.paths import table
from memorybank.text.stopwords import STOP_WORDS

#: A line shorter than this is a line of its own (a turn, a heading, an item); a longer one may have been
#: wrapped.
WRAPPED_LINE = 50

_CLOSING = "\"'”’»«)\\]}」』）】》"
#: A possible end: western marks need white space or the end behind them, full-width ones do not.
#: French puts a space before its closing mark.
_END = re.compile(
    f"(?:(?<![.!?…])[.!?…]++(?:[ \u00a0\u202f]»|[{_CLOSING}])*+(?=\\s|$)|[。！？｡．]+[{_CLOSING}]*|\\n\\s*)"
)
_LAST_WORD = re.compile(r"\S+$")
_OPENING = "\"'“„‘«»([{¿¡「『（【《-–—*_#> "
#: A line that starts like this is an item, a heading or a new speaker, never the rest of the line above.
_NEW_LINE = re.compile(r"\s*(?:[-*•–—>#|]|\d+[.)]\s|\[|[^\W\d_][\w .'-]{0,30}:\s)")

_TABLE = table("text/sentences.toml")
_BEFORE_NAMES, _MAY_END = (frozenset(_TABLE[name].split()) for name in ("before_names", "may_end"))
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+", re.UNICODE)
_ORDINAL = re.compile(r"\d{1,2}\.")
#: A capital function word starts a sentence; any other may be a name or a German noun ("am 3. Mai").
_FIRST_WORDS = frozenset(word for words in STOP_WORDS.values() for word in words)


def sentences(text: str) -> list[str]:
    """Sentences in order, stripped, none empty; each a slice of the text (a wrapped line keeps its newline).

    A newline ends a sentence unless a long line goes on in lower case. Abbreviations, initials, ordinals and
    decimals do not end one; closing quotes and brackets stay with the sentence they close.
    """
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if _ends(text, start, end):
            _add(found, text[start : end.end()])
            start = end.end()
    _add(found, text[start:])
    return found


def _add(found: list[str], sentence: str) -> None:
    sentence = sentence.strip()
    if not sentence:
        return
    if found and not any(char.isalnum() for char in sentence):
        # Marks without a word ("...", a lone quote) are no sentence; they are left out.
        return
    found.append(sentence)


def _ends(text: str, start: int, end: re.Match[str]) -> bool:
    mark = end[0]
    if "\n" in mark:
        return _ends_line(text, start, end)
    if mark[0] in "。！？｡．":
        return True
    rest = text[end.end() : end.end() + 80].lstrip(" \t")
    if mark[0] in "!?":
        return not rest[:1].islower()
    if mark.startswith(("...", "…")):
        return not rest[:1].islower()
    return _ends_at_dot(text[max(start, end.start() - 40) : end.start() + 1], rest)


def _ends_line(text: str, start: int, end: re.Match[str]) -> bool:
    if end[0].count("\n") > 1:
        return True
    line = text[max(start, text.rfind("\n", 0, end.start()) + 1) : end.start()]
    rest = text[end.end() : end.end() + 60]
    if len(line) < WRAPPED_LINE or _NEW_LINE.match(rest):
        return True
    return not rest[:1].islower()


def _ends_at_dot(before: str, rest: str) -> bool:
    """Whether a single full stop ends a sentence, by the word before it and the text behind."""
    if not rest or rest[0] == "\n":
        return True
    last = _LAST_WORD.search(before)
    word = last[0].lstrip(_OPENING).lower() if last else ""
    if word in _BEFORE_NAMES:
        return False
    follower = rest.lstrip(_OPENING)[:40]
    if follower[:1].islower():
        return False
    if word in _MAY_END or _INITIALS.fullmatch(word) or _ORDINAL.fullmatch(word):
        return _starts_sentence(follower)
    return True


def _starts_sentence(follower: str) -> bool:
    word = re.match(r"[^\W\d_]+", follower)
    return bool(word and word[0].lower() in _FIRST_WORDS)
