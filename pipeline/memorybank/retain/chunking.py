"""Cuts a text into the pieces that are extracted one by one. Pure.

All sizes are characters, nothing overlaps, and the pieces together cover the text (but for white space at
a cut). A text that fits is one piece, unchanged, so cutting a piece again gives the same piece: delta rests
on that.

JSON array of objects    whole turns, packed greedily; each piece is a JSON array again
JSON lines, JSON object  whole lines, packed greedily
transcript               whole turns (a line with a speaker and what follows it), packed greedily
anything else            cut at the first separator that helps: paragraph, line, sentence, clause, word

A turn that is too long is cut, and who spoke and when is repeated at the head of each part.

Pieces that a text had before and that still stand in it stay as they are; only what lies between them is cut anew. So
a paragraph put in costs the piece it falls into, and a transcript that has grown its new turns, wherever a piece
would begin if the text were new.
"""

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from json import JSONDecodeError

from memorybank.retain.cutting import SPEAKER_HEADER, cut_json, cut_prose, cut_spoken, fewest

#: The brackets of a JSON array, and the comma or line break behind each turn.
ARRAY_CHARS, BETWEEN_CHARS = 2, 1
#: Marks a part of a turn that was cut; no text holds it.
PART = "\0"
#: A text is a transcript when this share of its lines, and at least so many, name a speaker.
TRANSCRIPT_SHARE, TRANSCRIPT_LINES = 0.5, 3
#: A piece of at most this share of the size is cut anew with what was put in before it, where that costs no more
#: pieces: else many small edits would leave many small pieces.
SMALL_SHARE = 1 / 3
#: So many characters on both sides of a cut show that it was one before, looked for among so many.
SEEN_CHARS, LOOK_CHARS = 32, 128

_JSON_SPACE = re.compile(r"[ \t\n\r]*")
#: What stands before a cut between two sentences, or two lines.
_SENTENCE_END = re.compile(r"(?:[.!?。！？][\"'”’»)\]]*\s*|\n\s*)\Z")
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


@dataclass(frozen=True)
class _Shape:
    """A kind of text that consists of turns.

    `turns` gives those of a text, None where it is of another shape; `again` those of a piece, however few. `frame`
    characters stand around a piece. `structured`: a turn stays whole up to that size.
    """

    turns: Callable[[str], list[str] | None]
    again: Callable[[str], list[str] | None]
    join: Callable[[Sequence[str]], str]
    cut: Callable[[str, int], list[str]]
    frame: int = 0
    structured: bool = True


def chunk(content: str, size: ChunkSize, known: Sequence[str] = ()) -> list[str]:
    """Return the pieces of a text in order; none is blank, none is longer than the sizes allow.

    `known`: the pieces that it had before, in order.
    """
    fits = len(content) <= size.text
    if fits and (not known or content in known):
        return [content] if content.strip() else []
    for shape in _SHAPES:
        turns = shape.turns(content)
        if turns is not None:
            pieces = _cut_turns(turns, shape, size, known)
            return [content] if fits and not set(pieces) & set(known) else pieces
    if fits:
        return [content] if content.strip() else []
    return _cut_text(content, size.text, known)


def _cut_turns(turns: Sequence[str], shape: _Shape, size: ChunkSize, known: Sequence[str]) -> list[str]:
    """Return known pieces where their turns stand, and the turns between them packed into new ones."""
    units = _units(turns, shape, size)
    standing = _standing_units(units, shape, size, known)
    pieces: list[str] = []
    at = 0
    for start in sorted(standing):
        text, end = standing[start]
        pieces += [*_packed(units[at:start], shape, size), text]
        at = end
    return pieces + _packed(units[at:], shape, size)


def _units(turns: Sequence[str], shape: _Shape, size: ChunkSize) -> list[str]:
    """Return turns as what may be a piece: whole up to the size, else in parts, each of them marked."""
    whole = (size.structured if shape.structured else size.text) - shape.frame
    limit = min(size.structured, size.text) if shape.structured else size.text
    return [
        unit
        for turn in turns
        for unit in ([turn] if len(turn) <= whole else (PART + part for part in shape.cut(turn, limit)))
    ]


