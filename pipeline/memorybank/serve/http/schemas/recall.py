"""Recall."""

from datetime import datetime
from typing import Any

from memorybank.model import Budget
from memorybank.serve.http.schemas.wire import WireRequest, WireResponse
from memorybank.tags import Match


class EntityIncludeOptions(WireRequest):
    """Entities of the hits."""

    max_tokens: int = 500


class ChunkIncludeOptions(WireRequest):
    """The text the hits were taken from."""

    max_tokens: int = 8192


class SourceFactsIncludeOptions(WireRequest):
    """The facts that observations rest on."""

    max_tokens: int = 4096
    max_tokens_per_observation: int = -1


class IncludeOptions(WireRequest):
    """What comes beside the hits; null switches a part off."""

    entities: EntityIncludeOptions | None = EntityIncludeOptions()
    chunks: ChunkIncludeOptions | None = None
    source_facts: SourceFactsIncludeOptions | None = None


class MinScores(WireRequest):
    """Floors below which a hit is left out."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None


class TemporalWindow(WireRequest):
    """A time window said outright, in place of one read from the query."""

    start: datetime
    end: datetime


class RecallRequest(WireRequest):
    """A question to the memory."""

    query: str
    place: str | None = None
    types: list[str] | None = None
    prefer_observations: bool | None = False
    budget: Budget = "mid"
    max_tokens: int = 4096
    trace: bool = False
    query_timestamp: str | None = None
    include: IncludeOptions = IncludeOptions()
    tags: list[str] | None = None
    tags_match: Match = "any"
    tag_groups: list[dict[str, Any]] | None = None
    min_scores: MinScores | None = None
    temporal_window: TemporalWindow | None = None


class RecallScores(WireResponse):
    """Why a hit stands where it does."""

    final: float
    reranker: float | None = None
    semantic: float | None = None
    keyword: float | None = None


class RecallResult(WireResponse):
    """One hit."""

    id: str
    text: str
    type: str | None = None
    entities: list[str] | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    document_id: str | None = None
    metadata: dict[str, str] | None = None
    chunk_id: str | None = None
    tags: list[str] | None = None
    source_fact_ids: list[str] | None = None
    scores: RecallScores | None = None


class EntityObservationResponse(WireResponse):
    """What is known of an entity."""

    text: str
    mentioned_at: str | None = None


class EntityStateResponse(WireResponse):
    """An entity among the hits."""

    entity_id: str
    canonical_name: str
    observations: list[EntityObservationResponse]


class ChunkData(WireResponse):
    """A chunk that hits were taken from."""

    id: str
    text: str
    chunk_index: int
    truncated: bool = False


class RecallResponse(WireResponse):
    """Hits, best first, and what was asked to come beside them.

    `stages` names what ran; `left_out`, what should have and did not, and why.
    """

    results: list[RecallResult]
    trace: dict[str, Any] | None = None
    entities: dict[str, EntityStateResponse] | None = None
    chunks: dict[str, ChunkData] | None = None
    source_facts: dict[str, RecallResult] | None = None
    source_facts_truncated: bool | None = None
    stages: list[str] = []
    left_out: dict[str, str] | None = None
