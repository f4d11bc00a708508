"""Background work as clients see it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from memorybank.serve.http.schemas.wire import NotNegative, Sought, WireResponse


class OperationsQuery(BaseModel):
    """Which operations to list; a batch can be left out in favour of its parts."""

    status: Sought | None = None
    type: Sought | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    offset: NotNegative = 0
    exclude_parents: bool = False


class OperationQuery(BaseModel):
    """Whether an operation's payload is shown; `place`: where the caller is, as of what is retained there."""

    include_payload: bool = False
    place: str | None = None


class OperationProgress(WireResponse):
    """How far an operation is."""

    stage: str
    at: str
    processed: int | None = None
    total: int | None = None
    detail: dict[str, int] | None = None


class RefreshMentalModelOperationDetails(WireResponse):
    """How the refresh of a mental model ended."""

    operation_type: Literal["refresh_mental_model"] = "refresh_mental_model"
    outcome: str
    failure_reason: str | None = None


class OperationResponse(WireResponse):
    """One operation of the list."""

    id: str
    task_type: str
    items_count: int
    document_id: str | None = None
    filename: str | None = None
    mental_model_id: str | None = None
    details: RefreshMentalModelOperationDetails | None = None
    created_at: str
    updated_at: str | None = None
    status: str
    error_message: str | None
    retry_count: int | None = None
    next_retry_at: str | None = None
    progress: OperationProgress | None = None


class OperationsListResponse(WireResponse):
    """A page of operations, the newest first."""

    bank_id: str
    total: int
    limit: int
    offset: int
    operations: list[OperationResponse]


class ChildOperationStatus(WireResponse):
    """One part of a parent operation."""

    operation_id: str
    status: str
    sub_batch_index: int | None = None
    items_count: int | None = None
    error_message: str | None = None


class OperationStatusResponse(WireResponse):
    """One operation; an unknown id has the status `not_found`."""

    operation_id: str
    status: Literal["pending", "processing", "completed", "failed", "cancelled", "not_found"]
    operation_type: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    completed_at: str | None = None
    error_message: str | None
    retry_count: int | None = None
    next_retry_at: str | None = None
    progress: OperationProgress | None = None
    result_metadata: dict[str, Any] | None = None
    details: RefreshMentalModelOperationDetails | None = None
    child_operations: list[ChildOperationStatus] | None = None
    task_payload: dict[str, Any] | None = None


class OperationActionResponse(WireResponse):
    """What was done to an operation."""

    success: bool
    message: str
    operation_id: str
