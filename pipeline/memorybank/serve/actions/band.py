"""Band's memories: what agents store and read, and what people see of it, archive, restore and delete."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Query

from memorybank.audience import PlaceKind, Principal
from memorybank.curate.band import Shown, subject_of
from memorybank.curate.shared import NewMemory, for_agent, for_person
from memorybank.errors import NotFound
from memorybank.indexing import index_terms
from memorybank.memory import MemoryBank
from memorybank.model import UnitStatus
from memorybank.serve.calls import Rule, call
from memorybank.serve.cursors import cursor
from memorybank.serve.http.schemas.band import (
    AgentMemoriesQuery,
    AgentMemory,
    AgentMemoryListResponse,
    AgentMemoryResponse,
    CreateMemoryRequest,
    CursorMeta,
    MemoriesQuery,
    NumberMeta,
    UserMemoriesQuery,
    UserMemory,
    UserMemoryListResponse,
    UserMemoryResponse,
)
from memorybank.serve.http.schemas.facts import Nothing
from memorybank.serve.http.schemas.wire import stamp
from memorybank.storage.directory import id_of
from memorybank.storage.stated import Asked, Listing, Memory, Taxonomy

AGENT, ME = "/api/v1/agent/memories", "/api/v1/me/memories"


@call("GET", AGENT, rule=Rule.AGENT, planned=True)
async def list_agent_memories(
    memory: MemoryBank, principal: Principal, asked: Annotated[AgentMemoriesQuery, Query()]
) -> AgentMemoryListResponse:
    """List the memories that an agent stored, or those of its organization, the newest first."""
    wanted = for_agent(_asked(asked), principal, asked.scope, asked.memory_scope, asked.subject_id)
    found = await memory.band.list_(principal, wanted, asked.wanted)
    shown, meta = _page(asked, found)
    return AgentMemoryListResponse(
        data=[AgentMemory(**_said(one)) for one in shown], meta=meta, metadata=meta
    )


@call("POST", AGENT, status=201, rule=Rule.AGENT, planned=True)
async def create_agent_memory(
    memory: MemoryBank, principal: Principal, body: CreateMemoryRequest
) -> AgentMemoryResponse:
    """Store a memory, for the agent itself, about somebody, or for its organization."""
    told = body.memory
    taxonomy = Taxonomy(told.system, told.type, told.segment, told.thought, told.metadata)
    new = NewMemory(told.content, taxonomy, told.scope, told.subject_id, told.chat_room_id)
    [bank_id] = principal.agents.values()
    return _agents(await memory.band.store(await memory.shelf(bank_id, made=True), principal, new))


@call("GET", AGENT + "/{memory_id}", rule=Rule.AGENT, planned=True)
async def get_agent_memory(memory: MemoryBank, principal: Principal, memory_id: str) -> AgentMemoryResponse:
    """Return a memory that an agent may read."""
    return _agents(await memory.band.get(principal, _id(memory_id)))


@call("POST", AGENT + "/{memory_id}/supersede", rule=Rule.AGENT, planned=True)
async def supersede_agent_memory(
    memory: MemoryBank, principal: Principal, memory_id: str
) -> AgentMemoryResponse:
    """Say that a memory, which the agent has stored, is outdated or wrong."""
    return _agents(await memory.band.set_status(principal, _id(memory_id), UnitStatus.SUPERSEDED))


@call("POST", AGENT + "/{memory_id}/archive", rule=Rule.AGENT, planned=True)
async def archive_agent_memory(
    memory: MemoryBank, principal: Principal, memory_id: str
) -> AgentMemoryResponse:
    """Put a memory away, which the agent has stored; people can restore it."""
    return _agents(await memory.band.set_status(principal, _id(memory_id), UnitStatus.ARCHIVED))


@call("GET", ME, rule=Rule.PERSON, planned=True)
async def list_user_memories(
    memory: MemoryBank, principal: Principal, asked: Annotated[UserMemoriesQuery, Query()]
) -> UserMemoryListResponse:
    """List what is about a person, their organization's, private to their agents, or said where they are."""
    room = None if asked.chat_room_id is None else await memory.band.room(asked.chat_room_id)
    author = None if asked.source_agent_id is None else id_of("agent", asked.source_agent_id)
    wanted = for_person(_asked(asked, author=author), principal, asked.scope, room)
    shown, meta = _page(asked, await memory.band.list_(principal, wanted, asked.wanted))
    data = [_user(one) for one in await memory.band.shown(principal, shown)]
    return UserMemoryListResponse(data=data, meta=meta, metadata=meta)


