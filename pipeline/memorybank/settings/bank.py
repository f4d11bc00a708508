"""The per-bank settings with types and bounds; defaults and help stand in configs/default.toml, as for all settings.

The config API and the environment names come from here.
"""

import logging
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from memorybank.errors import InvalidConfig
from memorybank.settings.defense import MemoryDefense
from memorybank.settings.explain import explain
from memorybank.settings.labels import Labels
from memorybank.settings.section import Lowered, Section

ExtractionMode = Literal["concise", "verbose", "custom", "verbatim", "chunks"]

#: What an unset disposition trait behaves as and shows as.
BALANCED = 3
#: Largest whole number of a field: as large as PostgreSQL's integer, and more than anything here can mean.
LARGEST = 2**31 - 1

_log = logging.getLogger(__name__)


Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
#: -1: no limit.
Limit = Annotated[int, Field(ge=-1)]
Share = Annotated[float, Field(gt=0)]
BudgetFunction = Annotated[Literal["fixed", "adaptive"], Lowered]


class Disposition(NamedTuple):
    """How a bank reasons in reflect; each trait 1 to 5."""

    skepticism: int
    literalism: int
    empathy: int


class BankConfig(Section):
    """What can be set for each bank; the server's `[bank]` table gives the defaults of all banks."""

    rising = ("recall_budget_min", "recall_budget_max")

    retain_mission: str | None = None
    retain_extraction_mode: ExtractionMode
    retain_custom_instructions: str | None = None
    retain_chunk_size: Positive
    retain_structured_chunk_size: int | None = Field(None, ge=1)
    retain_chunk_batch_size: Positive
    retain_default_strategy: str | None = None
    retain_strategies: dict[str, dict[str, Any]] | None = None
    entity_labels: Labels | None = None
    entities_allow_free_form: bool
    store_document_text: bool
    enable_observations: bool
    enable_auto_consolidation: bool
    observations_mission: str | None = None
    consolidation_llm_batch_size: Positive
    consolidation_llm_parallelism: Positive
    consolidation_max_memories_per_round: Count
    consolidation_source_facts_max_tokens: Limit
    consolidation_source_facts_max_tokens_per_observation: Limit
    max_observations_per_scope: Limit
    observation_scope_limits: list[dict[str, Any]] | None = None
    mental_model_min_refresh_interval_seconds: Count
    reflect_mission: str | None = None
    reflect_source_facts_max_tokens: Limit
    disposition_skepticism: int | None = Field(None, ge=1, le=5)
    disposition_literalism: int | None = Field(None, ge=1, le=5)
    disposition_empathy: int | None = Field(None, ge=1, le=5)
    kv_recall: bool
    recall_include_chunks: bool
    recall_max_tokens: Positive
    recall_chunks_max_tokens: Count
    enable_temporal_retrieval: bool
    enable_graph_retrieval: bool
    enable_reranking: bool
    recall_budget_function: BudgetFunction
    recall_budget_fixed_low: Positive
    recall_budget_fixed_mid: Positive
    recall_budget_fixed_high: Positive
    recall_budget_adaptive_low: Share
    recall_budget_adaptive_mid: Share
    recall_budget_adaptive_high: Share
    recall_budget_min: Positive
    recall_budget_max: Positive
    mcp_enabled_tools: list[str] | None = None
    audit_log_enabled: bool
    llm_output_language: str | None = None
    llm_gemini_safety_settings: list[Any] | None = None
    memory_defense: MemoryDefense | None = None

    @model_validator(mode="after")
    def _countable(self) -> Self:
        large = [name for name, value in self if isinstance(value, int) and value > LARGEST]
        if large:
            raise ValueError(f"{large[0]} must be at most {LARGEST}")
        return self

    @property
    def disposition(self) -> Disposition:
        """The three traits, an unset one as 3."""
        traits = (self.disposition_skepticism, self.disposition_literalism, self.disposition_empathy)
        return Disposition(*(BALANCED if trait is None else trait for trait in traits))


def bank_fields() -> Mapping[str, FieldInfo]:
    """Return the declaration of each per-bank field, in the order of the page."""
    return BankConfig.model_fields


def resolve_bank(
    defaults: BankConfig, overrides: Mapping[str, Any], strategy: Mapping[str, Any] | None = None
) -> BankConfig:
    """Return what holds for a bank: defaults, its overrides, then a retain strategy; null overrides nothing.

    Names this version does not know are passed over, so that a bank written by a newer one can be read.
    Raises InvalidConfig where a value is not allowed.
    """
    values: dict[str, Any] = dict(defaults)
    for layer in (overrides, strategy or {}):
        values.update((name, value) for name, value in layer.items() if name in values and value is not None)
    try:
        return BankConfig.model_validate(values)
    except ValidationError as error:
        raise InvalidConfig(explain(error.errors()[0])) from error


def strategy_named(config: BankConfig, name: str | None) -> Mapping[str, Any] | None:
    """Return the overrides of strategy `name`, else of the bank's default one; an unknown name gives None."""
    chosen = name or config.retain_default_strategy
    if not chosen:
        return None
    found = (config.retain_strategies or {}).get(chosen)
    if found is None:
        _log.warning("unknown retain strategy %r: the bank's own settings are used", chosen)
    return found
