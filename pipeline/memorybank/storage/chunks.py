"""Chunks: the pieces of a document. Each knows all that its extraction needs, and whether that is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from memorybank.storage import mentions
from memorybank.storage.copying import copy_records
from memorybank.storage.queries import Connection, Row, execute, fetch_all, fetch_row


@dataclass(frozen=True)
class About:
    """What a chunk, and every fact drawn from it, takes from its item."""

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
    """A chunk of a document as staging finds it."""

    id: UUID
    ordinal: int
    content_hash: bytes
    state: str
    has_text: bool
    tags: tuple[str, ...]
    metadata: Mapping[str, str]
    observation_scopes: str | list[list[str]] | None
    context: str


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
    """How far an operation is with its chunks, and why some failed (their error texts quote no content)."""

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
        list(about.tags),
        Jsonb(dict(about.metadata)),
        Jsonb(about.observation_scopes) if about.observation_scopes else None,
        Jsonb([list(entity) for entity in about.entities]),
        about.resolve_entities,
        about.strategy,
    )


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


async def delete(connection: Connection, ids: Sequence[UUID]) -> None:
    """Delete chunks with their facts."""
    if ids:
        await execute(connection, "chunks.delete", {"ids": list(ids)})


async def pending(connection: Connection, operation: UUID, limit: int) -> list[Pending]:
    """Return the next chunks that an operation must extract, in the order of the documents."""
    rows = await fetch_all(connection, "chunks.pending", {"operation": operation, "limit": limit})
    return [_pending(row) for row in rows]


async def finish(
    connection: Connection, operation: UUID, ids: Sequence[UUID], *, keep_text: bool
) -> set[UUID]:
    """Mark chunks as extracted; return those that were still to be done, the others' facts must not be stored."""
    parameters = {"operation": operation, "ids": list(ids), "keep_text": keep_text}
    return {row["id"] for row in await fetch_all(connection, "chunks.finish", parameters)}


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


async def retry_failed(connection: Connection, operation: UUID) -> int:
    """Let an operation try its lost chunks again; return how many have their text and can be."""
    return await execute(connection, "chunks.retry_failed", {"operation": operation})


async def counts(connection: Connection, operation: UUID) -> Counts:
    """Return how many chunks of an operation wait or are lost."""
    row = await fetch_row(connection, "chunks.counts", {"operation": operation})
    return Counts(row["pending"], row["failed"], tuple(row["errors"]))


def _stored(row: Row) -> Stored:
    return Stored(
        row["id"],
        row["ordinal"],
        row["content_hash"],
        row["state"],
        row["has_text"],
        tuple(row["tags"]),
        row["metadata"],
        row["observation_scopes"],
        row["context"],
    )


def _pending(row: Row) -> Pending:
    about = About(
        row["context"],
        row["mentioned_at"],
        row["mentioned_at_assumed"],
        tuple(row["tags"]),
        row["metadata"],
        row["observation_scopes"],
        tuple((name, kind) for name, kind in row["entities"]),
        row["resolve_entities"],
        row["strategy"],
    )
    return Pending(
        row["id"], row["document"], row["document_id"], row["ordinal"], row["total"], row["text"], about
    )
