"""Schemas as providers take them."""

from memorybank.llm.shape import fitting, portable

SCHEMA = {
    "title": "T",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "title": {"type": "string", "maxLength": 3, "description": "kept"},
        "pattern": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}},
        "either": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "kind": {"enum": ["a", "b"], "default": "a"},
    },
    "required": ["title"],
}


def test_refused_keywords_go_and_properties_of_the_same_name_stay() -> None:
    assert portable(SCHEMA) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "kept"},
            "pattern": {"type": "array", "items": {"type": "integer"}},
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["title"],
    }


def test_items_by_reference_are_recognised() -> None:
    schema = {
        "properties": {"facts": {"type": "array", "items": {"$ref": "#/$defs/Fact"}}},
        "$defs": {"Fact": {"properties": {"what": {}}}},
    }
    assert fitting([{"what": "a"}], schema) == {"facts": [{"what": "a"}]}
    assert fitting([{"else": "a"}], schema) is None
