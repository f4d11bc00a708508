"""Workspace facts on the wire. People, agents and places are given by the caller's ids or UUIDs, and told by UUID."""

from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field

from memorybank.curate.scopes import Scope
from memorybank.serve.http.schemas.memories import DataLevel
from memorybank.serve.http.schemas.wire import Sought, WireRequest, WireResponse

Kind = Literal["stated", "kv", "extracted", "observation"]


def _in_utc(given: datetime | None) -> datetime | None:
    """Return a time in UTC, where a database can keep it; without a zone it is that already."""
    if given is None:
        return None
    try:
        return (given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("outside of the years 1 to 9999") from None


class ForWhom(WireRequest):
    """Who may know a fact; `place` of a conversation."""

    scope: Scope
    place: str | None = None


class GivenSource(WireRequest):
    """Where an agent has a fact from: the place, who said it, the message or session, and when."""

    kind: Literal["message", "session", "person"]
    place: str
    person: str | None = None
    message_id: str | None = Field(default=None, max_length=500)
    session_id: str | None = Field(default=None, max_length=500)
    at: Annotated[datetime | None, AfterValidator(_in_utc)] = None


class CreateFactRequest(WireRequest):
    """A fact to keep. A person says for whom; an agent says where it has it from, which may say for whom."""

    text: str
    for_: ForWhom | None = Field(default=None, alias="for")
    source: GivenSource | None = None
    agent: str | None = None
    data_level: DataLevel | None = None


class UpdateFactRequest(WireRequest):
    """What is to be changed: the text, the pin, or both."""

    text: str | None = None
    pinned: bool | None = None


class AtPlace(BaseModel):
    """Where the caller is: an agent needs it for what applies in a place alone."""

    place: str | None = None


class FactsQuery(AtPlace):
    """Which facts to list: all words of `q` are in them; `place`: those of a conversation or talk."""

    kind: Kind | None = None
    scope: Scope | None = None
    pinned: bool | None = None
    q: Sought | None = None
    cursor: str | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class RecallFactsRequest(WireRequest):
    """Where an agent is; `person`: with whom, in a direct talk; `query`: what it is about."""

    place: str
    person: str | None = None
    query: str | None = None


class KeptBy(WireResponse):
    """Who kept a fact; an extracted one was kept by an agent that nobody names."""

    kind: Literal["agent", "person"]
    id: UUID | None
    name: str | None


class FactSource(WireResponse):
    """Where a fact is from. `place` and `ref` only for who may read there."""

    kind: str
    place: UUID | None
    ref: str | None
    person: UUID | None
    at: str


class FactResponse(WireResponse):
    """A fact. `scope` of a memory that is no workspace fact: the kind of its audience (bank, agent, subject)."""

    id: UUID
    kind: Kind
    text: str
    scope: str
    place: UUID | None
    person: UUID | None
    pinned: bool
    kept_by: KeptBy
    source: FactSource | None
    corrected: bool
    created_at: str
    updated_at: str
    can_change: bool


class FactLimits(WireResponse):
    """How many stated facts the caller sees, and how many an agent holds at most."""

    facts: int
    max: int


class FactListResponse(WireResponse):
    """A page of facts."""

    items: list[FactResponse]
    next_cursor: str | None
    limits: FactLimits


class RecalledFactsResponse(WireResponse):
    """What an agent is told first at a place."""

    facts: list[FactResponse]


class Nothing(WireResponse):
    """An answer without a body."""
