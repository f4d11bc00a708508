"""Observations without a model: only where counting is enough, and each says how it came. Pure.

What is said more than once is said to be so. Of several `key: value` lines of one speaker the latest holds, and the
text says of how many. Nothing else: which other facts belong together takes an understanding of them.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from memorybank.consolidate.agreement import WORDS
from memorybank.consolidate.decision import Decision
from memorybank.storage.observations import Pending, Shown
from memorybank.storage.observing import Change, Create
from memorybank.text import fold
from memorybank.text.guards import same_key
from memorybank.text.traits import split_speaker
from memorybank.timeline.stamps import day

#: Facts looked at together: nothing is paid for, so many.
BATCH = 256
#: Words of a key and of a value at most: longer ones are sentences with a colon in them.
KEY_WORDS, VALUE_WORDS = 3, 8
#: Earlier values that a text names, the newest first.
NAMED_BEFORE = 3
_OPENINGS = frozenset(WORDS["openings"]["words"].split())
_LINE = re.compile(r"(?P<key>[^\W\d_][^:：.!?\n]*)[:：]\s+(?P<value>\S[^\n]*)")
_SENTENCE = re.compile(r"[.!?。！？]$|[;；]")

#: What facts have in common that are statements of the same thing.
Key = tuple[str, ...]


def decide(facts: Sequence[Pending], older: Sequence[Pending], shown: Sequence[Shown]) -> Decision:
    """Return what counting makes of new facts; `older`: facts of the same scope that may say the same or be of one key.

    `shown`: observations that stand on any of them.
    """
    found: defaultdict[Key, dict[UUID, Pending]] = defaultdict(dict)
    for fact in (*facts, *older):
        found[_key(fact.text)][fact.id] = fact
    new = {fact.id for fact in facts}
    creates: list[Create] = []
    changes: list[Change] = []
    for key, group in found.items():
        said = _said(key, list(group.values()))
        if not said or new.isdisjoint(group):
            continue
        stands = next((one for one in shown if any(source.id in group for source in one.sources)), None)
        if stands is None:
            creates.append(Create(said, tuple(group)))
        elif said != stands.text:
            changes.append(Change(stands.id, said, tuple(group), "counted anew"))
    return Decision(tuple(creates), tuple(changes))


def openings(facts: Sequence[Pending]) -> list[str]:
    """Return how the lines of `facts` open, up to the value: older statements of one key open so too."""
    found = dict.fromkeys(_opening(fact.text) for fact in facts)
    return [opening for opening in found if opening]


def _opening(said: str) -> str:
    who, rest = split_speaker(said)
    line = _LINE.fullmatch(rest) if who else None
    if line is None or _SENTENCE.search(line["value"]) or fold(line["key"].strip()) in _OPENINGS:
        return ""
    if len(line["key"].split()) > KEY_WORDS or len(line["value"].split()) > VALUE_WORDS:
        return ""
    return said[: len(said) - len(line["value"])]


def _key(said: str) -> Key:
    opening = _opening(said)
    return ("line", fold(" ".join(opening.split()))) if opening else ("text", same_key(said))


def _said(key: Key, group: Sequence[Pending]) -> str:
    """Return what a group of statements comes to; empty where it is one, or the latest is not known."""
    times = sum(max(1, fact.proof_count) for fact in group)
    dated = [(fact.mentioned_at, fact.created_at, fact.id, fact) for fact in group if fact.mentioned_at]
    if times < 2 or len(dated) < len(group):
        return ""
    dated.sort(reverse=True)
    latest = dated[0][3]
    last = day(latest.mentioned_at)
    values = list(dict.fromkeys(_value(fact.text) for *_, fact in dated))
    if key[0] == "text" or len(values) == 1:
        return f"{latest.text} (said {times} times, last on {last})"
    before = ", ".join(values[1 : NAMED_BEFORE + 1])
    return f"{latest.text} (latest of {times} statements, {last}; before that: {before})"


def _value(said: str) -> str:
    return said.removeprefix(_opening(said))
