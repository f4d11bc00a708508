"""The dotted keys of all settings, and flat tables of values by key (`retain.llm.model` -> value)."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from memorybank.settings.server import Settings

#: Tables whose keys are names of things, not fields: configs/default.toml lists the names there are.
OPEN_TABLES = frozenset({"recall.weights"})

#: Settings that are no setting: filled in by the loader.
_NOT_SET = frozenset({"sources"})


def declared(model: type[BaseModel] = Settings, above: str = "") -> dict[str, FieldInfo]:
    """Return each declared key with its field, in order; an open table is one key."""
    found: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        if name in _NOT_SET:
            continue
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            found |= declared(annotation, f"{above}{name}.")
        else:
            found[above + name] = field
    return found


def field_of(key: str, fields: Mapping[str, FieldInfo]) -> FieldInfo | None:
    """Return the declaration that governs a key, also of a name inside an open table."""
    table = key.rpartition(".")[0]
    return fields.get(table if table in OPEN_TABLES else key)


def flat(
    document: Mapping[str, Any], fields: Mapping[str, FieldInfo], above: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield (key, value) of a nested document; what no declared key covers comes out as deep as it goes."""
    for name, value in document.items():
        key = above + name
        is_leaf = key in fields and key not in OPEN_TABLES
        if isinstance(value, Mapping) and not is_leaf:
            yield from flat(value, fields, f"{key}.")
        else:
            yield key, value


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nested document of a flat table."""
    document: dict[str, Any] = {}
    for key, value in values.items():
        *tables, leaf = key.split(".")
        place = document
        for table in tables:
            place = place.setdefault(table, {})
        place[leaf] = value
    return document


def near(name: str, names: Iterable[str]) -> str:
    """Return " (did you mean …?)" with the nearest names, or nothing."""
    matches = difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)
    return f" (did you mean {', '.join(matches)}?)" if matches else ""
