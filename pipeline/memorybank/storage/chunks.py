"""Chunks: the pieces of a document. Each knows all that its extraction needs, and whether that is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from memorybank.storage import entities, mentions
from memorybank.storage.copying import copy_records
from memorybank.storage.queries import Connection, Row, execute, fetch_all, fetch_row

#: What may have become of a chunk. A replaced one keeps its facts until those in its place are extracted.
PENDING, EXTRACTED, FAILED, REPLACED = "pending", "extracted", "failed", "replaced"


@dataclass(frozen=True)
class About:
    """What a chunk, and every fact drawn from it, takes from its item.

    `mentioned_at` stands in the zone in which it was written: relative words count from the day there.
    """

    context: str = ""
    mentioned_at: datetime | None = None
    mentioned_at_assumed: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    observation_scopes: str | list[list[str]] | None = None
    entities: tuple[tuple[str, str], ...] = ()
    resolve_entities: bool = True
    strategy: str | None = None


@dataclass(frozen=True)
class Stored:
    """A chunk of a document as staging finds it; its text is None where texts are not kept."""

    id: UUID
    ordinal: int
    content_hash: bytes
    state: str
    text: str | None
    about: About
    error: str | None = None

    @property
    def has_facts(self) -> bool:
        """Whether it was read, wholly or in part."""
        return self.state in (EXTRACTED, REPLACED)

    @property
    def is_whole(self) -> bool:
        """Whether it was read and nothing of it was lost."""
        return self.state == EXTRACTED and self.error is None


@dataclass(frozen=True)
class NewChunk:
    """A piece to be extracted."""

    id: UUID
    document: int
    ordinal: int
    text: str
    content_hash: bytes
    about: About


@dataclass(frozen=True)
class Pending:
    """A chunk that waits for extraction; `total` counts the chunks of its document."""

    id: UUID
    document: int
    document_id: str
    ordinal: int
    total: int
    text: str
    about: About


@dataclass(frozen=True)
class Counts:
    """How far an operation is with its chunks; `errors` name what was lost, wholly or in part, and quote no content."""

    pending: int = 0
    failed: int = 0
    errors: tuple[str, ...] = ()


async def of_document(connection: Connection, document: int) -> list[Stored]:
    """Return the chunks of a document in order."""
    rows = await fetch_all(connection, "chunks.of_document", {"document": document})
    return [_stored(row) for row in rows]


async def add(
    connection: Connection,
    bank: int,
    audience_id: int,
    operation: UUID,
    chunks: Sequence[NewChunk],
    now: datetime,
) -> None:
    """Store new chunks as pending for an operation."""
    records = [(chunk.id, bank, audience_id, operation, now, *_record(chunk)) for chunk in chunks]
    await copy_records(connection, "chunks.copy", records)


def _record(chunk: NewChunk) -> tuple[Any, ...]:
    about = chunk.about
    return (
        chunk.document,
        chunk.ordinal,
        chunk.text,
        chunk.content_hash,
        about.context,
        about.mentioned_at,
        about.mentioned_at_assumed,
        _utc_offset(about.mentioned_at),
        list(about.tags),
        Jsonb(dict(about.metadata)),
        Jsonb(about.observation_scopes) if about.observation_scopes else None,
        Jsonb([list(entity) for entity in about.entities]),
        about.resolve_entities,
        about.strategy,
    )


def _utc_offset(moment: datetime | None) -> int | None:
    """Return the minutes east of UTC of a time's zone; None for UTC."""
    offset = moment.utcoffset() if moment else None
    return round(offset.total_seconds() / 60) if offset else None


async def move(connection: Connection, ordinals: Mapping[UUID, int]) -> None:
    """Give chunks new places in their document; the addresses of their units follow."""
    if not ordinals:
        return
    parameters = {"ids": list(ordinals), "ordinals": list(ordinals.values())}
    for step in ("defer_order", "move", "free_addresses", "move_units", "check_order"):
        await execute(connection, f"chunks.{step}", parameters)


async def describe(connection: Connection, chunk: UUID, about: About, now: datetime) -> None:
    """Give a chunk and its facts other tags, metadata, scopes and context; tags of the facts' own stay."""
    parameters = {
        "id": chunk,
        "tags": list(about.tags),
        "metadata": Jsonb(dict(about.metadata)),
        "observation_scopes": Jsonb(about.observation_scopes) if about.observation_scopes else None,
        "context": about.context,
        "now": now,
    }
    await mentions.part(connection, chunk, parameters)
    for step in ("describe_units", "describe_mentions", "describe"):
        await execute(connection, f"chunks.{step}", parameters)


async def adopt(connection: Connection, operation: UUID, texts: Mapping[UUID, str]) -> None:
    """Let an operation extract chunks that an earlier one left; `texts` by chunk, for they may not have been kept."""
    if texts:
        parameters = {"operation": operation, "ids": list(texts), "texts": list(texts.values())}
        await execute(connection, "chunks.adopt", parameters)


