"""Documents, chunks and entities."""

from typing import Annotated, Any

from pydantic import Field

from memorybank.serve.http.schemas.recall import EntityObservationResponse
from memorybank.serve.http.schemas.wire import (
    PageQuery,
    PageResponse,
    TaggedQuery,
    TagsAsked,
    WireRequest,
    WireResponse,
)
from memorybank.storage.history import Act
from memorybank.tags import Match


class DocumentsQuery(TaggedQuery):
    """Which documents to list; `q` is a part of the id."""

    q: str | None = None
    tags_match: Match = "any_strict"


class DocumentPage(PageQuery):
    """Which chunks of a document to list, or which acts of its history."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class EntityQuery(TagsAsked):
    """Among which memories an entity is looked for."""


class MergeEntityRequest(WireRequest):
    """What is one: the entity goes `into` another, or `names` are its own."""

    into: str | None = None
    names: list[str] | None = None


class ListDocumentsResponse(PageResponse[dict[str, Any]]):
    """A page of documents, the last updated first."""


class DocumentResponse(WireResponse):
    """One document; `original_text` is null where texts are not stored."""

    id: str
    bank_id: str
    original_text: str | None
    content_hash: str | None
    created_at: str
    updated_at: str
    memory_unit_count: int
    nodes_by_fact_type: dict[str, int] | None = None
    tags: list[str] = []
    document_metadata: dict[str, Any] | None = None
    retain_params: dict[str, Any] | None = None
    observation_scopes: str | list[list[str]] | None = None


class UpdateDocumentRequest(WireRequest):
    """New tags of a document and of all its facts."""

    tags: list[str] | None = None


class UpdateDocumentResponse(WireResponse):
    """The tags were set."""

    success: bool = True


class DeleteDocumentResponse(WireResponse):
    """What went with a document."""

    success: bool
    message: str
    document_id: str
    memory_units_deleted: int


class ChunkResponse(WireResponse):
    """One chunk of a document."""

    chunk_id: str
    document_id: str
    bank_id: str
    chunk_index: int
    chunk_text: str
    created_at: str


class ListChunksResponse(PageResponse[ChunkResponse]):
    """A page of a document's chunks, in order."""


class ObservationIdSample(WireResponse):
    """Observations that an act reached: how many, and some of their ids."""

    count: int = 0
    ids: list[str] = []


class DocumentEvent(WireResponse):
    """One act in the history of a document."""

    document_id: str
    kind: Act
    created_at: str | None = None
    operation_id: str | None = None
    fact_id: str | None = None
    facts_added: int = 0
    facts_removed: int = 0
    observations_created: ObservationIdSample = ObservationIdSample()
    observations_updated: ObservationIdSample = ObservationIdSample()
    observations_removed: ObservationIdSample = ObservationIdSample()


class DocumentHistoryResponse(PageResponse[DocumentEvent]):
    """A page of a document's history, the newest act first."""

    document_id: str


class ReprocessDocumentResponse(WireResponse):
    """A document is being read again."""

    success: bool
    operation_id: str
    items_count: int


class EntityListItem(WireResponse):
    """One entity and how often visible facts name it."""

    id: str
    canonical_name: str
    mention_count: int
    first_seen: str | None = None
    last_seen: str | None = None
    metadata: dict[str, Any] | None = None


class EntityListResponse(PageResponse[EntityListItem]):
    """A page of entities, the most mentioned first."""


class UnmergeEntityResponse(WireResponse):
    """The entity stands for itself again."""

    success: bool


class EntityAlias(WireResponse):
    """Another name of an entity; `entity_id` is the one that was merged into it, where somebody did that."""

    name: str
    entity_id: str | None = None


class EntityDetailResponse(EntityListItem):
    """One entity."""

    observations: list[EntityObservationResponse]
    aliases: list[EntityAlias]
