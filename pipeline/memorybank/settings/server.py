"""The settings of the installation, one section a class; defaults and reasons stand in configs/default.toml.

A new key: declare it here with type and bounds, give it default, unit and reason in default.toml, run
`python -m memorybank_eval.settings_page`.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from memorybank.settings.bank import BankConfig
from memorybank.settings.llm import LlmSettings, Stage, StageLlm, over
from memorybank.settings.section import Lowered, Section

#: What `database.url` says for the server that memorybank runs itself.
EMBEDDED = "embedded"


def _without_slash(raw: Any) -> Any:
    return raw.rstrip("/") if isinstance(raw, str) else raw


def _database_url(raw: Any) -> Any:
    """Refuse what is neither embedded nor an address of PostgreSQL: a typing error must not cost data."""
    if (
        not isinstance(raw, str)
        or raw == EMBEDDED
        or raw.startswith(("postgresql://", "postgres://"))
        or "=" in raw
    ):
        return raw
    raise ValueError(f"must be '{EMBEDDED}', postgresql://… or a libpq connection string")


class DatabaseSettings(Section):
    """Where PostgreSQL is and how this process talks to it."""

    rising = ("pool_min", "pool_max")

    url: Annotated[str, BeforeValidator(_database_url)] = Field(repr=False)
    pool_min: int = Field(ge=0)
    pool_max: int = Field(ge=1)
    acquire_timeout_seconds: float = Field(gt=0)
    statement_timeout_seconds: float = Field(gt=0)

    @property
    def embedded(self) -> bool:
        """Whether memorybank runs its own PostgreSQL."""
        return self.url == EMBEDDED


class ServerSettings(Section):
    """The HTTP server."""

    host: str
    port: int = Field(ge=0, le=65535)
    base_path: Annotated[str, BeforeValidator(_without_slash)] = Field(pattern=r"^(/[^/\s]+)*$")
    max_body_bytes: int = Field(ge=1)
    bank_config_api: bool
    dry_run_extract: bool
    session_hours: float = Field(gt=0, le=8760)


class WorkerSettings(Section):
    """How background work is claimed, kept alive and given up."""

    climbing = ("heartbeat_seconds", "dead_seconds", "lease_seconds")
    rising = ("round_seconds", "round_cap_seconds")

    concurrency: int = Field(ge=1)
    max_attempts: int = Field(ge=1)
    retry_seconds: float = Field(ge=0)
    heartbeat_seconds: float = Field(gt=0)
    dead_seconds: float = Field(gt=0)
    lease_seconds: float = Field(gt=0)
    sweep_seconds: float = Field(gt=0)
    rering_seconds: float = Field(gt=0)
    round_seconds: float = Field(gt=0)
    round_cap_seconds: float = Field(gt=0)
    grace_seconds: float = Field(ge=0)


class RetainSettings(Section):
    """Limits and costs of retain."""

    attempts: int = Field(ge=1)
    batch_tokens: int = Field(ge=1)
    extraction_concurrency: int = Field(ge=1)
    max_items: int = Field(ge=1)
    max_item_chars: int = Field(ge=1)
    mask_secrets: bool
    recalled_tags: list[str]
    llm: StageLlm


class FileSettings(Section):
    """Uploaded files, and what reading one may cost."""

    enabled: bool
    max_files: int = Field(ge=1)
    max_total_mb: int = Field(ge=1)
    concurrency: int = Field(ge=1)
    timeout_seconds: int = Field(ge=1)
    memory_mb: int = Field(ge=256)


class RecallSettings(Section):
    """How recall searches and blends; per-bank switches and budgets stand in `[bank]`."""

    climbing = ("arm_timeout_seconds", "timeout_seconds")

    query_max_tokens: int = Field(ge=1)
    max_concurrent: int = Field(ge=1)
    timeout_seconds: float = Field(gt=0)
    arm_timeout_seconds: float = Field(gt=0)
    fusion: Annotated[Literal["blend", "rrf"], Lowered]
    diversity: float = Field(ge=0, lt=1)
    bm25_k1: float = Field(ge=0)
    bm25_b: float = Field(ge=0, le=1)
    max_query_terms: int = Field(ge=1)
    max_postings: int = Field(ge=1)
    exact_units: int = Field(ge=0)
    vector_copies_mb: int = Field(ge=0)
    weights: dict[str, float]


class ReflectSettings(Section):
    """Limits of reflect."""

    attempts: int = Field(ge=1)
    timeout_seconds: float = Field(gt=0)
    verdict_attempts: int = Field(ge=1)
    verdict_timeout_seconds: float = Field(gt=0)
    on_violation: Annotated[Literal["refuse", "error"], Lowered]
    max_iterations: int = Field(ge=1)
    max_context_tokens: int = Field(ge=2_000)
    max_calls: int = Field(ge=1)
    max_total_tokens: int = Field(ge=1)
    llm: StageLlm


class ConsolidationSettings(Section):
    """Consolidation's model and patience; what it does is set per bank."""

    attempts: int = Field(ge=1)
    max_wait_seconds: float = Field(ge=0)
    llm: StageLlm


class EmbeddingSettings(Section):
    """The model that turns text into vectors."""

    provider: Literal["local", "litellm"]
    model: str = Field(min_length=1)
    base_url: str
    api_key: str = Field(repr=False)
    timeout_seconds: float = Field(gt=0)
    query_prefix: str
    passage_prefix: str
    kept_queries: int = Field(ge=0)


class RerankerSettings(Section):
    """The model that reads the best hits beside the question; without a provider there is none."""

    rising = ("candidates_low", "candidates_mid", "candidates_high")

    provider: Annotated[Literal["", "local", "litellm"], Lowered]
    model: str
    base_url: str
    api_key: str = Field(repr=False)
    timeout_seconds: float = Field(gt=0)
    candidates_low: int = Field(ge=1)
    candidates_mid: int = Field(ge=1)
    candidates_high: int = Field(ge=1)
    weight: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.provider and not self.model:
            raise ValueError("reranker.model must be set where reranker.provider is")
        return self


class LogSettings(Section):
    """What is logged and in which form."""

    level: Annotated[Literal["debug", "info", "warning", "error", "critical"], Lowered]
    format: Annotated[Literal["text", "json"], Lowered]


class Settings(Section):
    """Everything that can be set. `sources` says for each dotted key where its value came from."""

    database: DatabaseSettings
    server: ServerSettings
    worker: WorkerSettings
    llm: LlmSettings
    retain: RetainSettings
    files: FileSettings
    recall: RecallSettings
    reflect: ReflectSettings
    consolidation: ConsolidationSettings
    embeddings: EmbeddingSettings
    reranker: RerankerSettings
    log: LogSettings
    bank: BankConfig
    sources: dict[str, str] = Field(default={}, exclude=True, repr=False)

    @model_validator(mode="after")
    def _chunks_fit(self) -> Self:
        cap = stage_model(self, "retain").max_output_tokens
        sizes = (self.bank.retain_chunk_size, self.bank.retain_structured_chunk_size or 0)
        if cap is not None and max(sizes) >= cap:
            raise ValueError(
                "bank.retain_chunk_size and bank.retain_structured_chunk_size must be below "
                "retain.llm.max_output_tokens"
            )
        return self


def stage_model(settings: Settings, stage: Stage) -> LlmSettings:
    """Return the model settings that hold for a stage: its own over `[llm]`."""
    own: StageLlm = getattr(settings, stage).llm
    return over(settings.llm, own)
