"""Extraction tried out."""

from typing import Any

from memorybank.serve.http.schemas.memories import Content, Timestamp
from memorybank.serve.http.schemas.wire import TokenUsage, WireRequest, WireResponse


class DryRunExtractRequest(WireRequest):
    """A text, what is said of it, and settings to try over the bank's own; `agent_name` is who speaks."""

    content: Content
    context: str | None = None
    timestamp: Timestamp = None
    strategy: str | None = None
    agent_name: str | None = None
    retain_mission: str | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_extract_causal_links: bool | None = None
    retain_chunk_size: int | None = None
    entity_labels: list[dict[str, Any]] | None = None
    entities_allow_free_form: bool | None = None
    llm_output_language: str | None = None


class ExtractedFact(WireResponse):
    """A fact as it would be stored; `chunk_index` counts from 0."""

    text: str
    fact_type: str
    occurred_start: str | None = None
    occurred_end: str | None = None
    entities: list[str] = []
    chunk_index: int


class ExtractionChunk(WireResponse):
    """A piece of the text, and how many facts were found in it."""

    text: str
    fact_count: int


class DryRunExtractionResult(WireResponse):
    """What a retain would find."""

    facts: list[ExtractedFact] = []
    chunks: list[ExtractionChunk] = []
    usage: TokenUsage
