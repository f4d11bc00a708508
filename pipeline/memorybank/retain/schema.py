"""The answer asked for in extraction: its JSON schema, and how one fact of it is read. Pure.

A fact that cannot be read is dropped with its reason; the others are kept.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memorybank.templates import unescaped

NAME = "extracted_facts"
#: Causes of one fact at most.
MAX_CAUSES = 2
#: Longest name of an entity, in characters; longer ones are sentences.
MAX_ENTITY_CHARS = 120

_TEXT = {"type": ["string", "null"]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "what": {"type": "string"},
                    "when": _TEXT,
                    "where": _TEXT,
                    "who": _TEXT,
                    "why": _TEXT,
                    "fact_kind": {"type": "string", "enum": ["event", "conversation"]},
                    "occurred_start": _TEXT,
                    "occurred_end": _TEXT,
                    "fact_type": {"type": "string", "enum": ["world", "assistant"]},
                    "entities": {"type": "array", "items": {"type": "string"}},
                    "causal_relations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "target_index": {"type": "integer"},
                                "relation_type": {"type": "string", "enum": ["caused_by"]},
                            },
                            "required": ["target_index", "relation_type"],
                        },
                    },
                },
                "required": ["what", "fact_kind", "fact_type", "entities"],
            },
        }
    },
    "required": ["facts"],
}

#: Other names that models give to `what`.
_WHAT = ("what", "fact", "text", "statement", "memory", "content", "description")
#: Ways to say that there is nothing to say.
_NOTHING = frozenset(
    ("", "n/a", "na", "none", "null", "nil", "unknown", "unspecified", "not specified", "not given", "-", "—")
)
_ASSISTANT = frozenset(("assistant", "experience", "agent"))


@dataclass(frozen=True)
class Draft:
    """One fact as the model wrote it. `place` is its place in the answer; `causes` are places of earlier ones."""

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
    entities: tuple[str, ...] = ()
    causes: tuple[int, ...] = ()


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


def read(value: Mapping[str, Any]) -> Answer:
    """Return what an answer in the shape of SCHEMA says."""
    raw = value.get("facts")
    drafts: list[Draft] = []
    dropped: Counter[str] = Counter()
    for place, item in enumerate(raw if isinstance(raw, list) else [raw]):
        draft = _draft(item, place)
        if draft is None:
            dropped["malformed"] += 1
        elif not any(char.isalnum() for char in draft.what):
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
        is_event=str(item.get("fact_kind", "")).lower() == "event",
        occurred_start=_said(item.get("occurred_start")),
        occurred_end=_said(item.get("occurred_end")),
        is_own_act=str(item.get("fact_type", "")).lower() in _ASSISTANT,
        entities=_entities(item.get("entities")),
        causes=_causes(item.get("causal_relations"), place),
    )


def _said(value: Any) -> str:
    """Return a field's text; nothing where it says that there is nothing. Lists are joined."""
    if isinstance(value, list):
        value = ", ".join(str(part) for part in value if isinstance(part, str | int | float))
    if not isinstance(value, str):
        return ""
    said = unescaped(" ".join(value.split()))
    return "" if said.lower().strip(" .") in _NOTHING else said


def _entities(value: Any) -> tuple[str, ...]:
    names = (
        [_entity(item) for item in value]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else []
    )
    return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= MAX_ENTITY_CHARS))


def _entity(item: Any) -> str:
    if isinstance(item, dict):
        item = next(
            (item[name] for name in ("text", "name", "entity") if isinstance(item.get(name), str)), ""
        )
    return _said(item)


def _causes(value: Any, place: int) -> tuple[int, ...]:
    """Return the places of earlier facts that caused this one."""
    relations = value if isinstance(value, list) else []
    targets = [relation.get("target_index") for relation in relations if isinstance(relation, dict)]
    earlier = [target for target in targets if type(target) is int and 0 <= target < place]
    return tuple(dict.fromkeys(earlier))[:MAX_CAUSES]
