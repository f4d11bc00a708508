"""The question as recall reads it: terms, names and the window of time. Pure."""

import re
from dataclasses import dataclass
from datetime import datetime

from memorybank.recall.query import RecallQuery
from memorybank.text import name_key, term_hash, terms
from memorybank.text.stopwords import STOP_WORDS
from memorybank.timeline import TimeSpan, query_window

#: Words of a name at most.
NAME_WORDS = 4
#: Characters of a name in a script without spaces, at least and at most.
_NAME_CHARS = (2, 8)
#: Names looked up for one question.
MAX_NAMES = 300
#: Longest question that is searched for names; a name stands near its beginning.
_NAME_SCAN_CHARS = 2_000

_WORD = re.compile(r"[^\s.,;:!?()\[\]{}\"“”«»<>|/\\]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


@dataclass(frozen=True)
class Question:
    """What the arms ask for: hashes of the terms, keys of possible names, the window of time.

    `asked_at` is what relative times count from.
    """

    text: str
    asked_at: datetime
    terms: tuple[int, ...]
    names: tuple[str, ...]
    window: TimeSpan | None


def read(query: RecallQuery, asked_at: datetime) -> Question:
    """Read a checked query. An explicit window takes the place of what the words say."""
    given = query.temporal_window
    window = TimeSpan(given.start, given.end) if given else query_window(query.query, asked_at)
    hashes = dict.fromkeys(term_hash(term) for term in terms(query.query))
    return Question(query.query, asked_at, tuple(hashes), names(query.query), window)


def names(text: str) -> tuple[str, ...]:
    """Return the keys of everything in the text that may be a name: runs of words, or of characters without spaces."""
    text = text[:_NAME_SCAN_CHARS]
    words = _WORD.findall(text)
    found = dict.fromkeys(
        name_key(_bare(" ".join(words[start : start + count])))
        for count in range(NAME_WORDS, 0, -1)
        for start in range(len(words) - count + 1)
    )
    for run in _UNSPACED.findall(text):
        shortest, longest = _NAME_CHARS
        for count in range(min(longest, len(run)), shortest - 1, -1):
            found.update(dict.fromkeys(name_key(run[at : at + count]) for at in range(len(run) - count + 1)))
    return tuple(key for key in found if key and key not in STOP_WORDS["en"])[:MAX_NAMES]


def _bare(words: str) -> str:
    """Return the words without a possessive ending."""
    return re.sub(r"['’]s?$", "", words)
