"""The answer asked for in consolidation: its JSON schema, and how one action of it is read. Pure.

The same for all banks, so that it stands in the prefix that providers keep.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memorybank import text
from memorybank.templates import unescaped
from memorybank.text import guards

NAME = "consolidation_decision"
#: Longest reason that is kept, in characters.
REASON_CHARS = 200
#: No call shows more of anything.
MAX_DIGITS = 4


class Kind(StrEnum):
    """What may be done: a closed set."""

    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    RETIRE = "retire"
    KEEP = "keep"


_TEXT, _IDS = {"type": "string"}, {"type": "array", "items": {"type": "integer"}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "actions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": [kind.value for kind in Kind]},
                    "text": _TEXT,
                    "facts": _IDS,
                    "observation": {"type": "integer"},
                    "others": _IDS,
                    "reason": _TEXT,
                },
                "required": ["action", "facts"],
            },
        }
    },
    "required": ["actions"],
}


@dataclass(frozen=True)
class Action:
    """One action as the model wrote it, its numbers unchecked. `others`: what a merge takes in."""

    kind: Kind
    text: str = ""
    facts: tuple[int, ...] = ()
    observation: int | None = None
    others: tuple[int, ...] = ()
    reason: str = ""


def read(value: Mapping[str, Any]) -> list[Action | None]:
    """Return the actions of an answer; None for each that cannot be read."""
    raw = value.get("actions")
    return [_action(item) for item in (raw if isinstance(raw, list) else [raw])]


def _action(item: Any) -> Action | None:
    if not isinstance(item, dict):
        return None
    try:
        kind = Kind(str(item.get("action", "")).strip().lower())
    except ValueError:
        return None
    observation = _number(item.get("observation"))
    return Action(
        kind,
        guards.cut(guards.unlooped(_said(item.get("text")))),
        _numbers(item.get("facts")),
        observation,
        tuple(number for number in _numbers(item.get("others")) if number != observation),
        _said(item.get("reason"))[:REASON_CHARS],
    )


def _said(value: Any) -> str:
    return unescaped(" ".join(text.normalize(value).split())) if isinstance(value, str) else ""


def _numbers(value: Any) -> tuple[int, ...]:
    numbers = map(_number, value if isinstance(value, list) else [value])
    return tuple(dict.fromkeys(number for number in numbers if number is not None))


def _number(value: Any) -> int | None:
    digits = str(value).strip()
    return int(digits) if digits.isdecimal() and digits.isascii() and len(digits) <= MAX_DIGITS else None
