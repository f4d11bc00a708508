"""Retain, and the memories themselves."""

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from memorybank.audience import AudienceKind
from memorybank.serve.http.schemas.observations import SourceMemory
from memorybank.serve.http.schemas.wire import (
    PageResponse,
    TaggedQuery,
    TokenUsage,
    WireRequest,
    WireResponse,
)
from memorybank.timeline import parse_stamp


def _decoded(value: Any) -> Any:
    """Some callers send a list as JSON text."""
    if isinstance(value, str):
        try:
            decoded = json.loads(value)
        except ValueError:
            return value
        return decoded if isinstance(decoded, list) else value
    return value


Tags = Annotated[list[str], BeforeValidator(_decoded)]
#: The caller's word for "this has no date".
UNSET = "unset"


class EntityInput(WireRequest):
    """An entity that the caller names."""

    text: str
    type: str | None = None


def _timestamp(value: Any) -> Any:
    """Return a time, or the caller's word for none; raises ValueError for anything else."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError('timestamp must be an ISO-8601 string, null or "unset"')
    return UNSET if value.strip().lower() == UNSET else parse_stamp(value)


def _telling(value: str) -> str:
    if not value.strip():
        raise ValueError("content must not be blank")
    return value


def _level(value: Any) -> Any:
    """Return the one level that is known, however it is written; another may mean that nothing is to be kept."""
    if not isinstance(value, str) or re.sub(r"[\s_-]+", "_", value.strip().lower()) != "customer_data":
        raise ValueError("customer_data is the only data_level that is known")
    return "customer_data"


def _elsewhere(value: Any) -> Any:
    """Refuse what would be kept for others than was meant, if it were passed over."""
    raise ValueError("say it of the whole request, beside the items or files")


#: A mark of content that is never kept; and words for the whole request, which no item may say.
DataLevel = Annotated[Literal["customer_data"], BeforeValidator(_level)]
Elsewhere = Annotated[None, BeforeValidator(_elsewhere)]
Timestamp = Annotated[datetime | str | None, BeforeValidator(_timestamp)]
Content = Annotated[str, AfterValidator(_telling)]


class AboutItem(WireRequest):
    """What is said of a piece of content, wherever that stands."""

    timestamp: Timestamp = None
    context: str | None = None
    metadata: dict[str, str | None] | None = None
    document_id: str | None = None
    tags: Tags | None = None
    strategy: str | None = None
    data_level: DataLevel | None = None
    place: Elsewhere = None
    audience: Elsewhere = None


class MemoryItem(AboutItem):
    """One piece of content to keep."""

    content: Content
    entities: list[EntityInput] | None = None
    resolve_entities: bool = True
    observation_scopes: (
        Literal["per_tag", "combined", "all_combinations", "shared"] | list[list[str]] | None
    ) = None
    update_mode: Literal["replace", "append"] | None = None


class RetainRequest(WireRequest):
    """Items to keep, now or in the background."""

    items: Annotated[list[MemoryItem], Field(min_length=1)]
    async_: bool = Field(default=False, alias="async")
    document_tags: Tags | None = None
    operation_id: str | None = None
    place: str | None = None
    audience: AudienceKind | None = None
    data_level: DataLevel | None = None


class ForgottenResponse(WireResponse):
    """What went with a memory; of `chunks` recall shows the text no more."""

    memory: str
    observations: int
    statements: int
    entities: int
    chunks: int


class RetainResponse(WireResponse):
    """What was kept (`usage`), or what will be (`operation_id`)."""

    success: bool
    bank_id: str
    items_count: int
    async_: bool = Field(alias="async")
    operation_id: str | None = None
    operation_ids: list[str] | None = None
    usage: TokenUsage | None = None


FactTypeName = Literal["world", "experience", "observation"]


class MemoriesQuery(TaggedQuery):
    """Which memories to list; `state` valid or invalidated, `consolidation_state` failed, pending or done."""

    type: FactTypeName | None = None
    q: str | None = None
    consolidation_state: str | None = None
    state: str | None = None
    document_id: str | None = None
    entity_id: str | None = None


def _moment(value: Any) -> Any:
    """Return a time in UTC, or the caller's word for none; raises ValueError for anything else."""
    if value is None:
        return None
    found = _timestamp(value)
    return found.astimezone(UTC) if isinstance(found, datetime) else UNSET


Moment = Annotated[datetime | str | None, BeforeValidator(_moment)]


class UpdateMemoryRequest(WireRequest):
    """What a fact shall say from now on; what is left out, or null, stays. An empty date, or "unset", is none.

    `state` "invalidated" takes a fact out of recall, for a `reason`; "valid" restores it.
    """

    text: str | None = None
    context: str | None = None
    occurred_start: Moment = None
    occurred_end: Moment = None
    mentioned_at: Moment = None
    fact_type: Literal["world", "experience"] | None = None
    entities: list[str] | None = None
    resolve_entities: bool = True
    state: Literal["valid", "invalidated"] | None = None
    reason: str | None = None


class ClearQuery(BaseModel):
    """Which memories to forget; all, or one type."""

    type: FactTypeName | None = None


class MemoryUnitResponse(WireResponse):
    """One memory; `state` is valid or invalidated. `mentioned_in` names other documents that say it too.

    The last three are of observations; `history` has a call of its own.
    """

    id: str
    text: str
    context: str
    date: str
    type: str
    mentioned_at: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    entities: list[str]
    document_id: str | None = None
    chunk_id: str | None = None
    tags: list[str]
    metadata: dict[str, Any]
    observation_scopes: str | list[list[str]] | None = None
    proof_count: int
    mentioned_in: list[str]
    state: str
    invalidation_reason: str | None = None
    invalidated_at: str | None = None
    edited_at: str | None = None
    history: list[Any] | None = None
    source_memory_ids: list[str] | None = None
    source_memories: list[SourceMemory] | None = None


class ListMemoryUnitsResponse(PageResponse[dict[str, Any]]):
    """A page of memories, the last mentioned first."""
