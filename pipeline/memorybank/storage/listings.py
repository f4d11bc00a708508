"""Lists and counts for people and clients: pages of memories, documents, chunks, entities and tags.

What is asked for is brought into the normal form in which texts are stored: NUL never reaches PostgreSQL, and an
accent is found however it was typed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.storage.banks import MAX_ID_CHARS
from memorybank.storage.queries import Connection, Row, fetch_all, fetch_one, fetch_row
from memorybank.text import normalize

#: Longest id of a chunk: a bank's, a document's (as long at most), the ordinal. Each "_" of it is a place to try.
MAX_CHUNK_ID_CHARS = 2 * MAX_ID_CHARS + 12
#: The id of a chunk that is not for the whole bank.
PLACED_CHUNK = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Page:
    """Which rows of a list: `limit` 0 gives none, with the total."""

    limit: int = 100
    offset: int = 0

    def parameters(self) -> Mapping[str, int]:
        """Return the two SQL parameters."""
        return {"limit": self.limit, "offset": self.offset}


@dataclass(frozen=True)
class TagFilter:
    """Tags asked for and how they must match."""

    tags: tuple[str, ...] = ()
    match: str = "any"

    def parameters(self) -> Mapping[str, Any]:
        """Return the two SQL parameters."""
        return {"tags": [normalize(tag) for tag in self.tags], "tags_match": self.match}


@dataclass(frozen=True)
class MemoryFilter:
    """Conditions of a memory list; None leaves one out."""

    fact_type: str | None = None
    q: str | None = None
    status: str = "active"
    consolidation_state: str | None = None
    document_id: str | None = None
    entity_id: UUID | None = None
    tags: TagFilter = field(default_factory=TagFilter)

    def parameters(self) -> Mapping[str, Any]:
        """Return the SQL parameters."""
        return {
            "fact_type": self.fact_type,
            "q": _normal(self.q),
            "status": self.status,
            "consolidation_state": self.consolidation_state,
            "document_id": _normal(self.document_id),
            "entity_id": self.entity_id,
            **self.tags.parameters(),
        }


@dataclass(frozen=True)
class Listing:
    """Rows of one page and how many there are in all."""

    rows: list[Row]
    total: int


@dataclass(frozen=True)
class BankCounts:
    """What a bank holds, as far as the viewer may see: rows of the four counting queries."""

    units: list[Row]
    links: Mapping[str, int]
    operations: Mapping[str, int]
    documents: int


def _normal(asked: str | None) -> str | None:
    return None if asked is None else normalize(asked)


async def _listing(connection: Connection, name: str, viewer: Viewer, page: Page, **asked: Any) -> Listing:
    """Return a page of what a query lists, the total taken out of the rows; an empty page is one row of nulls."""
    rows = await fetch_all(connection, name, {**asked, **viewer.parameters(), **page.parameters()})
    return Listing([row for row in rows if row["id"] is not None], rows[0]["total"])


async def list_memories(
    connection: Connection, bank: int, viewer: Viewer, conditions: MemoryFilter, page: Page
) -> Listing:
    """Return memories, the last mentioned first."""
    asked = conditions.parameters()
    return await _listing(connection, "listings.list_memories", viewer, page, bank=bank, **asked)


async def get_memory(connection: Connection, bank: int, viewer: Viewer, unit: UUID) -> Row:
    """Return one memory in any state; raises NotFound."""
    row = await fetch_one(
        connection, "listings.get_memory", {"bank": bank, "id": unit, **viewer.parameters()}
    )
    if row is None:
        raise NotFound(f"Memory {unit} not found")
    return row


async def list_tags(
    connection: Connection,
    bank: int,
    viewer: Viewer,
    pattern: str | None,
    page: Page,
    of: Literal["memories", "mental_models"] = "memories",
) -> Listing:
    """Return tags, the most used first; `*` in the pattern stands for any text, case never matters.

    `of`: those of memories, or those of mental models.
    """
    like = _like(pattern) if pattern else None
    return await _listing(connection, "listings.list_tags", viewer, page, bank=bank, pattern=like, of=of)


def _like(pattern: str) -> str:
    escaped = normalize(pattern).lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped.replace("*", "%")


async def list_documents(
    connection: Connection, bank: int, viewer: Viewer, q: str | None, tags: TagFilter, page: Page
) -> Listing:
    """Return documents without their texts, the last updated first."""
    asked = {"bank": bank, "q": _normal(q), **tags.parameters()}
    return await _listing(connection, "listings.list_documents", viewer, page, **asked)


async def get_document(connection: Connection, bank: int, viewer: Viewer, document_id: str) -> Row:
    """Return one document with its text, the oldest with this id that the viewer may see; raises NotFound."""
    parameters = {"bank": bank, "id": normalize(document_id), **viewer.parameters()}
    row = await fetch_one(connection, "listings.get_document", parameters)
    if row is None:
        raise NotFound(f"Document '{document_id}' not found")
    return row


async def list_chunks(connection: Connection, viewer: Viewer, document: int, page: Page) -> Listing:
    """Return a document's chunks, by its number, in order."""
    return await _listing(connection, "listings.list_chunks", viewer, page, document=document)


