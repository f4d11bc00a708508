"""Which of several contents each fact of one answer is from. Pure.

The number that the model gives counts, unless the words of the fact stand in another content alone. Without a number
the words decide, then the neighbours in the answer. What stays unclear is said, never guessed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memorybank import text
from memorybank.retain.schema import Answer, Draft

#: The words of a fact decide when so many times more of them stand in one content alone than in any other alone.
CLEAR = 2


@dataclass(frozen=True)
class Placed:
    """The answer for each content; `unclear` are contents that facts may be from which could not be placed."""

    answers: tuple[Answer, ...]
    unclear: frozenset[int] = frozenset()


def placed(answer: Answer, contents: Sequence[str]) -> Placed:
    """Return an answer about several contents, divided."""
    if len(contents) == 1:
        return Placed((answer,))
    own = _own_terms(contents)
    places = [_place(draft, own) for draft in answer.drafts]
    parts: list[list[Draft]] = [[] for _ in contents]
    unclear: set[int] = set()
    for at, draft in enumerate(answer.drafts):
        first = next((place for place in reversed(places[:at]) if place is not None), 0)
        last = next((place for place in places[at:] if place is not None), len(contents) - 1)
        place = places[at]
        if place is None and first != last:
            unclear.update(range(min(first, last), max(first, last) + 1))
        else:
            parts[first if place is None else place].append(draft)
    answers = [Answer(tuple(part)) for part in parts]
    # What could not be read belongs to no content: it is counted once.
    answers[0] = replace(answers[0], dropped=answer.dropped)
    return Placed(tuple(answers), frozenset(unclear))


def _own_terms(contents: Sequence[str]) -> list[frozenset[str]]:
    """Return for each content the terms that no other one has."""
    terms = [frozenset(text.terms(content)) for content in contents]
    counts = Counter(term for of_content in terms for term in of_content)
    return [frozenset(term for term in of_content if counts[term] == 1) for of_content in terms]


def _place(draft: Draft, own: Sequence[frozenset[str]]) -> int | None:
    """Return the place of a fact's content, None where nothing says it."""
    names = (name.text for name in draft.entities)
    terms = frozenset(
        text.terms(" ".join((draft.what, draft.when, draft.who, draft.where, draft.why, *names)))
    )
    shared = [len(terms & of_content) for of_content in own]
    best = max(range(len(own)), key=shared.__getitem__)
    others = max(count for place, count in enumerate(shared) if place != best)
    clear = shared[best] >= CLEAR * max(1, others) or (shared[best] == 1 and not others)
    told = draft.content - 1 if draft.content and draft.content <= len(own) else None
    if told is not None and (shared[told] or not clear):
        return told
    return best if clear else None
