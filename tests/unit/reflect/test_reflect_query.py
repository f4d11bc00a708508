"""The checks at reflect's entry."""

from typing import Any
from uuid import uuid4

import pytest

from memorybank.errors import InvalidInput
from memorybank.model import FactType, Hit, Scores
from memorybank.reflect.query import ReflectQuery, Scope
from memorybank.tags import TagLeaf


@pytest.mark.parametrize(
    "wrong",
    [
        {"scope": Scope(fact_types=())},
        {"max_tokens": 0},
        {"response_schema": {}},
        {"response_schema": {"type": "array", "items": {}}},
        {"response_schema": {"type": "object", "properties": {}}},
        {"response_schema": {"type": "object", "properties": ["a"]}},
        {"response_schema": {"type": "object", "properties": {"a": {"type": "date"}}}},
        {"response_schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}},
        {"response_schema": {"type": "object", "properties": {"a": {"$ref": "http://example.org/b"}}}},
        {"response_schema": {"type": "object", "properties": {"a": {"description": "x" * 40_000}}}},
    ],
)
def test_what_cannot_be_asked_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        ReflectQuery("Who?", **wrong).check()
    assert refused.value.status == 422 and refused.value.loc[0] == "body"


def test_texts_are_normalised() -> None:
    checked = ReflectQuery(" Who\x00? ", context="\ud83d note ").check()
    assert (checked.query, checked.context) == ("Who?", "note")


def test_a_schema_may_refer_to_its_own_parts() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/b"}},
        "$defs": {"b": {"type": "string"}},
    }
    assert ReflectQuery("Who?", response_schema=schema).check().response_schema == schema


SCOPES: list[tuple[Scope, str, tuple[str, ...], bool]] = [
    (Scope(), "world", (), True),
    (Scope(("observation",)), "world", (), False),
    (Scope(tags=("a",)), "world", (), True),
    (Scope(tags=("a",)), "world", ("b",), False),
    (Scope(tags=("a",), tags_match="any_strict"), "world", (), False),
    (Scope(tag_groups=TagLeaf(("a",))), "world", ("a", "b"), True),
    (Scope(tags_match="exact"), "world", ("a",), False),
]


@pytest.mark.parametrize(("scope", "fact_type", "tags", "passes"), SCOPES)
def test_a_scope_admits_what_its_searches_would_find(
    scope: Scope, fact_type: str, tags: tuple[str, ...], passes: bool
) -> None:
    assert scope.admits(Hit(uuid4(), "x", FactType(fact_type), Scores(0.5), tags=tags)) is passes
