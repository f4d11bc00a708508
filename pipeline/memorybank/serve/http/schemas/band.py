"""Band's memories on the wire."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memorybank.curate.shared import STATUSES, Scope
from memorybank.errors import MixedPagination
from memorybank.serve.cursors import position
from memorybank.serve.http.schemas.wire import LARGEST, Sought, WireRequest, WireResponse
from memorybank.storage.stated import Page

System = Literal["sensory", "working", "long_term"]
Type = Literal["iconic", "echoic", "haptic", "episodic", "semantic", "procedural"]
Segment = Literal["user", "agent", "tool", "guideline"]
Status = Literal["active", "superseded", "archived"]
#: Memories of a page unless said otherwise; the most of one that is asked for by number: more is cut, not refused.
PAGE, MAX_PAGE = 20, 50


class GivenMemory(WireRequest):
    """A memory to store. `chat_room_id`: ours, for where it is from."""

    content: str
    thought: str
    system: System
    type: Type
    segment: Segment
    scope: Scope | None = None
    subject_id: UUID | None = None
    metadata: dict[str, Any] | None = None
    chat_room_id: str | None = None


class CreateMemoryRequest(WireRequest):
    """A request to store a memory."""

    memory: GivenMemory


class BandPage(BaseModel):
    """Which page of a list: by `cursor` and `limit`, or by `page` and `page_size`, not both."""

    cursor: str | None = None
    limit: Annotated[int | None, Field(ge=1, le=100)] = None
    page: Annotated[int | None, Field(ge=1, le=LARGEST // MAX_PAGE)] = None
    page_size: Annotated[int | None, Field(ge=1)] = None

    @property
    def numbered(self) -> bool:
        """Whether the page is asked for by its number; raises MixedPagination."""
        by_cursor = self.cursor is not None or self.limit is not None
        by_number = self.page is not None or self.page_size is not None
        if by_cursor and by_number:
            raise MixedPagination("either cursor and limit, or page and page_size", loc=("query", "cursor"))
        return by_number

    @property
    def wanted(self) -> Page:
        """The page as the lists take it; by cursor with one row more, which says whether there are others."""
        if self.numbered:
            size = min(self.page_size or PAGE, MAX_PAGE)
            return Page(size, offset=((self.page or 1) - 1) * size, counted=True)
        return Page((self.limit or PAGE) + 1, after=None if self.cursor is None else position(self.cursor))


class MemoriesQuery(BandPage):
    """Which memories to list."""

    system: System | None = None
    type: Type | None = None
    segment: Segment | None = None
    content_query: Sought | None = None
    status: Status | Literal["all"] = "active"

    @property
    def statuses(self) -> tuple[str, ...]:
        """The states to list."""
        return tuple(map(str, STATUSES)) if self.status == "all" else (self.status,)


class AgentMemoriesQuery(MemoriesQuery):
    """Which memories an agent lists."""

    subject_id: UUID | None = None
    scope: Scope | Literal["all"] | None = None
    memory_scope: Literal["me", "org"] | None = None


class UserMemoriesQuery(MemoriesQuery):
    """Which memories a person lists; the room and the agent by the caller's ids or UUIDs."""

    scope: Literal["about_me", "organization", "room", "all"] | None = None
    chat_room_id: str | None = None
    source_agent_id: str | None = None


class AgentMemory(WireResponse):
    """A memory as agents see it."""

    id: UUID
    content: str
    thought: str | None
    system: str
    type: str
    segment: str
    scope: str
    status: str
    subject_id: UUID | None
    source_agent_id: UUID | None
    organization_id: UUID | None
    metadata: dict[str, Any] | None
    inserted_at: str


class UserMemory(AgentMemory):
    """A memory as people see it; names and titles only of what they know."""

    updated_at: str
    source_agent_name: str | None
    subject_name: str | None
    subject_type: Literal["user", "agent"] | None
    chat_room_id: UUID | None
    chat_room_title: str | None
    chat_room_status: str | None
    chat_room_type: Literal["direct", "group"] | None


class CursorMeta(WireResponse):
    """What follows a page."""

    limit: int
    has_more: bool
    next_cursor: str | None


class NumberMeta(WireResponse):
    """Where a page stands."""

    page: int
    page_size: int
    total_count: int
    total_pages: int


class AgentMemoryResponse(WireResponse):
    """One memory."""

    data: AgentMemory


class UserMemoryResponse(WireResponse):
    """One memory."""

    data: UserMemory


class AgentMemoryListResponse(WireResponse):
    """A page of memories; both names of what is said of it are read by clients."""

    data: list[AgentMemory]
    meta: CursorMeta | NumberMeta
    metadata: CursorMeta | NumberMeta


class UserMemoryListResponse(WireResponse):
    """A page of memories; both names of what is said of it are read by clients."""

    data: list[UserMemory]
    meta: CursorMeta | NumberMeta
    metadata: CursorMeta | NumberMeta


class AgentMe(WireResponse):
    """An agent, to itself."""

    id: UUID
    name: str
    description: str
    handle: str
    owner_uuid: str
    feature_flags: dict[str, bool]
    inserted_at: str
    updated_at: str


class AgentMeResponse(WireResponse):
    """The agent that asks."""

    data: AgentMe


class UserDetails(WireResponse):
    """A person, to themselves."""

    id: UUID
    email: str
    handle: str
    role: str


class UserProfileResponse(WireResponse):
    """The person who asks."""

    data: UserDetails


class ChatsQuery(BaseModel):
    """Which page of chats."""

    page: Annotated[int, Field(ge=1)] = 1
    page_size: Annotated[int, Field(ge=1)] = 20


class AgentChatsResponse(WireResponse):
    """The chats of an agent: none."""

    data: list[None]
    metadata: NumberMeta
