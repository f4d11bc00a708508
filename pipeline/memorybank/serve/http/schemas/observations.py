"""Observations and their consolidation."""

from pydantic import RootModel

from memorybank.serve.http.schemas.wire import WireRequest, WireResponse


class ConsolidationRequest(WireRequest):
    """What to consolidate: all facts that wait, or those of exactly these sets of tags."""

    observation_scopes: list[list[str]] | None = None


class ConsolidationResponse(WireResponse):
    """The run; `deduplicated`: it waited already."""

    operation_id: str
    deduplicated: bool = False


class RecoverConsolidationResponse(WireResponse):
    """How many facts are tried again."""

    retried_count: int


class ClearMemoryObservationsResponse(WireResponse):
    """How many observations were deleted."""

    deleted_count: int


class ObservationScope(WireResponse):
    """A set of tags and how many observations have exactly it."""

    tags: list[str]
    count: int


class ObservationScopesResponse(WireResponse):
    """All scopes, the fullest first."""

    scopes: list[ObservationScope]


class CitedFact(WireResponse):
    """A fact that an observation stands on."""

    id: str
    text: str
    type: str
    context: str


class HistoryFact(CitedFact):
    """One on which it stood after a change; `is_new`: since that change."""

    is_new: bool


class SourceMemory(CitedFact):
    """One on which it stands."""

    occurred_start: str | None = None
    mentioned_at: str | None = None


class HistoryEntry(WireResponse):
    """A change of an observation."""

    previous_text: str
    previous_tags: list[str]
    previous_occurred_start: str | None = None
    previous_occurred_end: str | None = None
    previous_mentioned_at: str | None = None
    changed_at: str
    reason: str | None = None
    new_source_memory_ids: list[str]
    source_facts: list[HistoryFact]


class ObservationHistory(RootModel[list[HistoryEntry]]):
    """The changes of an observation, the newest first."""
