"""Tools: how they are offered, and how calls are read, whatever a model makes of them."""

import json
from typing import Any

import pytest

from memorybank.errors import ModelMalformed
from memorybank.llm.client import ToolCall
from memorybank.reflect import tools
from memorybank.reflect.tools import Call

NAMES = ["search_observations", "recall", "expand", "done"]


def test_searches_want_a_reason_and_done_an_answer() -> None:
    declared = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools.offered(NAMES)}
    assert list(declared) == NAMES
    assert declared["recall"]["required"] == ["reason", "query"]
    assert list(declared["recall"]["properties"]) == ["reason", "query", "max_tokens", "max_chunk_tokens"]
    assert declared["expand"]["properties"]["depth"]["enum"] == ["chunk", "document"]
    assert declared["done"]["required"] == ["answer"] and "reason" not in declared["done"]["properties"]
    assert tools.in_words(NAMES).count("\n- ") == len(NAMES)
    schema = tools.step_schema(NAMES)["properties"]["calls"]["items"]
    assert schema["properties"]["tool"]["enum"] == NAMES and "max_results" not in schema["properties"]


@pytest.mark.parametrize(
    ("value", "number"),
    [(300, 300), (7.9, 100), (10**9, 8000), (None, 2048), ("300", 2048), (True, 2048), (float("nan"), 2048)],
)
def test_numbers_are_held_to_their_limits(value: Any, number: int) -> None:
    assert Call("c", "recall", {"max_tokens": value}).number("max_tokens", 2048, 100, 8000) == number


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ([3, "4", "[5]", 3], [3, 4, 5]),
        (7, [7]),
        ("[1][2]", [1, 2]),
        (None, []),
        ([None, {}, "x"], []),
        (["01a22fd1-8267", 4.5, True], []),
    ],
)
def test_ids_are_read_however_they_are_written(value: Any, numbers: list[int]) -> None:
    assert Call("c", "expand", {"memory_ids": value}).numbers("memory_ids", "others") == numbers


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"query": "x"}', None),
        ('{"query": "x",}', None),
        ("", "the query is empty"),
        ("[]", "the arguments are no JSON object"),
        ('{"query": "x', "the arguments are no JSON object"),
    ],
)
def test_arguments_are_json(arguments: str, problem: str | None) -> None:
    assert tools.read(ToolCall("c", "recall", arguments), NAMES).problem == problem


@pytest.mark.parametrize(
    "value",
    [
        {"calls": [{"tool": "recall", "query": "x", "depth": None}]},
        [{"tool": "recall", "query": "x"}],
        {"tool": "recall", "query": "x"},
    ],
)
def test_a_step_in_words_is_read(value: Any) -> None:
    assert tools.read_step(value, NAMES) == [Call("step_0", "recall", {"query": "x"})]


@pytest.mark.parametrize("value", [{"calls": []}, [], "recall", {"calls": [{"query": "x"}]}])
def test_a_step_without_a_call_is_malformed(value: Any) -> None:
    with pytest.raises(ModelMalformed):
        tools.read_step(value, NAMES)


CALL = {"name": "recall", "arguments": {"query": "x"}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CALL),
        json.dumps([CALL]),
        f"```json\n{json.dumps(CALL)}\n```",
        f"<tool_call>{json.dumps(CALL)}</tool_call>",
        json.dumps({"type": "function", "function": CALL}),
        json.dumps({"name": "recall", "parameters": '{"query": "x"}'}),
    ],
)
def test_calls_written_as_text_are_calls(text: str) -> None:
    [call] = tools.written_out(text, NAMES)
    assert call.name == "recall" and json.loads(call.arguments) == {"query": "x"}


@pytest.mark.parametrize(
    "text",
    [
        "Ana lives in Graz [1].",
        f"As a memory says: {json.dumps(CALL)}",
        f"{json.dumps(CALL)} is what a memory says.",
        '{"answer": "x"}',
        '{"name": "drop_table", "arguments": {}}',
        '{"name": "recall", "arguments": 5}',
        "[1] [2]",
    ],
)
def test_prose_that_quotes_a_call_is_prose(text: str) -> None:
    assert tools.written_out(text, NAMES) == ()
