"""The question as recall reads it: terms, names, the window of time, and how it asks. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from memorybank.recall import asking
from memorybank.recall.query import RecallQuery
from memorybank.text import name_key, term_hash, terms
from memorybank.text.stopwords import STOP_WORDS
from memorybank.text.traits import Trait, key_number
from memorybank.timeline import TimeSpan, query_window

#: Words of a name at most; of a speaker's.
NAME_WORDS, SPEAKER_WORDS = 4, 3
#: Characters of a name in a script without spaces, at least and at most.
_NAME_CHARS = (2, 8)
#: Names looked up for one question.
MAX_NAMES = 300
#: Longest question that is searched for names; a name stands near its beginning.
_NAME_SCAN_CHARS = 2_000

_WORD = re.compile(r"[^\s.,;:!?()\[\]{}\"“”«»<>|/\\]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_POSSESSIVE = re.compile(r"['’]s?$")

Place = tuple[int, int]


@dataclass(frozen=True)
class Question:
    """What the arms ask for: hashes of the terms, keys of possible names, the window of time.

    `asked_at` is what relative times count from. `called`: who may be named as a speaker, by number, and where in the
    text. `answer` is the kind of answer that is asked for, `role` whose words in a chat with an assistant.
    """

    text: str
    asked_at: datetime
    terms: tuple[int, ...]
    names: tuple[str, ...]
    window: TimeSpan | None
    called: Mapping[int, tuple[Place, ...]]
    answer: Trait
    role: asking.Role | None

    def without(self, speakers: Collection[int]) -> str:
        """Return the text without the names of these speakers, as it stands where nothing else would be left.

        A name pulls the question's vector towards whatever names it: without it the vectors alone find 65 % of LoCoMo's
        evidence where they found 47 %.
        """
        places = sorted(place for number in speakers for place in self.called.get(number, ()))
        kept, at = "", 0
        for start, end in places:
            kept += self.text[at:start] if start >= at else ""
            at = max(at, end)
        kept = " ".join((kept + self.text[at:]).split())
        return kept if places and any(char.isalnum() for char in kept) else self.text


def read(query: RecallQuery, asked_at: datetime) -> Question:
    """Read a checked query. An explicit window takes the place of what the words say."""
    given = query.temporal_window
    window = TimeSpan(given.start, given.end) if given else query_window(query.query, asked_at)
    hashes = dict.fromkeys(term_hash(term) for term in terms(query.query))
    names = _Names(query.query[:_NAME_SCAN_CHARS])
    return Question(
        text=query.query,
        asked_at=asked_at,
        terms=tuple(hashes),
        names=names.keys,
        window=window,
        called=names.called,
        answer=asking.answer(query.query),
        role=asking.role(query.query),
    )


@dataclass(frozen=True)
class _Names:
    """Everything in a text that may be a name: runs of words, or of characters without spaces."""

    text: str

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of possible names, longer ones first."""
        found = dict.fromkeys(key for key, _, _, _ in (*self._spaced, *self._unspaced))
        return tuple(found)[:MAX_NAMES]

    @cached_property
    def called(self) -> dict[int, tuple[Place, ...]]:
        """Possible speakers by number, and where they are named.

        A name is written with capitals, unless the whole question has none.
        """
        capitals = self.text != self.text.lower()
        found: dict[int, list[Place]] = {}
        for key, words, start, end in (*self._spaced, *self._unspaced):
            if words > SPEAKER_WORDS or (capitals and self.text[start].islower()):
                continue
            if key.partition(" ")[0] not in STOP_WORDS["en"]:
                found.setdefault(key_number(key), []).append((start, end))
        return {number: tuple(places) for number, places in list(found.items())[:MAX_NAMES]}

    @cached_property
    def _spaced(self) -> list[tuple[str, int, int, int]]:
        """Key, number of words, start and end of each run of words, longer ones first."""
        found = []
        for count in range(NAME_WORDS, 0, -1):
            for first, last in zip(self._words, self._words[count - 1 :], strict=False):
                key = name_key(_POSSESSIVE.sub("", self.text[first[0] : last[1]]))
                if key and key not in STOP_WORDS["en"]:
                    found.append((key, count, first[0], last[1]))
        return found

    @cached_property
    def _words(self) -> list[Place]:
        return [match.span() for match in _WORD.finditer(self.text)]

    @cached_property
    def _unspaced(self) -> list[tuple[str, int, int, int]]:
        shortest, longest = _NAME_CHARS
        return [
            (name_key(run[0][at : at + count]), 1, run.start() + at, run.start() + at + count)
            for run in _UNSPACED.finditer(self.text)
            for count in range(min(longest, len(run[0])), shortest - 1, -1)
            for at in range(len(run[0]) - count + 1)
        ]
