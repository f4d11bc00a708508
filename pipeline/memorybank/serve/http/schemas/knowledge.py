"""Knowledge pages."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from memorybank.serve.http.schemas.mental_models import MentalModelTrigger, Tokens
from memorybank.serve.http.schemas.wire import Sought, WireRequest, WireResponse


class CreateFolderRequest(WireRequest):
    """A folder to be made; without a parent it stands at the root."""

    name: str
    parent_id: str | None = None


class CreatePageRequest(WireRequest):
    """A page to be made."""

    name: str
    source_query: str
    parent_id: str | None = None
    tags: list[str] | None = None
    max_tokens: Tokens | None = None
    trigger: MentalModelTrigger | None = None


class UpdateNodeRequest(WireRequest):
    """What becomes otherwise of a folder or a page; `parent_id` null moves it to the root."""

    name: str | None = None
    parent_id: str | None = None
    source_query: str | None = None
    tags: list[str] | None = None
    max_tokens: Tokens | None = None
    trigger: MentalModelTrigger | None = None


class KnowledgeSearchQuery(BaseModel):
    """What to look for."""

    q: Annotated[Sought, Field(min_length=1)]
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class KnowledgeNode(WireResponse):
    """A folder or a page."""

    id: str
    kind: Literal["folder", "page"]
    name: str
    parent_id: str | None = None
    mental_model_id: str | None = None
    managed: bool = False
    description: str | None = None
    tags: list[str] = []
    timestamp: str | None = None
    is_stale: bool | None = None
    last_refresh_failed_at: str | None = None
    trigger: dict[str, Any] | None = None
    children: list["KnowledgeNode"] = []


class KnowledgeTreeResponse(WireResponse):
    """What stands at the root, folders first, with all that is in them."""

    roots: list[KnowledgeNode]


class CreateKnowledgePageResponse(WireResponse):
    """The new page and the operation that builds it."""

    page_id: str
    mental_model_id: str
    operation_id: str | None = None


class KnowledgePageResponse(WireResponse):
    """One page; `markdown` is its body with front matter."""

    id: str
    name: str
    type: str
    description: str | None = None
    tags: list[str] = []
    timestamp: str | None = None
    body: str | None = None
    markdown: str


class KnowledgePageSearchResult(WireResponse):
    """A page that fits."""

    id: str
    name: str
    mental_model_id: str | None = None
    snippet: str
    score: float
    source_query: str | None = None
    updated_at: str | None = None


class KnowledgePageSearchResponse(WireResponse):
    """The pages that fit, the best first."""

    results: list[KnowledgePageSearchResult]
    total: int


class KnowledgePageBundleFile(WireResponse):
    """One file of the bundle."""

    path: str
    content: str


class KnowledgePageBundleResponse(WireResponse):
    """All pages as markdown files, with an index in each folder."""

    files: list[KnowledgePageBundleFile]
