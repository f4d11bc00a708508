"""Cuts a text into the pieces that are extracted one by one. Pure.

All sizes are characters, nothing overlaps, and the pieces together cover the text (but for white space at
a cut). A text that fits is one piece, unchanged, so cutting a piece again gives the same piece: delta rests
on that.

JSON array of objects    whole turns, packed greedily; each piece is a JSON array again
JSON object              one piece up to the structured size
JSON lines               whole lines, packed greedily
transcript               whole turns (a line with a speaker and what follows it), packed greedily
anything else            cut at the first separator that helps: paragraph, line, sentence, clause, word
"""

import itertools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json import JSONDecodeError

#: Where prose is cut, the strongest first: each group is tried only on what is still too long.
SEPARATORS = (
    re.compile(r"\n[^\S\n]*\n\s*"),
    re.compile(r"\n"),
    re.compile(r"\. |。"),
    re.compile(r"! |！"),
    re.compile(r"\? |？"),
    re.compile(r"; |；"),
    re.compile(r", |，|、"),
    re.compile(r"\s"),
)
#: The brackets of a JSON array, and the comma behind each of its turns.
ARRAY_CHARS, COMMA_CHARS = 2, 1
#: A text is a transcript when this share of its lines, and at least so many, name a speaker.
TRANSCRIPT_SHARE, TRANSCRIPT_LINES = 0.5, 3

#: "[2026-02-02 10:00] ", "(10:02) ", "12/03/2026, 10:15 - " before a speaker.
_STAMP = r"(?:[\[(]?\d[\d\-./: T,apmAPM]*[\])]?\s*(?:[-–—]\s*)?)?"
#: "Ada: …", "Ada (10:02): …", "**Ada:** …", "[user] …"; an address ("https://…") is no speaker.
_SPEAKER = r"\*{0,2}[^\W\d_][^:：\n]{0,40}(?:\([^)\n]{1,40}\)|\[[^\]\n]{1,40}\])?(?::\*{0,2}(?=\s|$)|：)"
_TURN = re.compile(rf"{_STAMP}(?:{_SPEAKER}|\[[^\W\d_][^\]\n]{{0,40}}\])")
_JSON_SPACE = re.compile(r"[ \t\n\r]*")
_decoder = json.JSONDecoder()


@dataclass(frozen=True)
class ChunkSize:
    """The most characters of a piece: of text, and of one turn or JSON object that is kept whole."""

    text: int
    structured: int

    @classmethod
    def of(cls, text: int, structured: int | None) -> "ChunkSize":
        """Return the sizes as configured; an unset structured size equals the text size."""
        return cls(text, structured or text)


def chunk(content: str, size: ChunkSize) -> list[str]:
    """Return the pieces of a text in order; none is blank, none is longer than the sizes allow."""
    if len(content) <= size.text:
        return [content] if content.strip() else []
    for cut in (_array, _object, _lines, _transcript):
        pieces = cut(content, size)
        if pieces is not None:
            return pieces
    return _prose(content, size.text)


def _array(content: str, size: ChunkSize) -> list[str] | None:
    """Return pieces of a JSON array of objects, or None where the text is none."""
    turns = json_turns(content)
    if turns is None:
        return None
    return _packed_turns(turns, size, COMMA_CHARS, ARRAY_CHARS, lambda part: f"[{','.join(part)}]")


def json_turns(content: str) -> list[str] | None:
    """Return the objects of a JSON array, each as it is written; None where the text is not such an array."""
    if content.lstrip()[:1] != "[":
        return None
    turns: list[str] = []
    at = _skip(content, content.index("[") + 1)
    try:
        while content[at : at + 1] == "{":
            _, end = _decoder.raw_decode(content, at)
            turns.append(content[at:end])
            at = _skip(content, end)
            if content[at : at + 1] != ",":
                break
            at = _skip(content, at + 1)
    except (JSONDecodeError, RecursionError):
        return None
    closed = content[at : at + 1] == "]" and not content[at + 1 :].strip()
    return turns if turns and closed else None


