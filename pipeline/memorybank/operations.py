"""Background work: its kinds, its states and what a worker holds while it works. Knows no broker and no database.

    pending ──claim──▶ processing ──▶ completed | failed | cancelled
       ▲                   │
       └── more / retry ───┘

A round is what a worker does between a claim and the next: at most `worker.round_seconds`, then the row is released and
rung again if work is left. Attempts are counted at claim; committed progress sets them to 0; a voluntary release gives
its attempt back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class Kind(StrEnum):
    """What an operation does; the wire's `operation_type`."""

    BATCH_RETAIN = "batch_retain"
    RETAIN = "retain"


class Status(StrEnum):
    """Where an operation stands; the wire's words, the published client refuses any other."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self in (Status.COMPLETED, Status.FAILED, Status.CANCELLED)


#: Work that somebody waits for goes before work that nobody does.
PRIORITY_INTERACTIVE = 10
PRIORITY_BACKGROUND = 0


@dataclass(frozen=True)
class Lease:
    """The right to write for one operation, as long as its row still holds this token."""

    operation_id: UUID
    token: UUID


@dataclass(frozen=True)
class Claim:
    """One claimed operation: what to do, and the lease to do it under."""

    lease: Lease
    bank: int
    bank_id: str
    audience_id: int
    kind: Kind
    payload: Mapping[str, Any]
    attempts: int
    parent: UUID | None


@dataclass(frozen=True)
class Progress:
    """How far an operation is."""

    stage: str
    at: datetime
    processed: int | None = None
    total: int | None = None
    detail: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a round ended: `more` is work left over; else the operation is complete with this result."""

    more: bool = False
    result: Mapping[str, Any] = field(default_factory=dict)
    error_message: str | None = None
