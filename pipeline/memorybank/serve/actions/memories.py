"""Retain, recall, and the memories themselves."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Query

from memorybank.audience import Principal, Viewer
from memorybank.errors import BadRequest, InvalidInput
from memorybank.memory import MemoryBank
from memorybank.model import FactType, UnitStatus, chunk_id
from memorybank.serve.actions.observations import cited
from memorybank.serve.actions.translate import (
    STATES,
    edit,
    recall_query,
    recall_response,
    retain_items,
    usage,
    uuid_of,
)
from memorybank.serve.calls import BANK, Rule, call
from memorybank.serve.http.schemas.memories import (
    ClearQuery,
    ForgottenResponse,
    ListMemoryUnitsResponse,
    MemoriesQuery,
    MemoryUnitResponse,
    RetainRequest,
    RetainResponse,
    UpdateMemoryRequest,
)
from memorybank.serve.http.schemas.observations import SourceMemory
from memorybank.serve.http.schemas.recall import RecallRequest, RecallResponse
from memorybank.serve.http.schemas.wire import DeleteResponse, stamp
from memorybank.storage import listings, observations
from memorybank.storage.queries import Row

CONSOLIDATION_STATES = ("failed", "pending", "done")


@call("POST", BANK + "/memories", command="retain", rule=Rule.USES)
async def retain_memories(
    memory: MemoryBank, principal: Principal, bank_id: str, body: RetainRequest
) -> RetainResponse:
    """Keep items: now, or with `async` in the background. The bank appears on first use.

    What was said in a `place` is for those who are there, else, or as `audience` says, for all who use the bank.
    """
    items = retain_items(body)
    audience = await memory.audience_at(principal, bank_id, body.place, body.audience)
    answer: dict[str, Any] = {"success": True, "bank_id": bank_id, "async": body.async_}
    if not body.async_:
        kept = await memory.retain(bank_id, items, audience)
        return RetainResponse(**answer, items_count=kept.items_count, usage=usage(kept.usage))
    key = _key(body.operation_id) if body.operation_id else None
    queued = await memory.submit(bank_id, items, operation_id=key, audience=audience)
    ids = [str(id_) for id_ in queued.operation_ids]
    answer["operation_ids"] = ids if len(ids) > 1 else None
    return RetainResponse(**answer, items_count=queued.items_count, operation_id=ids[0])


@call("POST", BANK + "/memories/recall", command="recall", reads=True)
async def recall_memories(
    memory: MemoryBank, viewer: Viewer, principal: Principal, bank_id: str, body: RecallRequest
) -> RecallResponse:
    """Find what is remembered. A bank that is not there remembers nothing.

    With a `place` what applies there: first the facts that people and agents keep, at most 40, pinned ones before.
    """
    if body.place is not None:
        viewer = await memory.viewer_at(principal, bank_id, body.place)
    return recall_response(await memory.recall(bank_id, recall_query(body), viewer))


@call("GET", BANK + "/memories/list")
async def list_memories(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[MemoriesQuery, Query()]
) -> ListMemoryUnitsResponse:
    """List memories, the last mentioned first."""
    if asked.consolidation_state not in (None, *CONSOLIDATION_STATES):
        raise BadRequest(f"consolidation_state must be one of: {', '.join(CONSOLIDATION_STATES)}")
    if asked.state not in (None, *STATES):
        raise BadRequest(f"state must be one of: {', '.join(STATES)}")
    conditions = listings.MemoryFilter(
        fact_type=asked.type,
        q=asked.q,
        status=STATES[asked.state or "valid"],
        consolidation_state=asked.consolidation_state,
        document_id=asked.document_id,
        entity_id=uuid_of(asked.entity_id, "entity_id") if asked.entity_id else None,
        tags=asked.wanted,
    )
    async with memory.reading(bank_id) as (connection, bank):
        found = await listings.list_memories(connection, bank.id, viewer, conditions, asked.page)
    items = [_list_item(bank_id, row) for row in found.rows]
    return ListMemoryUnitsResponse(items=items, total=found.total, limit=asked.limit, offset=asked.offset)


@call("GET", BANK + "/memories/{memory_id}")
async def get_memory(memory: MemoryBank, viewer: Viewer, bank_id: str, memory_id: str) -> MemoryUnitResponse:
    """Return one memory."""
    return await _memory(memory, viewer, bank_id, uuid_of(memory_id, "memory_id"))


@call("PATCH", BANK + "/memories/{memory_id}", command="edit")
async def update_memory(
    memory: MemoryBank, viewer: Viewer, bank_id: str, memory_id: str, body: UpdateMemoryRequest
) -> MemoryUnitResponse:
    """Correct a fact, or take it out of recall (state invalidated) and back (valid); return it as it is now.

    What was learned from it goes, and is learned anew from what it says now. A correction stays when the text is read
    again.
    """
    unit = uuid_of(memory_id, "memory_id")
    await memory.edit(bank_id, unit, edit(body), viewer)
    return await _memory(memory, viewer, bank_id, unit)


async def _memory(memory: MemoryBank, viewer: Viewer, bank_id: str, unit: UUID) -> MemoryUnitResponse:
    async with memory.reading(bank_id) as (connection, bank):
        row = await listings.get_memory(connection, bank.id, viewer, unit)
        sources = await observations.sources(connection, unit, viewer)
    more = {name: row[name] for name in ("entities", "mentioned_in")}
    if row["fact_type"] == FactType.OBSERVATION:
        more |= _evidence(sources)
    return MemoryUnitResponse(**_shared(bank_id, row), **more, type=row["fact_type"])


def _evidence(sources: list[Row]) -> dict[str, Any]:
    """Return the fields of an observation that say what it stands on."""
    stated = [
        SourceMemory(
            **cited(source),
            occurred_start=stamp(source["occurred_start"]),
            mentioned_at=stamp(source["mentioned_at"]),
        )
        for source in sources
    ]
    return {"history": [], "source_memory_ids": [one.id for one in stated], "source_memories": stated}


@call("DELETE", BANK + "/memories/{memory_id}", command="forget")
async def forget_memory(
    memory: MemoryBank, viewer: Viewer, bank_id: str, memory_id: str
) -> ForgottenResponse:
    """Forget one memory with all that was learned from it, and say what went.

    Its document stays; recall shows the texts that say it no more.
    """
    erased = await memory.forget(bank_id, uuid_of(memory_id, "memory_id"), viewer)
    return ForgottenResponse(**vars(erased) | {"memory": str(erased.memory)})


@call("DELETE", BANK + "/memories")
async def clear_bank_memories(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[ClearQuery, Query()]
) -> DeleteResponse:
    """Forget all memories of a bank, or those of one type; its profile and configuration stay."""
    return DeleteResponse(success=True, deleted_count=await memory.clear(bank_id, asked.type, viewer))


def _shared(bank_id: str, row: Row) -> dict[str, Any]:
    """Return the fields that the list and the single memory share."""
    invalidated = row["status"] == UnitStatus.INVALIDATED
    document, ordinal = row["document_id"], row["chunk_ordinal"]
    return {
        "id": str(row["id"]),
        "text": row["text"],
        "context": row["context"],
        "date": stamp(row["occurred_start"] or row["mentioned_at"]) or "",
        "document_id": document,
        "mentioned_at": stamp(row["mentioned_at"]),
        "occurred_start": stamp(row["occurred_start"]),
        "occurred_end": stamp(row["occurred_end"]),
        "chunk_id": None
        if ordinal is None
        else chunk_id(bank_id, document, ordinal, row["chunk"], row["is_placed"]),
        "tags": row["tags"],
        "metadata": row["metadata"],
        "observation_scopes": row["observation_scopes"],
        "proof_count": row["proof_count"],
        "state": "invalidated" if invalidated else "valid",
        "invalidation_reason": row["status_reason"] if invalidated else None,
        "invalidated_at": stamp(row["status_at"]) if invalidated else None,
        "edited_at": stamp(row["edited_at"]),
    }


def _list_item(bank_id: str, row: Row) -> dict[str, Any]:
    return _shared(bank_id, row) | {
        "fact_type": row["fact_type"],
        "entities": ", ".join(row["entities"]),
        "consolidated_at": stamp(row["consolidated_at"]),
        "consolidation_failed_at": stamp(row["consolidation_failed_at"]),
        "updated_at": stamp(row["updated_at"]),
        "source_memory_ids": [str(source) for source in row["source_memory_ids"]],
    }


def _key(operation_id: str) -> UUID:
    """Return the client's key of a request."""
    try:
        return UUID(operation_id)
    except ValueError as error:
        raise InvalidInput("must be a UUID", loc=("body", "operation_id"), value=operation_id) from error
