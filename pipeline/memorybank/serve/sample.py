"""A conversation from a file: our own sample form, JSON or JSONL of turns, or any text."""

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memorybank.errors import BadRequest
from memorybank.text import normalize
from memorybank.timeline import parse_timestamp

#: Names under which files of turns say who speaks, what, and when; and under which objects hold their turns.
SPEAKER_KEYS = ("speaker", "name", "role", "author", "from")
TEXT_KEYS = ("text", "content", "message", "value")
TIME_KEYS = ("timestamp", "created_at", "date", "time")
TURNS_KEYS = ("turns", "messages", "conversation", "conversations")
#: Byte order marks of the encodings that editors save besides UTF-8.
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
#: What a text is written in that is not UTF-8: the usual one of Western Windows.
OTHERWISE = "cp1252"


@dataclass(frozen=True)
class Sample:
    """What a demonstration retains (items as the API takes them) and asks."""

    name: str
    items: tuple[Mapping[str, Any], ...]
    questions: tuple[str, ...]


def read(path: Path) -> Sample:
    """Read a sample; raises BadRequest where the file is missing or holds nothing."""
    try:
        content = _parsed(normalize(_decoded(path.read_bytes())))
    except OSError as error:
        raise BadRequest(f"cannot read {path}: {error.strerror}") from error
    sessions = _list(content, ("sessions",))
    sessions = [content] if sessions is None else sessions
    found = [_item(path.stem, number, session) for number, session in enumerate(sessions, start=1)]
    items = tuple(item for item in found if item["content"].strip())
    if not items:
        raise BadRequest(f"{path} is empty: it holds nothing to remember")
    return Sample(path.stem, items, tuple(map(str, _list(content, ("questions",)) or ())))


def _decoded(data: bytes) -> str:
    """Return the text of a file, whatever editor wrote it; raises BadRequest for what is no text."""
    marked = next((encoding for mark, encoding in MARKS.items() if data.startswith(mark)), None)
    if marked:
        return data.decode(marked, "replace")
    if b"\0" in data:
        raise BadRequest("the file holds bytes that are no text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(OTHERWISE, "replace")


def _parsed(text: str) -> Any:
    """Return JSON, JSONL as a list, or the text itself."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in lines] if all(map(_is_object, lines)) else text
    except ValueError:
        return text


def _is_object(line: str) -> bool:
    return line.lstrip().startswith("{")


def _list(value: Any, keys: tuple[str, ...]) -> list[Any] | None:
    """Return the first list that an object holds under one of these names."""
    if not isinstance(value, dict):
        return None
    return next((value[key] for key in keys if isinstance(value.get(key), list)), None)


def _item(name: str, number: int, session: Any) -> dict[str, Any]:
    """Return one session as a retain item; its document id makes a second run replace, not double it."""
    turns = session if isinstance(session, list) else _list(session, TURNS_KEYS)
    item: dict[str, Any] = {"document_id": f"{name}/{number}"}
    if isinstance(session, dict) and turns is not None:
        item |= {"context": str(session["context"])} if session.get("context") else {}
        item["document_id"] = f"{name}/{session.get('id') or number}"
    item["content"] = _text(session) if turns is None else "\n".join(map(_line, turns))
    when = _when([session, *(turns or ())])
    return item | ({"timestamp": when} if when else {})


def _text(session: Any) -> str:
    """Return what is no list of turns: a text as it stands, one turn, or any other value as JSON."""
    return session if isinstance(session, str) else _line(session)


def _line(turn: Any) -> str:
    """Return a turn as a line of a transcript."""
    if isinstance(turn, str):
        return turn
    speaker, text, when = (_first(turn, keys) for keys in (SPEAKER_KEYS, TEXT_KEYS, TIME_KEYS))
    if text is None:
        return json.dumps(turn, ensure_ascii=False)
    return f"{f'[{when}] ' if when else ''}{f'{speaker}: ' if speaker else ''}{text}"


def _first(turn: Any, keys: tuple[str, ...]) -> str | None:
    """Return the first of these fields that says something; a message in parts is its text parts."""
    if not isinstance(turn, dict):
        return None
    return next((said for key in keys if (said := _said(turn.get(key)))), None)


def _said(value: Any) -> str | None:
    if isinstance(value, list):
        parts = [
            part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        return "\n".join(parts) or None
    return value if isinstance(value, str) and value else None


def _when(places: list[Any]) -> str | None:
    """Return the first time stamp that can be read, of a session or else of its turns."""
    for stamp in filter(None, (_first(place, TIME_KEYS) for place in places)):
        try:
            return parse_timestamp(stamp).isoformat()
        except ValueError:
            continue
    return None
