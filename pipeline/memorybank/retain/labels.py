"""Entity labels: how a bank's vocabulary is told to a model, and which labels of its answer count. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorybank.settings.labels import LabelGroup, MapField
from memorybank.templates import unescaped

#: Longest label, in characters: as long as the name of an entity may be.
MAX_LABEL_CHARS = 256

Described = LabelGroup | MapField

_SINGLE = ("value", "text", "map")
_NOTHING = frozenset(("", "none", "null", "n/a"))
_WAYS = {"value": "one of ", "multi-values": "any of ", "text": "a text", "multi-text": "a list of texts"}


@dataclass(frozen=True)
class Label:
    """One label, `key:value`; `is_tag`: it is a tag of the fact as well."""

    text: str
    is_tag: bool = False


def described(groups: Sequence[LabelGroup]) -> dict[str, Any] | None:
    """Return the JSON schema of a fact's `labels`, None where nothing can be given.

    A group without values or fields is left out: an empty list and a free object are refused by providers.
    """
    shapes = {group.key: shape for group in groups if (shape := _shape(group))}
    if not shapes:
        return None
    needed = [group.key for group in groups if group.key in shapes and _is_required(group)]
    return {"type": "object", "properties": shapes} | ({"required": needed} if needed else {})


def _is_required(group: LabelGroup) -> bool:
    return not group.optional and group.type in _SINGLE


def _shape(field: Described) -> dict[str, Any] | None:
    text: dict[str, Any] = {"type": "string"}
    match field.type:
        case "value" | "multi-values":
            if not field.values:
                return None
            text["enum"] = list(dict.fromkeys(one.value for one in field.values))
        case "map":
            shapes = {name: shape for name, inner in field.fields.items() if (shape := _shape(inner))}
            return {"type": "object", "properties": shapes} if shapes else None
    return text if field.type in _SINGLE else {"type": "array", "items": text}


def catalogue(groups: Sequence[LabelGroup]) -> str:
    """Return the vocabulary as the prompt shows it, one line a key; "" where nothing can be given."""
    lines = [line for group in groups if _shape(group) for line in _lines(group.key, group, "")]
    return "\n".join(lines)


def _lines(name: str, field: Described, indent: str) -> Iterator[str]:
    values = ", ".join(_value(one.value, one.description) for one in field.values)
    way = _WAYS.get(field.type, "an object") + (values if field.type in ("value", "multi-values") else "")
    needed = ", required" if isinstance(field, LabelGroup) and _is_required(field) else ""
    about = f": {_line(field.description)}" if field.description.strip() else ""
    yield f"{indent}- {_line(name)} ({way}{needed}){about}"
    for inner, of_map in (field.fields if field.type == "map" else {}).items():
        if _shape(of_map):
            yield from _lines(inner, of_map, indent + "  ")


def _value(value: str, description: str) -> str:
    return f'"{_line(value)}"' + (f" = {_line(description)}" if description.strip() else "")


def _line(text: str) -> str:
    return " ".join(text.split())


def read(raw: Any, groups: Sequence[LabelGroup]) -> tuple[Label, ...]:
    """Return the labels that an answer gives and the vocabulary allows, in the vocabulary's order and spelling."""
    given = _by_key(raw)
    found: dict[str, Label] = {}
    for group in groups:
        for text in _texts(group.key, group, given.get(group.key.casefold())):
            found.setdefault(text.casefold(), Label(text, group.tag))
    return tuple(found.values())


def _by_key(raw: Any) -> Mapping[str, Any]:
    return {str(key).casefold(): value for key, value in raw.items()} if isinstance(raw, Mapping) else {}


def _texts(path: str, field: Described, raw: Any) -> Iterator[str]:
    """Yield `key:value`, for a map `key:field:value` and deeper."""
    if field.type == "map":
        given = _by_key(raw)
        for name, inner in field.fields.items():
            yield from _texts(f"{path}:{name}", inner, given.get(name.casefold()))
        return
    allowed = _allowed(field, raw if isinstance(raw, list) else [raw])
    for value in list(allowed)[: 1 if field.type in _SINGLE else None]:
        yield f"{path}:{value}"[:MAX_LABEL_CHARS].rstrip()


def _allowed(field: Described, raw: Iterable[Any]) -> Iterator[str]:
    """Yield values as they count: of the list in its spelling, of a text as given."""
    of_list = field.type in ("value", "multi-values")
    canonical = {_line(one.value).casefold(): one.value for one in field.values} if of_list else {}
    for value in raw:
        said = _said(value)
        if of_list and said.casefold() in canonical:
            yield canonical[said.casefold()]
        elif not of_list and said.casefold() not in _NOTHING:
            yield said


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return unescaped(_line(str(value))) if isinstance(value, str | int | float) else ""
