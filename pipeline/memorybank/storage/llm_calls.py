"""The stored record of every attempt at a model: what it cost, how it ended. No content."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import errors

from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.ids import new_id
from memorybank.model import LlmCall, TokenUsage
from memorybank.storage.copying import copy_records
from memorybank.storage.queries import Connection, execute, fetch_row


@dataclass(frozen=True)
class Caller:
    """On whose behalf a model is asked; all None for what belongs to no bank."""

    bank: int | None = None
    audience_id: int | None = None
    operation: UUID | None = None


async def add(connection: Connection, caller: Caller, call: LlmCall) -> None:
    """Store a call; raises NotFound when the bank or the operation was deleted meanwhile."""
    try:
        async with connection.transaction():
            await execute(connection, "llm_calls.hold_operation", {"operation": caller.operation})
            await copy_records(connection, "llm_calls.copy", [_record(caller, call)])
    except errors.ForeignKeyViolation as error:
        raise NotFound("the bank or the operation that asked was deleted") from error


async def spent(connection: Connection, operation: UUID, viewer: Viewer) -> tuple[int, TokenUsage]:
    """Return how many calls an operation made, failed ones included, and what they used together."""
    parameters = {"operation": operation, **viewer.parameters()}
    row = await fetch_row(connection, "llm_calls.spent", parameters)
    return row.pop("calls"), TokenUsage(**row)


def _record(caller: Caller, call: LlmCall) -> tuple[Any, ...]:
    usage = call.usage
    return (
        new_id(),
        caller.bank,
        caller.audience_id,
        caller.operation,
        call.stage,
        call.model,
        call.attempt,
        call.status,
        call.error,
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.thoughts_tokens,
        usage.cost,
        call.duration_ms,
        call.created_at,
    )
