"""Documents: what was retained under one id, and the number that addresses its units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from memorybank.audience import Viewer
from memorybank.storage import entities, history, mentions, retains
from memorybank.storage.queries import Connection, Row, execute, fetch_all, fetch_one, fetch_row


@dataclass(frozen=True)
class Held:
    """A document as staging finds it."""

    number: int
    id: str
    audience_id: int
    original_text: str | None
    retain_params: Mapping[str, Any]
    tags: tuple[str, ...]
    submitted_at: datetime
    retagged_at: datetime | None = None


@dataclass(frozen=True)
class NewDocument:
    """A document as it shall be. `original_text` None: its text is not kept."""

    id: str
    original_text: str | None
    text_length: int
    content_hash: str
    submitted_at: datetime
    retain_params: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    observation_scopes: str | list[list[str]] | None = None


async def lock(connection: Connection, bank: int, audience_id: int, ids: Sequence[str]) -> dict[str, Held]:
    """Return an audience's documents that exist, held in the order of their numbers until the transaction ends."""
    parameters = {"bank": bank, "audience_id": audience_id, "ids": list(ids)}
    rows = await fetch_all(connection, "documents.lock", parameters)
    return {row["id"]: _held(row) for row in rows}


async def find(connection: Connection, bank: int, document_id: str, viewer: Viewer) -> Held | None:
    """Return the oldest document with an id that the viewer may see, or None."""
    parameters = {"bank": bank, "id": document_id, **viewer.parameters()}
    row = await fetch_one(connection, "documents.find", parameters)
    return _held(row) if row else None


async def put(
    connection: Connection, bank: int, audience_id: int, document: NewDocument, now: datetime
) -> int:
    """Write a document, new or known, and return its number."""
    parameters = vars(document) | {
        "bank": bank,
        "audience_id": audience_id,
        "retain_params": Jsonb(dict(document.retain_params)),
        "metadata": Jsonb(dict(document.metadata)),
        "tags": list(document.tags),
        "observation_scopes": Jsonb(document.observation_scopes) if document.observation_scopes else None,
        "now": now,
    }
    return int((await fetch_row(connection, "documents.put", parameters))["number"])


async def delete(connection: Connection, bank: int, document_id: str, viewer: Viewer) -> int | None:
    """Delete what has an id, with all that came from it; return how many units went, None where there is nothing.

    In each audience of the viewer, lest something with this id is left. What waits to be written goes too, and names
    that nothing mentions any more. What other documents say too stays, with them. Runs in the caller's transaction.
    """
    await retains.forget_content(connection, bank, [document_id], viewer)
    await mentions.alone(connection, bank)
    numbers = await _lock_all(connection, bank, document_id, viewer)
    if not numbers:
        return None
    named = await entities.of(connection, "documents", numbers)
    units = await fetch_row(connection, "documents.count_units", {"numbers": numbers})
    await execute(connection, "documents.delete", {"numbers": numbers})
    await entities.prune(connection, bank, named)
    return int(units["units"])


async def set_tags(
    connection: Connection, bank: int, document_id: str, tags: Sequence[str], viewer: Viewer, now: datetime
) -> bool:
    """Replace the tags of what has an id, its chunks and its units; return whether there is anything.

    In each audience of the viewer, as `delete`. Units that it shares with other documents are its own from then on:
    theirs keep their tags.
    """
    await mentions.alone(connection, bank)
    numbers = await _lock_all(connection, bank, document_id, viewer)
    for number in numbers:
        parameters = {"number": number, "tags": list(tags), "unit_tags": sorted(set(tags)), "now": now}
        await mentions.part_document(connection, number, tags)
        for table in ("document", "chunks", "units"):
            await execute(connection, f"documents.tag_{table}", parameters)
        await history.record(connection, number, history.Event(history.Act.RETAG), now)
    return bool(numbers)


async def _lock_all(connection: Connection, bank: int, document_id: str, viewer: Viewer) -> list[int]:
    parameters = {"bank": bank, "id": document_id, **viewer.parameters()}
    return [row["number"] for row in await fetch_all(connection, "documents.lock_all", parameters)]


def _held(row: Row) -> Held:
    return Held(**row | {"tags": tuple(row["tags"])})
