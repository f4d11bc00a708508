"""What an operation of retain is told, as types and as JSON. Pure.

A payload is one of two things. Before staging it holds the content; staging moves the content to documents and chunks
and leaves only what the outcome needs, so that a queue never keeps text that was deleted since.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from memorybank.model import RetainItem

#: How items come to a document; the last takes none: what the document says is read again.
REPLACE, APPEND, REPROCESS = "replace", "append", "reprocess"


@dataclass(frozen=True)
class DocumentPart:
    """The items of one document, in order."""

    id: str
    items: tuple[RetainItem, ...]
    update_mode: str = REPLACE


@dataclass(frozen=True)
class Batch:
    """The content of one operation."""

    submitted_at: datetime
    strategy: str | None
    documents: tuple[DocumentPart, ...]


@dataclass(frozen=True)
class Staged:
    """What is left of a payload after staging: documents as asked for, those left out by reason, chunks to extract.

    `errors` says why documents were left out that should not have been. `replaced` counts chunks that go when the
    others are extracted.
    """

    strategy: str | None = None
    documents: tuple[str, ...] = ()
    chunks: int = 0
    unchanged: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    errors: tuple[str, ...] = ()
    replaced: int = 0


_BATCH, _STAGED = TypeAdapter(Batch), TypeAdapter(Staged)


def to_json(told: Batch | Staged) -> dict[str, Any]:
    """Return a payload that JSON can hold."""
    if isinstance(told, Batch):
        made: dict[str, Any] = _BATCH.dump_python(told, mode="json")
        return made
    return {"staged": _STAGED.dump_python(told, mode="json")}


def from_json(payload: Mapping[str, Any]) -> Batch | Staged:
    """Return what a payload says."""
    return (
        _STAGED.validate_python(payload["staged"]) if "staged" in payload else _BATCH.validate_python(payload)
    )
