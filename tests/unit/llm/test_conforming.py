"""Answers against the schema of a caller: checked, without content in the message, and without running for ever."""

from typing import Any

import pytest

from memorybank.errors import ModelMalformed
from memorybank.llm.conforming import conforming

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}},
    "required": ["n"],
}


def test_what_fits_is_taken() -> None:
    assert conforming(SCHEMA)({"n": 1, "names": ["a"], "more": None}) == {
        "n": 1,
        "names": ["a"],
        "more": None,
    }


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({}, "no JSON object"),
        ([1], "no JSON object"),
        ({"n": "secret"}, r"n does not fit the schema \(type\)"),
        ({"names": []}, r"the object does not fit the schema \(required\)"),
        ({"n": 1, "names": ["a", 5]}, r"names/1 does not fit"),
    ],
)
def test_what_does_not_fit(value: Any, why: str) -> None:
    with pytest.raises(ModelMalformed, match=why) as caught:
        conforming(SCHEMA)(value)
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "schema",
    [{"type": "no type"}, {"$ref": "http://127.0.0.1:9/x.json"}, {"$ref": "#/nowhere"}, {"required": "n"}],
)
def test_schemas_that_cannot_be_checked(schema: dict[str, Any]) -> None:
    with pytest.raises(ModelMalformed, match="no JSON schema"):
        conforming(schema)({"n": 1})


def test_a_pattern_is_not_run() -> None:
    endless = {"type": "object", "properties": {"n": {"pattern": "^(a+)+$"}}}
    assert conforming(endless)({"n": "a" * 40 + "!"})