async def list_history(connection: Connection, viewer: Viewer, document: int, page: Page) -> Listing:
    """Return what was done to a document, by its number; the newest act first."""
    return await _listing(connection, "history.of_document", viewer, page, document=document)


async def get_chunk(connection: Connection, viewer: Viewer, chunk_id: str) -> Row:
    """Return a chunk by its public id, see `model.chunk_id`; raises NotFound."""
    if PLACED_CHUNK.fullmatch(chunk_id):
        placed = {"chunk": chunk_id, **viewer.parameters()}
        if row := await fetch_one(connection, "listings.get_placed_chunk", placed):
            return row
    head, _, ordinal = normalize(chunk_id[:MAX_CHUNK_ID_CHARS]).rpartition("_")
    cuts = [index for index, char in enumerate(head) if char == "_"]
    if len(chunk_id) > MAX_CHUNK_ID_CHARS or not re.fullmatch(r"[0-9]{1,9}", ordinal) or not cuts:
        raise NotFound(f"Chunk '{chunk_id}' not found")
    parameters = {
        "banks": [head[:cut] for cut in cuts],
        "documents": [head[cut + 1 :] for cut in cuts],
        "ordinal": int(ordinal),
        **viewer.parameters(),
    }
    row = await fetch_one(connection, "listings.get_chunk", parameters)
    if row is None:
        raise NotFound(f"Chunk '{chunk_id}' not found")
    return row


async def list_entities(
    connection: Connection, bank: int, viewer: Viewer, tags: TagFilter, page: Page, entity: UUID | None = None
) -> Listing:
    """Return entities that visible memories name, the most mentioned first; or the one asked for."""
    asked = {"bank": bank, "entity_id": entity, **tags.parameters()}
    return await _listing(connection, "listings.list_entities", viewer, page, **asked)


async def get_entity(connection: Connection, bank: int, viewer: Viewer, entity: UUID, tags: TagFilter) -> Row:
    """Return one entity, if a visible memory names it; raises NotFound."""
    found = await list_entities(connection, bank, viewer, tags, Page(limit=1), entity)
    if not found.rows:
        raise NotFound(f"Entity {entity} not found")
    return found.rows[0]


async def count_bank(connection: Connection, bank: int, viewer: Viewer) -> BankCounts:
    """Return what a bank holds."""
    parameters = {"bank": bank, **viewer.parameters()}
    links = await fetch_all(connection, "listings.count_links", parameters)
    operations = await fetch_all(connection, "listings.count_operations", parameters)
    documents = await fetch_row(connection, "listings.count_documents", parameters)
    return BankCounts(
        units=await fetch_all(connection, "listings.count_units", parameters),
        links={row["kind"]: row["links"] for row in links},
        operations={row["status"]: row["operations"] for row in operations},
        documents=documents["documents"],
    )


async def count_live_operations(connection: Connection) -> list[Row]:
    """Return how much work of each kind is not done, over all banks (for /metrics)."""
    return await fetch_all(connection, "listings.count_live_operations", {})
