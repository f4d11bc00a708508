"""The answer asked for in extraction: its JSON schema, and how one fact of it is read. Pure.

A fact that cannot be read is dropped with its reason; the others are kept.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memorybank import text
from memorybank.model import EntityInput
from memorybank.templates import unescaped

NAME = "extracted_facts"
#: Causes of one fact at most.
MAX_CAUSES = 2
#: Longest name of an entity, in characters; longer ones are sentences.
MAX_ENTITY_CHARS = 120
#: No call has contents with longer numbers.
MAX_DIGITS = 6

_TEXT = {"type": "string"}
_FIELDS: dict[str, Any] = {
    "content": {"type": "integer"},
    "what": _TEXT,
    "when": _TEXT,
    "where": _TEXT,
    "who": _TEXT,
    "why": _TEXT,
    "fact_kind": {"type": "string", "enum": ["event", "conversation"]},
    "occurred_start": _TEXT,
    "occurred_end": _TEXT,
    "fact_type": {"type": "string", "enum": ["world", "assistant"]},
    "entities": {"type": "array", "items": _TEXT},
    "caused_by": {"type": "array", "items": {"type": "integer"}},
}
_NEEDED = ("what", "fact_kind", "fact_type", "entities")
#: What is asked about a text that is kept word for word.
_ABOUT_WHOLE = ("content", "where", "occurred_start", "occurred_end", "entities")

#: Other names that models give to `what`.
_WHAT = ("what", "fact", "text", "statement", "memory", "content", "description")
#: Ways to say that there is nothing to say.
_NOTHING = frozenset(
    ("", "n/a", "na", "none", "null", "nil", "unknown", "unspecified", "not specified", "not given", "-", "—")
)
_ASSISTANT = frozenset(("assistant", "experience", "agent"))
#: Kinds of names, as models write them; any other word says nothing of the kind.
_KINDS = {
    "person": "PERSON",
    "people": "PERSON",
    "organization": "ORGANIZATION",
    "organisation": "ORGANIZATION",
    "company": "ORGANIZATION",
    "place": "PLACE",
    "location": "PLACE",
    "city": "PLACE",
    "country": "PLACE",
    "product": "PRODUCT",
    "event": "EVENT",
    "work": "WORK",
    "other": EntityInput.type,
    "concept": EntityInput.type,
}
_WITH_KIND = re.compile(r"(?P<name>.*\S)\s*[(（\[](?P<kind>[^()（）\[\]]+)[)）\]]")
#: Words for whoever speaks, which name nobody.
_NOBODY = frozenset(
    ("user", "the user", "assistant", "the assistant", "agent", "the agent", "i", "me", "narrator")
)


@dataclass(frozen=True)
class Draft:
    """One fact as the model wrote it. `place` is its place in the answer; `causes` are places of earlier ones.

    `content` is the number that the model gives the content it is from, `labels` what it gives as labels.
    """

    place: int
    what: str
    when: str = ""
    where: str = ""
    who: str = ""
    why: str = ""
    is_event: bool = False
    occurred_start: str = ""
    occurred_end: str = ""
    is_own_act: bool = False
    entities: tuple[EntityInput, ...] = ()
    causes: tuple[int, ...] = ()
    content: int | None = None
    labels: Any = None


@dataclass(frozen=True)
class Answer:
    """The facts that could be read, and how many could not, by reason."""

    drafts: tuple[Draft, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)

    @property
    def malformed_share(self) -> float:
        """Which part of the facts could not be read."""
        lost = self.dropped.get("malformed", 0)
        return lost / (lost + len(self.drafts)) if lost else 0.0


def asked(whole: bool, labels: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the JSON schema of the answer. `whole`: on texts kept word for word; `labels`: the shape of labels.

    Without labels it is the same for all banks, so that it stands in the prefix that providers keep.
    """
    fields = {name: _FIELDS[name] for name in (_ABOUT_WHOLE if whole else _FIELDS)}
    needed = ["entities"] if whole else [*_NEEDED]
    if labels:
        fields["labels"] = labels
        needed += ["labels"] if "required" in labels else []
    item = {"type": "object", "properties": fields, "required": needed}
    facts = {"type": "array", "items": item}
    return {"type": "object", "properties": {"facts": facts}, "required": ["facts"]}


