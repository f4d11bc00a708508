"""Directives: rules that every answer of a bank must keep, whoever asks. So none of these calls has a viewer."""

from typing import Annotated

from fastapi import Query

from memorybank.memory import MemoryBank
from memorybank.retain import intake
from memorybank.serve.actions.translate import uuid_of
from memorybank.serve.calls import BANK, call
from memorybank.serve.http.schemas.directives import (
    CreateDirectiveRequest,
    DirectiveListResponse,
    DirectiveResponse,
    DirectivesQuery,
    UpdateDirectiveRequest,
)
from memorybank.serve.http.schemas.wire import Deleted, stamp
from memorybank.storage import directives
from memorybank.storage.directives import Changes, Directive

DIRECTIVES = BANK + "/directives"
DIRECTIVE = DIRECTIVES + "/{directive_id}"


@call("GET", DIRECTIVES, command="directives")
async def list_directives(
    memory: MemoryBank, bank_id: str, asked: Annotated[DirectivesQuery, Query()]
) -> DirectiveListResponse:
    """List directives, the most important first."""
    async with memory.reading(bank_id) as (connection, bank):
        found, total = await directives.page(
            connection, bank.id, asked.wanted, asked.page, active_only=asked.active_only
        )
    items = [_told(bank_id, one) for one in found]
    return DirectiveListResponse(items=items, total=total, limit=asked.limit, offset=asked.offset)


@call("POST", DIRECTIVES, command="add-directive")
async def create_directive(
    memory: MemoryBank, bank_id: str, body: CreateDirectiveRequest
) -> DirectiveResponse:
    """Give a bank a directive, which every answer must keep from now on; the bank appears on first use."""
    new = _changes(body)
    async with memory.making(bank_id) as (connection, bank, _):
        return _told(bank_id, await directives.add(connection, bank.id, new))


@call("GET", DIRECTIVE)
async def get_directive(memory: MemoryBank, bank_id: str, directive_id: str) -> DirectiveResponse:
    """Return one directive."""
    id_ = uuid_of(directive_id, "directive_id")
    async with memory.reading(bank_id) as (connection, bank):
        return _told(bank_id, await directives.get(connection, bank.id, id_))


@call("PATCH", DIRECTIVE)
async def update_directive(
    memory: MemoryBank, bank_id: str, directive_id: str, body: UpdateDirectiveRequest
) -> DirectiveResponse:
    """Change a directive; what is not named stays."""
    id_, changes = uuid_of(directive_id, "directive_id"), _changes(body)
    async with memory.changing(bank_id) as (connection, bank):
        return _told(bank_id, await directives.update(connection, bank.id, id_, changes))


@call("DELETE", DIRECTIVE, command="delete-directive")
async def delete_directive(memory: MemoryBank, bank_id: str, directive_id: str) -> Deleted:
    """Delete a directive."""
    id_ = uuid_of(directive_id, "directive_id")
    async with memory.changing(bank_id) as (connection, bank):
        await directives.delete(connection, bank.id, id_)
    return Deleted()


def _changes(body: CreateDirectiveRequest | UpdateDirectiveRequest) -> Changes:
    """Return what is asked; raises InvalidInput for a wrong tag."""
    return Changes(
        name=body.name,
        content=body.content,
        priority=body.priority,
        is_active=body.is_active,
        tags=None if body.tags is None else tuple(sorted(intake.labels(body.tags, ("body", "tags")))),
    )


def _told(bank_id: str, one: Directive) -> DirectiveResponse:
    return DirectiveResponse(
        id=str(one.id),
        bank_id=bank_id,
        name=one.name,
        content=one.content,
        priority=one.priority,
        is_active=one.is_active,
        tags=list(one.tags),
        created_at=stamp(one.created_at),
        updated_at=stamp(one.updated_at),
    )
