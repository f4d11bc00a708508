"""Key-value memory: what agents keep under keys, for themselves and their owners."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query

from memorybank.audience import Principal
from memorybank.curate.entries import own
from memorybank.errors import BadRequest
from memorybank.memory import MemoryBank
from memorybank.serve.calls import Rule, call
from memorybank.serve.http.schemas.entries import (
    AgentEntry,
    AgentsResponse,
    EntriesQuery,
    EntriesResponse,
    PutRequest,
    PutResponse,
)
from memorybank.timeline import iso

#: Keys of one request, and bytes of a value in UTF-8: of a text as it is, of the rest as compact JSON.
MAX_KEYS, MAX_VALUE_BYTES = 50, 100_000
#: Characters of a key: PostgreSQL finds it by an index, whose entries have at most 2,700 bytes.
MAX_KEY_CHARS = 512
#: Whose entries are meant by that: those of all agents.
ALL = "all"


@call("GET", "/api/memory", rule=Rule.THEIRS)
async def list_entries(
    memory: MemoryBank, principal: Principal, asked: Annotated[EntriesQuery, Query()]
) -> EntriesResponse:
    """Return the keys and values of an agent, or of all agents of who asks; where two have a key, the newest value."""
    named = None if asked.agent_id in (None, "", ALL) else asked.agent_id
    found = await memory.entries.list_(principal, named)
    return EntriesResponse(
        memory={one.key: one.value for one in found},
        agentId=named,
        count=len(found),
        lastUpdated=iso(max(one.updated_at for one in found)) if found else None,
    )


@call("POST", "/api/memory", rule=Rule.THEIRS)
async def put_entries(memory: MemoryBank, principal: Principal, body: PutRequest) -> PutResponse:
    """Set the value of a key, or of several at once: all or none. Others stay."""
    if body.agent_id in (None, ""):
        raise BadRequest("agentId required")
    if not isinstance(body.agent_id, str):
        raise BadRequest("agentId must be a string")
    agent = own(principal, body.agent_id)
    values = _values(body)
    shelf = await memory.shelf(principal.agents[agent], made=True)
    saved = iso(await memory.entries.put(shelf, principal, agent, values))
    if body.key in (None, ""):
        return PutResponse(agentId=body.agent_id, keysUpdated=len(values), saved=saved)
    return PutResponse(agentId=body.agent_id, key=body.key, keysUpdated=None, saved=saved)


@call("GET", "/api/agents", rule=Rule.THEIRS)
async def list_own_agents(memory: MemoryBank, principal: Principal) -> AgentsResponse:
    """Return the agents of who asks."""
    found = [
        AgentEntry(id=one.external_id, name=one.name, handle=one.handle, description=one.description)
        for one in await memory.entries.agents(principal)
    ]
    return AgentsResponse(agents=found, count=len(found))


def _values(body: PutRequest) -> Mapping[str, Any]:
    """Return what is to be saved; raises BadRequest."""
    single = body.key not in (None, "")
    if single and not isinstance(body.key, str):
        raise BadRequest("key must be a string")
    if "memory" not in body.model_fields_set or not (single or isinstance(body.memory, dict)):
        raise BadRequest("Memory data required (object or key+memory pair)")
    values: Mapping[str, Any] = {body.key: body.memory} if single else body.memory
    if len(values) > MAX_KEYS:
        raise BadRequest(f"Too many memory keys (max {MAX_KEYS})")
    for key, value in values.items():
        _check(key, value)
    return values


def _check(key: str, value: Any) -> None:
    if not 0 < len(key) <= MAX_KEY_CHARS:
        raise BadRequest(f"A memory key has 1 to {MAX_KEY_CHARS} characters")
    if "\0" in key or key.encode("utf-8", "replace").decode() != key:
        raise BadRequest("A memory key holds a character that cannot be stored")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode("utf-8", "surrogatepass")) > MAX_VALUE_BYTES:
        raise BadRequest(f"Memory value too large (max {MAX_VALUE_BYTES // 1000}KB)")
