"""Turns given as JSON: an array, an object that holds one, or one object a line."""

import json
from collections.abc import Mapping, Sequence
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
        return _turns(json.loads(stripped), None)
    except (ValueError, RecursionError):
        return _read_lines(text)


def _read_lines(text: str) -> list[Turn] | None:
    """The turns of JSON Lines; None where a line is no object."""
    try:
        records = [json.loads(line.strip().rstrip(",")) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(record, Mapping) for record in records):
        return None
    return [turn for record in records if (turn := _turn(record, None)) is not None] or None


def _turns(value: Any, said: datetime | None) -> list[Turn] | None:
    if isinstance(value, Mapping):
        said = _time(value) or said
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list):
                return _turns(value[key], said)
        turn = _turn(value, said)
        return [turn] if turn is not None else None
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    found: list[Turn] = []
    for record in value:
        if isinstance(record, Mapping) and any(isinstance(record.get(key), list) for key in _LIST_KEYS):
            found += _turns(record, said) or []
        elif isinstance(record, Mapping) and (turn := _turn(record, said)) is not None:
            found.append(turn)
        elif isinstance(record, str):
            found.append(Turn(record, said=said))
    return found or None


def _turn(record: Mapping[str, Any], said: datetime | None) -> Turn | None:
    text = next((_content(record[key]) for key in _TEXT_KEYS if record.get(key)), "")
    if not text.strip():
        return None
    role = _label(record, _ROLE_KEYS)
    speaker = _label(record, _SPEAKER_KEYS) or (role if role and role.lower() in ROLES else None)
    known = role.lower() if role and role.lower() in ROLES else role_of(speaker)
    return Turn(text, speaker, known, _time(record) or said)


def _label(record: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _time(record: Mapping[str, Any]) -> datetime | None:
    value = _label(record, _TIME_KEYS)
    if not value:
        return None
    try:
        return parse_stamp(value)
    except ValueError:
        spans = find_times(value, None)
        return spans[0].start if spans else None


def _content(value: Any) -> str:
    """Plain text, or the text parts of a message in parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(part for part in map(_content, value) if part)
    if isinstance(value, Mapping):
        inner = value.get("text")
        return inner if isinstance(inner, str) else ""
    return ""
