"""Stated memories: kept word for word, with who kept them and where they came from; and any memory as people see it.

Of the three interfaces that state memories each keeps its own aspect of them in `stated_memory`; all else is one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.errors import CheckViolation, ForeignKeyViolation
from psycopg.types.json import Jsonb

from memorybank.audience import Audience, AudienceKind, Surface, Viewer
from memorybank.errors import (
    BadRequest,
    Conflict,
    FactNotOneParagraph,
    FactTooLong,
    MemoryBankError,
    MemoryFull,
    NotFound,
    SourceNotPublic,
)
from memorybank.model import FactType, Source
from memorybank.storage import audiences, entities, mentions
from memorybank.storage.queries import Connection, Row, execute, fetch_all, fetch_one, fetch_row

#: Facts that an agent holds at most, and characters of one, as 0015_stated.sql has them.
MAX_FACTS, MAX_FACT_CHARS = 2_000, 500

_BROKEN: Mapping[str, MemoryBankError] = {
    "memory_full": MemoryFull(f"this agent holds {MAX_FACTS} facts: it must forget one first"),
    "fact_too_long": FactTooLong(f"a fact has at most {MAX_FACT_CHARS} characters", loc=("body", "text")),
    "fact_not_one_paragraph": FactNotOneParagraph("a fact is one paragraph", loc=("body", "text")),
    "entry_says_its_value": BadRequest("the value of a key is set by its key", loc=("body", "text")),
    "workspace_source_not_public": SourceNotPublic(
        "a workspace fact comes from a public place, or from an owner", loc=("body", "source")
    ),
}


@dataclass(frozen=True)
class Taxonomy:
    """What Band says of a memory."""

    system: str
    type: str
    segment: str
    thought: str
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Statement:
    """A memory to be kept word for word. `agent`: whose it is; `kept_by`: that agent, or the person who kept it."""

    text: str
    audience: Audience
    surface: Surface
    agent: UUID
    kept_by: UUID
    source: Source
    fact_type: FactType = FactType.WORLD
    pinned: bool = False
    taxonomy: Taxonomy | None = None


@dataclass(frozen=True)
class Memory:
    """A memory as people see it. `memory_kind`: stated, kv, extracted or observation; `audience`: who knows it.

    `surface`, `agent` and what follows are those of a stated one, `document_id` that of an extracted one.
    """

    id: UUID
    bank_id: str
    memory_kind: Literal["stated", "kv", "extracted", "observation"]
    fact_type: str
    text: str
    status: str
    audience: Audience
    mentioned_at: datetime | None
    pinned_at: datetime | None
    kept_by_kind: str
    kept_by: UUID | None
    source: Source | None
    corrected: bool
    created_at: datetime
    updated_at: datetime
    surface: str | None
    agent: UUID | None
    system: str | None
    type: str | None
    segment: str | None
    thought: str | None
    metadata: Mapping[str, Any] | None
    document_id: str | None


@dataclass(frozen=True)
class Asked:
    """Which memories to list; None leaves a condition out. `circle`: the kind of audience, `place` that of one.

    `stated`: nothing that was extracted or learned. `said_in`: the places of the source. `terms`: hashes, all of them.
    """

    statuses: Sequence[str] = ("active",)
    stated: bool = False
    kind: str | None = None
    surface: Surface | None = None
    circle: AudienceKind | None = None
    place: UUID | None = None
    subject: UUID | None = None
    author: UUID | None = None
    said_in: Collection[UUID] | None = None
    pinned: bool | None = None
    system: str | None = None
    type: str | None = None
    segment: str | None = None
    terms: Sequence[int] | None = None


@dataclass(frozen=True)
class Page:
    """Which rows of a list: after a key (when and which the last was), or from an offset; `counted`: the total too."""

    limit: int
    after: tuple[datetime, UUID] | None = None
    offset: int = 0
    counted: bool = False


@dataclass(frozen=True)
class Listing:
    """A page of memories, and how many there are in all where that was asked."""

    memories: Sequence[Memory] = ()
    total: int | None = field(default=None)


@contextmanager
def rules() -> Iterator[None]:
    """Say in our words which rule of the database a statement breaks."""
    try:
        yield
    except ForeignKeyViolation as error:
        raise Conflict("who says it, or where it is kept, was removed meanwhile") from error
    except CheckViolation as error:
        broken = _BROKEN.get(error.diag.constraint_name or "")
        if broken is None:
            raise
        raise broken from error


async def add(connection: Connection, bank: int, audience_id: int, id_: UUID, told: Mapping[str, Any]) -> int:
    """Store a memory and return its document number. `told`: the columns that `columns` gives, and what is derived.

    Raises MemoryFull, and what a fact breaks.
    """
    new = {**told, "id": id_, "bank": bank, "audience_id": audience_id}
    with rules():
        number = (await fetch_row(connection, "stated.add", new))["document_number"]
        await execute(connection, "stated.describe", new)
    return int(number)


def columns(statement: Statement) -> dict[str, Any]:
    """Return a statement as columns."""
    own = statement.taxonomy
    return {
        "text": statement.text,
        "fact_type": str(statement.fact_type),
        "at": statement.source.at,
        "pinned": statement.pinned,
        "kept_by_kind": "agent" if statement.kept_by == statement.agent else "person",
        "kept_by": statement.kept_by,
        "surface": str(statement.surface),
        "agent": statement.agent,
        **_source_columns(statement.source),
        **{name: own and getattr(own, name) for name in ("system", "type", "segment", "thought")},
        "metadata": None if own is None or own.metadata is None else Jsonb(dict(own.metadata)),
    }


def _source_columns(source: Source) -> dict[str, Any]:
    return {f"source_{name}": value for name, value in vars(source).items()}


async def get(connection: Connection, bank: int | None, id_: UUID, viewer: Viewer) -> Memory:
    """Return a memory in any state, of a bank or (None) of any; raises NotFound."""
    asked = {"bank": bank, "id": id_, "rooms": list(viewer.rooms), **viewer.parameters()}
    row = await fetch_one(connection, "stated.get", asked)
    if row is None:
        raise NotFound(f"Memory {id_} not found")
    return _memory(row)


async def list_(
    connection: Connection, bank: int | None, viewer: Viewer, asked: Asked, page: Page
) -> Listing:
    """Return memories of a bank or (None) of all, the newest first."""
    after_at, after_id = page.after or (None, None)
    parameters = {
        "bank": bank,
        **viewer.parameters(),
        **vars(asked),
        "rooms": list(viewer.rooms),
        "statuses": list(asked.statuses),
        "said_in": None if asked.said_in is None else list(asked.said_in),
        "terms": None if asked.terms is None else sorted(set(asked.terms)),
        "after_at": after_at,
        "after_id": after_id,
        "limit": page.limit,
        "offset": page.offset,
        "counted": page.counted,
    }
    rows = await fetch_all(connection, "stated.list", parameters)
    total = rows[0]["total"] if rows else (0 if page.counted and not page.offset else None)
    if page.counted and total is None:
        # Past the end: the total stands in no row.
        first = await list_(connection, bank, viewer, asked, Page(1, counted=True))
        total = first.total
    return Listing([_memory(row) for row in rows], total)


async def first_for(
    connection: Connection, bank: int, viewer: Viewer, ranked: Sequence[UUID], limit: int
) -> list[Memory]:
    """Return facts for a place: pinned ones, then the `ranked`, then the newest."""
    parameters = {"bank": bank, "ranked": list(ranked), "limit": limit, **viewer.parameters()}
    return [_memory(row) for row in await fetch_all(connection, "stated.first_for", parameters)]


async def pin(
    connection: Connection, bank: int, id_: UUID, viewer: Viewer, pinned: bool, now: datetime
) -> None:
    """Put a pin on a memory, or take it away; raises NotFound."""
    asked = {"bank": bank, "id": id_, "pinned": pinned, "now": now, **viewer.parameters()}
    if not await execute(connection, "stated.pin", asked):
        raise NotFound(f"Memory {id_} not found")


async def hold_place(connection: Connection, place: UUID | None) -> None:
    """Let a place stay as public as it is until the transaction ends; before any lock on facts."""
    if place is not None:
        await fetch_all(connection, "stated.hold_place", {"place": place})


async def withdraw(connection: Connection, place: UUID, now: datetime) -> int:
    """Keep to a place that is private from now on what everybody knew because it was said there; return how much."""
    moved = 0
    for row in await fetch_all(connection, "stated.said_in_public", {"place": place}):
        await mentions.alone(connection, row["bank"])
        circle = Audience(AudienceKind.PLACE, place=place)
        audience = await audiences.ensure(connection, row["bank"], circle)
        asked = {"ids": row["ids"], "audience_id": audience, "now": now}
        named = await entities.of(connection, "units", row["ids"])
        await execute(connection, "stated.unmention", asked)
        moved += await execute(connection, "stated.move", asked)
        await entities.prune(connection, row["bank"], named)
    return moved


async def set_source(connection: Connection, id_: UUID, source: Source) -> None:
    """Say who says a memory from now on; the caller has locked it."""
    await execute(connection, "stated.set_source", {"id": id_, **_source_columns(source)})


async def reword(connection: Connection, id_: UUID, terms: Sequence[int]) -> None:
    """Let lists find a memory by other words, if it is a stated one."""
    await execute(connection, "stated.reword", {"id": id_, "terms": sorted(terms)})


def _memory(row: Row) -> Memory:
    own = {one.name: row[one.name] for one in fields(Memory) if one.name in row}
    audience = Audience(
        AudienceKind(row["circle"]), row["organization"], row["circle_agent"], row["person"], row["place"]
    )
    source = None
    if row["source_kind"] is not None:
        source = Source(**{one.name: row[f"source_{one.name}"] for one in fields(Source)})
    return Memory(**own, audience=audience, source=source)