async def keep_texts(
    connection: Connection, document: int, untold: Mapping[UUID, str], *, keep: bool
) -> None:
    """Give extracted chunks of a document texts that were not kept before; where none are kept, take all away."""
    if untold or not keep:
        parameters = {"document": document, "ids": list(untold), "texts": list(untold.values()), "keep": keep}
        await execute(connection, "chunks.keep_texts", parameters)


async def delete(connection: Connection, bank: int, ids: Sequence[UUID]) -> dict[int, int]:
    """Delete chunks with their facts, under `mentions.alone`; return how many they said, by document.

    What is said elsewhere too stays there. Names that nothing mentions any more go as well.
    """
    if not ids:
        return {}
    asked = {"ids": list(ids)}
    said = await fetch_all(connection, "chunks.said", asked)
    named = await entities.of(connection, "chunks", ids)
    await execute(connection, "chunks.delete", asked)
    await entities.prune(connection, bank, named)
    return {row["document"]: row["facts"] for row in said}


async def replace(connection: Connection, operation: UUID, ids: Sequence[UUID]) -> None:
    """Let chunks keep their facts until an operation has extracted those in their place; see `retire`."""
    if ids:
        await execute(connection, "chunks.replace", {"operation": operation, "ids": list(ids)})


async def retire(connection: Connection, bank: int, operation: UUID) -> tuple[dict[int, int], int]:
    """Delete what an operation has replaced, as `delete` does; what it could not extract anew stays.

    A chunk that lost some facts takes over those of the one in whose place it stands; any, what people have changed of
    it. Returns how many facts went, by document, and how many replaced chunks stay.
    """
    for step in ("inherit", "redescribe"):
        await execute(connection, f"chunks.{step}", {"operation": operation})
    rows = await fetch_all(connection, "chunks.replaced", {"operation": operation})
    going = [row["id"] for row in rows if row["goes"]]
    return await delete(connection, bank, going), len(rows) - len(going)


async def pending(connection: Connection, operation: UUID, limit: int) -> list[Pending]:
    """Return the next chunks that an operation must extract, in the order of the documents."""
    rows = await fetch_all(connection, "chunks.pending", {"operation": operation, "limit": limit})
    return [_pending(row) for row in rows]


async def finish(
    connection: Connection, operation: UUID, ids: Sequence[UUID], *, keep_text: bool
) -> dict[UUID, About]:
    """Mark chunks as extracted; return those that were still to be done, the others' facts must not be stored.

    Each comes with what its facts take from it now.
    """
    parameters = {"operation": operation, "ids": list(ids), "keep_text": keep_text}
    return {row["id"]: _about(row) for row in await fetch_all(connection, "chunks.finish", parameters)}


async def fail(
    connection: Connection, operation: UUID, errors: Mapping[UUID, str], *, keep_text: bool
) -> set[UUID]:
    """Mark chunks as lost, each with its reason (no content in it); return those that were still to be done."""
    if not errors:
        return set()
    parameters = {
        "operation": operation,
        "ids": list(errors),
        "errors": list(errors.values()),
        "keep_text": keep_text,
    }
    return {row["id"] for row in await fetch_all(connection, "chunks.fail", parameters)}


async def note(connection: Connection, operation: UUID, errors: Mapping[UUID, str]) -> None:
    """Say of extracted chunks what was lost of them (no content in it)."""
    if errors:
        parameters = {"operation": operation, "ids": list(errors), "errors": list(errors.values())}
        await execute(connection, "chunks.note", parameters)


async def retry_failed(connection: Connection, operation: UUID) -> int:
    """Let an operation try its lost chunks again; return how many have their text and can be."""
    return await execute(connection, "chunks.retry_failed", {"operation": operation})


async def counts(connection: Connection, operation: UUID) -> Counts:
    """Return how many chunks of an operation wait or are lost, and what was lost of which."""
    row = await fetch_row(connection, "chunks.counts", {"operation": operation})
    return Counts(row["pending"], row["failed"], tuple(row["errors"]))


def _stored(row: Row) -> Stored:
    return Stored(
        row["id"], row["ordinal"], row["content_hash"], row["state"], row["text"], _about(row), row["error"]
    )


def _pending(row: Row) -> Pending:
    return Pending(
        row["id"], row["document"], row["document_id"], row["ordinal"], row["total"], row["text"], _about(row)
    )


def _about(row: Row) -> About:
    zone = timezone(timedelta(minutes=row["utc_offset"])) if row["utc_offset"] else None
    return About(
        row["context"],
        row["mentioned_at"].astimezone(zone) if zone else row["mentioned_at"],
        row["mentioned_at_assumed"],
        tuple(row["tags"]),
        row["metadata"],
        row["observation_scopes"],
        tuple((name, kind) for name, kind in row["entities"]),
        row["resolve_entities"],
        row["strategy"],
    )
