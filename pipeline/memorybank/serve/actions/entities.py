"""Entities: who and what the memories name."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Query

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import InvalidInput
from memorybank.memory import MemoryBank
from memorybank.serve.actions.translate import uuid_of
from memorybank.serve.calls import BANK, Rule, call
from memorybank.serve.http.schemas.documents import (
    EntityAlias,
    EntityDetailResponse,
    EntityListItem,
    EntityListResponse,
    EntityQuery,
    MergeEntityRequest,
    UnmergeEntityResponse,
)
from memorybank.serve.http.schemas.wire import TaggedQuery, stamp
from memorybank.storage import listings, merges
from memorybank.storage.queries import Connection, Row

#: No condition.
EVERYTHING = listings.TagFilter()


@call("GET", BANK + "/entities", command="entities")
async def list_entities(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[TaggedQuery, Query()]
) -> EntityListResponse:
    """List entities, the most mentioned first."""
    async with memory.reading(bank_id) as (connection, bank):
        found = await listings.list_entities(connection, bank.id, viewer, asked.wanted, asked.page)
    items = [EntityListItem(**_fields(row)) for row in found.rows]
    return EntityListResponse(items=items, total=found.total, limit=asked.limit, offset=asked.offset)


@call("GET", BANK + "/entities/{entity_id}")
async def get_entity(
    memory: MemoryBank, viewer: Viewer, bank_id: str, entity_id: str, asked: Annotated[EntityQuery, Query()]
) -> EntityDetailResponse:
    """Return one entity."""
    entity = uuid_of(entity_id, "entity_id")
    async with memory.reading(bank_id) as (connection, bank):
        return await _detail(connection, bank.id, viewer, entity, asked.wanted)


@call("POST", BANK + "/entities/{entity_id}/merge", command="merge", rule=Rule.USES)
async def merge_entity(
    memory: MemoryBank, viewer: Viewer, bank_id: str, entity_id: str, body: MergeEntityRequest
) -> EntityDetailResponse:
    """Let an entity count as another (`into`), or names count as it (`names`); return what they count as now.

    A name that is an entity of its own is refused (409): that one is merged by its id. New mentions follow. Each is
    taken back by unmerging the entity that was merged: `aliases` has its id.
    """
    entity = uuid_of(entity_id, "entity_id")
    into = uuid_of(body.into, "into") if body.into else None
    if bool(into) == bool(body.names):
        raise InvalidInput("give the other entity as `into`, or `names`", loc=("body",))
    async with memory.changing(bank_id) as (connection, bank):
        if into:
            await merges.merge(connection, bank.id, entity, into, viewer)
        else:
            await merges.call(connection, bank.id, entity, body.names or (), viewer, clock.now())
        return await _detail(connection, bank.id, viewer, into or entity)


@call("POST", BANK + "/entities/{entity_id}/unmerge", command="unmerge", rule=Rule.USES)
async def unmerge_entity(
    memory: MemoryBank, viewer: Viewer, bank_id: str, entity_id: str
) -> UnmergeEntityResponse:
    """Take an entity out of what it was merged into: what was said under its names is its own again."""
    entity = uuid_of(entity_id, "entity_id")
    async with memory.changing(bank_id) as (connection, bank):
        await merges.unmerge(connection, bank.id, entity, viewer)
    return UnmergeEntityResponse(success=True)


async def _detail(
    connection: Connection, bank: int, viewer: Viewer, entity: UUID, wanted: listings.TagFilter = EVERYTHING
) -> EntityDetailResponse:
    row = await listings.get_entity(connection, bank, viewer, entity, wanted)
    aliases = [
        EntityAlias(name=alias["name"], entity_id=str(alias["entity"]) if alias["entity"] else None)
        for alias in await merges.aliases(connection, bank, entity, viewer)
    ]
    return EntityDetailResponse(**_fields(row), observations=[], aliases=aliases)


def _fields(row: Row) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "canonical_name": row["name"],
        "mention_count": row["mention_count"],
        "first_seen": stamp(row["first_seen"]),
        "last_seen": stamp(row["last_seen"]),
        "metadata": row["metadata"],
    }
