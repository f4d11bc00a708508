"""The verdict of a model on a draft: what is asked, and how its answer is read. Pure.

Nothing is taken for granted: a directive that an answer does not clearly judge, once, with true or false, is unjudged.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorybank import templates, text
from memorybank.directives.draft import Draft
from memorybank.llm.client import ChatRequest
from memorybank.storage.directives import Directive

#: Name of the answer's schema.
NAME = "directive_verdict"
#: Offending words of one directive that are kept, and characters of each: they go to a log and to a repair.
WORDS, WORD_CHARS = 5, 200
_FIELDS: dict[str, Any] = {
    "id": {"type": "integer"},
    "ok": {"type": "boolean"},
    "words": {"type": "array", "items": {"type": "string"}},
}
#: Asked for where lines are handed out beside the draft.
_HANDED: dict[str, Any] = {"facts": {"type": "array", "items": {"type": "integer"}}}


@dataclass(frozen=True)
class Judged:
    """What became of one directive; `words` are those of the draft, as the model copied them.

    `tell`: places of the lines handed out that tell what it forbids; where that is not clear, all of them.
    """

    ok: bool
    words: tuple[str, ...] = ()
    tell: frozenset[int] = frozenset()


def told(directives: Sequence[Directive]) -> str:
    """Return directives as JSON, one a line under its number, for a prompt: text of the owner, never fenced."""
    lines = (
        {"id": number, "name": one.name, "directive": one.content} for number, one in enumerate(directives, 1)
    )
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def request(
    directives: Sequence[Directive], question: str, draft: Draft, max_output_tokens: int | None
) -> ChatRequest:
    """Return the call that asks for the verdict."""
    shapes = [draft.text]
    if draft.output is not None:
        shapes.append(json.dumps(draft.output, ensure_ascii=False))
    prompt = templates.load("directives", "verdict").render(
        directives=told(directives),
        question=question,
        draft=[text.visible(shape) for shape in shapes],
        facts="\n".join(text.visible(line) for line in draft.handed),
    )
    return ChatRequest(
        stage="reflect",
        system=prompt.system,
        user=prompt.user,
        schema_name=NAME,
        schema=schema(lines=bool(draft.handed)),
        max_output_tokens=max_output_tokens,
    )


def schema(*, lines: bool) -> dict[str, Any]:
    """Return the schema of the verdict; `lines`: some are handed out beside the draft."""
    fields = _FIELDS | (_HANDED if lines else {})
    item = {"type": "object", "properties": fields, "required": list(fields)}
    return {
        "type": "object",
        "properties": {"verdicts": {"type": "array", "items": item}},
        "required": ["verdicts"],
    }


def read(value: Any, count: int, draft: Draft) -> dict[int, Judged]:
    """Return what an answer clearly says of the directives 1 to `count`; those that are missing are unjudged.

    An id that nobody asked about makes the whole answer worthless: it may have counted otherwise.
    """
    items = value.get("verdicts") if isinstance(value, Mapping) else None
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        return {}
    ids = Counter(item.get("id") if type(item.get("id")) is int else None for item in items)
    if ids.keys() - set(range(1, count + 1)):
        return {}
    said = text.fold(" ".join((*draft.texts, *draft.keys)))
    judged = ((item["id"], _judged(item, said, len(draft.handed))) for item in items if ids[item["id"]] == 1)
    return {id_: one for id_, one in judged if one is not None}


def _judged(item: Mapping[str, Any], said: str, lines: int) -> Judged | None:
    """Return what is said of one directive; None where that is not clear."""
    ok, words = item.get("ok"), item.get("words") or []
    if not isinstance(ok, bool) or not isinstance(words, list):
        return None
    copied = (word.strip() for word in map(templates.unescaped, filter(_is_text, words)))
    found = tuple(word[:WORD_CHARS] for word in copied if word and text.fold(word) in said)[:WORDS]
    # What holds has no words that break it.
    return None if ok and found else Judged(ok, found, _telling(item.get("facts"), lines))


def _telling(named: Any, lines: int) -> frozenset[int]:
    """Return the places of the lines that are named; of all lines where it is not clear which."""
    every = frozenset(range(1, lines + 1))
    clear = isinstance(named, list) and all(type(one) is int and one in every for one in named)
    return frozenset(named) if lines and clear else every


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
