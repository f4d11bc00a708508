"""What recall reads: two trips in one snapshot. Every statement stands under the viewer.

Before them, for a question that may name a speaker, `speakers`. Trip one, `gather`: postings, distances, named
entities, dates and the filter, sent in one go. Trip two: `reach` (one hop in the graph from the best hits), then
`units` with all that hits tell, and what is asked for beside them.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from pgvector import HalfVector

from memorybank.audience import Viewer
from memorybank.storage.copying import literal
from memorybank.storage.found import (
    NO_DISTANCES,
    NONE,
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
    TermPostings,
)
from memorybank.storage.nearest import Nearest
from memorybank.storage.queries import Connection, Row
from memorybank.storage.trip import addresses_of, ask, distances_of, of_addresses, rows, tagged_of, trip
from memorybank.tags import TagGroup, needed

#: Units read of one entity, the newest: what more units mention tells little, and a hub would cost seconds. And units
#: reached through links, the strongest.
MENTIONS_CAP = 200
#: Entities followed from the best hits, those of the best first: a hit mentions a few, each costs a read.
ENTITIES_CAP = 40
#: Units read near the window of time, of those that happened and of those that were mentioned, the newest.
DATED_CAP = 5_000


@dataclass(frozen=True)
class FirstTrip:
    """What the first trip asks for. `terms` or `names` empty, `vector`, `dates`, `after` or `tags` None: not asked.

    `after`: what was said after this moment. `seconds`: what each statement may take, from here on. `nearest`: only
    the nearest units, not the distances of all. `facts`: only those that people stated as facts, or only the others.
    `entries`: also keys with their values.
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
    tags: TagGroup | None = None
    facts: bool | None = None
    entries: bool = True
    nearest: Nearest | None = None

    @property
    def filters(self) -> bool:
        """Whether not every unit passes."""
        return self.tags is not None or self.facts is not None or not self.entries

    def statements(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the statements to send, each with what it takes besides the bank and the viewer."""
        yield "search.statistics", {}
        if self.terms:
            own = {"max_terms": self.max_terms, "max_postings": self.max_postings}
            yield "search.postings", {"terms": literal(self.terms), **own}
        if self.nearest:
            yield "nearest.nearest", self.nearest.parameters()
        elif self.vector is not None:
            yield "search.distances", {"vector": HalfVector(self.vector), "model": self.model}
        if self.dates:
            yield "search.dated", {"start": self.dates[0], "end": self.dates[1], "cap": DATED_CAP}
        if self.after:
            yield "search.later", {"moment": self.after, "cap": DATED_CAP}
        if self.filters:
            held = needed(self.tags) if self.tags else None
            kinds = {"facts": self.facts, "entries": self.entries}
            yield "search.tagged", {"needed": None if held is None else list(held), **kinds}
        yield "plans.by_key", {}
        if self.names:
            # One text: psycopg would turn hundreds of keys into text one by one. No key holds a line break.
            yield "search.named", {"keys": "\n".join(self.names), "cap": MENTIONS_CAP}


async def gather(connection: Connection, bank: int, viewer: Viewer, asked: FirstTrip) -> Gathered:
    """Read what the arms score from: one trip, all statements at once. Raises ArmTooSlow or TimedOut."""
    scope: dict[str, Any] = {"bank": bank, **viewer.parameters()}
    async with trip(connection) as sent:
        await sent.limit(asked.seconds)
        cursors = {name: await sent.ask(name, scope | own) for name, own in asked.statements()}
    found = {name.partition(".")[2]: await rows(cursor) for name, cursor in cursors.items()}
    distances = found.get("distances") or found.get("nearest")
    return Gathered(
        Statistics(**found["statistics"][0]),
        tuple(map(_postings, found.get("postings", ()))),
        distances_of(distances[0]) if distances else NO_DISTANCES,
        tuple(map(_mentions, found.get("named", ()))),
        _dated(found["dated"][0]) if "dated" in found else None,
        addresses_of(found["later"][0]) if "later" in found else None,
        tuple(map(tagged_of, found["tagged"])) if "tagged" in found else None,
    )


async def speakers(
    connection: Connection, bank: int, viewer: Viewer, asked: Collection[int], least: int
) -> frozenset[int]:
    """Return those of the speakers (by number) who have said at least so much that the viewer may see."""
    found = await _asked(connection, "speakers", bank, viewer, speakers=literal(asked), least=least)
    return frozenset(row["speaker"] for row in found)


async def reach(
    connection: Connection, bank: int, viewer: Viewer, seeds: Seeds, gathered: Gathered
) -> Reached:
    """Return what is one hop away from the best hits: by shared entities, by links, of which the bank has some.

    What the first trip read of the entities in the question is not read again.
    """
    has = gathered.statistics
    if not (has.has_entities or has.has_links):
        return Reached(seeds, (), ())
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
        around = await sent.ask("search.around", parameters) if has.has_entities else None
        linked = await sent.ask("search.linked", parameters) if has.has_links else None
    return Reached(
        seeds,
        tuple(map(_mentions, await rows(around))),
        tuple(
            Linked(row["causal"], row["hits"], addresses_of(row), row["weights"])
            for row in await rows(linked)
        ),
    )


async def units(connection: Connection, bank: int, viewer: Viewer, addresses: Addresses) -> list[FoundUnit]:
    """Return units in the order of their addresses; `place` is the index of the address. The unseen are left out."""
    found = await _asked(connection, "units", bank, viewer, **of_addresses(addresses))
    return [_unit(row) for row in found]


async def sources(
    connection: Connection, bank: int, viewer: Viewer, observations: Sequence[UUID]
) -> list[FoundSource]:
    """Return the visible facts that these observations stand on, for each the newest first."""
    found = await _asked(connection, "sources", bank, viewer, observations=list(observations))
    return [FoundSource(**row) for row in found]


async def chunks(
    connection: Connection, bank: int, viewer: Viewer, wanted: Sequence[UUID]
) -> dict[UUID, FoundChunk]:
    """Return chunks by their ids; those whose text is not kept are left out."""
    found = await _asked(connection, "chunks", bank, viewer, chunks=list(wanted))
    return {row["id"]: FoundChunk(**row) for row in found}


async def _asked(connection: Connection, name: str, bank: int, viewer: Viewer, **own: Any) -> list[Row]:
    return await rows(await ask(connection, f"search.{name}", {"bank": bank, **viewer.parameters(), **own}))


def _postings(row: Row) -> TermPostings:
    found = row["documents"] is not None
    return TermPostings(
        row["frequency"], addresses_of(row), row["tf"] if found else NONE, row["lengths"] if found else NONE
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
    row["entities"] = dict(zip(row.pop("entity_ids") or (), row.pop("entity_names") or (), strict=True))
    return FoundUnit(**row)
