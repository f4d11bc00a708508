"""Banks, their profile, configuration and statistics."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from memorybank.serve.http.schemas.wire import PageResponse, SearchQuery, WireRequest, WireResponse

Trait = Annotated[int, Field(ge=1, le=5)]


class DispositionTraits(WireResponse):
    """How a bank's reflect answers: each trait from 1 to 5."""

    skepticism: Trait
    literalism: Trait
    empathy: Trait


class CreateBankRequest(WireRequest):
    """Create or update a bank; all but `name` becomes an override of its configuration."""

    name: str | None = None
    disposition: DispositionTraits | None = None
    disposition_skepticism: Trait | None = None
    disposition_literalism: Trait | None = None
    disposition_empathy: Trait | None = None
    mission: str | None = None
    background: str | None = None
    reflect_mission: str | None = None
    retain_mission: str | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_chunk_size: int | None = None
    retain_structured_chunk_size: int | None = None
    enable_observations: bool | None = None
    observations_mission: str | None = None
    enable_temporal_retrieval: bool | None = None
    enable_graph_retrieval: bool | None = None
    enable_reranking: bool | None = None


class UpdateDispositionRequest(WireRequest):
    """New traits."""

    disposition: DispositionTraits


class BankProfileResponse(WireResponse):
    """A bank's profile; `background` is the old name of `mission`."""

    bank_id: str
    name: str
    disposition: DispositionTraits
    mission: str
    background: str | None = None


class BankListItem(WireResponse):
    """One bank of the list."""

    bank_id: str
    name: str | None = None
    disposition: DispositionTraits
    mission: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    fact_count: int = 0
    last_document_at: str | None = None
    last_write_at: str | None = None


class BankListResponse(WireResponse):
    """A page of banks, the last written first."""

    banks: list[BankListItem]
    total: int
    limit: int
    offset: int


class BankConfigUpdate(WireRequest):
    """Overrides to set; null clears one."""

    updates: dict[str, Any]


class BankConfigResponse(WireResponse):
    """All per-bank fields as they hold now, and this bank's own overrides."""

    bank_id: str
    config: dict[str, Any]
    overrides: dict[str, Any]


class BankStatsResponse(WireResponse):
    """What a bank holds, as far as the viewer may see."""

    bank_id: str
    total_nodes: int
    total_links: int
    total_documents: int
    nodes_by_fact_type: dict[str, int]
    links_by_link_type: dict[str, int]
    links_by_fact_type: dict[str, int]
    links_breakdown: dict[str, dict[str, int]]
    pending_operations: int
    failed_operations: int
    operations_by_status: dict[str, int] = {}
    last_consolidated_at: str | None = None
    last_memory_write_at: str | None = None
    pending_consolidation: int = 0
    failed_consolidation: int = 0
    total_observations: int = 0


class StatsQuery(BaseModel):
    """Nothing is cached, so `refresh` changes nothing."""

    refresh: bool = False


class TagsQuery(SearchQuery):
    """`q` may hold `*` for any text; `source` picks whose tags."""

    source: Literal["memories", "mental_models"] = "memories"


class TagItem(WireResponse):
    """One tag and how many facts carry it."""

    tag: str
    count: int


class ListTagsResponse(PageResponse[TagItem]):
    """A page of tags, the most used first."""
