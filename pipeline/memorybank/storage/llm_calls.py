"""The stored record of every attempt at a model: what it cost, how it ended. No content."""

from dataclasses import dataclass
from uuid import UUID

from psycopg import errors

from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.ids import new_id
from memorybank.model import LlmCall, TokenUsage
from memorybank.storage.queries import Connection, execute, fetch_row


@dataclass(frozen=True)
class Caller:
    """On whose behalf a model is asked; all None for what belongs to no bank."""

    bank: int | None = None
    audience_id: int | None = None
    operation: UUID | None = None


async def add(connection: Connection, caller: Caller, call: LlmCall) -> None:
    """Store a call; raises NotFound when the bank or the operation was deleted meanwhile."""
    row = vars(call) | vars(call.usage) | vars(caller) | {"id": new_id()}
    try:
        await execute(connection, "llm_calls.add", row)
    except errors.ForeignKeyViolation as error:
        raise NotFound("the bank or the operation that asked was deleted") from error


async def spent(connection: Connection, operation: UUID, viewer: Viewer) -> tuple[int, TokenUsage]:
    """Return how many calls an operation made, failed ones included, and what they used together."""
    parameters = {"operation": operation, **viewer.parameters()}
    row = await fetch_row(connection, "llm_calls.spent", parameters)
    return row.pop("calls"), TokenUsage(**row)
