"""Takes out what clients recalled into a text: kept again, each recall would come back as a new memory. Pure.

What somebody said must not go with it. So a block lies within one turn: one string of JSON, one turn of a transcript,
one element of markup. It opens at the beginning, behind white space or a speaker, and it is closed; all else is text.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from memorybank.model import RetainItem
from memorybank.retain.chunking import spoken_turns
from memorybank.retain.cutting import SPEAKER_HEADER

#: Every tag that ends so is one, like <relevant-memories>, next to those that are set.
_ANY_MEMORIES = re.compile(r"(?:\w+[_-])?memories")
#: Converters to Markdown put a backslash before an underscore.
_TAG = re.compile(r"<(/?)([A-Za-z](?:\\?[\w-])*)(?:\s[^<>]*)?(?<!/)>")
#: A text, or a line, that is JSON or the head of it; and its strings, with the mark behind a key.
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"])')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"(\s*:)?')
_ESCAPED = re.compile(r"\\u003c", re.IGNORECASE)
_QUOTES = "\"'`“”„‘’«»"
#: What is left of a block in a page.
EMPTY_BLOCK = " &lt;memories&gt;&lt;/memories&gt; "

Span = tuple[int, int]


def without_recalled(content: str, tags: Collection[str]) -> tuple[str, int]:
    """Return a text without the memories that were recalled into it, and how many blocks that were."""
    if "<" not in content and not _ESCAPED.search(content):
        return content, 0
    if _JSON.match(content):
        return _of_json(content, tags)
    stripped, count, json_lines = _of_json_lines(content, tags)
    blocks = _Sweep.of(stripped, tags, json_lines).blocks()
    return _without(stripped, blocks, " "), count + len(blocks)


def emptied(html: str, tags: Collection[str]) -> str:
    """Return a page whose blocks hold nothing, spelled so that they are seen in the text that is made of it."""
    return _without(html, _Sweep.of(html, tags, []).blocks(), EMPTY_BLOCK)


def _without(text: str, blocks: list[Span], instead: str) -> str:
    starts, ends = [0, *(end for _, end in blocks)], [*(start for start, _ in blocks), len(text)]
    return instead.join(text[start:end] for start, end in zip(starts, ends, strict=True))


def item_without_recalled(item: RetainItem, tags: Collection[str]) -> tuple[RetainItem, int]:
    """Return an item without what was recalled into its content and context, and how many blocks that were."""
    content, count = without_recalled(item.content, tags)
    context, more = without_recalled(item.context, tags)
    return (replace(item, content=content, context=context), count + more) if count + more else (item, 0)


def _of_json(text: str, tags: Collection[str]) -> tuple[str, int]:
    """Strip each string of a JSON text, decoded; the others stay as they are written."""
    count = 0

    def stripped(found: re.Match[str]) -> str:
        nonlocal count
        literal = found[0]
        if found[1] or ("<" not in literal and not _ESCAPED.search(literal)):
            return literal
        try:
            left, blocks = without_recalled(json.loads(literal, strict=False), tags)
        except json.JSONDecodeError:
            return literal
        count += blocks
        return json.dumps(left, ensure_ascii=literal.isascii()) if blocks else literal

    return _STRING.sub(stripped, text), count


def _of_json_lines(text: str, tags: Collection[str]) -> tuple[str, int, list[Span]]:
    """Strip the lines of a text that are JSON, each for itself; and return where they stand then."""
    if not any(map(_JSON.match, text.split("\n"))):
        return text, 0, []
    lines: list[str] = []
    spans: list[Span] = []
    at = count = 0
    for line in text.split("\n"):
        if _JSON.match(line):
            line, blocks = _of_json(line, tags)
            count += blocks
            spans.append((at, at + len(line)))
        lines.append(line)
        at += len(line) + 1
    return "\n".join(lines), count, spans


@dataclass
class _Sweep:
    """One walk over the tags of a text. `heads`: where lines begin that name a speaker; `apart`: lines of JSON."""

    text: str
    named: frozenset[str]
    apart: list[Span]
    heads: list[int]
    spoken: bool
    #: Tags that are open, the last on top; of each name where; and how many of them are of blocks.
    open: list[tuple[str, int]] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    inside: int = 0

    @classmethod
    def of(cls, text: str, tags: Collection[str], apart: list[Span]) -> "_Sweep":
        """Return the walk over a text."""
        heads: list[int] = []
        at = 0
        for line in text.split("\n"):
            if SPEAKER_HEADER.match(line):
                heads.append(at)
            at += len(line) + 1
        begins = len(text) - len(text.lstrip())
        spoken = heads[:1] == [begins] or spoken_turns(text) is not None
        return cls(text, frozenset(tag.lower() for tag in tags), apart, heads, spoken)

    def blocks(self) -> list[Span]:
        """Return the outermost blocks, in order."""
        found: list[Span] = []
        for tag in _TAG.finditer(self.text):
            if self._in_json(tag.start()):
                continue
            name = tag[2].lower().replace("\\", "")
            recalled = self._recalled(name)
            if not tag[1]:
                if not recalled or self._opens(tag):
                    self._open(name, tag.start())
                continue
            if not self.places[name] or (recalled and self._quoted(tag)):
                continue
            start = self.places[name][-1]
            if recalled and self._crosses_turns(start, tag.start()):
                continue
            self._close(start)
            if recalled:
                while found and found[-1][0] > start:
                    found.pop()
                found.append((start, tag.end()))
        return found

    def _recalled(self, name: str) -> bool:
        return name in self.named or _ANY_MEMORIES.fullmatch(name) is not None

    def _open(self, name: str, start: int) -> None:
        self.open.append((name, start))
        self.places[name].append(start)
        self.inside += self._recalled(name)

    def _close(self, start: int) -> None:
        """Forget what was opened from here on: an element ends what was opened in it."""
        while self.open and self.open[-1][1] >= start:
            name, _ = self.open.pop()
            self.places[name].pop()
            self.inside -= self._recalled(name)

    def _opens(self, tag: re.Match[str]) -> bool:
        """Tell whether a tag stands where a block begins; inside one it need only not be quoted."""
        before = self.text[max(tag.start() - 1, 0) : tag.start()]
        if not before or before.isspace() or before in ":：>":
            return True
        return self.inside > 0 and not self._quoted(tag)

    def _quoted(self, tag: re.Match[str]) -> bool:
        """Tell whether a tag stands in quotes of its own: it is only talked about."""
        around = self.text[max(tag.start() - 1, 0) : tag.start()], self.text[tag.end() : tag.end() + 1]
        return all(sign and sign in _QUOTES for sign in around)

    def _in_json(self, at: int) -> bool:
        place = bisect_right(self.apart, (at, len(self.text))) - 1
        return place >= 0 and at < self.apart[place][1]

    def _crosses_turns(self, start: int, end: int) -> bool:
        """Tell whether somebody begins to speak in between; only before all turns, or in prose, are such lines let be.

        There a block that begins a line was made by a program, and what it holds may look like a turn.
        """
        if bisect_right(self.heads, start) == bisect_left(self.heads, end):
            return False
        if not self.text[:start].strip():
            return False
        return self.spoken or self.text[start - 1] != "\n"
