"""Which facts are decided on together: those of one audience and scope, in the order they were said. Pure."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from uuid import UUID

from memorybank.consolidate.scopes import scopes_of
from memorybank.storage.observations import Pending, Scope

#: Facts of which batches are made: the oldest that wait. Of less backlog every batch is the same however often a run is
#: cut; of more, too, where facts came in the order in which they were said.
WINDOW = 1000
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
    for fact in sorted(facts, key=_said):
        for scope in open_scopes(fact, wanted):
            found[Lane(fact.audience, scope)].append(fact)
    return dict(found)


def batches(
    facts: Sequence[Pending], wanted: Collection[Scope] | None, size: int
) -> list[tuple[Lane, tuple[Pending, ...]]]:
    """Return facts of one lane at a time, `size` together, what was said first first; only a lane's last may be fewer.

    Each is what its lane comes to next, so a run that is cut anywhere goes on with the same batches.
    """
    cut = [(lane, one) for lane, inside in lanes(facts, wanted).items() for one in parts(inside, size)]
    return sorted(cut, key=lambda batch: _said(batch[1][0]))


def first(
    cut: Sequence[tuple[Lane, tuple[Pending, ...]]], cap: int
) -> list[tuple[Lane, tuple[Pending, ...]]]:
    """Return the first batches, with at most `cap` facts together."""
    sums = accumulate(len(facts) for _, facts in cut)
    return [batch for batch, facts in zip(cut, sums, strict=True) if facts <= cap]


def parts(facts: Sequence[Pending], size: int) -> list[tuple[Pending, ...]]:
    """Return facts in order, at most `size` together."""
    return [tuple(facts[at : at + size]) for at in range(0, len(facts), size)]


def halves(facts: Sequence[Pending]) -> list[tuple[Pending, ...]]:
    """Return two halves of a batch, the first the longer."""
    return parts(facts, (len(facts) + 1) // 2)


def _said(fact: Pending) -> tuple[datetime, datetime, UUID]:
    return (fact.mentioned_at or _EARLIEST, fact.created_at, fact.id)
