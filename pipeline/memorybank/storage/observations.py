"""Observations as consolidation sees them: the facts that wait, and what is known near them. Reads only.

Consolidation reads as the operator, but always of one audience at a time: everything here names it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.storage.queries import Connection, Row, fetch_all, fetch_row

#: Sources that a candidate is shown with, at most: the newest say what holds now.
SHOWN_SOURCES = 20
#: Units of a name, at most, for it to tell something: what shares it with a fact may be what the fact is about.
RARE = 1000

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
    """What may wait for more: fewer facts alike than `batch`, until they are `seconds` old; not what all may see."""

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


async def pending(
    connection: Connection, bank: int, limit: int, wait: Wait, scopes: Sequence[Scope] | None = None
) -> list[Pending]:
    """Return facts to consolidate, the oldest first; with `scopes`, those that wait in one of these.

    What may wait for a fuller batch is left out.
    """
    parameters = {
        "bank": bank,
        "limit": limit,
        "batch": wait.batch,
        "waited": clock.now() - timedelta(seconds=wait.seconds),
        "scopes": None if scopes is None else Jsonb([list(scope) for scope in scopes]),
    }
    return [_pending(row) for row in await fetch_all(connection, "observations.pending", parameters)]


async def candidates(connection: Connection, shelf: Shelf, facts: Sequence[UUID], limit: int) -> list[Shown]:
    """Return observations near these facts, at most `limit`, the nearest first.

    Each fact brings as many as there is room for: none takes the place of another's nearest. Half of them may be there
    for a rare name that they share with it: what changes is often worded like what is known of somebody else.
    """
    if not facts:
        return []
    each = -(-limit // len(facts))
    parameters = {"facts": list(facts), "limit": limit, "each": each, "rare": RARE, "sources": SHOWN_SOURCES}
    rows = await fetch_all(connection, "observations.candidates", {**_where(shelf), **parameters})
    return [_shown(row) for row in rows]


async def twins(connection: Connection, shelf: Shelf, vectors: np.ndarray, threshold: float) -> list[Twin]:
    """Return what stands within a cosine of `threshold` of texts to be created (n, d), for each the nearest first."""
    if not len(vectors):
        return []
    parameters = {"vectors": [HalfVector(vector).to_text() for vector in vectors], "threshold": threshold}
    rows = await fetch_all(connection, "observations.twins", {**_where(shelf), **parameters})
    return [Twin(**row) for row in rows]


async def alike(
    connection: Connection, shelf: Shelf, facts: Sequence[UUID], openings: Sequence[str]
) -> list[Pending]:
    """Return the other facts of the audience, done or not, that state what these do, or open like this."""
    parameters = {"facts": list(facts), "openings": list(openings), **_where(shelf)}
    return [_pending(row) for row in await fetch_all(connection, "observations.alike", parameters)]


async def standing_on(connection: Connection, shelf: Shelf, facts: Sequence[UUID]) -> list[Shown]:
    """Return the observations of the scope that stand on any of these facts."""
    parameters = {"facts": list(facts), "sources": SHOWN_SOURCES, **_where(shelf)}
    return [_shown(row) for row in await fetch_all(connection, "observations.standing_on", parameters)]


async def count(connection: Connection, shelf: Shelf) -> int:
    """Return how many observations a scope has."""
    return int((await fetch_row(connection, "observations.count", _where(shelf)))["observations"])


async def scopes(connection: Connection, bank: int, viewer: Viewer) -> dict[Scope, int]:
    """Return the scopes with visible observations and how many each has, the fullest first."""
    rows = await fetch_all(connection, "observations.scopes", {"bank": bank, **viewer.parameters()})
    return {tuple(row["tags"]): row["observations"] for row in rows}


async def sources(connection: Connection, observation: UUID, viewer: Viewer) -> list[Row]:
    """Return the visible facts that an observation stands on, the newest first."""
    return await fetch_all(connection, "observations.sources", {"id": observation, **viewer.parameters()})


async def versions(connection: Connection, observation: UUID, viewer: Viewer) -> list[Row]:
    """Return what an observation said before, the newest first."""
    return await fetch_all(connection, "observations.versions", {"id": observation, **viewer.parameters()})


def _where(shelf: Shelf) -> dict[str, Any]:
    return {**vars(shelf), "scope": list(shelf.scope)}


def _pending(row: Row) -> Pending:
    done = frozenset(tuple(scope) for scope in row["done"])
    return Pending(**row | {"tags": tuple(row["tags"]), "done": done})


def _shown(row: Row) -> Shown:
    cited = tuple(_source(source) for source in row["sources"] or ())
    return Shown(**row | {"tags": tuple(row["tags"]), "sources": cited})


def _source(source: dict[str, Any]) -> Source:
    moments = ("occurred_start", "occurred_end", "mentioned_at")
    times = {name: datetime.fromisoformat(source[name]) for name in moments if source[name]}
    return Source(id=UUID(source["id"]), text=source["text"], **(dict.fromkeys(moments) | times))
