"""The stored record of every attempt at a model: what it cost, how it ended. No content."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import errors

from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.ids import new_id
from memorybank.storage.copying import copy_records
from memorybank.storage.queries import Connection, execute, fetch_row


@dataclass(frozen=True)
class Caller:
    """On whose behalf a model is asked; all None for what belongs to no bank."""

    bank: int | None = None
    audience_id: int | None = None
    operation: UUID | None = None


@dataclass(frozen=True)
class Call:
    """One attempt. `error` is the code of a typed error; `cost` in US dollars."""

    stage: str
    model: str
    attempt: int
    status: str
    error: str | None
    tokens: tuple[int, int, int, int]
    cost: float
    duration_ms: float
    created_at: datetime


@dataclass(frozen=True)
class Spent:
    """Sums over attempts."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0
    cost: float = 0.0


async def add(connection: Connection, caller: Caller, calls: Sequence[Call]) -> None:
    """Store attempts; `tokens` of a call are input, output, cached, thoughts.

    Raises NotFound when the bank or the operation was deleted meanwhile.
    """
    try:
        async with connection.transaction():
            await execute(connection, "llm_calls.hold_operation", {"operation": caller.operation})
            await copy_records(connection, "llm_calls.copy", [_record(caller, call) for call in calls])
    except errors.ForeignKeyViolation as error:
        raise NotFound("the bank or the operation that asked was deleted") from error


async def spent(connection: Connection, operation: UUID, viewer: Viewer) -> Spent:
    """Return what an operation spent, failed attempts included."""
    parameters = {"operation": operation, **viewer.parameters()}
    return Spent(**await fetch_row(connection, "llm_calls.spent", parameters))


def _record(caller: Caller, call: Call) -> tuple[Any, ...]:
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
        *call.tokens,
        call.cost,
        call.duration_ms,
        call.created_at,
    )
