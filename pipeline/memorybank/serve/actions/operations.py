"""Background work: see it, cancel it, try it again, forget it."""

from typing import Annotated

from fastapi import Query

from memorybank.audience import Principal, Viewer
from memorybank.memory import MemoryBank
from memorybank.operations import Kind, Progress, Status
from memorybank.serve.actions.translate import uuid_of
from memorybank.serve.calls import BANK, call
from memorybank.serve.http.schemas.operations import (
    ChildOperationStatus,
    OperationActionResponse,
    OperationProgress,
    OperationQuery,
    OperationResponse,
    OperationsListResponse,
    OperationsQuery,
    OperationStatusResponse,
    RefreshMentalModelOperationDetails,
)
from memorybank.serve.http.schemas.wire import stamp
from memorybank.storage import operations
from memorybank.storage.operations import OperationFilter, OperationRecord

OPERATION = BANK + "/operations/{operation_id}"


@call("GET", BANK + "/operations", command="operations")
async def list_operations(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[OperationsQuery, Query()]
) -> OperationsListResponse:
    """List operations, the newest first."""
    wanted = OperationFilter(**asked.model_dump(exclude={"type"}), kind=asked.type)
    async with memory.reading(bank_id) as (connection, bank):
        total, records = await operations.list_(connection, bank.id, viewer, wanted)
    return OperationsListResponse(
        bank_id=bank_id,
        total=total,
        limit=asked.limit,
        offset=asked.offset,
        operations=[_list_item(record) for record in records],
    )


def _list_item(record: OperationRecord) -> OperationResponse:
    return OperationResponse(
        id=str(record.id),
        task_type=record.kind,
        items_count=record.items_count,
        document_id=record.result.get("document_id"),
        filename=record.result.get("filename"),
        mental_model_id=record.result.get("mental_model_id"),
        details=_details(record),
        created_at=record.created_at.isoformat(),
        updated_at=stamp(record.updated_at),
        status=record.status,
        error_message=record.error_message,
        retry_count=max(record.attempts - 1, 0),
        next_retry_at=stamp(record.retry_at),
        progress=_progress(record.progress),
    )


@call("GET", OPERATION)
async def get_operation_status(
    memory: MemoryBank,
    viewer: Viewer,
    principal: Principal,
    bank_id: str,
    operation_id: str,
    asked: Annotated[OperationQuery, Query()],
) -> OperationStatusResponse:
    """Return one operation; an unknown id has the status `not_found`. An agent says in which `place` it is."""
    id_ = uuid_of(operation_id, "operation_id")
    if asked.place is not None:
        viewer = await memory.viewer_at(principal, bank_id, asked.place)
    async with memory.reading(bank_id) as (connection, bank):
        record = await operations.get(connection, bank.id, id_, viewer)
    if record is None:
        return OperationStatusResponse(operation_id=operation_id, status="not_found", error_message=None)
    return OperationStatusResponse(
        operation_id=str(record.id),
        status=record.status.value,
        operation_type=record.kind,
        created_at=stamp(record.created_at),
        updated_at=stamp(record.updated_at),
        completed_at=stamp(record.completed_at),
        error_message=record.error_message,
        retry_count=max(record.attempts - 1, 0),
        next_retry_at=stamp(record.retry_at),
        progress=_progress(record.progress),
        result_metadata=dict(record.result),
        details=_details(record),
        child_operations=[_child(part) for part in record.parts] if record.is_parent else None,
        task_payload=dict(record.payload or {}) if asked.include_payload else None,
    )


def _details(record: OperationRecord) -> RefreshMentalModelOperationDetails | None:
    """Return how a refresh ended, once it has."""
    outcome = record.result.get("outcome")
    if record.kind != Kind.REFRESH_MENTAL_MODEL or outcome is None:
        return None
    return RefreshMentalModelOperationDetails(
        outcome=outcome, failure_reason=record.result.get("failure_reason")
    )


def _child(part: OperationRecord) -> ChildOperationStatus:
    return ChildOperationStatus(
        operation_id=str(part.id),
        status=part.status,
        sub_batch_index=part.result.get("sub_batch_index"),
        items_count=part.items_count,
        error_message=part.error_message,
    )


def _progress(progress: Progress | None) -> OperationProgress | None:
    if progress is None:
        return None
    return OperationProgress(
        stage=progress.stage,
        at=progress.at.isoformat(),
        processed=progress.processed,
        total=progress.total,
        detail=dict(progress.detail) or None,
    )


@call("DELETE", OPERATION)
async def cancel_operation(
    memory: MemoryBank, viewer: Viewer, bank_id: str, operation_id: str
) -> OperationActionResponse:
    """Cancel an operation; one that runs stops at its next step."""
    async with memory.changing(bank_id) as (connection, bank):
        status = await operations.cancel(connection, bank.id, uuid_of(operation_id, "operation_id"), viewer)
    running = status is Status.PROCESSING
    said = f"Operation {operation_id} is asked to stop" if running else f"Operation {operation_id} cancelled"
    return _done(said, operation_id)


@call("POST", OPERATION + "/retry")
async def retry_operation(
    memory: MemoryBank, viewer: Viewer, bank_id: str, operation_id: str
) -> OperationActionResponse:
    """Queue a failed or cancelled operation again; of a batch, the parts that are so."""
    async with memory.changing(bank_id) as (connection, bank):
        await operations.retry(connection, bank.id, uuid_of(operation_id, "operation_id"), viewer)
    return _done(f"Operation {operation_id} queued for retry", operation_id)


@call("DELETE", OPERATION + "/delete")
async def delete_operation(
    memory: MemoryBank, viewer: Viewer, bank_id: str, operation_id: str
) -> OperationActionResponse:
    """Forget an operation that has ended."""
    async with memory.changing(bank_id) as (connection, bank):
        await operations.delete(connection, bank.id, uuid_of(operation_id, "operation_id"), viewer)
    return _done(f"Operation {operation_id} deleted", operation_id)


def _done(message: str, operation_id: str) -> OperationActionResponse:
    return OperationActionResponse(success=True, message=message, operation_id=operation_id)
