"""The checks at reflect's entry."""

from typing import Any

import pytest

from memorybank.errors import InvalidInput
from memorybank.reflect.query import ReflectQuery, Scope


@pytest.mark.parametrize(
    "wrong",
    [
        {"scope": Scope(fact_types=())},
        {"max_tokens": 0},
        {"response_schema": {}},
        {"response_schema": {"type": "array", "items": {}}},
        {"response_schema": {"type": "object", "properties": {}}},
        {"response_schema": {"type": "object", "properties": ["a"]}},
    ],
)
def test_what_cannot_be_asked_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        ReflectQuery("Who?", **wrong).check()
    assert refused.value.status == 422 and refused.value.loc[0] == "body"


def test_texts_are_normalised() -> None:
    checked = ReflectQuery(" Who\x00? ", context="\ud83d note ").check()
    assert (checked.query, checked.context) == ("Who?", "note")
