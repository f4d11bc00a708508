"""Changes a document by operations on its sections, and keeps what is still true. Pure.

A statement goes only where the operation accounts for it: where it cites, or names as its ground, one of the memories
that the statement stands on, beside at least one new memory. What an answer forgets stays.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memorybank.mental_models.schema import Op, Operation, key
from memorybank.sections import Document, Section, Statement

#: Why an operation is not taken.
UNREADABLE, UNKNOWN, REPEATED = "unreadable", "unknown_section", "section_changed_twice"
NO_GROUND, NOTHING = "no_new_memory", "no_statement"


@dataclass(frozen=True)
class Changed:
    """A document after a change; `skipped` operations with the reason."""

    document: Document
    applied: tuple[Operation, ...] = ()
    skipped: tuple[tuple[Operation | None, str], ...] = ()

    @property
    def useful(self) -> bool:
        """Whether anything can be made of the change: an operation that holds, or that there was none."""
        return bool(self.applied) or not self.skipped


def apply(document: Document, operations: Sequence[Operation | None], new: Collection[UUID]) -> Changed:
    """Return the document with the operations done that can be; `new`: memories that it does not know yet."""
    sections = {key(section.name): section for section in document}
    touched: set[str] = set()
    applied, skipped = [], []
    for operation in operations:
        why = UNREADABLE if operation is None else _refused(operation, sections, touched, new)
        if operation is None or why:
            skipped.append((operation, why or UNREADABLE))
            continue
        _do(operation, sections)
        applied.append(operation)
        if operation.op in (Op.REPLACE, Op.REMOVE):
            touched.add(key(operation.section))
    made = tuple(section for section in sections.values() if section.statements)
    return Changed(made, tuple(applied), tuple(skipped))


def _refused(
    operation: Operation, sections: dict[str, Section], touched: set[str], new: Collection[UUID]
) -> str | None:
    """Return why an operation cannot be done, or None."""
    known = key(operation.section) in sections
    if not known and operation.op is not Op.ADD:
        return UNKNOWN
    if operation.op is Op.KEEP:
        return None
    if operation.op in (Op.APPEND, Op.ADD):
        return None if operation.statements else NOTHING
    if key(operation.section) in touched:
        return REPEATED
    return None if _accounted(operation) & set(new) else NO_GROUND


def _accounted(operation: Operation) -> set[UUID]:
    """Return the memories that an operation cites or names."""
    return set(operation.facts).union(*(one.sources for one in operation.statements))


def _do(operation: Operation, sections: dict[str, Section]) -> None:
    at = key(operation.section)
    old = sections.get(at, Section(operation.section, ()))
    match operation.op:
        case Op.KEEP:
            return
        case Op.APPEND | Op.ADD:
            said = {one.text for one in old.statements}
            more = tuple(one for one in operation.statements if one.text not in said)
            sections[at] = replace(old, statements=old.statements + more)
        case Op.REPLACE | Op.REMOVE:
            fresh = operation.statements if operation.op is Op.REPLACE else ()
            sections[at] = replace(old, statements=fresh + _unaccounted(operation, old.statements))


def _unaccounted(operation: Operation, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    accounted = _accounted(operation)
    said = {one.text for one in operation.statements}
    return tuple(one for one in statements if not accounted & set(one.sources) and one.text not in said)
