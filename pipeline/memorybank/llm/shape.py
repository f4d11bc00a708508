"""Brings a JSON value to the outer shape of a schema, and a schema to what providers take. Pure."""

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

#: Keywords that one provider or another refuses, and that our own validation does not need.
_REFUSED = frozenset(
    {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
        "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
        "patternProperties", "additionalProperties", "default", "examples", "title", "$schema", "$id",
    }
)  # fmt: skip


def fitting(values: Sequence[Any], schema: Schema | None) -> Any:
    """Return the last value that has, or can be given, the outer shape of the schema; else None.

    Without a schema: the last object or list. Several bare items of a schema with one list are one list.
    """
    if schema is None:
        return next((value for value in reversed(values) if isinstance(value, dict | list)), None)
    shaped = [_shaped(value, schema) for value in values]
    whole = [value for value in shaped if value is not None]
    if whole:
        return whole[-1]
    items = [value for value in values if _is_item(value, schema)]
    return {_only_list(schema): items} if items else None


def _shaped(value: Any, schema: Schema) -> Any:
    """Return the value in the shape of the schema, or None."""
    if isinstance(value, list):
        return _from_list(value, schema)
    if not isinstance(value, dict):
        return None
    if not value.keys().isdisjoint(_properties(schema)):
        return value
    if _is_echo(value, schema):
        return _filled(value["properties"], schema)
    if _is_item(value, schema):
        return None
    return _unwrapped(value, schema)


def _from_list(value: list[Any], schema: Schema) -> Any:
    name = _only_list(schema)
    if name is None:
        return _shaped(value[0], schema) if len(value) == 1 else None
    if value and all(isinstance(item, dict) and isinstance(item.get(name), list) for item in value):
        return {name: [item for part in value for item in part[name]]}
    return {name: value} if _could_be_items(value, _properties(schema)[name]) else None


def _could_be_items(value: list[Any], described: Schema) -> bool:
    """Tell a list of facts from the "[1]" of a footnote."""
    of_objects = described.get("items", {}).get("type", "object") == "object"
    return not value or not of_objects or any(isinstance(item, dict) for item in value)


def _unwrapped(value: dict[str, Any], schema: Schema) -> Any:
    """Look one level down: {"result": {...}}, or {"memories": [...]} for the schema's only list."""
    if len(value) == 1:
        (inner,) = value.values()
        if isinstance(inner, dict):
            return inner if not inner.keys().isdisjoint(_properties(schema)) else None
    name = _only_list(schema)
    lists = [inner for inner in value.values() if isinstance(inner, list)]
    return {name: lists[0]} if name and len(lists) == 1 else None


def _is_echo(value: dict[str, Any], schema: Schema) -> bool:
    return isinstance(value.get("properties"), dict) and "properties" not in _properties(schema)


def _filled(properties: dict[str, Any], schema: Schema) -> Any:
    """Return the data that stands where the schema has descriptions; None when it is only repeated."""
    repeated = any(
        isinstance(properties.get(name), dict) and "type" in properties[name] for name in _properties(schema)
    )
    fits = not properties.keys().isdisjoint(_properties(schema))
    return properties if fits and not repeated else None


def _is_item(value: Any, schema: Schema) -> bool:
    """Say whether the value looks like one item of the schema's only list."""
    name = _only_list(schema)
    if name is None or not isinstance(value, dict):
        return False
    item = _resolved(_properties(schema)[name].get("items", {}), schema)
    return not value.keys().isdisjoint(_properties(item))


def _only_list(schema: Schema) -> str | None:
    """Return the name of the schema's property when it has just one and that is a list."""
    properties = _properties(schema)
    if len(properties) != 1:
        return None
    ((name, described),) = properties.items()
    return name if described.get("type") == "array" else None


def _properties(schema: Schema) -> dict[str, Schema]:
    found: dict[str, Schema] = schema.get("properties", {})
    return found


def _resolved(schema: Schema, root: Schema) -> Schema:
    """Follow one "$ref" into "$defs"."""
    reference = schema.get("$ref", "")
    found: Schema = root.get("$defs", {}).get(reference.rsplit("/", 1)[-1], schema) if reference else schema
    return found


def portable(schema: Schema) -> Schema:
    """Return the schema without the keywords that providers refuse."""
    cleaned: Schema = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            cleaned[key] = {name: portable(inner) for name, inner in value.items()}
        elif key not in _REFUSED:
            cleaned[key] = _portable_value(value)
    return cleaned


def _portable_value(value: Any) -> Any:
    if isinstance(value, dict):
        return portable(value)
    if isinstance(value, list):
        return [_portable_value(item) for item in value]
    return value