def _skip(content: str, at: int) -> int:
    """Return the position of the next character that is no JSON white space."""
    space = _JSON_SPACE.match(content, at)
    return space.end() if space else at


def _object(content: str, size: ChunkSize) -> list[str] | None:
    """Return a single JSON object whole; None where it is too long, or none."""
    if len(content) > size.structured or not is_json_object(content):
        return None
    return [content]


def is_json_object(text: str) -> bool:
    """Tell whether a text is one JSON object."""
    stripped = text.strip()
    if stripped[:1] != "{" or stripped[-1:] != "}":
        return False
    try:
        return isinstance(json.loads(stripped), dict)
    except (JSONDecodeError, RecursionError):
        return False


def _lines(content: str, size: ChunkSize) -> list[str] | None:
    """Return pieces of JSON lines; None where a line is no object, or there is only one."""
    lines = [line for line in content.split("\n") if line.strip()]
    if len(lines) < 2 or not all(is_json_object(line) for line in lines):
        return None
    return _packed_turns(lines, size, 1, 0, "\n".join)


def _transcript(content: str, size: ChunkSize) -> list[str] | None:
    """Return pieces of a transcript; None where too few lines name a speaker."""
    turns = spoken_turns(content)
    if turns is None:
        return None
    return _packed_turns(turns, ChunkSize(size.text, size.text), 1, 0, "\n".join)


def spoken_turns(content: str) -> list[str] | None:
    """Return the turns of a transcript, each with the lines that follow it; None where the text is none."""
    lines = content.split("\n")
    named = [bool(_TURN.match(line)) for line in lines]
    written = sum(1 for line in lines if line.strip())
    if sum(named) < max(TRANSCRIPT_LINES, TRANSCRIPT_SHARE * written):
        return None
    turns: list[str] = []
    for line, begins in zip(lines, named, strict=True):
        if begins or not turns:
            turns.append(line)
        else:
            turns[-1] += "\n" + line
    return [turn.rstrip() for turn in turns if turn.strip()]


def _packed_turns(
    turns: Sequence[str], size: ChunkSize, between: int, frame: int, join: Callable[[Sequence[str]], str]
) -> list[str]:
    """Return whole turns packed into pieces; a turn over the structured size is cut as prose.

    `between` characters stand behind each turn, `frame` around a piece. A turn over the text size that may
    stay whole is a piece of its own.
    """
    pieces: list[str] = []
    held: list[str] = []
    length = frame
    for turn in turns:
        cost = len(turn) + between
        if held and length + cost > size.text:
            pieces.append(join(held))
            held, length = [], frame
        if len(turn) + frame > size.structured:
            pieces += _prose(turn, min(size.structured, size.text))
        else:
            held.append(turn)
            length += cost
    return [*pieces, join(held)] if held else pieces


def _prose(text: str, limit: int, level: int = 0) -> list[str]:
    """Return pieces of at most `limit` characters, cut at the first separator that helps."""
    text = _trimmed(text)
    if len(text) <= limit:
        return [text] if text else []
    if level == len(SEPARATORS):
        return [text[at : at + limit] for at in range(0, len(text), limit)]
    pieces: list[str] = []
    held = ""
    for part in _parts(text, SEPARATORS[level]):
        if len((held + part).rstrip()) <= limit:
            held += part
            continue
        pieces += _prose(held, limit, level + 1)
        held = part
    return pieces + _prose(held, limit, level + 1)


def _parts(text: str, separator: re.Pattern[str]) -> list[str]:
    """Return the text cut behind each separator; joined they are the text."""
    cuts = [0, *(found.end() for found in separator.finditer(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(cuts) if start < end]


def _trimmed(text: str) -> str:
    """Drop blank lines at the edges and white space at the end; the indent of the first line stays."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text.rstrip())
