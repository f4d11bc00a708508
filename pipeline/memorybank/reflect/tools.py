"""The tools of the loop: how they are offered to a model, and how its calls are read. Pure."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorybank.errors import ModelMalformed, ModelTruncated
from memorybank.llm import parsing
from memorybank.llm.client import ToolCall

#: Tokens and models that a search returns where the model does not say.
OBSERVATION_TOKENS, LEAST_OBSERVATION_TOKENS = 5_000, 1_000
MODELS = 5
#: Most that a model may ask for in one search.
MOST_TOKENS, LEAST_TOKENS, MOST_MODELS = 8_000, 100, 20
#: Facts that one call may look behind.
MOST_EXPANDED = 10
#: Name of the schema of a step in words.
STEP = "agent_step"

_NUMBERS = {"type": "array", "items": {"type": "integer"}}
_QUERY = {"type": "string", "description": "What to look for, in words that the facts may use."}
_REASON = {"type": "string", "description": "A few words."}
#: Name -> what it is for, its parameters, those that it must have.
_TOOLS: Mapping[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "search_mental_models": (
        "Saved answers to standing questions.",
        {"query": _QUERY, "max_results": {"type": "integer"}},
        ("query",),
    ),
    "search_observations": (
        "What was concluded from several facts, with what held before.",
        {"query": _QUERY, "max_tokens": {"type": "integer"}},
        ("query",),
    ),
    "recall": (
        "Facts as they were told, and the texts around them.",
        {"query": _QUERY, "max_tokens": {"type": "integer"}, "max_chunk_tokens": {"type": "integer"}},
        ("query",),
    ),
    "expand": (
        "The text behind facts, or the document; behind an observation its facts, and what it said before.",
        {"memory_ids": _NUMBERS, "depth": {"type": "string", "enum": ["chunk", "document"]}},
        ("memory_ids",),
    ),
    "done": (
        "Give the answer, with [ids] behind its clauses. Ids in the lists count where the answer names none.",
        {
            "answer": {"type": "string"},
            "memory_ids": _NUMBERS,
            "observation_ids": _NUMBERS,
            "mental_model_ids": _NUMBERS,
        },
        ("answer",),
    ),
}
NAMES, DONE, UNKNOWN = tuple(_TOOLS), "done", "unknown"
#: A call that was written as text: JSON alone, or in a fence or tag.
_WRAPPED = re.compile(
    r"\A\s*(?:```(?:json)?|<tool_call>)?\s*([\[{].*[\]}])\s*(?:```|</tool_call>)?\s*\Z", re.DOTALL
)


@dataclass(frozen=True)
class Call:
    """A tool call of the model: `id` is the provider's. `problem`: why it cannot be done."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    problem: str | None = None

    def text(self, name: str) -> str:
        """Return a text argument."""
        value = self.arguments.get(name)
        return value.strip() if isinstance(value, str) else ""

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Return a number within its limits."""
        value = self.arguments.get(name)
        known = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # NaN
        return int(min(max(value, least), most)) if known and value is not None else default

    def numbers(self, *names: str) -> list[int]:
        """Return the numbers of all these lists, each once; a model may write them as text, or in brackets."""
        given = [self.arguments.get(name) for name in names]
        items = [str(item) for value in given for item in (value if isinstance(value, list) else [value])]
        found = [re.findall(r"\d{1,6}", item) for item in items if re.fullmatch(r"[\d\s,;\[\]]+", item)]
        return list(dict.fromkeys(int(number) for numbers in found for number in numbers))


def offered(names: Collection[str]) -> tuple[dict[str, Any], ...]:
    """Return the declarations of tools, in our order, as providers take them."""
    return tuple(
        {"type": "function", "function": {"name": name, "description": says, "parameters": _parameters(name)}}
        for name, (says, _, _) in _TOOLS.items()
        if name in names
    )


def _parameters(name: str) -> dict[str, Any]:
    _, properties, required = _TOOLS[name]
    if name != DONE:
        properties, required = {"reason": _REASON, **properties}, ("reason", *required)
    return {"type": "object", "properties": properties, "required": list(required)}


def in_words(names: Collection[str]) -> str:
    """Return the same for a model that takes no tools: a line for each."""
    return "".join(
        f"\n- {name}({', '.join(_parameters(name)['properties'])}): {says}"
        for name, (says, _, _) in _TOOLS.items()
        if name in names
    )


def step_schema(names: Sequence[str]) -> dict[str, Any]:
    """Return the schema of a step in words: calls of tools with the arguments of any."""
    properties = {key: value for name in names for key, value in _parameters(name)["properties"].items()}
    call = {"tool": {"type": "string", "enum": list(names)}, **properties}
    item = {"type": "object", "properties": call, "required": ["tool"]}
    return {
        "type": "object",
        "properties": {"calls": {"type": "array", "items": item}},
        "required": ["calls"],
    }


def read(call: ToolCall, names: Collection[str]) -> Call:
    """Return a call as it can be done, or with what is wrong with it."""
    try:
        arguments = parsing.parse(call.arguments or "{}")
    except (ModelMalformed, ModelTruncated):
        arguments = None
    if not isinstance(arguments, dict):
        return Call(call.id, call.name, {}, "the arguments are no JSON object")
    return _checked(Call(call.id, call.name, arguments), names)


def read_step(value: Any, names: Collection[str]) -> list[Call]:
    """Return the calls of a step in words; raises ModelMalformed where there is none."""
    items = value.get("calls", value) if isinstance(value, dict) else value
    items = items if isinstance(items, list) else [items]
    calls = [
        _checked(Call(f"step_{at}", str(item.get("tool")), _without_nulls(item)), names)
        for at, item in enumerate(items)
        if isinstance(item, dict) and item.get("tool")
    ]
    if not calls:
        raise ModelMalformed("it calls no tool")
    return calls


def _without_nulls(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if value is not None and key != "tool"}


def _checked(call: Call, names: Collection[str]) -> Call:
    problem = None
    if call.tool not in names:
        problem = f"there is no such tool; there are {', '.join(names)}"
    elif call.tool == DONE and not call.text("answer"):
        problem = "the answer is empty"
    elif call.tool == "expand" and not call.numbers("memory_ids"):
        problem = "memory_ids names no fact"
    elif call.tool not in (DONE, "expand") and not call.text("query"):
        problem = "the query is empty"
    return Call(call.id, call.tool, call.arguments, problem)


def written_out(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Return calls that a model wrote as text, as some do whose server does not read them; none where it is prose."""
    wrapped = _WRAPPED.match(text)
    if not wrapped:
        return ()
    try:
        value = json.loads(wrapped[1])
    except ValueError:
        return ()
    calls = []
    for at, item in enumerate(value if isinstance(value, list) else [value]):
        said = item.get("function", item) if isinstance(item, dict) else {}
        arguments = said.get("arguments", said.get("parameters")) if isinstance(said, dict) else None
        if not isinstance(arguments, dict | str) or said.get("name") not in names:
            return ()
        calls.append(
            ToolCall(
                f"text{at:05d}",
                said["name"],
                arguments if isinstance(arguments, str) else json.dumps(arguments),
            )
        )
    return tuple(calls)
