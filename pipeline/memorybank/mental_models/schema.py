"""The answers asked for: JSON schemas of a whole document and of a change to one, and how their parts are read. Pure.

The same for all models, so that they stand in the prefix that providers keep.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from memorybank import text
from memorybank.llm import fields
from memorybank.llm.fields import IDS, TEXT
from memorybank.sections import Section, Statement
from memorybank.text import guards

NAME = "mental_model_document"
#: Longest name of a section, in characters.
NAME_CHARS = 120
#: The section of statements that come without one.
UNNAMED = "Summary"


class Op(StrEnum):
    """What may be done to a document: a closed set."""

    KEEP = "keep"
    APPEND = "append"
    REPLACE = "replace"
    REMOVE = "remove"
    ADD = "add"


_STATEMENTS = {
    "type": "array",
    "items": {"type": "object", "properties": {"text": TEXT, "facts": IDS}, "required": ["text", "facts"]},
}


def _list_of(name: str, item: dict[str, Any], required: Sequence[str]) -> dict[str, Any]:
    listed = {"type": "array", "items": {"type": "object", "properties": item, "required": list(required)}}
    return {"type": "object", "properties": {name: listed}, "required": [name]}


FULL = _list_of("sections", {"name": TEXT, "statements": _STATEMENTS}, ("name", "statements"))
DELTA = _list_of(
    "operations",
    {
        "op": {"type": "string", "enum": [op.value for op in Op]},
        "section": TEXT,
        "statements": _STATEMENTS,
        "facts": IDS,
    },
    ("op", "section"),
)


@dataclass(frozen=True)
class Operation:
    """One operation as the model wrote it; `facts` are the memories that it gives as its ground."""

    op: Op
    section: str
    statements: tuple[Statement, ...] = ()
    facts: tuple[UUID, ...] = ()

    def told(self) -> dict[str, Any]:
        """Return the operation for a trace."""
        said = {"op": self.op.value, "section": self.section}
        more = {
            "statements": [one.text for one in self.statements],
            "facts": [str(id_) for id_ in self.facts],
        }
        return said | {name: value for name, value in more.items() if value}


@dataclass
class Reader:
    """Reads what a model said about memories numbered from 1; `dropped` counts by reason what cannot be taken."""

    shown: Sequence[UUID]
    dropped: Counter[str] = field(default_factory=Counter)

    def sections(self, value: Mapping[str, Any]) -> tuple[Section, ...]:
        """Return the sections of a document, those of one name together, without what cites nothing."""
        found: dict[str, tuple[str, list[Statement]]] = {}
        for item in _items(value.get("sections")):
            name = named(item.get("name"))
            found.setdefault(key(name), (name, []))[1].extend(self.statements(item.get("statements")))
        said: set[str] = set()
        made = (Section(name, self._once(statements, said)) for name, statements in found.values())
        return tuple(section for section in made if section.statements)

    def operations(self, value: Mapping[str, Any]) -> list[Operation | None]:
        """Return the operations of a change; None for each that cannot be read."""
        return [self._operation(item) for item in _items(value.get("operations"), every=True)]

    def statements(self, value: Any) -> tuple[Statement, ...]:
        """Return the statements that cite at least one memory that was shown."""
        made = []
        for item in _items(value):
            said, sources = _said(item.get("text")), self.sources(item.get("facts"))
            if said and sources:
                made.append(Statement(said, sources))
            else:
                self.dropped["statement_without_source" if said else "statement_without_text"] += 1
        return tuple(made)

    def sources(self, value: Any) -> tuple[UUID, ...]:
        """Return the memories of numbers; a number that was not shown is dropped."""
        found = []
        for item in fields.listed(value):
            number = fields.number(item) or 0
            if 1 <= number <= len(self.shown):
                found.append(self.shown[number - 1])
            elif item is not None:
                self.dropped["citation_not_shown"] += 1
        return tuple(dict.fromkeys(found))

    def _operation(self, item: Any) -> Operation | None:
        try:
            op = Op(str(item["op"]).strip().lower())
        except (ValueError, KeyError, TypeError):
            return None
        statements, facts = self.statements(item.get("statements")), self.sources(item.get("facts"))
        return Operation(op, named(item.get("section")), statements, facts)

    def _once(self, statements: Sequence[Statement], said: set[str]) -> tuple[Statement, ...]:
        """Return each statement that was not said before."""
        kept = []
        for one in statements:
            if (known := guards.same_key(one.text)) in said:
                self.dropped["statement_repeated"] += 1
            else:
                said.add(known)
                kept.append(one)
        return tuple(kept)


def named(value: Any) -> str:
    """Return the name of a section as it is stored: one line, no marks of a heading."""
    return _said(value).lstrip("# ").rstrip(" #:")[:NAME_CHARS].strip() or UNNAMED


def key(name: str) -> str:
    """Return what is equal for names of one section."""
    return text.fold(name)


def _items(value: Any, *, every: bool = False) -> list[Any]:
    listed = value if isinstance(value, list) else []
    return listed if every else [item for item in listed if isinstance(item, dict)]


def _said(value: Any) -> str:
    """Return a text as one line, without the mark of a list."""
    return guards.cut(guards.unlooped(fields.line(value).removeprefix("- ")))
