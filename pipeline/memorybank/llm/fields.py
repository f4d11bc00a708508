"""Fields of what a model is shown and of what it answers: rows under short numbers, lines of text. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from memorybank import text
from memorybank.templates import unescaped

#: No call shows more of anything.
MAX_DIGITS = 4
#: Parts of schemas.
TEXT, IDS = {"type": "string"}, {"type": "array", "items": {"type": "integer"}}


def number(value: Any) -> int | None:
    """Return a number of a call, in whatever way it is written; None for what is none."""
    digits = str(value).strip()
    return int(digits) if digits.isdecimal() and digits.isascii() and len(digits) <= MAX_DIGITS else None


def listed(value: Any) -> list[Any]:
    """Return a list, or what stands in place of one."""
    return value if isinstance(value, list) else [value]


def line(value: Any) -> str:
    """Return a text as one line, as it may be stored; nothing for what is no text."""
    return unescaped(" ".join(text.normalize(value).split())) if isinstance(value, str) else ""


def rows(told: Iterable[Mapping[str, Any]], before: int = 0) -> str:
    """Return JSON objects, one a line under its number, without what is not known of each."""
    numbered = ({"id": place} | dict(row) for place, row in enumerate(told, before + 1))
    return "\n".join(compact({name: value for name, value in row.items() if value}) for row in numbered)


def compact(value: Mapping[str, Any]) -> str:
    """Return JSON without spaces: each is paid for."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
