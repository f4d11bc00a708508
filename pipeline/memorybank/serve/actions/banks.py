"""Banks: profile, configuration, statistics, tags."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel

from memorybank.audience import Principal, Viewer
from memorybank.errors import NotFound
from memorybank.memory import MemoryBank
from memorybank.model import Bank
from memorybank.serve.calls import BANK, call
from memorybank.serve.http.schemas.banks import (
    BankConfigResponse,
    BankConfigUpdate,
    BankListItem,
    BankListResponse,
    BankProfileResponse,
    BankStatsResponse,
    CreateBankRequest,
    DispositionTraits,
    ListTagsResponse,
    StatsQuery,
    TagItem,
    TagsQuery,
    UpdateDispositionRequest,
)
from memorybank.serve.http.schemas.wire import DeleteResponse, SearchQuery, stamp
from memorybank.settings import BankConfig, overrides_from_profile
from memorybank.storage import banks, listings


@call("GET", "/v1/default/banks", command="banks")
async def list_banks(
    memory: MemoryBank, viewer: Viewer, principal: Principal, asked: Annotated[SearchQuery, Query()]
) -> BankListResponse:
    """List banks, the last written first; `q` finds a part of the id or name.

    Of a bank that somebody only knows of they see the name: how it is set is for those who use it.
    """
    async with memory.database.snapshot() as connection:
        found = await banks.list_(connection, viewer, asked.q, asked.limit, asked.offset)
    return BankListResponse(
        banks=[_list_item(memory, item, principal.uses(item.bank.bank_id)) for item in found.banks],
        total=found.total,
        limit=asked.limit,
        offset=asked.offset,
    )


def _list_item(memory: MemoryBank, item: banks.BankListing, used: bool) -> BankListItem:
    config = memory.config_of(item.bank) if used else memory.settings.bank
    return BankListItem(
        bank_id=item.bank.bank_id,
        name=item.bank.name,
        disposition=_disposition(config),
        mission=config.reflect_mission or "",
        created_at=stamp(item.bank.created_at),
        updated_at=stamp(item.bank.updated_at if used else item.bank.created_at),
        fact_count=item.fact_count,
        last_document_at=stamp(item.last_document_at),
        last_write_at=stamp(item.last_write_at),
    )


@call("PUT", BANK)
async def create_or_update_bank(
    memory: MemoryBank, bank_id: str, body: CreateBankRequest
) -> BankProfileResponse:
    """Create a bank, or update the one that is there."""
    return await _save(memory, bank_id, body, create=True)


@call("PATCH", BANK)
async def update_bank(memory: MemoryBank, bank_id: str, body: CreateBankRequest) -> BankProfileResponse:
    """Update a bank; an unknown one is 404."""
    return await _save(memory, bank_id, body, create=False)


@call("PUT", BANK + "/profile")
async def update_bank_disposition(
    memory: MemoryBank, bank_id: str, body: UpdateDispositionRequest
) -> BankProfileResponse:
    """Set a bank's three traits."""
    return await _save(memory, bank_id, body, create=True)


async def _save(memory: MemoryBank, bank_id: str, body: BaseModel, *, create: bool) -> BankProfileResponse:
    given = body.model_dump(exclude_unset=True, include=set(type(body).model_fields))
    name = given.pop("name", None)
    bank = await memory.save_bank(bank_id, name, overrides_from_profile(given), create=create)
    return _profile(memory, bank)


@call("GET", BANK + "/profile")
async def get_bank_profile(memory: MemoryBank, bank_id: str) -> BankProfileResponse:
    """Return a bank's name, mission and traits."""
    return _profile(memory, await memory.bank(bank_id))


def _profile(memory: MemoryBank, bank: Bank) -> BankProfileResponse:
    config = memory.config_of(bank)
    mission = config.reflect_mission or ""
    return BankProfileResponse(
        bank_id=bank.bank_id,
        name=bank.name,
        disposition=_disposition(config),
        mission=mission,
        background=mission,
    )


