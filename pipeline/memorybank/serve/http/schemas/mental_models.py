"""Mental models."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, RootModel

from memorybank.model import Budget
from memorybank.serve.http.schemas.wire import OwnTagsQuery, TokenUsage, WireRequest, WireResponse
from memorybank.settings.bank import LARGEST
from memorybank.tags import Match

Detail = Literal["metadata", "content", "full"]
Tokens = Annotated[int, Field(ge=256, le=8192)]
Whole = Annotated[int, Field(ge=0, le=LARGEST)]
#: Tokens of a search: one of none finds nothing.
Positive = Annotated[int, Field(ge=1, le=LARGEST)]


class MentalModelTrigger(WireRequest):
    """How a model is built, from what, and when."""

    mode: Literal["full", "delta"] = "full"
    refresh_after_consolidation: bool = False
    refresh_cron: str | None = None
    min_refresh_interval_seconds: Whole | None = None
    fact_types: list[Literal["world", "experience", "observation"]] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: list[str] | None = None
    tags_match: Match | None = None
    tag_groups: list[dict[str, Any]] | None = None
    include_chunks: bool | None = None
    recall_max_tokens: Positive | None = None
    recall_chunks_max_tokens: Whole | None = None
    response_schema: dict[str, Any] | None = None
    keep_trace: bool = False
    budget: Budget | None = None


class CreateMentalModelRequest(WireRequest):
    """A model to be made; without an id it gets one from its name."""

    id: str | None = None
    name: str
    source_query: str
    tags: list[str] = []
    max_tokens: Tokens = 2048
    trigger: MentalModelTrigger = MentalModelTrigger()


class UpdateMentalModelRequest(WireRequest):
    """What is asked otherwise of a model."""

    name: str | None = None
    source_query: str | None = None
    max_tokens: Tokens | None = None
    tags: list[str] | None = None
    trigger: MentalModelTrigger | None = None


class RefreshMentalModelRequest(WireRequest):
    """`full`: the refresh shall not lean on what the model says now."""

    mode: Literal["full"] | None = None


class MentalModelQuery(BaseModel):
    """How much of a model is shown: metadata has no content, full adds what the last refresh gave."""

    detail: Detail = "full"


class MentalModelsQuery(MentalModelQuery, OwnTagsQuery):
    """A page of models, by tags."""

    exclude_knowledge_pages: bool = False


class MentalModelResponse(WireResponse):
    """One model."""

    id: str
    bank_id: str
    name: str
    source_query: str | None = None
    content: str | None = None
    tags: list[str] = []
    max_tokens: int | None = None
    trigger: dict[str, Any] | None = None
    last_refreshed_at: str | None = None
    last_full_refreshed_at: str | None = None
    last_refresh_failed_at: str | None = None
    last_memory_seen_at: str | None = None
    created_at: str | None = None
    reflect_response: dict[str, Any] | None = None
    is_stale: bool | None = None
    is_knowledge_page: bool | None = None


class MentalModelListResponse(WireResponse):
    """A page of models, the newest first."""

    items: list[MentalModelResponse]
    total: int
    limit: int
    offset: int


class CreateMentalModelResponse(WireResponse):
    """The new model and the operation that builds it."""

    mental_model_id: str | None = None
    operation_id: str


class AsyncOperationSubmitResponse(WireResponse):
    """Queued work."""

    operation_id: str
    status: str


class MentalModelHistoryEntry(WireResponse):
    """What a model said before; sections of which a source is gone are left out."""

    previous_content: str
    changed_at: str
    reason: str


class MentalModelHistory(RootModel[list[MentalModelHistoryEntry]]):
    """The changes of a model, the newest first."""


class MentalModelRefreshScope(WireResponse):
    """What a refresh looks at."""

    tags: list[str] | None = None
    tags_match: str
    tag_groups: list[dict[str, Any]] | None = None
    fact_types: list[str] | None = None
    exclude_mental_models: bool
    exclude_mental_model_ids: list[str] | None = None


class MentalModelRefreshWindow(WireResponse):
    """Since when memories are news to a refresh, and until when it has seen them all."""

    created_after: str | None = None
    created_before: str
    watermark: str | None = None


class MentalModelFactCounts(WireResponse):
    """Memories by type: looked at, and cited."""

    retrieved: dict[str, int] = {}
    used: dict[str, int] = {}


class MentalModelDeltaOperations(WireResponse):
    """What a delta does, and what of it could not be done."""

    applied: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []


class MentalModelDryRunRefreshResult(WireResponse):
    """What a refresh would do."""

    mental_model_id: str
    name: str
    requested_mode: str
    effective_mode: str
    mode_fallback_reason: str | None = None
    outcome: str
    would_persist: bool
    scope: MentalModelRefreshScope
    window: MentalModelRefreshWindow
    facts: MentalModelFactCounts
    based_on: dict[str, list[dict[str, Any]]] = {}
    current_content: str
    candidate_content: str
    preview_content: str
    diff: str
    delta_operations: MentalModelDeltaOperations | None = None
    trace: dict[str, Any]
    usage: TokenUsage = TokenUsage()
    duration_ms: int = 0
    warnings: list[str] = []
