"""What all wire types share: unknown request fields are kept apart, never refused; times and ids are strings."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from memorybank.storage.listings import Page, TagFilter
from memorybank.tags import Match
from memorybank.text import normalize
from memorybank.timeline import iso

#: Largest number that PostgreSQL counts to.
LARGEST = 2**63 - 1
#: Page sizes and offsets: a negative one is refused with 422.
NotNegative = Annotated[int, Field(ge=0, le=LARGEST)]
#: Text to look for, in the form in which texts are stored.
Sought = Annotated[str, AfterValidator(normalize)]

Item = TypeVar("Item")


class WireRequest(BaseModel):
    """A request body; fields it does not know land in `model_extra` and are named in `X-Ignored-Params`."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)


class WireResponse(BaseModel):
    """A response body."""

    model_config = ConfigDict(populate_by_name=True)


def keeps_nulls(model: type[BaseModel]) -> bool:
    """Return whether a response keeps its null fields: when a field of it is both required and nullable.

    Fields of the models inside count too: a list is answered as its items are.
    """
    waiting, known = [model], {model}
    while waiting:
        for field in waiting.pop().model_fields.values():
            if field.is_required() and type(None) in get_args(field.annotation):
                return True
            inner = set(_models(field.annotation)) - known
            known |= inner
            waiting.extend(inner)
    return False


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


class PageQuery(BaseModel):
    """Which page of a list."""

    limit: NotNegative = 100
    offset: NotNegative = 0

    @property
    def page(self) -> Page:
        """The page as the lists take it."""
        return Page(self.limit, self.offset)


class SearchQuery(PageQuery):
    """A page of what holds `q`."""

    q: Sought | None = None


class TagsAsked(BaseModel):
    """What tags must be carried, and how they must match."""

    tags: list[str] | None = None
    tags_match: Match = "any"

    @property
    def wanted(self) -> TagFilter:
        """The tags as the lists take them."""
        return TagFilter(tuple(self.tags or ()), self.tags_match)


class TaggedQuery(TagsAsked, PageQuery):
    """A page of what carries tags."""


class OwnTagsQuery(BaseModel):
    """A page of what has tags of its own, and is no memory: without tags asked for there is no filter."""

    tags: list[str] | None = None
    tags_match: Literal["any", "all", "exact"] = "any"
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    offset: NotNegative = 0

    @property
    def wanted(self) -> TagFilter:
        """The tags as the lists take them."""
        return TagFilter(tuple(self.tags), self.tags_match) if self.tags else TagFilter()

    @property
    def page(self) -> Page:
        """The page as the lists take it."""
        return Page(self.limit, self.offset)


class PageResponse(WireResponse, Generic[Item]):
    """A page of a list, and how many there are in all."""

    items: list[Item]
    total: int
    limit: int
    offset: int


class DeleteResponse(WireResponse):
    """What a delete did."""

    success: bool
    message: str | None = None
    deleted_count: int | None = None


class Deleted(WireResponse):
    """It is gone."""

    status: Literal["deleted"] = "deleted"


class TokenUsage(WireResponse):
    """Tokens of the calls behind one answer."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0


def stamp(when: datetime | None) -> str | None:
    """Return a time as the contract writes it: ISO-8601 with an offset."""
    return iso(when) if when is not None else None
