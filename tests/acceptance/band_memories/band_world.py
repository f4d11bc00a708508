"""Two organizations and some without one on a running memorybank, asked by Band's own clients."""

from collections.abc import Awaitable
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from band.runtime.tools.agent import AgentTools
from band.runtime.tools.human import HumanTools
from band_rest import AsyncRestClient
from band_rest.core.api_error import ApiError

from memorybank.ids import stable_id


def key_of(name: str) -> str:
    return f"key-of-{name}-0123456789"


class Tenant:
    """An organization: Ana owns the agent `aide`, Ben `bot`; Ana is in room `ops`, both in the public `hall`.

    Without `organized` nobody is of an organization. Names are of this tenant alone.
    """

    def __init__(self, world: "World", organized: bool, access: bool) -> None:
        self.world, self.mark = world, uuid4().hex[:12]
        mark, organization = self.mark, f"o{self.mark}" if organized else None
        common = {} if organization is None else {"organization": organization}
        names = [(f"{name}{mark}", name.title()) for name in ("ana", "ben")]
        world.declare(
            organizations=[{"id": organization, "memory_access": access}] if organization else [],
            people=[
                {
                    "id": id_,
                    "name": name,
                    "handle": name,
                    "email": f"{name}@x.org",
                    "key": key_of(id_),
                    **common,
                }
                for id_, name in names
            ],
            agents=[
                {"id": f"{name}{mark}", "name": name.title(), "owner": owner, "key": key_of(f"{name}{mark}")}
                | common
                for name, (owner, _) in zip(("aide", "bot"), names, strict=True)
            ],
            places=[
                {"id": f"ops{mark}", "kind": "private", "title": "Ops", "members": [names[0][0]], **common},
                {"id": f"hall{mark}", "kind": "public", "members": [id_ for id_, _ in names], **common},
            ]
            if organization
            else [],
        )
        self.organization = None if organization is None else str(stable_id("organization", organization))

    def key(self, name: str) -> str:
        return key_of(f"{name}{self.mark}")

    def id(self, kind: str, name: str) -> str:
        return str(stable_id(kind, f"{name}{self.mark}"))

    def agent(self, name: str = "aide") -> AgentTools:
        return AgentTools("room", self.world.client(self.key(name)))

    def person(self, name: str = "ana") -> HumanTools:
        return HumanTools(self.world.client(self.key(name)))

    def ask(self, who: str, method: str, path: str, body: Any = None) -> httpx.Response:
        """Ask as somebody without Band's clients."""
        headers = {"x-api-key": self.key(who)}
        return httpx.request(
            method, self.world.url + path, json=body, headers=headers, timeout=60, trust_env=False
        )

    def ops(self, *members: str) -> None:
        """Say who is in the room ops from now on."""
        own = {"id": f"ops{self.mark}", "kind": "private", "title": "Ops", "organization": f"o{self.mark}"}
        self.world.declare(places=[own | {"members": list(members)}])


class World:
    """A running installation, and the clients of the tests, which are closed with it."""

    def __init__(self, url: str) -> None:
        self.url, self.closing = url, AsyncExitStack()
        made = httpx.post(
            f"{url}/v1/default/keys", json={"kind": "operator", "name": "tests"}, timeout=60, trust_env=False
        )
        self.operator = httpx.Client(
            base_url=url,
            timeout=60,
            trust_env=False,
            headers={"authorization": f"Bearer {made.json()['key']}"},
        )

    def declare(self, **directory: Any) -> None:
        answer = self.operator.put("/v1/default/directory", json=directory)
        assert answer.status_code == 200, answer.text

    def client(self, key: str) -> AsyncRestClient:
        own = httpx.AsyncClient(timeout=60, trust_env=False)
        self.closing.push_async_callback(own.aclose)
        return AsyncRestClient(api_key=key, base_url=self.url, httpx_client=own)

    def tenant(self, *, organized: bool = True, access: bool = True) -> Tenant:
        return Tenant(self, organized, access)


async def store(agent: AgentTools, content: str, scope: str = "agent", **more: Any) -> Any:
    told = {"system": "long_term", "type": "semantic", "segment": "user", "thought": "it may matter"} | more
    return await agent.store_memory(content, scope=scope, **told)


async def raw_store(agent: AgentTools, **fields: Any) -> Any:
    """Store as the REST client lets one, which checks nothing."""
    told = {"content": "x", "thought": "y", "system": "long_term", "type": "semantic", "segment": "user"}
    response = await agent.rest._client_wrapper.httpx_client.request(
        "api/v1/agent/memories", method="POST", json={"memory": told | fields}
    )
    return response


def texts(found: Any) -> set[str]:
    return {one.content for one in found.data}


async def listed(agent: AgentTools, **query: Any) -> set[str]:
    """What an agent lists through the REST client, all at once."""
    return texts(await agent.rest.agent_api_memories.list_agent_memories(limit=100, **query))


async def seen(person: HumanTools, **query: Any) -> set[str]:
    return texts(await person.rest.human_api_memories.list_user_memories(limit=100, **query))


async def refused(attempt: Awaitable[Any]) -> tuple[int, str]:
    """The status and the code of what must fail, in Band's envelope."""
    with pytest.raises(ApiError) as raised:
        await attempt
    body = raised.value.body
    said = body["error"] if isinstance(body, dict) else body.error.model_dump()
    assert isinstance(said["message"], str) and said["request_id"].startswith("req_")
    return raised.value.status_code, said["code"]


def missing() -> str:
    return str(UUID(int=uuid4().int))
