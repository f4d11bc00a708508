"""Who a key is, as Band's clients ask before they begin; and that there are no chats here."""

from typing import Annotated

from fastapi import Query

from memorybank.audience import Principal
from memorybank.memory import MemoryBank
from memorybank.serve.calls import Rule, call
from memorybank.serve.http.schemas.band import (
    AgentChatsResponse,
    AgentMe,
    AgentMeResponse,
    ChatsQuery,
    NumberMeta,
    UserDetails,
    UserProfileResponse,
)
from memorybank.serve.http.schemas.wire import stamp
from memorybank.storage import directory

#: What a server of memories alone does not do: each named, as clients expect.
FEATURES = {"ff_file_transfer": False, "ff_room_tasks": False}
#: The owner of an agent that has none: clients want a UUID.
NOBODY = "00000000-0000-0000-0000-000000000000"
#: What Band calls the roles of people.
ROLES = {"owner": "admin", "member": "user"}


@call("GET", "/api/v1/agent/me", rule=Rule.AGENT)
async def get_agent_me(memory: MemoryBank, principal: Principal) -> AgentMeResponse:
    """Return the agent that asks."""
    assert principal.id is not None
    async with memory.database.connection() as connection:
        agent = await directory.agent(connection, principal.id)
    return AgentMeResponse(
        data=AgentMe(
            id=agent.id,
            name=agent.name,
            # Clients do not start without one.
            description=agent.description.strip() or agent.name or agent.external_id,
            handle=agent.handle,
            owner_uuid=str(agent.owner or NOBODY),
            feature_flags=FEATURES,
            inserted_at=stamp(agent.created_at) or "",
            updated_at=stamp(agent.updated_at) or "",
        )
    )


@call("GET", "/api/v1/me/profile", rule=Rule.PERSON)
async def get_my_profile(memory: MemoryBank, principal: Principal) -> UserProfileResponse:
    """Return the person who asks."""
    assert principal.id is not None
    async with memory.database.connection() as connection:
        person = await directory.person(connection, principal.id)
    told = {"email": person.email or "", "handle": person.handle, "role": ROLES[person.role]}
    return UserProfileResponse(data=UserDetails(id=person.id, **told))


@call("GET", "/api/v1/agent/chats", rule=Rule.AGENT)
async def list_agent_chats(asked: Annotated[ChatsQuery, Query()]) -> AgentChatsResponse:
    """Return no chats: this server holds what was said, and is no place to talk."""
    none = NumberMeta(page=asked.page, page_size=asked.page_size, total_count=0, total_pages=0)
    return AgentChatsResponse(data=[], metadata=none)
