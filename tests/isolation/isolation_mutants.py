"""Ways to break a wall: all predicates taken out of one query, or one rule made wider. Each must be noticed."""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from memorybank.audience import Principal
from memorybank.serve.actions import banks, reflection
from memorybank.serve.admission import Admission
from memorybank.storage import audiences, queries

#: How a query asks for the viewer's audiences: as an array, or as a set.
_PREDICATE = re.compile(
    r"(?:%\(sees_all\)s OR )?(?:\w+\.)?audience_id"
    r" (?:= ANY\(%\(audiences\)s::bigint\[\]\)|IN \(SELECT unnest\(%\(audiences\)s::bigint\[\]\)\))"
)
#: Queries that answer calls, each of them alone between what it reads and who must not know it.
QUERIES = (
    "banks.page",
    "curation.get",
    "documents.lock_all",
    "forget.counted",
    "forget.documents",
    "forget.units",
    "knowledge.folders",
    "listings.count_documents",
    "listings.count_units",
    "listings.get_chunk",
    "listings.get_document",
    "listings.get_memory",
    "listings.get_placed_chunk",
    "listings.list_documents",
    "listings.list_entities",
    "listings.list_memories",
    "listings.list_tags",
    "mental_models.get",
    "operations.count",
    "operations.get",
    "operations.list",
    "stated.first_for",
    "stated.get",
    "stated.list",
)
#: What recall reads.
RECALL = [
    name
    for name, query in queries.load().items()
    if name.startswith("search.") and _PREDICATE.search(query.sql)
]
Break = Callable[[pytest.MonkeyPatch], None]


def _without_predicates(names: Collection[str], patch: pytest.MonkeyPatch) -> None:
    loaded: Any = queries.load()
    for name in names:
        sql, count = _PREDICATE.subn("true", loaded[name].sql)
        assert count, f"{name} asks for no audience"
        patch.setitem(loaded, name, replace(loaded[name], sql=sql))


def _set(owner: Any, name: str, value: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(owner, name, value)


async def _nothing_checked(*asked: Any) -> None:
    """Let everybody through."""


def _anywhere(asked: Callable[..., dict[str, Any]], principal: Principal, *more: Any) -> dict[str, Any]:
    """Ask for the circles of all places of a person, wherever they are."""
    return asked(principal, *more) | {"anywhere": principal.id}


#: Rules made wider.
RULES: dict[str, Break] = {
    "everybody speaks everywhere": partial(_set, Principal, "may_speak_in", lambda self, place: True),
    "everybody uses every bank": partial(_set, Principal, "uses", lambda self, bank_id: True),
    "nobody's right is checked": partial(_set, Admission, "_check_right", _nothing_checked),
    "a place narrows nothing": partial(_set, audiences, "_asked", partial(_anywhere, audiences._asked)),
    "calls are for all kinds": partial(_set, Admission, "_check_kind", lambda *asked: None),
    "directives are told to all": partial(
        _set, reflection, "_shown", lambda found, principal, bank_id: found
    ),
    "all may know how a bank is set": partial(
        _set,
        banks,
        "_list_item",
        lambda memory, item, used, made=banks._list_item: made(memory, item, True),
    ),
}


MUTANTS: dict[str, Break] = {
    **{name: partial(_without_predicates, [name]) for name in QUERIES},
    # What is found is looked up under a viewer again: recall has two walls, and tells nothing while one stands.
    "all of recall": partial(_without_predicates, RECALL),
    **RULES,
}


@contextmanager
def broken(name: str) -> Iterator[None]:
    """Break one wall for as long as the block lasts."""
    with pytest.MonkeyPatch.context() as patch:
        MUTANTS[name](patch)
        yield
