"""The per-bank settings, each declared once: type, default, bounds and help.

The config API, the environment names, the `[bank]` table of configs/default.toml and docs/settings.md all
come from here.
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


BudgetFunction = Annotated[Literal["fixed", "adaptive"], Lowered]


class Disposition(NamedTuple):
    """How a bank reasons in reflect; each trait 1 to 5."""

    skepticism: int
    literalism: int
    empathy: int


class BankConfig(Section):
    """What can be set for each bank; the server's `[bank]` table gives the defaults of all banks."""

    retain_mission: str | None = Field(
        None,
        description="What extraction should pay attention to; joins the built-in rules in every mode with a "
        "model.",
    )
    retain_extraction_mode: ExtractionMode = Field(
        "concise",
        description="How facts are drawn: concise keeps what lasts, verbose keeps more, custom follows "
        "retain_custom_instructions, verbatim keeps each chunk as one fact with dates and entities "
        "from the model, chunks calls no model.",
    )
    retain_custom_instructions: str | None = Field(
        None,
        description="Selection rules in place of the built-in ones; used in mode custom, empty behaves as "
        "concise.",
    )
    retain_chunk_size: int = Field(
        3000,
        ge=1,
        description="Longest chunk for extraction, in characters; below retain.llm.max_output_tokens.",
    )
    retain_structured_chunk_size: int | None = Field(
        None,
        ge=1,
        description="Longest turn or JSON object kept whole, in characters; unset = chunk size.",
    )
    retain_chunk_batch_size: int = Field(100, ge=1, description="Chunks written in one transaction.")
    retain_default_strategy: str | None = Field(
        None, description="Strategy of items that name none; unset = the bank's own settings."
    )
    retain_strategies: dict[str, dict[str, Any]] | None = Field(
        None, description="Named sets of per-bank fields; an item picks one by `strategy`, for retain only."
    )
    entity_labels: Labels | None = Field(
        None,
        description="Label groups (controlled vocabulary); each label found becomes the entity `key:value`.",
    )
    entities_allow_free_form: bool = Field(
        True, description="Keep names found in the text; false keeps labels only."
    )
    store_document_text: bool = Field(
        True,
        description="Keep the text of documents and chunks; without it append, reprocess and chunk recall "
        "cannot work.",
    )
    enable_observations: bool = Field(True, description="Let the bank consolidate facts into observations.")
    enable_auto_consolidation: bool = Field(True, description="Queue consolidation after each retain.")
    observations_mission: str | None = Field(
        None,
        description="What observations should hold; takes the place of the built-in consolidation rules.",
    )
    consolidation_llm_batch_size: int = Field(
        8, ge=1, description="Facts in one consolidation call; 1 = no batching."
    )
    consolidation_llm_parallelism: int = Field(
        4, ge=1, description="Groups of one bank consolidated at a time."
    )
    consolidation_max_memories_per_round: int = Field(
        100, ge=0, description="Facts taken in one round before the bank queues again; 0 = no cap."
    )
    consolidation_source_facts_max_tokens: int = Field(
        -1, ge=-1, description="Tokens of source facts shown in one consolidation call; -1 = no limit."
    )
    consolidation_source_facts_max_tokens_per_observation: int = Field(
        256, ge=-1, description="Tokens of source facts shown with one observation; -1 = no limit."
    )
    max_observations_per_scope: int = Field(
        -1, ge=-1, description="Observations in one scope; -1 = no limit."
    )
    observation_scope_limits: list[dict[str, Any]] | None = Field(
        None, description="Limits for scopes by tag globs: [{scope: [globs], limit}]; the first match wins."
    )
    mental_model_min_refresh_interval_seconds: int = Field(
        0, ge=0, description="Shortest time between two refreshes of a mental model, in seconds."
    )
    reflect_mission: str | None = Field(
        None, description="Who the bank is when it reflects, in the first person."
    )
    reflect_source_facts_max_tokens: int = Field(
        -1, ge=-1, description="Tokens of source facts added to observations in reflect; -1 = off."
    )
    disposition_skepticism: int | None = Field(
        None, ge=1, le=5, description="1 trusts claims, 5 doubts them; unset behaves as 3. Reflect only."
    )
    disposition_literalism: int | None = Field(
        None,
        ge=1,
        le=5,
        description="1 reads between the lines, 5 goes by the words; unset behaves as 3. Reflect only.",
    )
    disposition_empathy: int | None = Field(
        None, ge=1, le=5, description="1 keeps to facts, 5 weighs feelings; unset behaves as 3. Reflect only."
    )
    recall_include_chunks: bool = Field(
        True, description="Show chunks beside facts in the recall that reflect makes."
    )
    recall_max_tokens: int = Field(
        2048, ge=1, description="Tokens of facts in the recall that reflect makes."
    )
    recall_chunks_max_tokens: int = Field(
        1000, ge=0, description="Tokens of chunks in the recall that reflect makes."
    )
    enable_temporal_retrieval: bool = Field(True, description="Use the time arm of recall.")
    enable_graph_retrieval: bool = Field(True, description="Use the graph arm of recall.")
    enable_reranking: bool = Field(True, description="Rerank recall's candidates, where a reranker is set.")
    recall_budget_function: BudgetFunction = Field(
        "fixed",
        description="How a budget becomes a number of candidates per arm: fixed, or a share of the bank "
        "(adaptive).",
    )
    recall_budget_fixed_low: int = Field(100, ge=1, description="Candidates per arm for budget low.")
    recall_budget_fixed_mid: int = Field(300, ge=1, description="Candidates per arm for budget mid.")
    recall_budget_fixed_high: int = Field(1000, ge=1, description="Candidates per arm for budget high.")
    recall_budget_adaptive_low: float = Field(
        0.025, gt=0, description="Share of the bank's facts for budget low."
    )
    recall_budget_adaptive_mid: float = Field(
        0.075, gt=0, description="Share of the bank's facts for budget mid."
    )
    recall_budget_adaptive_high: float = Field(
        0.25, gt=0, description="Share of the bank's facts for budget high."
    )
    recall_budget_min: int = Field(20, ge=1, description="Fewest candidates an adaptive budget gives.")
    recall_budget_max: int = Field(2000, ge=1, description="Most candidates an adaptive budget gives.")
    mcp_enabled_tools: list[str] | None = Field(
        None, description="The MCP tools that may be called on this bank; unset = all."
    )
    audit_log_enabled: bool = Field(False, description="Write an audit event for each call on this bank.")
    llm_output_language: str | None = Field(
        None, description="The language that facts are written in; unset = that of the text."
    )
    llm_gemini_safety_settings: list[Any] | None = Field(
        None,
        description="Safety settings passed on to Gemini and Vertex AI models; unset = the provider's own.",
    )
    memory_defense: MemoryDefense | None = Field(
        None,
        description="Screening of incoming items: {enabled, rules: [{on, action}]}; actions are allow, "
        "redact, block.",
    )

    @model_validator(mode="after")
    def _budget_range(self) -> Self:
        if self.recall_budget_min > self.recall_budget_max:
            raise ValueError("recall_budget_min must be at most recall_budget_max")
        return self

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
