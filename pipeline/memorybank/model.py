"""What memorybank remembers, as frozen types without any I/O. The same words as the tables and the wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

#: How much work a question is worth; each bank says in candidates what that means.
Budget = Literal["low", "mid", "high"]


class FactType(StrEnum):
    """World: what is the case. Experience: what the agent itself did. Observation: what was learned from facts."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OBSERVATION = "observation"


class UnitStatus(StrEnum):
    """Only active units are searched."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    INVALIDATED = "invalidated"


@dataclass(frozen=True)
class Bank:
    """A bank: `id` is ours, `bank_id` the caller's; `config` holds its overrides only.

    `indexed_model`: the embedding model of which it has a vector index of its own; None for a small bank.
    """

    id: int
    bank_id: str
    name: str
    config: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    indexed_model: int | None = None

    @property
    def narrator(self) -> str:
        """Who speaks in a bank, where that is known: its id is an address, no name that facts may speak of."""
        return "" if self.name == self.bank_id else self.name


@dataclass(frozen=True)
class EntityInput:
    """A name that the caller or a model gives. A label is a value of the bank's vocabulary, `key:value`: exact only."""

    text: str
    type: str = "CONCEPT"
    is_label: bool = False


@dataclass(frozen=True)
class RetainItem:
    """One piece of content to keep, checked. `timestamp` None means that it has no date ("unset")."""

    content: str
    timestamp: datetime | None
    timestamp_assumed: bool = False
    context: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    document_id: str | None = None
    entities: tuple[EntityInput, ...] = ()
    resolve_entities: bool = True
    tags: tuple[str, ...] = ()
    observation_scopes: str | tuple[tuple[str, ...], ...] | None = None
    strategy: str | None = None
    update_mode: str = "replace"


@dataclass(frozen=True)
class FileUpload:
    """A file to keep; `about` says all of it but its content."""

    name: str
    content: bytes
    about: RetainItem


@dataclass(frozen=True)
class Fact:
    """One extracted fact before it is stored; `causes` are positions of earlier facts of the same chunk."""

    text: str
    fact_type: FactType = FactType.WORLD
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    place_name: str | None = None
    entities: tuple[EntityInput, ...] = ()
    tags: tuple[str, ...] = ()
    causes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Source:
    """Where a memory came from. `kind`: message, session or person; `ref`: the id of the first two.

    `person`: who said it, where that is known; `place`: where, a thread as its root.
    """

    kind: Literal["message", "session", "person"]
    at: datetime
    ref: str | None = None
    place: UUID | None = None
    person: UUID | None = None


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one or more model calls, and their cost in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0
    cost: float = 0.0

    @property
    def total_tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens

    def counts(self) -> dict[str, int]:
        """Return the tokens by name, with their sum."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total_tokens,
            "cached_tokens": self.cached_tokens,
            "thoughts_tokens": self.thoughts_tokens,
        }

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.thoughts_tokens + other.thoughts_tokens,
            self.cost + other.cost,
        )


@dataclass(frozen=True)
class LlmCall:
    """One attempt at a language model. `error` is the code of a typed error; texts are not kept."""

    stage: str
    model: str
    attempt: int
    status: Literal["ok", "error"]
    error: str | None
    usage: TokenUsage
    duration_ms: float
    created_at: datetime


@dataclass(frozen=True)
class Scores:
    """Why a hit stands where it does: the blend, and its parts where an arm saw the unit."""

    final: float
    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None


def chunk_id(bank_id: str, document_id: str, ordinal: int, own: UUID | None, is_placed: bool | None) -> str:
    """Return the public id of a chunk, as the wire has it; its own one where it is not for the whole bank.

    Two circles may have documents of one id, and whoever sees both would take their chunks for the same.
    """
    return str(own) if is_placed else f"{bank_id}_{document_id}_{ordinal}"


@dataclass(frozen=True)
class Hit:
    """One recalled unit; `entities`: names of what it mentions, by id: two may have the same."""

    id: UUID
    text: str
    fact_type: FactType
    scores: Scores
    entities: Mapping[UUID, str] = field(default_factory=dict)
    context: str = ""
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    source_fact_ids: tuple[UUID, ...] = ()
