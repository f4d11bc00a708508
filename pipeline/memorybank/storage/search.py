"""What recall reads: two trips in one snapshot. Every statement stands under the viewer.

Before them, for a question that may name a speaker, `speakers`. Trip one, `gather`: postings, distances, named
entities, dates and the filter, sent in one go. Trip two: `reach` (one hop in the graph from the best hits), then
`units` with all that hits tell, and what is asked for beside them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from psycopg import AsyncCursor
from psycopg.rows import DictRow

from memorybank.audience import Viewer
from memorybank.storage.copying import literal
from memorybank.storage.found import (
    NO_DISTANCES,
    Addresses,
    Dated,
    FoundChunk,
    FoundSource,
    FoundUnit,
    Gathered,
    Linked,
    Mentions,
    Reached,
    Seeds,
    Statistics,
    Tagged,
    TermPostings,
)
from memorybank.storage.nearest import Near, ask_nearest
from memorybank.storage.queries import Connection, Row
from memorybank.storage.trip import Trip, addresses_of, ask, distances_of, of_addresses, rows, trip

#: Units read of one entity, the newest: what more units mention tells little, and a hub would cost seconds. And units
#: reached through links, the strongest.
MENTIONS_CAP = 200
#: Entities followed from the best hits, those of the best first: a hit mentions a few, each costs a read.
ENTITIES_CAP = 40
#: Units read near the window of time, of those that happened and of those that were mentioned, the newest.
DATED_CAP = 5_000


@dataclass(frozen=True)
class Filter:
    """Which tags to read; `needed`: tags of which every passing unit holds one, None where none is needed."""

    needed: Sequence[str] | None


@dataclass(frozen=True)
class Wanted:
    """What the first trip asks for. `terms` or `names` empty, `vector`, `dates`, `after` or `filter` None: not asked.

    `after`: what was said after this moment. `seconds`: what each statement may take, from here on. `near`: only the
    nearest units, not the distances of all.
    """

    seconds: float
    vector: np.ndarray[Any, Any] | None
    model: str
    terms: Sequence[int]
    max_terms: int
    max_postings: int
    names: Sequence[str] = ()
    dates: tuple[datetime, datetime] | None = None
    after: datetime | None = None
    filter: Filter | None = None
    near: Near | None = None


async def gather(connection: Connection, bank: int, viewer: Viewer, wanted: Wanted) -> Gathered:
    """Read what the arms score from: one trip, all statements at once. Raises ArmTooSlow or TimedOut."""
    scope: dict[str, Any] = {"bank": bank, **viewer.parameters()}
    async with trip(connection) as sent:
        await sent.limit(wanted.seconds)
        statistics = await sent.ask("search.statistics", {"bank": bank})
        postings = await sent.ask("search.postings", scope | _of_terms(wanted)) if wanted.terms else None
        distances = await _ask_distances(sent, scope, wanted)
        dated = await sent.ask("search.dated", scope | _of_dates(wanted.dates)) if wanted.dates else None
        later = await sent.ask("search.later", scope | _of_moment(wanted.after)) if wanted.after else None
        tagged = await sent.ask("search.tagged", scope | _of_filter(wanted.filter)) if wanted.filter else None
        await sent.ask("search.by_key", {})
        named = await sent.ask("search.named", scope | _of_names(wanted)) if wanted.names else None
    return Gathered(
        Statistics(**(await rows(statistics))[0]),
        tuple(_postings(row) for row in await rows(postings)),
        distances_of((await rows(distances))[0]) if distances else NO_DISTANCES,
        tuple(_mentions(row) for row in await rows(named)),
        _dated((await rows(dated))[0]) if dated else None,
        addresses_of((await rows(later))[0]) if later else None,
        tuple(Tagged(frozenset(row["tags"]), addresses_of(row)) for row in await rows(tagged))
        if tagged
        else None,
    )


async def _ask_distances(sent: Trip, scope: Mapping[str, Any], wanted: Wanted) -> AsyncCursor[DictRow] | None:
    if wanted.near:
        return await ask_nearest(sent, wanted.near)
    if wanted.vector is None:
        return None
    return await sent.ask("search.distances", {**scope, **_of_vector(wanted)})


async def speakers(
    connection: Connection, bank: int, viewer: Viewer, asked: Collection[int], least: int
) -> frozenset[int]:
    """Return those of the speakers (by number) who have said at least so much that the viewer may see."""
    parameters = {"bank": bank, "speakers": literal(asked), "least": least, **viewer.parameters()}
    found = await rows(await ask(connection, "search.speakers", parameters))
    return frozenset(row["speaker"] for row in found)


async def reach(
    connection: Connection, bank: int, viewer: Viewer, seeds: Seeds, gathered: Gathered
) -> Reached:
    """Return what is one hop away from the best hits: by shared entities, by links, of which the bank has some.

    What the first trip read of the entities in the question is not read again.
    """
    sizes = gathered.statistics
    parameters = {
        "bank": bank,
        **of_addresses(seeds.addresses),
        "strengths": literal(seeds.strengths.tolist()),
        "known": literal(mentions.entity for mentions in gathered.named),
        "cap": MENTIONS_CAP,
        "entities": ENTITIES_CAP,
        **viewer.parameters(),
    }
    async with trip(connection) as sent:
        around = await sent.ask("search.around", parameters) if sizes.has_entities else None
        linked = await sent.ask("search.linked", parameters) if sizes.has_links else None
    return Reached(
        seeds,
        tuple(_mentions(row) for row in await rows(around)),
        tuple(
            Linked(row["causal"], row["hits"], addresses_of(row), row["weights"])
            for row in await rows(linked)
        ),
    )


async def units(connection: Connection, bank: int, viewer: Viewer, addresses: Addresses) -> list[FoundUnit]:
    """Return units in the order of their addresses; `place` is the index of the address. The unseen are left out."""
    parameters = {
        "bank": bank,
        **of_addresses(addresses),
        **viewer.parameters(),
    }
    return [_unit(row) for row in await rows(await ask(connection, "search.units", parameters))]


async def sources(
    connection: Connection, bank: int, viewer: Viewer, observations: Sequence[UUID]
) -> list[FoundSource]:
    """Return the visible facts that these observations stand on, for each the newest first."""
    parameters = {"bank": bank, "observations": list(observations), **viewer.parameters()}
    return [FoundSource(**row) for row in await rows(await ask(connection, "search.sources", parameters))]


async def chunks(
    connection: Connection, bank: int, viewer: Viewer, wanted: Sequence[UUID]
) -> dict[UUID, FoundChunk]:
    """Return chunks by their ids; those whose text is not kept are left out."""
    parameters = {"bank": bank, "chunks": list(wanted), **viewer.parameters()}
    asked = await ask(connection, "search.chunks", parameters)
    return {row["id"]: FoundChunk(**row) for row in await rows(asked)}


def _of_terms(wanted: Wanted) -> dict[str, Any]:
    return {
        "terms": literal(wanted.terms),
        "max_terms": wanted.max_terms,
        "max_postings": wanted.max_postings,
    }


def _of_vector(wanted: Wanted) -> dict[str, Any]:
    return {"vector": HalfVector(wanted.vector), "model": wanted.model}


def _of_names(wanted: Wanted) -> dict[str, Any]:
    # One text: psycopg would turn hundreds of keys into text one by one. No key holds a line break.
    return {"keys": "\n".join(wanted.names), "cap": MENTIONS_CAP}


def _of_dates(dates: tuple[datetime, datetime]) -> dict[str, Any]:
    return {"start": dates[0], "end": dates[1], "cap": DATED_CAP}


def _of_moment(moment: datetime) -> dict[str, Any]:
    return {"moment": moment, "cap": DATED_CAP}


def _of_filter(chosen: Filter) -> dict[str, Any]:
    return {
        "needed": None if chosen.needed is None else list(chosen.needed),
    }


def _postings(row: Row) -> TermPostings:
    addresses = addresses_of(row)
    found = len(addresses) > 0
    empty = addresses.documents
    return TermPostings(
        row["term"],
        row["frequency"],
        addresses,
        row["tf"] if found else empty,
        row["lengths"] if found else empty,
    )


def _mentions(row: Row) -> Mentions:
    return Mentions(row["entity"], addresses_of(row))


def _dated(row: Row) -> Dated:
    addresses = addresses_of(row)
    if not len(addresses):
        return Dated(addresses, np.empty(0), np.empty(0), np.empty(0))
    return Dated(addresses, row["occurred_start"], row["occurred_end"], row["mentioned_at"])


def _unit(row: Row) -> FoundUnit:
    row["place"] -= 1
    row["tags"] = tuple(row["tags"])
    row["metadata"] = row["metadata"] or {}
    row["entities"] = dict(zip(row.pop("entity_names") or (), row.pop("entity_ids") or (), strict=True))
    return FoundUnit(**row)
