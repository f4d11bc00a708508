"""Which facts are decided on together: those of one audience and scope, in the order they were said. Pure."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memorybank.consolidate.scopes import scopes_of
from memorybank.storage.observations import Pending, Scope

_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Lane:
    """An audience and a scope: no two batches of one are decided on side by side, or one would not see the other's."""

    audience: int
    scope: Scope


def open_scopes(fact: Pending, wanted: Collection[Scope] | None) -> list[Scope]:
    """Return the scopes in which a fact is still to be consolidated; of `wanted` only, where given."""
    scopes = scopes_of(fact.tags, fact.scopes)
    if wanted is not None:
        every = fact.scopes == "all_combinations"
        scopes = tuple(
            one for one in wanted if one in scopes or (every and one and set(one) <= set(fact.tags))
        )
    return [scope for scope in scopes if scope not in fact.done]


def lanes(facts: Sequence[Pending], wanted: Collection[Scope] | None) -> dict[Lane, list[Pending]]:
    """Return the facts of each lane; one of several scopes stands in several."""
    found: defaultdict[Lane, list[Pending]] = defaultdict(list)
    for fact in sorted(facts, key=lambda fact: (fact.mentioned_at or _EARLIEST, fact.created_at, fact.id)):
        for scope in open_scopes(fact, wanted):
            found[Lane(fact.audience, scope)].append(fact)
    return dict(found)


def batches(facts: Sequence[Pending], size: int) -> list[tuple[Pending, ...]]:
    """Return facts in order, at most `size` together."""
    return [tuple(facts[at : at + size]) for at in range(0, len(facts), size)]


def halves(facts: Sequence[Pending]) -> list[tuple[Pending, ...]]:
    """Return two halves of a batch, the first the longer."""
    return batches(facts, (len(facts) + 1) // 2)


def taken(cap: int, size: int) -> int:
    """Return how many facts a round takes: at most `cap` (0: any number), in whole batches where it can be."""
    return max(cap - cap % size, min(cap, size)) if cap else NO_CAP


#: Facts that a round takes where the bank sets no cap.
NO_CAP = 1000
