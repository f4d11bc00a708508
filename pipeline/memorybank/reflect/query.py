"""What a caller asks of reflect, what reflect asks of recall, and what it answers. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.errors import InvalidInput
from memorybank.model import Bank, Budget, Hit, TokenUsage
from memorybank.settings import BankConfig
from memorybank.tags import Match, TagGroup
from memorybank.text import normalize


@dataclass(frozen=True)
class Scope:
    """Which facts may be looked at at all: every search of one reflect stands under the same scope."""

    fact_types: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    tags_match: Match = "any"
    tag_groups: TagGroup | None = None


@dataclass(frozen=True)
class Evidence:
    """One search for facts: at most `max_tokens` of them."""

    query: str
    budget: Budget
    max_tokens: int
    scope: Scope


class Recall(Protocol):
    """Finds facts for a question; a question that is too long is cut, not refused."""

    async def __call__(
        self, bank: Bank, config: BankConfig, evidence: Evidence, viewer: Viewer
    ) -> Sequence[Hit]:
        """Return facts, the best first."""
        ...


@dataclass(frozen=True)
class ReflectQuery:
    """One question to be answered. `response_schema` asks for the answer in that shape as well."""

    query: str
    budget: Budget = "low"
    context: str = ""
    max_tokens: int = 4096
    scope: Scope = field(default_factory=Scope)
    response_schema: Mapping[str, Any] | None = None

    def check(self) -> "ReflectQuery":
        """Return the query with its texts normalised.

        Raises InvalidInput for an empty list of fact types, a schema that is no object with properties, and
        an answer of no tokens. What is wrong with the question itself, recall says.
        """
        if self.scope.fact_types == ():
            raise InvalidInput("fact_types must name at least one type", loc=("body", "fact_types"), value=[])
        if self.max_tokens < 1:
            raise InvalidInput(
                "max_tokens must be at least 1", loc=("body", "max_tokens"), value=self.max_tokens
            )
        schema = self.response_schema
        if schema is not None and not _describes_an_object(schema):
            raise InvalidInput(
                "response_schema must be an object schema with properties",
                loc=("body", "response_schema"),
                value=schema,
            )
        return replace(self, query=normalize(self.query).strip(), context=normalize(self.context).strip())


def _describes_an_object(schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties")
    return schema.get("type") == "object" and isinstance(properties, Mapping) and bool(properties)


@dataclass(frozen=True)
class Searched:
    """One search that was made, for the trace."""

    query: str
    found: tuple[UUID, ...]
    duration_ms: int


@dataclass(frozen=True)
class Asked:
    """One model call that was made, for the trace."""

    scope: str
    duration_ms: int


@dataclass(frozen=True)
class Reflection:
    """An answer. `facts` is what it rests on: those it cites, or all it was shown where it cites none."""

    text: str
    facts: tuple[Hit, ...] = ()
    structured_output: Mapping[str, Any] | None = None
    structured_output_error: str | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    searches: tuple[Searched, ...] = ()
    calls: tuple[Asked, ...] = ()
