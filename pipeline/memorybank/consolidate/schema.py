"""The answer asked for in consolidation: its JSON schema, and how one action of it is read. Pure.

The same for all banks, so that it stands in the prefix that providers keep.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memorybank.llm import fields
from memorybank.text import guards

NAME = "consolidation_decision"
#: Longest reason that is kept, in characters.
REASON_CHARS = 200


class Kind(StrEnum):
    """What may be done: a closed set."""

    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    RETIRE = "retire"
    KEEP = "keep"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "actions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": [kind.value for kind in Kind]},
                    "text": fields.TEXT,
                    "facts": fields.IDS,
                    "observation": {"type": "integer"},
                    "others": fields.IDS,
                    "reason": fields.TEXT,
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
    return [_action(item) for item in fields.listed(value.get("actions"))]


def _action(item: Any) -> Action | None:
    if not isinstance(item, dict):
        return None
    try:
        kind = Kind(str(item.get("action", "")).strip().lower())
    except ValueError:
        return None
    observation = fields.number(item.get("observation"))
    others = (number for number in _numbers(item.get("others")) if number != observation)
    return Action(
        kind,
        guards.cut(guards.unlooped(fields.line(item.get("text")))),
        _numbers(item.get("facts")),
        observation,
        tuple(others),
        fields.line(item.get("reason"))[:REASON_CHARS],
    )


def _numbers(value: Any) -> tuple[int, ...]:
    found = map(fields.number, fields.listed(value))
    return tuple(dict.fromkeys(number for number in found if number is not None))
