"""Keys and values on the wire."""

import json
from typing import Any

from pydantic import BaseModel, Field

from memorybank.serve.http.schemas.wire import WireRequest, WireResponse


class EntriesQuery(BaseModel):
    """Whose entries; `all`, or nothing: those of all agents of who asks."""

    agent_id: str | None = Field(None, alias="agentId")


class PutRequest(WireRequest):
    """A value of a `key`, or without one an object of several. What is no request is told in words of the contract."""

    agent_id: Any = Field(None, alias="agentId")
    key: Any = None
    memory: Any = None


class EntriesResponse(WireResponse):
    """Keys with their values."""

    memory: dict[str, Any]
    agent_id: str | None = Field(alias="agentId")
    count: int
    last_updated: str | None = Field(alias="lastUpdated")

    def model_dump_json(self, **options: Any) -> str:
        """Return JSON in ASCII: a value may hold half of a character, which UTF-8 cannot."""
        return json.dumps(self.model_dump(**options), ensure_ascii=True)


class PutResponse(WireResponse):
    """What was saved: a `key`, or so many."""

    success: bool = True
    agent_id: str = Field(alias="agentId")
    key: str | None = None
    keys_updated: int | None = Field(None, alias="keysUpdated")
    saved: str

    def model_dump_json(self, **options: Any) -> str:
        """Return JSON in ASCII, as of entries."""
        return json.dumps(self.model_dump(**options), ensure_ascii=True)


class AgentEntry(WireResponse):
    """An agent."""

    id: str
    name: str
    handle: str
    description: str


class AgentsResponse(WireResponse):
    """The agents of who asks."""

    agents: list[AgentEntry]
    count: int
    status: str = "ok"
