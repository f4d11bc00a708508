"""Reads JSON out of what models really write. Pure.

Taken in stride: code fences, prose around the JSON, thinking text before it, a bare list or a bare item,
another name for the only list, the answer wrapped in its own schema, JSON inside a JSON string, bad escapes,
raw line breaks, trailing commas, unescaped quotes, Python literals. A list whose items do not all read keeps the
others, with null for each that does not. What never ends is told apart from what is wrong: it is mended differently.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memorybank.errors import ModelMalformed
from memorybank.llm.retry import Unclosed
from memorybank.llm.shape import fitting

_THINKING = re.compile(r"^\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"^\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
#: Some chat templates open the thinking themselves, so that only its end is in the reply.
_END_OF_THINKING = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: A bracket that begins JSON, and not a remark in prose.
_OPENS_JSON = re.compile(r"[\[{]\s*(?:[\"\[{]|$)")
_IN_STRING = re.compile(r"[\"\\]")
_OUTSIDE = re.compile(r"[\"{}\[\]]")
_ESCAPE = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})")
#: In JSON a string ends only before one of these; any other quote inside it was left unescaped.
_AFTER_STRING = re.compile(r"\s*(?:[,:}\]]|$)")
#: Brackets in prose that are looked behind: each costs a walk through the rest of the reply.
_LONELY_BRACKETS = 50
_TRAILING_COMMA = re.compile(r",\s*$")


def parse(text: str, schema: dict[str, Any] | None = None) -> Any:
    """Return the JSON value in a reply, brought to the outer shape of `schema` (an object) where it is given.

    NUL and lone surrogates are taken out of its strings. Where several values fit, the last counts: the
    others are drafts.
    Raises Unclosed when the JSON begins and does not end, ModelMalformed, with a reason that quotes nothing,
    when there is none of that shape.
    """
    answer = without_thinking(text).strip()
    if not answer:
        raise ModelMalformed("the reply is empty")
    values = list(_values(answer))
    if not values:
        raise ModelMalformed("the reply holds no JSON")
    value = fitting(values, schema)
    if value is None:
        raise ModelMalformed("the reply is JSON of another shape than was asked for")
    return clean(value)


def without_thinking(text: str) -> str:
    """Return the reply after its thinking text; nothing when the thinking never ends."""
    if match := _THINKING.match(text):
        return without_thinking(text[match.end() :])
    if _OPEN_THINKING.match(text):
        return ""
    end = _END_OF_THINKING.search(text)
    if end and not text.lstrip().startswith(("{", "[", "```")):
        return text[end.end() :]
    return text


def clean(value: Any) -> Any:
    """Return a JSON value whose strings hold neither NUL nor lone surrogates: the database takes neither."""
    match value:
        case str():
            return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value.replace("\0", ""))
        case list():
            return [clean(item) for item in value]
        case dict():
            return {clean(key): clean(item) for key, item in value.items()}
        case _:
            return value


def _values(answer: str) -> Iterator[Any]:
    """Yield the JSON values of a reply from left to right."""
    whole = _strict(answer)
    if isinstance(whole, str):
        yield from _values(whole) if whole != answer else ()
    elif whole is not None:
        yield whole
    else:
        for piece in _pieces(answer):
            if (value := piece.value()) is not None:
                yield value
            elif items := _readable_items(piece.raw):
                yield items


def _strict(text: str) -> Any:
    """Return the value of JSON text, None where it is none (a bare null is of no use to anybody either)."""
    try:
        return json.loads(text, strict=False, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


def _python(text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, dict | list) else None


def _readable_items(raw: str) -> list[Any]:
    """Return the items of the first list in a piece that does not read as a whole, None for the unreadable ones."""
    try:
        items = [piece.value() for piece in _pieces(raw[raw.find("[") + 1 :])]
    except Unclosed:
        return []
    return items if any(isinstance(item, dict) for item in items) else []


@dataclass(frozen=True)
class _Piece:
    """A balanced piece of a reply, from bracket to bracket: as written, and mended."""

    raw: str
    mended: str

    def value(self) -> Any:
        """Return what it holds, by the most literal reading that works; None where none does."""
        for reading in (_strict(self.raw), _strict(self.mended)):
            if reading is not None:
                return reading
        return _python(self.raw)


def _pieces(text: str) -> Iterator[_Piece]:
    """Yield the outermost bracketed pieces. Raises Unclosed at one that begins like JSON and does not end."""
    position = lonely = 0
    while lonely < _LONELY_BRACKETS and (start := _bracket(text, position)) is not None:
        end, mended = _scan(text, start)
        if end is not None:
            yield _Piece(text[start:end], mended)
        elif _OPENS_JSON.match(text, start):
            raise Unclosed("the JSON of the reply is cut")
        else:
            lonely += 1
        position = end or start + 1


def _bracket(text: str, position: int) -> int | None:
    places = (text.find(bracket, position) for bracket in "{[")
    return min((place for place in places if place >= 0), default=None)


def _scan(text: str, start: int) -> tuple[int | None, str]:
    """Return the end of the piece that opens at `start` (None: there is none), and it as proper JSON."""
    depth, position = 0, start
    parts: list[str] = []
    while found := _OUTSIDE.search(text, position):
        parts.append(text[position : found.start()])
        position, mark = found.end(), found.group()
        if mark == '"':
            position, string = _string(text, position)
            parts.append(string)
            continue
        if mark in "}]":
            parts[-1] = _TRAILING_COMMA.sub("", parts[-1])
        parts.append(mark)
        depth += 1 if mark in "{[" else -1
        if depth == 0:
            return position, "".join(parts)
    return None, ""


def _string(text: str, position: int) -> tuple[int, str]:
    """Return the end of the string that was opened before `position`, and the string as proper JSON."""
    parts = ['"']
    while found := _IN_STRING.search(text, position):
        parts.append(text[position : found.start()])
        position = found.end()
        if found.group() == '"':
            if _AFTER_STRING.match(text, position):
                return position, "".join([*parts, '"'])
            parts.append('\\"')
        elif escape := _ESCAPE.match(text, found.start()):
            parts.append(escape.group())
            position = escape.end()
        else:
            # A lone backslash, as in a path or a pattern, means itself; before an apostrophe it means
            # nothing.
            parts.append("" if text[position : position + 1] == "'" else "\\\\")
    return len(text), "".join(parts)