def _standing_units(
    units: Sequence[str], shape: _Shape, size: ChunkSize, known: Sequence[str]
) -> dict[int, tuple[str, int]]:
    """Return known pieces with their ends, by the unit at which they begin: each once, none over another."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, unit in enumerate(units if known else ()):
        places[unit].append(index)
    free = [True] * len(units)
    found: dict[int, tuple[str, int]] = {}
    last = 0
    for text in known:
        run = [PART + text] if PART + text in places else shape.again(text) or []
        if not run or (len(run) > 1 and len(text) > size.text):
            continue
        starts = places.get(run[0], [])
        behind = bisect_left(starts, last)
        for start in (*starts[behind:], *starts[:behind]):
            end = start + len(run)
            if units[start:end] == run and all(free[start:end]):
                free[start:end] = [False] * len(run)
                found[start], last = (text, end), end
                break
    return found


def _packed(units: Sequence[str], shape: _Shape, size: ChunkSize) -> list[str]:
    """Return whole turns packed into pieces; a part of a turn is a piece of its own, and so is a longer whole turn."""
    pieces: list[str] = []
    held: list[str] = []
    length = shape.frame
    for unit in units:
        cost = len(unit) + BETWEEN_CHARS
        if held and (unit.startswith(PART) or length + cost > size.text):
            pieces.append(shape.join(held))
            held, length = [], shape.frame
        if unit.startswith(PART):
            pieces.append(unit.removeprefix(PART))
        else:
            held.append(unit)
            length += cost
    return [*pieces, shape.join(held)] if held else pieces


def _cut_text(text: str, limit: int, known: Sequence[str]) -> list[str]:
    """Return known pieces where they stand in a prose text, and what lies between them cut anew."""
    standing = _standing(text, limit, known)
    if not standing:
        return cut_prose(text, limit)
    pieces: list[str] = []
    at = 0
    for start, end in (*standing, (len(text), len(text))):
        fresh = fewest(text[at:start], limit)
        small = end - start <= limit * SMALL_SHARE
        if fresh and small and len(with_it := fewest(text[at:end], limit)) == len(fresh):
            pieces += with_it
        else:
            pieces += [*fresh, text[start:end]] if start < end else fresh
        at = end
    return pieces


def _standing(text: str, limit: int, known: Sequence[str]) -> list[tuple[int, int]]:
    """Return where known pieces stand in a text, in its order: each once, none over another, no sentence torn."""
    found: list[tuple[int, int]] = []
    last = 0
    for index, piece in enumerate(known):
        start = _free_place(text, piece, last, found) if 0 < len(piece) <= limit else -1
        if start >= 0:
            last = start + len(piece)
            before, behind = known[index - 1] if index else "", "".join(known[index + 1 : index + 2])
            if _may_cut(text, start, before, piece) and _may_cut(text, last, piece, behind):
                found.append((start, last))
    return sorted(found)


def _free_place(text: str, piece: str, last: int, found: Sequence[tuple[int, int]]) -> int:
    """Return where a piece stands, behind the last one or else anywhere, and covers no other; -1 where it does not."""
    for begin, until in ((last, len(text)), (0, last + len(piece))):
        start = text.find(piece, begin, until)
        end = start + len(piece)
        if start >= 0 and not any(start < other[1] and other[0] < end for other in found):
            return start
    return -1


def _may_cut(text: str, at: int, before: str, behind: str) -> bool:
    """Tell whether a text may be cut here: between two sentences or lines, or between these two pieces, as it was."""
    left, right = text[max(at - LOOK_CHARS, 0) : at], text[at : at + LOOK_CHARS]
    space = len(right) - len(right.lstrip())
    if not left.strip() or not right.strip() or _SENTENCE_END.search(left + right[:space]):
        return True
    tail, head = before.rstrip()[-SEEN_CHARS:], behind.lstrip()[:SEEN_CHARS]
    return bool(tail and head) and left.rstrip().endswith(tail) and right.lstrip().startswith(head)


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


def _json_lines(content: str) -> list[str] | None:
    """Return the objects of JSON lines, or the one that the text is; None where a line is none."""
    if _is_json_object(content):
        return [content.strip()]
    lines = [line for line in content.split("\n") if line.strip()]
    return lines if lines and all(map(_is_json_object, lines)) else None


def _is_json_object(text: str) -> bool:
    stripped = text.strip()
    if stripped[:1] != "{" or stripped[-1:] != "}":
        return False
    try:
        return isinstance(json.loads(stripped), dict)
    except (JSONDecodeError, RecursionError):
        return False


def spoken_turns(content: str) -> list[str] | None:
    """Return the turns of a transcript, each with the lines that follow it; None where the text is none."""
    lines = content.split("\n")
    named = sum(1 for line in lines if SPEAKER_HEADER.match(line))
    written = sum(1 for line in lines if line.strip())
    return None if named < max(TRANSCRIPT_LINES, TRANSCRIPT_SHARE * written) else _by_speaker(content)


def _by_speaker(content: str) -> list[str]:
    turns: list[str] = []
    for line in content.split("\n"):
        if not turns or SPEAKER_HEADER.match(line):
            turns.append(line)
        else:
            turns[-1] += "\n" + line
    return [turn.rstrip() for turn in turns if turn.strip()]


_SHAPES = (
    _Shape(
        json_turns,
        json_turns,
        lambda turns: f"[{','.join(turns)}]",
        partial(cut_json, frame=("[", "]")),
        ARRAY_CHARS,
    ),
    _Shape(_json_lines, _json_lines, "\n".join, cut_json),
    _Shape(spoken_turns, _by_speaker, "\n".join, cut_spoken, structured=False),
)
