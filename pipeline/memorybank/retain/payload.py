"""What an operation of retain is told, as types and as JSON. Pure.

A payload is one of two things. Before staging it holds the content; staging moves the content to documents and chunks
and leaves only what the outcome needs, so that a queue never keeps text that was deleted since.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from memorybank.model import EntityInput, RetainItem

#: How items come to a document; the last takes none: what the document says is read again.
REPLACE, APPEND, REPROCESS = "replace", "append", "reprocess"


@dataclass(frozen=True)
class DocumentPart:
    """The items of one document, in order; `generated`: its id was made here, nobody else can know it."""

    id: str
    items: tuple[RetainItem, ...]
    update_mode: str = REPLACE
    generated: bool = False


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


def to_json(batch: Batch) -> dict[str, Any]:
    """Return a payload that JSON can hold."""
    return {
        "submitted_at": batch.submitted_at.isoformat(),
        "strategy": batch.strategy,
        "documents": [
            {
                "id": document.id,
                "update_mode": document.update_mode,
                "generated": document.generated,
                "items": [_item_json(item) for item in document.items],
            }
            for document in batch.documents
        ],
    }


def from_json(payload: Mapping[str, Any]) -> Batch | Staged:
    """Return what a payload says."""
    if "staged" in payload:
        staged = payload["staged"]
        return Staged(**staged | {"documents": tuple(staged["documents"]), "errors": tuple(staged["errors"])})
    documents = tuple(
        DocumentPart(
            document["id"],
            tuple(_item(raw, document["id"], payload["strategy"]) for raw in document["items"]),
            document["update_mode"],
            document["generated"],
        )
        for document in payload["documents"]
    )
    return Batch(datetime.fromisoformat(payload["submitted_at"]), payload["strategy"], documents)


def staged_json(staged: Staged) -> dict[str, Any]:
    """Return the payload of an operation whose content stands in documents and chunks."""
    return {"staged": asdict(staged)}


def _item_json(item: RetainItem) -> dict[str, Any]:
    return {
        "content": item.content,
        "timestamp": item.timestamp.isoformat() if item.timestamp else None,
        "timestamp_assumed": item.timestamp_assumed,
        "context": item.context,
        "metadata": dict(item.metadata),
        "entities": [[entity.text, entity.type] for entity in item.entities],
        "resolve_entities": item.resolve_entities,
        "tags": list(item.tags),
        "observation_scopes": item.observation_scopes,
    }


def _item(raw: Mapping[str, Any], document_id: str, strategy: str | None) -> RetainItem:
    scopes = raw["observation_scopes"]
    return RetainItem(
        content=raw["content"],
        timestamp=datetime.fromisoformat(raw["timestamp"]) if raw["timestamp"] else None,
        timestamp_assumed=raw["timestamp_assumed"],
        context=raw["context"],
        metadata=raw["metadata"],
        document_id=document_id,
        entities=tuple(EntityInput(text, kind) for text, kind in raw["entities"]),
        resolve_entities=raw["resolve_entities"],
        tags=tuple(raw["tags"]),
        observation_scopes=scopes if isinstance(scopes, str | None) else tuple(map(tuple, scopes)),
        strategy=strategy,
    )
