"""Reflect."""

from typing import Any, Literal

from memorybank.model import Budget
from memorybank.serve.http.schemas.wire import TokenUsage, WireRequest, WireResponse
from memorybank.tags import Match


class FactsIncludeOptions(WireRequest):
    """Present: say what the answer is based on."""


class ToolCallsIncludeOptions(WireRequest):
    """Present: show the steps; `output` shows their results too."""

    output: bool = True


class ReflectIncludeOptions(WireRequest):
    """What comes beside the answer."""

    facts: FactsIncludeOptions | None = None
    tool_calls: ToolCallsIncludeOptions | None = None


class ReflectRequest(WireRequest):
    """A question to be answered from memory."""

    query: str
    place: str | None = None
    budget: Budget = "low"
    context: str | None = None
    max_tokens: int = 4096
    include: ReflectIncludeOptions = ReflectIncludeOptions()
    response_schema: dict[str, Any] | None = None
    tags: list[str] | None = None
    tags_match: Match = "any"
    tag_groups: list[dict[str, Any]] | None = None
    apply_all_directives: bool = False
    fact_types: list[Literal["world", "experience", "observation"]] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: list[str] | None = None


class ReflectFact(WireResponse):
    """One fact behind an answer."""

    id: str | None = None
    text: str
    type: str | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None


class ReflectMentalModel(WireResponse):
    """One mental model behind an answer."""

    id: str
    text: str
    context: str | None = None


class ReflectDirective(WireResponse):
    """One directive the answer stands under."""

    id: str
    name: str
    content: str


class ReflectBasedOn(WireResponse):
    """What an answer rests on."""

    memories: list[ReflectFact] = []
    mental_models: list[ReflectMentalModel] = []
    directives: list[ReflectDirective] = []


class ReflectToolCall(WireResponse):
    """One step of the answer."""

    tool: str
    input: dict[str, Any]
    output: dict[str, Any] | None = None
    duration_ms: int
    iteration: int = 0


class ReflectLLMCall(WireResponse):
    """One model call of the answer."""

    scope: str
    duration_ms: int


class ReflectViolation(WireResponse):
    """A directive that a withheld answer broke, and the rule by which that was found."""

    directive_id: str
    rule: str


class ReflectTrace(WireResponse):
    """How an answer came about; `violations` only where it is withheld."""

    tool_calls: list[ReflectToolCall] = []
    llm_calls: list[ReflectLLMCall] = []
    violations: list[ReflectViolation] | None = None


class ReflectResponse(WireResponse):
    """The answer."""

    text: str
    based_on: ReflectBasedOn | None = None
    structured_output: dict[str, Any] | None = None
    structured_output_error: str | None = None
    usage: TokenUsage | None = None
    trace: ReflectTrace | None = None