@call("GET", ME + "/{memory_id}", rule=Rule.PERSON, planned=True)
async def get_user_memory(memory: MemoryBank, principal: Principal, memory_id: str) -> UserMemoryResponse:
    """Return a memory that a person may read."""
    return await _users(memory, principal, await memory.band.get(principal, _id(memory_id)))


@call("DELETE", ME + "/{memory_id}", status=204, rule=Rule.PERSON, planned=True)
async def delete_user_memory(memory: MemoryBank, principal: Principal, memory_id: str) -> Nothing:
    """Forget a memory with all that was learned from it."""
    await memory.band.delete(principal, _id(memory_id))
    return Nothing()


@call("POST", ME + "/{memory_id}/supersede", rule=Rule.PERSON, planned=True)
async def supersede_user_memory(
    memory: MemoryBank, principal: Principal, memory_id: str
) -> UserMemoryResponse:
    """Say that a memory is outdated or wrong."""
    return await _changed(memory, principal, memory_id, UnitStatus.SUPERSEDED)


@call("POST", ME + "/{memory_id}/archive", rule=Rule.PERSON, planned=True)
async def archive_user_memory(memory: MemoryBank, principal: Principal, memory_id: str) -> UserMemoryResponse:
    """Put a memory away."""
    return await _changed(memory, principal, memory_id, UnitStatus.ARCHIVED)


@call("POST", ME + "/{memory_id}/restore", rule=Rule.PERSON, planned=True)
async def restore_user_memory(memory: MemoryBank, principal: Principal, memory_id: str) -> UserMemoryResponse:
    """Take a memory back that was archived."""
    return await _changed(memory, principal, memory_id, UnitStatus.ACTIVE)


async def _changed(
    memory: MemoryBank, principal: Principal, memory_id: str, status: UnitStatus
) -> UserMemoryResponse:
    return await _users(memory, principal, await memory.band.set_status(principal, _id(memory_id), status))


def _id(given: str) -> UUID:
    """Return the id of a memory; what is no id is an unknown one."""
    try:
        return UUID(given)
    except ValueError as error:
        raise NotFound(f"Memory {given} not found") from error


def _asked(asked: MemoriesQuery, author: UUID | None = None) -> Asked:
    return Asked(
        statuses=asked.statuses,
        stated=True,
        author=author,
        system=asked.system,
        type=asked.type,
        segment=asked.segment,
        terms=None if asked.content_query is None else list(index_terms(asked.content_query)),
    )


def _page(asked: MemoriesQuery, found: Listing) -> tuple[list[Memory], CursorMeta | NumberMeta]:
    """Return the memories of a page, and what is said of it."""
    wanted, memories = asked.wanted, list(found.memories)
    if asked.numbered:
        total = found.total or 0
        pages = -(-total // wanted.limit)
        page = asked.page or 1
        return memories, NumberMeta(page=page, page_size=wanted.limit, total_count=total, total_pages=pages)
    limit = wanted.limit - 1
    more, memories = len(memories) > limit, memories[:limit]
    following = cursor(memories[-1]) if more else None
    return memories, CursorMeta(limit=limit, has_more=more, next_cursor=following)


def _agents(memory: Memory) -> AgentMemoryResponse:
    return AgentMemoryResponse(data=AgentMemory(**_said(memory)))


async def _users(memory: MemoryBank, principal: Principal, found: Memory) -> UserMemoryResponse:
    [shown] = await memory.band.shown(principal, [found])
    return UserMemoryResponse(data=_user(shown))


def _said(memory: Memory) -> dict[str, Any]:
    """Return a memory as agents and people see it."""
    return {
        "id": memory.id,
        "content": memory.text,
        "thought": memory.thought,
        "system": memory.system,
        "type": memory.type,
        "segment": memory.segment,
        "scope": memory.audience.kind.value,
        "status": memory.status,
        "subject_id": subject_of(memory),
        "source_agent_id": memory.agent,
        "organization_id": memory.audience.organization,
        "metadata": memory.metadata,
        "inserted_at": stamp(memory.created_at),
    }


def _user(shown: Shown) -> UserMemory:
    memory, room, subject = shown.memory, shown.room, shown.subject
    kind = None if room is None else room[0]
    return UserMemory(
        **_said(memory),
        updated_at=stamp(memory.updated_at) or "",
        source_agent_name=shown.author.name if shown.author else None,
        subject_name=subject.name if subject else None,
        subject_type=None if subject is None else "user" if subject.kind == "person" else "agent",
        chat_room_id=memory.source.place if memory.source else None,
        chat_room_title=room[1] if room else None,
        chat_room_status="active" if room else None,
        chat_room_type=None if kind is None else "direct" if kind is PlaceKind.DM else "group",
    )
