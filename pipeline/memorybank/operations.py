"""Background work: its kinds, its states, what a worker holds while it works. Knows no broker, no database.

    pending ──claim──▶ processing ──▶ completed | failed | cancelled
       ▲                   │
       └── more / retry ───┘

A round is what a worker does between a claim and the next: at most `worker.round_seconds`, then the row is
released and rung again if work is left. Attempts are counted at claim; committed progress sets them to 0; a
voluntary release gives its attempt back. `settle` says how a round ends, `roll_up` how the parts of a batch
add up.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class Kind(StrEnum):
    """What an operation does; the wire's `operation_type`."""

    BATCH_RETAIN = "batch_retain"
    RETAIN = "retain"
    FILE_CONVERT_RETAIN = "file_convert_retain"
    CONSOLIDATION = "consolidation"
    REFRESH_MENTAL_MODEL = "refresh_mental_model"
    VECTOR_INDEX = "vector_index"


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


#: `error_message` is cut here, as the wire has it.
ERROR_CHARACTERS = 5000
#: How many error texts of its parts a batch quotes.
ERROR_SAMPLE = 5
#: What a part's result says of its submission; all else is outcome, and adds up in the parent.
SUBMISSION_KEYS = frozenset(
    {"items_count", "parent_operation_id", "sub_batch_index", "total_sub_batches", "document_id"}
)

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
    """How far an operation is. `processed` counts over all rounds: its growth sets the attempts to 0."""

    stage: str
    at: datetime
    processed: int | None = None
    total: int | None = None
    detail: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a round ended: `more` is work left over, for in `delay` seconds; else it is complete with this result."""

    more: bool = False
    delay: float = 0.0
    result: Mapping[str, Any] = field(default_factory=dict)
    error_message: str | None = None


class Ending(StrEnum):
    """How a round ended, as the worker saw it."""

    DONE = "done"
    #: Work is left: the time was over, or the round was asked to stop. Not counted as an attempt.
    MORE = "more"
    #: A provider asked to wait. Not counted as an attempt.
    WAIT = "wait"
    #: Something that may pass: counted.
    TROUBLE = "trouble"
    #: Trying again cannot help.
    HOPELESS = "hopeless"


@dataclass(frozen=True)
class RoundEnd:
    """The end of a round; `delay` in seconds before the next may begin."""

    ending: Ending
    message: str | None = None
    delay: float = 0.0
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Standing:
    """What the locked row says at the end of a round."""

    attempts: int
    cancel_requested: bool


@dataclass(frozen=True)
class Settlement:
    """What the row becomes."""

    status: Status
    attempts: int
    message: str | None
    delay: float = 0.0
    result: Mapping[str, Any] = field(default_factory=dict)


def settle(end: RoundEnd, standing: Standing, max_attempts: int) -> Settlement:
    """Return what becomes of an operation whose round ended; `standing.attempts` includes that round's."""
    attempts = standing.attempts
    message = end.message[:ERROR_CHARACTERS] if end.message else None
    if end.ending is Ending.DONE:
        return Settlement(Status.COMPLETED, attempts, message, result=end.result)
    if end.ending is Ending.HOPELESS:
        return Settlement(Status.FAILED, attempts, message)
    if standing.cancel_requested:
        return Settlement(Status.CANCELLED, attempts, None)
    if end.ending is Ending.TROUBLE:
        if attempts >= max_attempts:
            return Settlement(Status.FAILED, attempts, message)
        return Settlement(Status.PENDING, attempts, message, end.delay)
    return Settlement(Status.PENDING, max(attempts - 1, 0), message, end.delay)


@dataclass(frozen=True)
class Part:
    """One child of a batch, in a terminal state."""

    status: Status
    error_message: str | None
    result: Mapping[str, Any]


def roll_up(parts: Sequence[Part]) -> Settlement:
    """Return what becomes of a batch whose parts have all ended: as bad as its worst part, its counts summed.

    A batch with a cancelled part is cancelled: "completed" means that everything sent was worked on.
    """
    statuses = {part.status for part in parts}
    worst = next(s for s in (Status.FAILED, Status.CANCELLED, Status.COMPLETED) if s in statuses)
    errors = Counter(part.error_message for part in parts if part.status is worst and part.error_message)
    message = errors.most_common(1)[0][0] if errors else None
    if worst is Status.CANCELLED:
        cancelled = sum(part.status is worst for part in parts)
        message = f"{cancelled} of {len(parts)} parts cancelled"
    return Settlement(worst, 0, message, result=_summed([part.result for part in parts]))


def _summed(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum numbers, also those by name; join lists and cut them; of other values keep the first."""
    total: dict[str, Any] = {}
    for result in results:
        for key, value in result.items():
            if key not in SUBMISSION_KEYS:
                total[key] = _added(total[key], value) if key in total else value
    return total


def _added(held: Any, value: Any) -> Any:
    if isinstance(held, dict) and isinstance(value, dict):
        return _summed([held, value])
    if isinstance(held, list) and isinstance(value, list):
        return (held + value)[:ERROR_SAMPLE]
    if isinstance(held, int | float) and isinstance(value, int | float) and not isinstance(held, bool):
        return held + value
    return held
