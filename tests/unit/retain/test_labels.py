"""The bank's vocabulary: as it is asked for, and what counts of an answer."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from memorybank.llm.shape import portable
from memorybank.retain import labels
from memorybank.settings.labels import LabelGroup, Labels

STRING = {"type": "string"}


def groups(*raw: Any) -> tuple[LabelGroup, ...]:
    return TypeAdapter(Labels).validate_python(list(raw))


def read(raw: Any, *of_groups: Any) -> list[str]:
    return [label.text for label in labels.read(raw, groups(*of_groups))]


MOOD = {"key": "Mood", "values": ["Glad", {"value": "sad", "description": "low\nspirits"}]}
TOPICS = {
    "key": "topics",
    "type": "multi-values",
    "values": ["Sport", "Food"],
    "description": "what it is on",
}
SIZE = {"key": "size", "type": "text"}
PARTS = {"key": "parts", "type": "multi-text"}
ADDRESS = {
    "key": "address",
    "type": "map",
    "fields": {
        "city": {"description": "where"},
        "kind": {"type": "value", "values": ["home", "work"]},
        "geo": {"type": "map", "fields": {"tags": {"type": "multi-values", "values": ["north", "sea"]}}},
    },
}
ALL = (MOOD, TOPICS, SIZE, PARTS, ADDRESS)


def test_the_schema_has_a_shape_for_each_type() -> None:
    shape = labels.described(groups(*ALL))
    assert shape == {
        "type": "object",
        "properties": {
            "Mood": STRING | {"enum": ["Glad", "sad"]},
            "topics": {"type": "array", "items": STRING | {"enum": ["Sport", "Food"]}},
            "size": STRING,
            "parts": {"type": "array", "items": STRING},
            "address": {
                "type": "object",
                "properties": {
                    "city": STRING,
                    "kind": STRING | {"enum": ["home", "work"]},
                    "geo": {
                        "type": "object",
                        "properties": {
                            "tags": {"type": "array", "items": STRING | {"enum": ["north", "sea"]}}
                        },
                    },
                },
            },
        },
    }
    # Nothing that a provider refuses: no bounds, no free objects.
    assert portable(shape) == shape
    assert "additionalProperties" not in json.dumps(shape)


def test_required_are_single_values_texts_and_maps_alone() -> None:
    shape = labels.described(groups(*(group | {"optional": False} for group in ALL)))
    assert shape is not None
    assert shape["required"] == ["Mood", "size", "address"]
    told = labels.catalogue(groups(*(group | {"optional": False} for group in ALL)))
    assert [line.split(" ")[1] for line in told.split("\n") if "required" in line] == [
        "Mood",
        "size",
        "address",
    ]


@pytest.mark.parametrize(
    "empty",
    [
        (),
        ({"key": "mood"},),
        ({"key": "m", "type": "multi-values", "optional": False},),
        ({"key": "m", "type": "map"},),
        ({"key": "m", "type": "map", "fields": {"a": {"type": "value"}}},),
    ],
)
def test_groups_that_allow_nothing_are_not_asked_for(empty: tuple[Any, ...]) -> None:
    assert labels.described(groups(*empty)) is None
    assert labels.catalogue(groups(*empty)) == ""


def test_the_catalogue_says_keys_values_and_what_they_mean() -> None:
    assert labels.catalogue(groups(*ALL, {"key": "none"})).split("\n") == [
        '- Mood (one of "Glad", "sad" = low spirits)',
        '- topics (any of "Sport", "Food"): what it is on',
        "- size (a text)",
        "- parts (a list of texts)",
        "- address (an object)",
        "  - city (a text): where",
        '  - kind (one of "home", "work")',
        "  - geo (an object)",
        '    - tags (any of "north", "sea")',
    ]


@pytest.mark.parametrize(
    ("group", "given", "kept"),
    [
        (MOOD, "GLAD", ["Mood:Glad"]),
        (MOOD, " sad ", ["Mood:sad"]),
        (MOOD, ["angry", "sad", "glad"], ["Mood:sad"]),
        (MOOD, "angry", []),
        (MOOD, None, []),
        (MOOD, {"value": "glad"}, []),
        (TOPICS, ["food", "chess", "FOOD", "sport"], ["topics:Food", "topics:Sport"]),
        (TOPICS, "food", ["topics:Food"]),
        (SIZE, "about 3 m,  wide", ["size:about 3 m, wide"]),
        (SIZE, 12, ["size:12"]),
        (SIZE, True, ["size:true"]),
        (SIZE, "N/A", []),
        (SIZE, "null", []),
        (SIZE, "None", []),
        (SIZE, "  ", []),
        (SIZE, "unknown", ["size:unknown"]),
        (SIZE, "&lt;content>", ["size:<content>"]),
        (SIZE, "x" * 400, ["size:" + "x" * 251]),
        (PARTS, ["Rad", "none", "Helm", "rad"], ["parts:Rad", "parts:Helm"]),
        (
            ADDRESS,
            {"City": "Kiel", "kind": "WORK", "geo": {"tags": ["sea", "hill"]}, "zip": "1"},
            ["address:city:Kiel", "address:kind:work", "address:geo:tags:sea"],
        ),
        (ADDRESS, "Kiel", []),
        (ADDRESS, {"geo": {"tags": []}}, []),
    ],
)
@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("tag", [True, False])
def test_what_counts_of_an_answer(group: Any, given: Any, kept: list[str], optional: bool, tag: bool) -> None:
    of_bank = groups(group | {"optional": optional, "tag": tag})
    found = labels.read({group["key"].upper(): given, "other": "x"}, of_bank)
    assert [label.text for label in found] == kept
    assert all(label.is_tag is tag for label in found)


@pytest.mark.parametrize("raw", [None, [], "glad", 7, {}, ["Mood:Glad"]])
def test_an_answer_without_keys_gives_no_labels(raw: Any) -> None:
    assert read(raw, *ALL) == []


def test_a_value_that_says_nothing_counts_where_the_bank_lists_it() -> None:
    assert read({"risk": "None"}, {"key": "risk", "values": ["none", "high"]}) == ["risk:none"]


def test_the_old_switches_are_types() -> None:
    old = {"key": "a", "free_values": True, "multi_value": True}
    assert read({"a": ["x", "y"]}, old) == ["a:x", "a:y"]
