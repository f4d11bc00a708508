"""The operation table: submit, claim, write under a lease, end a round, and what its readers may do.

Every writing transaction of a worker begins with `fence`: it locks the row and compares the token, so who
lost the lease writes nothing. Rows are locked from the parent down, children by id; a batch is rolled up in
the transaction that ends its last part.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import errors
from psycopg.types.json import Jsonb

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import Conflict, LeaseLost, NotFound
from memorybank.ids import new_id
from memorybank.operations import (
    PRIORITY_BACKGROUND,
    Claim,
    Kind,
    Lease,
    Part,
    Progress,
    RoundEnd,
    Settlement,
    Standing,
    Status,
    roll_up,
    settle,
)
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection, Row, execute, execute_many, fetch_all, fetch_one, fetch_row

#: What the outbox calls the end of a consolidation, and which counts of it it tells.
CONSOLIDATED = "consolidation.completed"
TOLD = ("observations_created", "observations_updated", "observations_deleted")


@dataclass(frozen=True)
class NewOperation:
    """One operation to queue. `rung`: the submitter runs it itself, workers wait until the re-ring time."""

    id: UUID
    bank: int
    audience_id: int
    kind: Kind
    payload: Mapping[str, Any] | None = None
    parent: UUID | None = None
    is_parent: bool = False
    priority: int = PRIORITY_BACKGROUND
    serial_keys: tuple[str, ...] = ()
    items_count: int = 0
    result: Mapping[str, Any] = field(default_factory=dict)
    rung: bool = False


@dataclass(frozen=True)
class OperationRecord:
    """One operation as its readers see it; `parts` of a batch, where asked for."""

    id: UUID
    kind: str
    status: Status
    parent: UUID | None
    is_parent: bool
    items_count: int
    payload: Mapping[str, Any] | None
    progress: Progress | None
    result: Mapping[str, Any]
    error_message: str | None
    attempts: int
    cancel_requested: bool
    retry_at: datetime | None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    parts: tuple["OperationRecord", ...] = ()


@dataclass(frozen=True)
class OperationFilter:
    """Which operations of a bank to list; None lets all through."""

    status: str | None = None
    kind: str | None = None
    exclude_parents: bool = False
    limit: int = 20
    offset: int = 0


async def submit(connection: Connection, operations: Sequence[NewOperation]) -> None:
    """Queue operations in the caller's transaction, ring with its commit.

    Raises Conflict for a known id, NotFound when their bank was deleted meanwhile.
    """
    at = clock.now()
    rows = [
        vars(operation)
        | {
            "serial_keys": list(operation.serial_keys),
            "payload": None if operation.payload is None else Jsonb(operation.payload),
            "result": Jsonb(operation.result),
            "at": at,
        }
        for operation in sorted(operations, key=lambda operation: not operation.is_parent)
    ]
    await hold_bank(connection, [one.bank for one in operations])
    try:
        await execute_many(connection, "operations.insert", rows)
    except errors.UniqueViolation as error:
        raise Conflict("an operation with this id exists already") from error
    except errors.ForeignKeyViolation as error:
        raise NotFound("the bank was deleted meanwhile") from error
    if any(not operation.rung and not operation.is_parent for operation in operations):
        await ring(connection)


async def hold_bank(connection: Connection, banks: Sequence[int]) -> None:
    """Keep banks from being deleted until the transaction ends."""
    await fetch_all(connection, "operations.hold_bank", {"banks": list(banks)})


async def claim(connection: Connection, lease: Lease, worker: UUID, lease_seconds: float) -> Claim | None:
    """Take the lease (its token is the caller's choice) and count the attempt.

    None: the operation is not pending, not due, or an older live one shares a serial key.
    """
    asked = await fetch_row(connection, "operations.lock_serial_keys", {"id": lease.operation_id})
    if not asked["pending"]:
        return None
    row = await fetch_one(
        connection,
        "operations.claim",
        {
            "id": lease.operation_id,
            "token": lease.token,
            "worker": worker,
            "lease_seconds": lease_seconds,
            "at": clock.now(),
        },
    )
    if row is None:
        return None
    values = row | {"kind": Kind(row["kind"]), "payload": row["payload"] or {}}
    return Claim(lease=lease, **values)


async def fence(connection: Connection, lease: Lease) -> Standing:
    """Lock the row of a lease that still holds, first in every writing transaction; raises LeaseLost."""
    row = await fetch_one(connection, "operations.fence", {"id": lease.operation_id, "token": lease.token})
    if row is None:
        raise LeaseLost(f"operation {lease.operation_id} is no longer ours")
    return Standing(row["attempts"], row["cancel_requested"])


@asynccontextmanager
async def writing(database: Database, lease: Lease) -> AsyncIterator[tuple[Connection, Standing]]:
    """Open a transaction that is committed only while the lease holds; else LeaseLost is raised."""
    try:
        async with database.transaction() as connection:
            yield connection, await fence(connection, lease)
    except errors.IdleInTransactionSessionTimeout as error:
        raise LeaseLost(f"operation {lease.operation_id} stood still for longer than its lease") from error


async def progress(connection: Connection, lease: Lease, made: Progress) -> None:
    """Say how far it is, in the fenced transaction that got it there; growth sets the attempts to 0."""
    document = {
        "stage": made.stage,
        "at": made.at.isoformat(),
        "processed": made.processed,
        "total": made.total,
        "detail": dict(made.detail),
    }
    await execute(
        connection,
        "operations.progress",
        {
            "id": lease.operation_id,
            "progress": Jsonb(document),
            "processed": made.processed,
            "at": clock.now(),
        },
    )


async def finish(database: Database, held: Claim, end: RoundEnd, max_attempts: int) -> Status:
    """End a round: write what becomes of the operation, and of its batch; raises LeaseLost."""
    async with database.transaction() as connection:
        if held.parent:
            await _lock(connection, held.parent)
        standing = await fence(connection, held.lease)
        return await _settle(
            connection, held.lease.operation_id, held.parent, settle(end, standing, max_attempts)
        )


async def lapse(
    database: Database, lease: Lease, parent: UUID | None, end: RoundEnd, max_attempts: int
) -> Status | None:
    """End the round of a holder that is gone; None: somebody else did, or the row is being written."""
    async with database.transaction() as connection:
        if parent:
            await _lock(connection, parent)
        row = await fetch_one(
            connection, "operations.lock_lapsed", {"id": lease.operation_id, "token": lease.token}
        )
        if row is None:
            return None
        standing = Standing(row["attempts"], row["cancel_requested"])
        return await _settle(connection, lease.operation_id, parent, settle(end, standing, max_attempts))


async def get(
    connection: Connection, bank: int, operation_id: UUID, viewer: Viewer
) -> OperationRecord | None:
    """Return one operation, a batch with its parts and their progress added up; None: unknown or unseen."""
    asked = {"bank": bank, "id": operation_id, **viewer.parameters()}
    row = await fetch_one(connection, "operations.get", asked)
    if row is None:
        return None
    parts = await fetch_all(connection, "operations.parts", asked) if row["is_parent"] else []
    return _record(row, tuple(_record(part) for part in parts))


async def list_(
    connection: Connection, bank: int, viewer: Viewer, wanted: OperationFilter
) -> tuple[int, list[OperationRecord]]:
    """Return how many operations match, and one page of them, newest first."""
    asked = {"bank": bank, **vars(wanted), **viewer.parameters()}
    total = await fetch_row(connection, "operations.count", asked)
    rows = await fetch_all(connection, "operations.list", asked)
    return total["total"], [_record(row) for row in rows]


async def cancel(connection: Connection, bank: int, operation_id: UUID, viewer: Viewer) -> Status:
    """Cancel what has not begun; ask what has begun to stop at its next call. Returns the status now.

    A batch takes its parts with it. Raises NotFound, and Conflict where it has ended.
    """
    row = await _locked(connection, bank, operation_id, viewer)
    if Status(row["status"]).terminal:
        raise Conflict(f"Operation {operation_id} is {row['status']} and cannot be cancelled")
    await execute(connection, "operations.cancel_parts", {"id": operation_id, "at": clock.now()})
    await _roll_up(connection, operation_id if row["is_parent"] else row["parent"])
    await ring(connection)  # what waited for its serial keys
    return Status.PROCESSING if row["status"] == Status.PROCESSING else Status.CANCELLED


async def retry(connection: Connection, bank: int, operation_id: UUID, viewer: Viewer) -> tuple[UUID, ...]:
    """Queue a failed or cancelled operation anew, of a batch the parts that are so; returns the ids queued.

    Raises NotFound, and Conflict for any other status.
    """
    row = await _locked(connection, bank, operation_id, viewer)
    if row["status"] not in (Status.FAILED, Status.CANCELLED):
        raise Conflict(
            f"Operation {operation_id} is {row['status']}: only failed or cancelled ones can be retried"
        )
    at = clock.now()
    queued = await fetch_all(connection, "operations.requeue", {"id": operation_id, "at": at})
    batch = operation_id if row["is_parent"] else row["parent"]
    if batch and await _live_parts(connection, batch):
        await execute(connection, "operations.reopen_parent", {"id": batch, "at": at})
    elif row["is_parent"]:
        raise Conflict(f"Operation {operation_id} has no part left to retry")
    await ring(connection)
    return tuple(part["id"] for part in queued)


async def delete(connection: Connection, bank: int, operation_id: UUID, viewer: Viewer) -> None:
    """Delete an operation that has ended, with its parts; raises NotFound, and Conflict while any is live."""
    row = await _locked(connection, bank, operation_id, viewer)
    if not Status(row["status"]).terminal or await _live_parts(connection, operation_id):
        raise Conflict(f"Operation {operation_id} is {row['status']}: only ended operations can be deleted")
    await fetch_all(connection, "operations.hold_documents", {"id": operation_id})
    await execute(connection, "operations.delete", {"id": operation_id})


async def lock_bank(connection: Connection, bank: int) -> None:
    """Lock a bank's operations: waits until nobody writes for them."""
    await fetch_all(connection, "operations.lock_bank", {"bank": bank})


async def delete_bank(connection: Connection, bank: int) -> int:
    """Delete a bank's operations, which are locked: who worked on one writes nothing more."""
    return await execute(connection, "operations.delete_bank", {"bank": bank})


async def _locked(connection: Connection, bank: int, operation_id: UUID, viewer: Viewer) -> Row:
    """Lock an operation that the viewer may see, its batch first, and return its row; raises NotFound."""
    seen = await fetch_one(
        connection, "operations.get", {"bank": bank, "id": operation_id, **viewer.parameters()}
    )
    if seen and seen["parent"]:
        await _lock(connection, seen["parent"])
    row = await _lock(connection, operation_id) if seen else None
    if row is None:
        raise NotFound(f"Operation {operation_id} not found")
    return row


async def _lock(connection: Connection, operation_id: UUID) -> Row | None:
    return await fetch_one(connection, "operations.lock", {"id": operation_id})


async def _live_parts(connection: Connection, operation_id: UUID) -> bool:
    row = await fetch_row(connection, "operations.has_live_parts", {"id": operation_id})
    return bool(row["live"])


async def ring(connection: Connection) -> None:
    """Tell workers to look, with the commit."""
    await fetch_row(connection, "operations.notify", {})


async def _settle(
    connection: Connection, operation_id: UUID, parent: UUID | None, settled: Settlement
) -> Status:
    at = clock.now()
    row = await fetch_row(
        connection,
        "operations.settle",
        vars(settled)
        | {
            "id": operation_id,
            "result": Jsonb(settled.result),
            "at": at,
            "completed_at": at if settled.status.terminal else None,
        },
    )
    if settled.status.terminal:
        await _roll_up(connection, parent)
        await _tell(connection, row, settled)
    # To ring costs all commits a common lock: only where there is something to look at now.
    if (row["serial"] and settled.status.terminal) or (
        settled.status is Status.PENDING and settled.delay == 0
    ):
        await ring(connection)
    return settled.status


async def _tell(connection: Connection, row: Row, settled: Settlement) -> None:
    """Put the end of a consolidation into the outbox."""
    if row["kind"] != Kind.CONSOLIDATION or settled.status is Status.CANCELLED:
        return
    await execute(connection, "mental_models.want", {"bank": row["bank"]})
    counts = {name: row["result"].get(name, 0) for name in TOLD}
    event = {
        "id": new_id(),
        "bank": row["bank"],
        "type": CONSOLIDATED,
        "payload": Jsonb(counts | {"error_message": settled.message}),
        "now": clock.now(),
    }
    await execute(connection, "operations.tell", event)


async def _roll_up(connection: Connection, parent: UUID | None) -> None:
    """End a batch whose last part has ended; its row is locked."""
    rows = await fetch_all(connection, "operations.ended_parts", {"parent": parent}) if parent else []
    if rows:
        total = roll_up([Part(Status(row["status"]), row["error_message"], row["result"]) for row in rows])
        await execute(
            connection,
            "operations.settle_parent",
            vars(total) | {"parent": parent, "result": Jsonb(total.result), "at": clock.now()},
        )


def _record(row: Row, parts: tuple[OperationRecord, ...] = ()) -> OperationRecord:
    made = _progress(row["progress"]) or _summed_progress(parts)
    return OperationRecord(**row | {"status": Status(row["status"]), "progress": made}, parts=parts)


def _progress(document: Mapping[str, Any] | None) -> Progress | None:
    if document is None:
        return None
    return Progress(**{**document, "at": datetime.fromisoformat(document["at"])})


def _summed_progress(parts: Sequence[OperationRecord]) -> Progress | None:
    """How far a batch is: its parts' numbers added up, at the stage of the part that moved last."""
    made = [part.progress for part in parts if part.progress]
    if not made:
        return None
    last = max(made, key=lambda one: one.at)
    return Progress(
        last.stage, last.at, sum(one.processed or 0 for one in made), sum(one.total or 0 for one in made)
    )
