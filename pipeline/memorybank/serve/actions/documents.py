"""Documents and their chunks. A document id may hold slashes: the greedy paths stand last."""

from typing import Annotated, Any

from fastapi import Query

from memorybank.audience import Viewer
from memorybank.errors import InvalidInput, NotFound
from memorybank.memory import MemoryBank
from memorybank.model import chunk_id
from memorybank.serve.calls import BANK, call
from memorybank.serve.http.schemas.documents import (
    ChunkResponse,
    DeleteDocumentResponse,
    DocumentEvent,
    DocumentHistoryResponse,
    DocumentPage,
    DocumentResponse,
    DocumentsQuery,
    ListChunksResponse,
    ListDocumentsResponse,
    ReprocessDocumentResponse,
    UpdateDocumentRequest,
    UpdateDocumentResponse,
)
from memorybank.serve.http.schemas.wire import stamp
from memorybank.storage import listings
from memorybank.storage.queries import Row

DOCUMENT = BANK + "/documents/{document_id:path}"


@call("GET", BANK + "/documents")
async def list_documents(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[DocumentsQuery, Query()]
) -> ListDocumentsResponse:
    """List documents, the last updated first, without their texts."""
    async with memory.reading(bank_id) as (connection, bank):
        found = await listings.list_documents(connection, bank.id, viewer, asked.q, asked.wanted, asked.page)
    items = [_list_item(bank_id, row) for row in found.rows]
    return ListDocumentsResponse(items=items, total=found.total, limit=asked.limit, offset=asked.offset)


def _list_item(bank_id: str, row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "bank_id": bank_id,
        "content_hash": row["content_hash"],
        "created_at": stamp(row["created_at"]),
        "updated_at": stamp(row["updated_at"]),
        "text_length": row["text_length"],
        "memory_unit_count": row["memory_unit_count"],
        "retain_params": row["retain_params"],
        "document_metadata": row["metadata"],
        "tags": row["tags"],
    }


@call("GET", "/v1/default/chunks/{chunk_id:path}")
async def get_chunk(memory: MemoryBank, viewer: Viewer, chunk_id: str) -> ChunkResponse:
    """Return one chunk."""
    async with memory.database.snapshot() as connection:
        row = await listings.get_chunk(connection, viewer, chunk_id)
    if not viewer.knows_of(row["bank_id"]):
        raise NotFound(f"Chunk '{chunk_id}' not found")
    return _chunk(row["bank_id"], row["document_id"], row)


@call("GET", DOCUMENT + "/chunks")
async def list_document_chunks(
    memory: MemoryBank,
    viewer: Viewer,
    bank_id: str,
    document_id: str,
    asked: Annotated[DocumentPage, Query()],
) -> ListChunksResponse:
    """List a document's chunks in order."""
    async with memory.reading(bank_id) as (connection, bank):
        row = await listings.get_document(connection, bank.id, viewer, document_id)
        found = await listings.list_chunks(connection, viewer, row["number"], asked.page)
    items = [_chunk(bank_id, document_id, row) for row in found.rows]
    return ListChunksResponse(items=items, total=found.total, limit=asked.limit, offset=asked.offset)


@call("GET", DOCUMENT + "/history")
async def get_document_history(
    memory: MemoryBank,
    viewer: Viewer,
    bank_id: str,
    document_id: str,
    asked: Annotated[DocumentPage, Query()],
) -> DocumentHistoryResponse:
    """List what was done to a document, the newest first."""
    async with memory.reading(bank_id) as (connection, bank):
        row = await listings.get_document(connection, bank.id, viewer, document_id)
        found = await listings.list_history(connection, viewer, row["number"], asked.page)
    items = [_event(document_id, row) for row in found.rows]
    return DocumentHistoryResponse(
        document_id=document_id, items=items, total=found.total, limit=asked.limit, offset=asked.offset
    )


def _event(document_id: str, row: Row) -> DocumentEvent:
    return DocumentEvent(
        document_id=document_id,
        kind=row["kind"],
        created_at=row["created_at"].isoformat(),
        operation_id=str(row["operation"]) if row["operation"] else None,
        fact_id=str(row["fact"]) if row["fact"] else None,
        facts_added=row["facts_added"],
        facts_removed=row["facts_removed"],
    )


@call("POST", DOCUMENT + "/reprocess")
async def reprocess_document(
    memory: MemoryBank, viewer: Viewer, bank_id: str, document_id: str
) -> ReprocessDocumentResponse:
    """Read a stored document again in the background; what is known of it stays until then."""
    submitted = await memory.reprocess_document(bank_id, document_id, viewer)
    return ReprocessDocumentResponse(
        success=True, operation_id=str(submitted.operation_id), items_count=submitted.items_count
    )


def _chunk(bank_id: str, document_id: str, row: Row) -> ChunkResponse:
    return ChunkResponse(
        chunk_id=chunk_id(bank_id, document_id, row["ordinal"], row["id"], row["is_placed"]),
        document_id=document_id,
        bank_id=bank_id,
        chunk_index=row["ordinal"],
        chunk_text=row["text"] or "",
        created_at=row["created_at"].isoformat(),
    )


@call("GET", DOCUMENT)
async def get_document(
    memory: MemoryBank, viewer: Viewer, bank_id: str, document_id: str
) -> DocumentResponse:
    """Return one document with its text."""
    async with memory.reading(bank_id) as (connection, bank):
        row = await listings.get_document(connection, bank.id, viewer, document_id)
    counts: dict[str, int] = row["nodes_by_fact_type"]
    return DocumentResponse(
        id=row["id"],
        bank_id=bank_id,
        original_text=row["original_text"],
        content_hash=row["content_hash"],
        created_at=row["created_at"].isoformat(),
        updated_at=row["updated_at"].isoformat(),
        memory_unit_count=sum(counts.values()),
        nodes_by_fact_type=counts,
        tags=row["tags"],
        document_metadata=row["metadata"],
        retain_params=row["retain_params"],
        observation_scopes=row["observation_scopes"],
    )


@call("PATCH", DOCUMENT)
async def update_document(
    memory: MemoryBank, viewer: Viewer, bank_id: str, document_id: str, body: UpdateDocumentRequest
) -> UpdateDocumentResponse:
    """Replace the tags of a document and of all its facts."""
    if body.tags is None:
        raise InvalidInput("tags must be given", loc=("body", "tags"))
    await memory.retag_document(bank_id, document_id, tuple(body.tags), viewer)
    return UpdateDocumentResponse()


@call("DELETE", DOCUMENT)
async def delete_document(
    memory: MemoryBank, viewer: Viewer, bank_id: str, document_id: str
) -> DeleteDocumentResponse:
    """Forget a document with its chunks and facts."""
    deleted = await memory.delete_document(bank_id, document_id, viewer)
    return DeleteDocumentResponse(
        success=True,
        message=f"Document '{document_id}' and {deleted} associated memory units deleted successfully",
        document_id=document_id,
        memory_units_deleted=deleted,
    )
