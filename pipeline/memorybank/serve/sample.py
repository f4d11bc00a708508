"""A conversation from a file: our own sample form, JSON or JSONL of turns, or any text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memorybank.errors import BadRequest
from memorybank.text import normalize

#: Names under which files of turns say who speaks, what, and when.
SPEAKER_KEYS = ("speaker", "name", "role", "author", "from")
TEXT_KEYS = ("text", "content", "message", "value")
TIME_KEYS = ("timestamp", "created_at", "date", "time")


@dataclass(frozen=True)
class Sample:
    """What a demonstration retains (items as the API takes them) and asks."""

    name: str
    items: tuple[Mapping[str, Any], ...]
    questions: tuple[str, ...]


def read(path: Path) -> Sample:
    """Read a sample; raises BadRequest where the file is missing or holds nothing."""
    try:
        text = normalize(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise BadRequest(f"cannot read {path}: {error.strerror}") from error
    if not text.strip():
        raise BadRequest(f"{path} is empty")
    content = _parsed(text)
    sessions = content["sessions"] if isinstance(content, dict) and "sessions" in content else [content]
    items = [_item(path.stem, number, session) for number, session in enumerate(sessions, start=1)]
    questions = content.get("questions", []) if isinstance(content, dict) else []
    return Sample(path.stem, tuple(items), tuple(questions))


def _parsed(text: str) -> Any:
    """Return JSON, JSONL as a list, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return (
            [json.loads(line) for line in lines]
            if all(line.lstrip().startswith("{") for line in lines)
            else text
        )
    except ValueError:
        return text


def _item(name: str, number: int, session: Any) -> Mapping[str, Any]:
    """Return one session as a retain item; its document id makes a second run replace, not double it."""
    item: dict[str, Any] = {"document_id": f"{name}/{number}", "content": _content(session)}
    if isinstance(session, dict):
        item |= {key: session[key] for key in ("timestamp", "context") if session.get(key)}
        if session.get("id"):
            item["document_id"] = f"{name}/{session['id']}"
    return item


def _content(session: Any) -> str:
    if isinstance(session, str):
        return session
    turns = session.get("turns", session) if isinstance(session, dict) else session
    if isinstance(turns, list):
        return "\n".join(_line(turn) for turn in turns)
    return json.dumps(turns, ensure_ascii=False)


def _line(turn: Any) -> str:
    if not isinstance(turn, dict):
        return str(turn)
    speaker, text, when = (_first(turn, keys) for keys in (SPEAKER_KEYS, TEXT_KEYS, TIME_KEYS))
    if text is None:
        return json.dumps(turn, ensure_ascii=False)
    return f"{f'[{when}] ' if when else ''}{f'{speaker}: ' if speaker else ''}{text}"


def _first(turn: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((turn[key] for key in keys if isinstance(turn.get(key), str) and turn[key]), None)