def _disposition(config: BankConfig) -> DispositionTraits:
    return DispositionTraits(**config.disposition._asdict())


@call("DELETE", BANK)
async def delete_bank(memory: MemoryBank, bank_id: str) -> DeleteResponse:
    """Delete a bank with all that is in it; an unknown one is already gone."""
    deleted = await memory.delete_bank(bank_id)
    message = f"Bank '{bank_id}' and all associated data deleted successfully"
    return DeleteResponse(success=True, message=message, deleted_count=deleted)


@call("GET", BANK + "/config")
async def get_bank_config(memory: MemoryBank, bank_id: str) -> BankConfigResponse:
    """Return every per-bank field as it holds now, and this bank's own overrides; works for an unknown bank too."""
    _check_switched_on(memory)
    try:
        bank = await memory.bank(bank_id)
    except NotFound:
        return _config(memory, bank_id, None)
    return _config(memory, bank_id, bank)


@call("PATCH", BANK + "/config")
async def update_bank_config(memory: MemoryBank, bank_id: str, body: BankConfigUpdate) -> BankConfigResponse:
    """Set or clear (null) overrides: all of them, or with one bad key none."""
    _check_switched_on(memory)
    bank = await memory.save_bank(bank_id, None, body.updates, create=True)
    return _config(memory, bank_id, bank)


@call("DELETE", BANK + "/config")
async def reset_bank_config(memory: MemoryBank, bank_id: str) -> BankConfigResponse:
    """Clear every override of a bank."""
    _check_switched_on(memory)
    return _config(memory, bank_id, await memory.reset_config(bank_id))


def _check_switched_on(memory: MemoryBank) -> None:
    if not memory.settings.server.bank_config_api:
        raise NotFound("configuring banks over HTTP is switched off (server.bank_config_api)")


def _config(memory: MemoryBank, bank_id: str, bank: Bank | None) -> BankConfigResponse:
    resolved = memory.config_of(bank) if bank else memory.settings.bank
    return BankConfigResponse(
        bank_id=bank_id, config=resolved.model_dump(mode="json"), overrides=dict(bank.config) if bank else {}
    )


@call("GET", BANK + "/tags")
async def list_tags(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[TagsQuery, Query()]
) -> ListTagsResponse:
    """List tags, the most used first; `*` in `q` stands for any text."""
    page = asked.page
    async with memory.reading(bank_id) as (connection, bank):
        found = await listings.list_tags(connection, bank.id, viewer, asked.q, page, asked.source)
    items = [TagItem(tag=row["id"], count=row["count"]) for row in found.rows]
    return ListTagsResponse(items=items, total=found.total, limit=page.limit, offset=page.offset)


@call("GET", BANK + "/stats")
async def get_agent_stats(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[StatsQuery, Query()]
) -> BankStatsResponse:
    """Count what a bank holds."""
    async with memory.reading(bank_id) as (connection, bank):
        counts = await listings.count_bank(connection, bank.id, viewer)
    nodes = {row["fact_type"]: row["units"] for row in counts.units}
    operations = counts.operations
    return BankStatsResponse(
        bank_id=bank_id,
        total_nodes=sum(nodes.values()),
        total_links=sum(counts.links.values()),
        total_documents=counts.documents,
        nodes_by_fact_type=nodes,
        links_by_link_type=dict(counts.links),
        links_by_fact_type={},
        links_breakdown={},
        pending_operations=operations.get("pending", 0) + operations.get("processing", 0),
        failed_operations=operations.get("failed", 0),
        operations_by_status=dict(operations),
        last_consolidated_at=_latest(counts, "last_consolidated_at"),
        last_memory_write_at=_latest(counts, "last_write_at"),
        pending_consolidation=sum(row["pending_consolidation"] for row in counts.units),
        failed_consolidation=sum(row["failed_consolidation"] for row in counts.units),
        total_observations=nodes.get("observation", 0),
    )


def _latest(counts: listings.BankCounts, column: str) -> str | None:
    return stamp(max((row[column] for row in counts.units if row[column]), default=None))
