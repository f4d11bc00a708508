"""Observations as consolidation sees them: the facts that wait, and what is known near them. Reads only.

Consolidation reads as the operator, but always of one audience at a time: everything here names it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

#: Tags, sorted, each once: those of its observations.
Scope = tuple[str, ...]


@dataclass(frozen=True)
class Pending:
    """A fact that waits; `scopes` is the `observation_scopes` of its item, `done` those in which it is consolidated.

    `revision` counts its changes: what is decided on this state is not written on another.
    """

    id: UUID
    audience: int
    text: str
    context: str
    fact_type: str
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    mentioned_at_assumed: bool
    tags: Scope
    scopes: Any
    created_at: datetime
    proof_count: int
    revision: int
    done: frozenset[Scope] = frozenset()


@dataclass(frozen=True)
class Wait:
    """What may wait for more: fewer facts alike than `batch`, until they are `seconds` old. Those of the whole bank don't."""

    batch: int = 1
    seconds: float = 0.0


@dataclass(frozen=True)
class Shelf:
    """Where observations stand together: one audience of a bank, one scope; `model` made their vectors."""

    bank: int
    audience: int
    scope: Scope
    model: int


@dataclass(frozen=True)
class Source:
    """A fact that an observation stands on."""

    id: UUID
    text: str
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None


@dataclass(frozen=True)
class Shown:
    """An observation near new facts; `nearness` is the best cosine to one of them, `sources` its newest."""

    id: UUID
    text: str
    tags: Scope
    proof_count: int
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    sources: tuple[Source, ...]
    nearness: float


@dataclass(frozen=True)
class Twin:
    """A stored observation near a text that is to be created, by its place among those."""

    place: int
    id: UUID
    text: str
    nearness: float
