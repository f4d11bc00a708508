"""The history of a document: what was done to it, each act one row, written in the transaction of its effects.

It goes with the document. Facts are counted where they are said: one that another document says too is counted in both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from memorybank.ids import new_id
from memorybank.storage.queries import Connection, execute


class Act(StrEnum):
    """What can be done to a document; the wire's words."""

    RETAIN = "retain"
    APPEND = "append"
    REPROCESS = "reprocess"
    RETAG = "retag"
    FACT_EDITED = "fact_edited"
    FACT_INVALIDATED = "fact_invalidated"
    FACT_RESTORED = "fact_restored"
    FACT_DELETED = "fact_deleted"
    OBSERVATIONS_CLEARED = "observations_cleared"
    CONSOLIDATION = "consolidation"


@dataclass(frozen=True)
class Event:
    """An act, the operation or the fact it is about, and how many facts went with it."""

    act: Act
    operation: UUID | None = None
    fact: UUID | None = None
    removed: int = 0


async def record(connection: Connection, document: int, event: Event, now: datetime) -> None:
    """Write an act on a document; one that its operation has written already is counted up."""
    parameters = {
        "id": new_id(),
        "document": document,
        "kind": str(event.act),
        "operation": event.operation,
        "fact": event.fact,
        "removed": event.removed,
        "now": now,
    }
    await execute(connection, "history.record", parameters)


async def count(
    connection: Connection, operation: UUID, what: Literal["added", "removed"], facts: Mapping[int, int]
) -> None:
    """Count facts that an operation has stored or removed, by document."""
    if facts:
        parameters = {"operation": operation, "documents": list(facts), "facts": list(facts.values())}
        await execute(connection, f"history.{what}", parameters)
