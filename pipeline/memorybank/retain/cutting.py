"""Cuts what is too long for one piece: prose at its separators, a turn so that each part names its speaker. Pure.

No part is longer than its limit, and the parts together cover the text, but for white space at a cut.
"""

import itertools
import json
import re
from collections.abc import Sequence

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
#: How a text may be cut so that it stays in paragraphs, in lines, in sentences.
WHOLE = (SEPARATORS, SEPARATORS[1:], (re.compile(r"\n|[.!?] |[。！？]"), *SEPARATORS[5:]))
#: A string of a JSON turn is cut where it is longer than this part of the limit; what is shorter is repeated.
LONG_STRING = 1 / 8
#: What is repeated takes at most this share of a piece, and leaves room for one character in any spelling.
REPEATED_SHARE, WIDEST_CHARACTER = 1 / 2, len(r"\ud83d\ude00")
#: Fields of a JSON turn that say who spoke, and when.
SPEAKER_KEYS = ("role", "speaker", "name", "author", "sender", "from", "user")
TIME_KEYS = ("timestamp", "time", "date", "created_at", "sent_at", "datetime")

#: "[2026-02-02 10:00] ", "(10:02) ", "12/03/2026, 10:15 - " before a speaker.
_STAMP = r"(?:[\[(]?\d[\d\-./: T,apmAPM]*[\])]?\s*(?:[-–—]\s*)?)?"
#: "Ada: …", "Ada (10:02): …", "**Ada:** …", "[user] …"; an address ("https://…") is no speaker.
_SPEAKER = r"\*{0,2}[^\W\d_][^:：\n]{0,40}(?:\([^)\n]{1,40}\)|\[[^\]\n]{1,40}\])?(?::\*{0,2}(?=\s|$)|：)"
SPEAKER_HEADER = re.compile(rf"{_STAMP}(?:{_SPEAKER}|\[[^\W\d_][^\]\n]{{0,40}}\])")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_KEY_MARK = re.compile(r"\s*:")


def cut_prose(text: str, limit: int, separators: Sequence[re.Pattern[str]] = SEPARATORS) -> list[str]:
    """Return parts of at most `limit` characters, cut at the first separator that helps."""
    text = _trimmed(text)
    if len(text) <= limit:
        return [text] if text else []
    if not separators:
        return [text[at : at + limit] for at in range(0, len(text), limit)]
    pieces: list[str] = []
    held = ""
    for part in _parts(text, separators[0]):
        if len((held + part).rstrip()) <= limit:
            held += part
            continue
        pieces += cut_prose(held, limit, separators[1:])
        held = part
    return pieces + cut_prose(held, limit, separators[1:])


def fewest(text: str, limit: int) -> list[str]:
    """Return prose in as few parts as whole sentences allow, cut at the strongest separators that do with so few."""
    return min((cut_prose(text, limit, separators) for separators in WHOLE), key=len)


def cut_spoken(turn: str, limit: int) -> list[str]:
    """Return a turn of a transcript in parts; its stamp and speaker stand at the head of each."""
    found = SPEAKER_HEADER.match(turn)
    header = found[0] if found else ""
    if not 0 < len(header) + 1 <= limit * REPEATED_SHARE:
        return cut_prose(turn, limit)
    parts = cut_prose(turn[len(header) :], limit - len(header) - 1)
    return [f"{header} {part.lstrip()}" for part in parts]


def cut_json(turn: str, limit: int, frame: tuple[str, str] = ("", "")) -> list[str]:
    """Return a JSON object in parts that are objects again: short fields in each, long strings distributed over them.

    `frame` stands around each. Where short fields alone take too much room the text is cut as prose, and who spoke
    and when is repeated before each part.
    """
    framed = f"{frame[0]}{turn}{frame[1]}"
    strings = [
        found
        for found in _STRING.finditer(framed)
        if len(found[0]) > limit * LONG_STRING and not _KEY_MARK.match(framed, found.end())
    ]
    room = limit - len(framed) + sum(len(found[0]) - 2 for found in strings)
    if room < max(limit * REPEATED_SHARE, WIDEST_CHARACTER):
        return _cut_headed(turn, limit)
    filled: list[dict[int, str]] = [{}]
    for slot, found in enumerate(strings):
        for part in _encoded(found[0], room):
            if slot in filled[-1] or sum(map(len, filled[-1].values())) + len(part) > room:
                filled.append({})
            filled[-1][slot] = part
    return [_with(framed, strings, parts) for parts in filled]


def _with(turn: str, strings: Sequence[re.Match[str]], parts: dict[int, str]) -> str:
    """Return an object with its long strings replaced; one that has no part here is empty."""
    ends = [0, *(found.end() - 1 for found in strings)]
    starts = [*(found.start() + 1 for found in strings), len(turn)]
    between = [turn[end:start] for end, start in zip(ends, starts, strict=True)]
    return between[0] + "".join(parts.get(slot, "") + rest for slot, rest in enumerate(between[1:]))


def _encoded(literal: str, room: int) -> list[str]:
    """Return a JSON string as parts of at most `room` characters, spelled as it was: escaped, without the quotes."""
    ascii_only = literal.isascii() or "\\u" in literal
    parts: list[str] = []
    waiting = cut_prose(json.loads(literal, strict=False), room)[::-1]
    while waiting:
        part = waiting.pop()
        spelled = json.dumps(part, ensure_ascii=ascii_only)[1:-1]
        if len(spelled) <= room:
            parts.append(spelled)
        else:
            waiting += cut_prose(part, -(-len(part) // 2))[::-1]
    return parts


def _cut_headed(turn: str, limit: int) -> list[str]:
    fields = json.loads(turn, strict=False)
    said = {
        key: fields[key]
        for key in (*SPEAKER_KEYS, *TIME_KEYS)
        if isinstance(fields.get(key), str | int | float)
    }
    header = json.dumps(said, ensure_ascii=turn.isascii()) + "\n" if said else ""
    if len(header) > limit * REPEATED_SHARE:
        header = ""
    first, *others = cut_prose(turn, limit - len(header))
    return [first, *(header + part for part in others)]


def _parts(text: str, separator: re.Pattern[str]) -> list[str]:
    """Return the text cut behind each separator; joined they are the text."""
    cuts = [0, *(found.end() for found in separator.finditer(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(cuts) if start < end]


def _trimmed(text: str) -> str:
    """Drop blank lines at the edges and white space at the end; the indent of the first line stays."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text.rstrip())