def read(value: Mapping[str, Any], whole: bool = False) -> Answer:
    """Return what an answer says; `whole`: entries need no `what`, the text is kept word for word."""
    raw = value.get("facts")
    drafts: list[Draft] = []
    dropped: Counter[str] = Counter()
    for place, item in enumerate(raw if isinstance(raw, list) else [raw]):
        draft = _draft({"what": "", **item} if whole and isinstance(item, dict) else item, place)
        if draft is None:
            dropped["malformed"] += 1
        elif not whole and not any(char.isalnum() for char in draft.what):
            dropped["empty"] += 1
        else:
            drafts.append(draft)
    return Answer(tuple(drafts), dropped)


def _draft(item: Any, place: int) -> Draft | None:
    if isinstance(item, str):
        return Draft(place, _said(item))
    if not isinstance(item, dict):
        return None
    what = next((item[name] for name in _WHAT if isinstance(item.get(name), str)), None)
    if what is None:
        return None
    return Draft(
        place=place,
        what=_said(what),
        when=_said(item.get("when")),
        where=_said(item.get("where")),
        who=_said(item.get("who")),
        why=_said(item.get("why")),
        is_event=_is_event(item),
        occurred_start=_said(item.get("occurred_start")),
        occurred_end=_said(item.get("occurred_end")),
        is_own_act=str(item.get("fact_type", "")).lower() in _ASSISTANT,
        entities=_entities(item.get("entities")),
        causes=_causes(item, place),
        content=_number(item.get("content")),
        labels=item.get("labels"),
    )


def _is_event(item: Mapping[str, Any]) -> bool:
    """Tell an event; where the kind is left out, a date says so."""
    kind = item.get("fact_kind")
    return kind.lower() == "event" if isinstance(kind, str) else bool(_said(item.get("occurred_start")))


def _number(value: Any) -> int | None:
    digits = str(value).strip()
    return int(digits) if digits.isdecimal() and len(digits) < MAX_DIGITS else None


def _said(value: Any) -> str:
    """Return a field's text; nothing where it says that there is nothing. Lists are joined."""
    if isinstance(value, list):
        value = ", ".join(str(part) for part in value if isinstance(part, str | int | float))
    if not isinstance(value, str):
        return ""
    said = unescaped(" ".join(value.split()))
    return "" if said.lower().strip(" .") in _NOTHING else said


def _entities(value: Any) -> tuple[EntityInput, ...]:
    given = value if isinstance(value, list) else []
    names = (_entity(item) for item in given)
    return tuple(dict.fromkeys(name for name in names if _is_name(name.text)))


def _is_name(name: str) -> bool:
    return 0 < len(name) <= MAX_ENTITY_CHARS and text.fold(name) not in _NOBODY


def _entity(item: Any) -> EntityInput:
    """Return a name with its kind: "Kiel (place)", {"text": "Kiel", "type": "place"}, or just "Kiel"."""
    if isinstance(item, dict):
        named = (item[name] for name in ("text", "name", "entity") if isinstance(item.get(name), str))
        kind = _KINDS.get(str(item.get("type", "")).lower(), EntityInput.type)
        return EntityInput(_said(next(named, "")), kind)
    said = _said(item)
    split = _WITH_KIND.fullmatch(said)
    if split and (kind := _KINDS.get(split["kind"].strip().lower(), "")):
        return EntityInput(split["name"], kind)
    return EntityInput(said)


def _causes(item: Mapping[str, Any], place: int) -> tuple[int, ...]:
    """Return the places of earlier facts that caused this one: in `caused_by`, or in `causal_relations`."""
    given = [value for name in ("caused_by", "causal_relations") if isinstance(value := item.get(name), list)]
    targets = [
        target.get("target_index") if isinstance(target, dict) else target
        for value in given
        for target in value
    ]
    earlier = [target for target in targets if type(target) is int and 0 <= target < place]
    return tuple(dict.fromkeys(earlier))[:MAX_CAUSES]
