"""Directives."""

from typing import Annotated

from pydantic import Field

from memorybank.serve.http.schemas.wire import OwnTagsQuery, PageResponse, WireRequest, WireResponse

#: What PostgreSQL's integer holds.
Priority = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class CreateDirectiveRequest(WireRequest):
    """A rule that answers shall keep: always, or with tags, where the request names one of them."""

    name: str
    content: str
    priority: Priority = 0
    is_active: bool = True
    tags: list[str] = []


class UpdateDirectiveRequest(WireRequest):
    """What becomes otherwise of a directive."""

    name: str | None = None
    content: str | None = None
    priority: Priority | None = None
    is_active: bool | None = None
    tags: list[str] | None = None


class DirectivesQuery(OwnTagsQuery):
    """A page of directives, by tags."""

    active_only: bool = True


class DirectiveResponse(WireResponse):
    """One directive."""

    id: str
    bank_id: str
    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: list[str] = []
    created_at: str | None = None
    updated_at: str | None = None


class DirectiveListResponse(PageResponse[DirectiveResponse]):
    """A page of directives."""
