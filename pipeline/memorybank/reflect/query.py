"""What a caller asks of reflect, what reflect asks of recall and mental models, and what it answers. No I/O."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from memorybank.audience import Viewer
from memorybank.errors import InvalidInput
from memorybank.llm.conforming import check_schema
from memorybank.model import Bank, Budget, FactType, Hit, TokenUsage
from memorybank.settings import BankConfig
from memorybank.storage.directives import Directive
from memorybank.storage.mental_models import Model
from memorybank.tags import Match, TagGroup, TagLeaf, is_open, passing
from memorybank.text import normalize

#: Types of facts that were told, not concluded.
TOLD = (FactType.WORLD, FactType.EXPERIENCE)


@dataclass(frozen=True)
class Scope:
    """Which facts may be looked at at all: every search of one reflect stands under the same scope."""

    fact_types: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    tags_match: Match = "any"
    tag_groups: TagGroup | None = None

    def types(self, *wanted: FactType) -> tuple[str, ...]:
        """Return those of the types that may be looked at."""
        return tuple(str(one) for one in wanted if self.fact_types is None or one in self.fact_types)

    @property
    def condition(self) -> TagGroup | None:
        """The condition on tags, None where everything passes."""
        if self.tag_groups is not None:
            return self.tag_groups
        leaf = TagLeaf(tuple(map(normalize, self.tags or ())), self.tags_match)
        return None if is_open(leaf) else leaf

    def passes(self, tags: Collection[str]) -> bool:
        """Return whether something with these tags may be looked at."""
        return self.condition is None or bool(passing([frozenset(tags)], self.condition)[0])

    def admits(self, fact: Hit) -> bool:
        """Return whether a fact may be looked at."""
        return bool(self.types(fact.fact_type)) and self.passes(fact.tags)


@dataclass(frozen=True)
class Search:
    """One search for facts of some types (at least one): at most `max_tokens` of them, by what `cost` says of each."""

    query: str
    budget: Budget
    types: tuple[str, ...]
    max_tokens: int
    scope: Scope
    cost: Callable[[Hit], int] | None = None


class Recall(Protocol):
    """Finds facts for a question; a question that is too long is cut, not refused."""

    async def __call__(self, bank: Bank, config: BankConfig, search: Search, viewer: Viewer) -> Sequence[Hit]:
        """Return facts, the best first."""
        ...


class FindModels(Protocol):
    """Finds mental models for a question."""

    async def __call__(self, bank: Bank, question: str, viewer: Viewer) -> Sequence[Model]:
        """Return all that come near it, the nearest first."""
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
    apply_all_directives: bool = False
    exclude_mental_models: bool = False
    exclude_mental_model_ids: tuple[str, ...] = ()

    def check(self) -> "ReflectQuery":
        """Return the query with its texts normalised.

        Raises InvalidInput for an empty list of fact types, a schema that cannot be checked or is no object with
        properties, and an answer of no tokens. What is wrong with the question itself, recall says.
        """
        if self.scope.fact_types == ():
            raise InvalidInput("fact_types must name at least one type", loc=("body", "fact_types"), value=[])
        if self.max_tokens < 1:
            raise InvalidInput(
                "max_tokens must be at least 1", loc=("body", "max_tokens"), value=self.max_tokens
            )
        if self.response_schema is not None:
            check_schema(self.response_schema, ("body", "response_schema"))
        return replace(self, query=normalize(self.query).strip(), context=normalize(self.context).strip())


@dataclass(frozen=True)
class Step:
    """One tool call that was made; `iteration` 0: before the model was asked. `output` holds what it found."""

    tool: str
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    duration_ms: int
    iteration: int
    count: int


@dataclass(frozen=True)
class Asked:
    """One attempt at the model; `scope` says what for."""

    scope: str
    duration_ms: int


@dataclass(frozen=True)
class UsedModel:
    """A mental model as it was shown: what it says within the scope."""

    id: str
    name: str
    text: str


@dataclass(frozen=True)
class Reflection:
    """An answer. `facts` and `models` are what it cites, nothing else.

    Of an answer that is withheld nothing is here but its cost, its steps by name, and what a caller may know of the
    directives that it broke (`broken`: id and rule).
    """

    text: str
    facts: tuple[Hit, ...] = ()
    models: tuple[UsedModel, ...] = ()
    directives: tuple[Directive, ...] = ()
    structured_output: Mapping[str, Any] | None = None
    structured_output_error: str | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    steps: tuple[Step, ...] = ()
    calls: tuple[Asked, ...] = ()
    broken: tuple[Mapping[str, str], ...] = ()


class Watch(Protocol):
    """Told of each step as soon as it is done."""

    def __call__(self, step: Step) -> None: ...
