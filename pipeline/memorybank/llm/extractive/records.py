"""Turns given as JSON: an array, an object that holds one, or one object a line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memorybank.llm.extractive.turns import ROLES, Turn, role_of
from memorybank.timeline import find_times, parse_stamp

_SPEAKER_KEYS = ("name", "speaker", "author", "sender", "from", "user")
_ROLE_KEYS = ("role", "type")
_TEXT_KEYS = ("content", "text", "message", "body", "value")
_TIME_KEYS = ("timestamp", "time", "created_at", "date", "sent_at", "datetime")
_LIST_KEYS = ("turns", "messages", "conversation", "dialogue", "sessions", "items")


def read_records(text: str) -> list[Turn] | None:
    """The turns of a JSON text; None if it is no JSON of turns."""
    stripped = text.strip()
    if stripped[:1] not in ("[", "{"):
        return None
    try:
        return list(_turns(json.loads(stripped), None)) or None
    except (ValueError, RecursionError):
        return _read_lines(stripped)


def _read_lines(text: str) -> list[Turn] | None:
    """The turns of JSON Lines; None where a line is no object."""
    try:
        records = [json.loads(line.strip().rstrip(",")) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None
    return list(_turns(records, None)) or None if all(isinstance(each, Mapping) for each in records) else None


def _turns(value: Any, said: datetime | None) -> Iterator[Turn]:
    if isinstance(value, str):
        yield Turn(value, said=said)
    elif isinstance(value, list):
        for each in value:
            yield from _turns(each, said)
    elif isinstance(value, Mapping):
        said = _time(value) or said
        inner = next((value[key] for key in _LIST_KEYS if isinstance(value.get(key), list)), None)
        yield from _turns(inner, said) if inner is not None else _turn(value, said)


def _turn(record: Mapping[str, Any], said: datetime | None) -> Iterator[Turn]:
    """The turn of a record that says something."""
    text = next((_content(record[key]) for key in _TEXT_KEYS if record.get(key)), "")
    role = _label(record, _ROLE_KEYS).lower()
    speaker = _label(record, _SPEAKER_KEYS) or (_label(record, _ROLE_KEYS) if role in ROLES else None)
    if text.strip():
        yield Turn(text, speaker, role if role in ROLES else role_of(speaker), said)


def _label(record: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first of these keys that holds text; empty if none does."""
    values = (record.get(key) for key in keys)
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def _time(record: Mapping[str, Any]) -> datetime | None:
    value = _label(record, _TIME_KEYS)
    try:
        return parse_stamp(value) if value else None
    except ValueError:
        return next((span.start for span in find_times(value, None)), None)


def _content(value: Any) -> str:
    """Plain text, or the text parts of a message in parts."""
    if isinstance(value, list):
        return "\n".join(filter(None, map(_content, value)))
    inner = value.get("text") if isinstance(value, Mapping) else value
    return inner if isinstance(inner, str) else ""
