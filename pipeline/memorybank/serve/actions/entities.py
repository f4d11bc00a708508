"""Entities: who and what the memories name."""

from typing import Annotated, Any

from fastapi import Query

from memorybank.audience import Viewer
from memorybank.memory import MemoryBank
from memorybank.serve.actions.translate import uuid_of
from memorybank.serve.calls import BANK, call
from memorybank.serve.http.schemas.documents import (
    EntityDetailResponse,
    EntityListItem,
    EntityListResponse,
    EntityQuery,
)
from memorybank.serve.http.schemas.wire import TaggedQuery, stamp
from memorybank.storage import listings
from memorybank.storage.queries import Row


@call("GET", BANK + "/entities")
async def list_entities(
    memory: MemoryBank,
    viewer: Viewer,
    bank_id: str,
    asked: Annotated[TaggedQuery, Query()],
) -> EntityListResponse:
    """List entities, the most mentioned first."""
    wanted = listings.TagFilter(tuple(asked.tags or ()), asked.tags_match)
    async with memory.reading(bank_id) as (connection, bank):
        found = await listings.list_entities(
            connection, bank.id, viewer, wanted, listings.Page(asked.limit, asked.offset)
        )
    items = [EntityListItem(**_fields(row)) for row in found.rows]
    return EntityListResponse(items=items, total=found.total, limit=asked.limit, offset=asked.offset)


@call("GET", BANK + "/entities/{entity_id}")
async def get_entity(
    memory: MemoryBank,
    viewer: Viewer,
    bank_id: str,
    entity_id: str,
    asked: Annotated[EntityQuery, Query()],
) -> EntityDetailResponse:
    """Return one entity."""
    entity = uuid_of(entity_id, "entity_id")
    wanted = listings.TagFilter(tuple(asked.tags or ()), asked.tags_match)
    async with memory.reading(bank_id) as (connection, bank):
        row = await listings.get_entity(connection, bank.id, viewer, entity, wanted)
    return EntityDetailResponse(**_fields(row), observations=[])


def _fields(row: Row) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "canonical_name": row["name"],
        "mention_count": row["mention_count"],
        "first_seen": stamp(row["first_seen"]),
        "last_seen": stamp(row["last_seen"]),
        "metadata": row["metadata"],
    }
