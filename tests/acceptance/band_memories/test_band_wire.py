"""Band's memories on the wire, mostly by Band's own clients: pages, errors, names, and that nothing unseen is told."""

import asyncio
from typing import Any

import pytest
from band.core.exceptions import BandToolError
from band_world import Tenant, World, key_of, listed, missing, raw_store, refused, seen, store


async def test_both_families_of_pages(acme: Tenant) -> None:
    agent = acme.agent()
    for number in range(5):
        await store(agent, f"note {number}")
    await store(acme.agent("bot"), "unseen", "organization")
    api = agent.rest.agent_api_memories
    seen_, cursor = [], None
    while True:
        page = await api.list_agent_memories(limit=2, **({"cursor": cursor} if cursor else {}))
        assert page.meta.model_dump() == page.metadata.model_dump()
        seen_ += [one.content for one in page.data]
        assert (page.meta.limit, page.meta.has_more) == (2, page.meta.next_cursor is not None)
        cursor = page.meta.next_cursor
        if cursor is None:
            break
    assert seen_ == [f"note {number}" for number in (4, 3, 2, 1, 0)]
    default = await api.list_agent_memories()
    assert (default.meta.limit, default.meta.has_more, default.meta.page) == (20, False, None)
    for number, held in ((1, 2), (3, 1), (9, 0)):
        page = await api.list_agent_memories(page=number, page_size=2)
        meta = page.metadata
        assert (meta.page, meta.page_size, meta.total_count, meta.total_pages) == (number, 2, 5, 3)
        assert (len(page.data), meta.limit) == (held, None)
    assert (await agent.list_memories()).meta.page_size == 50
    assert (await api.list_agent_memories(page_size=100)).meta.page_size == 50
    assert (await api.list_agent_memories(page=1, content_query="nothing")).meta.total_count == 0
    for query, code in (
        ({"limit": 2, "page": 1}, "mixed_pagination"),
        ({"cursor": "x", "page_size": 5}, "mixed_pagination"),
        ({"limit": 0}, "validation_error"),
        ({"limit": 101}, "validation_error"),
        ({"page": 0}, "validation_error"),
        ({"page": 10**30}, "validation_error"),
        ({"cursor": "not one"}, "validation_error"),
        ({"status": "gone"}, "validation_error"),
        ({"scope": "everybody"}, "validation_error"),
        ({"subject_id": "Ana"}, "validation_error"),
    ):
        assert await refused(api.list_agent_memories(**query)) == (422, code), query


@pytest.mark.parametrize(
    ("fields", "code", "pointer"),
    [
        ({"content": " \n"}, "validation_error", "/memory/content"),
        ({"content": None}, "validation_error", "/memory/content"),
        ({"content": "x" * 8_001}, "validation_error", "/memory/content"),
        ({"thought": ""}, "validation_error", "/memory/thought"),
        ({"system": "Working"}, "validation_error", "/memory/system"),
        ({"type": "iconic"}, "validation_error", "/memory/type"),
        ({"segment": "person"}, "validation_error", "/memory/segment"),
        ({"scope": "all"}, "validation_error", "/memory/scope"),
        ({"subject_id": "Ana"}, "validation_error", "/memory/subject_id"),
        ({"metadata": ["x"]}, "validation_error", "/memory/metadata"),
        ({"metadata": {"x": "y" * 33_000}}, "validation_error", "/memory/metadata"),
        ({"scope": "subject"}, "subject_scope_requires_subject_id", "/memory/subject_id"),
        (
            {"scope": "agent", "subject_id": missing()},
            "subject_id_requires_subject_scope",
            "/memory/subject_id",
        ),
        (
            {"scope": "organization", "subject_id": missing()},
            "subject_id_requires_subject_scope",
            "/memory/subject_id",
        ),
    ],
)
async def test_what_is_refused_names_the_field(
    acme: Tenant, fields: dict[str, Any], code: str, pointer: str
) -> None:
    answer = await raw_store(acme.agent(), **fields)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, code)
    assert error["details"].keys() == {pointer}
    assert all(isinstance(said, str) for said in error["details"][pointer])
    assert await listed(acme.agent(), status="all") == set()


async def test_an_agent_without_organization_is_told_what_to_do(world: World) -> None:
    """In the words that the clients know: their tool says to try again for the agent alone."""
    alone = world.tenant(organized=False).agent()
    for name, arguments in (
        ("band_list_memories", {"scope": "organization"}),
        (
            "band_store_memory",
            {
                "content": "x",
                "system": "long_term",
                "type": "semantic",
                "segment": "user",
                "thought": "y",
                "scope": "organization",
            },
        ),
    ):
        with pytest.raises(BandToolError, match='scope="agent"'):
            await alone.execute_tool_call(name, arguments)
    needed = (422, "org_scope_requires_organization")
    assert await refused(alone.rest.agent_api_memories.list_agent_memories(memory_scope="org")) == needed
    answer = await raw_store(alone, scope="organization")
    assert "organization_id" in answer.json()["error"]["details"]


async def test_the_five_tools_as_a_model_calls_them(acme: Tenant) -> None:
    agent = acme.agent()
    told = {"content": "Ana likes tea.", "system": "long_term", "type": "semantic", "segment": "user"}
    made = await agent.execute_tool_call(
        "band_store_memory",
        told | {"thought": "a taste", "scope": "subject", "subject_id": acme.id("person", "ana")},
    )
    assert (made["content"], made["status"]) == ("Ana likes tea.", "active")
    found = await agent.execute_tool_call("band_list_memories", {"scope": "subject"})
    assert [one["id"] for one in found["data"]] == [made["id"]] and found["meta"]["total_count"] == 1
    for tool, status in (("get", "active"), ("archive", "archived"), ("supersede", "superseded")):
        outcome = await agent.execute_tool_call_structured(f"band_{tool}_memory", {"memory_id": made["id"]})
        assert outcome.ok, outcome
        assert (await agent.get_memory(made["id"])).status == status


async def test_who_a_key_is_decides_which_half_it_calls(acme: Tenant) -> None:
    agent, ana = acme.agent(), acme.person()
    me = (await agent.rest.agent_api_identity.get_agent_me()).data
    assert (me.id, me.name, me.description) == (acme.id("agent", "aide"), "Aide", "Aide")
    assert me.owner_uuid == acme.id("person", "ana")
    assert me.feature_flags == {"ff_file_transfer": False, "ff_room_tasks": False}
    profile = (await ana.rest.human_api_profile.get_my_profile()).data
    assert (profile.id, profile.email, profile.role) == (acme.id("person", "ana"), "Ana@x.org", "user")
    chats = await agent.rest.agent_api_chats.list_agent_chats(page=1, page_size=100)
    assert (chats.data, chats.metadata.total_count) == ([], 0)
    theirs = acme.world.client(acme.key("ana"))
    assert await refused(theirs.agent_api_memories.list_agent_memories()) == (403, "forbidden")
    nobody = acme.world.client(key_of("nobody"))
    assert await refused(nobody.agent_api_memories.list_agent_memories()) == (401, "unauthorized")
    operators = (
        await acme.world.client("x").human_api_memories.with_raw_response.list_user_memories() if 0 else None
    )
    assert operators is None


async def test_names_are_shown_to_who_knows_them(acme: Tenant) -> None:
    ben, ops = acme.id("person", "ben"), acme.id("place", "ops")
    guest = acme.world.tenant()
    acme.ops(f"ana{acme.mark}", f"ana{guest.mark}")
    await raw_store(acme.agent("bot"), subject_id=ben, chat_room_id=ops)

    async def shown(tenant: Tenant, who: str) -> tuple[Any, ...]:
        [one] = (await tenant.person(who).list_user_memories()).data
        assert (one.subject_id, one.source_agent_id, one.chat_room_id) == (ben, acme.id("agent", "bot"), ops)
        return (
            one.subject_name,
            one.subject_type,
            one.source_agent_name,
            one.chat_room_title,
            one.chat_room_status,
            one.chat_room_type,
        )

    assert await shown(acme, "ana") == ("Ben", "user", "Bot", "Ops", "active", "group")
    assert await shown(acme, "ben") == ("Ben", "user", "Bot", None, None, None)
    assert await shown(guest, "ana") == (None, None, None, "Ops", "active", "group")


async def test_a_room_is_one_where_the_agent_is(acme: Tenant) -> None:
    for room in ("nowhere", f"ops{acme.world.tenant().mark}"):
        answer = await raw_store(acme.agent(), chat_room_id=room)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


async def test_two_who_supersede_at_once_and_many_who_do_other_things(acme: Tenant) -> None:
    agent, ana = acme.agent(), acme.person()
    made = await store(agent, "contested")
    changed = await asyncio.gather(*(agent.supersede_memory(made.id) for _ in range(4)))
    assert {one.status for one in changed} == {"superseded"}
    other = await store(agent, "contested too")
    attempts = [agent.archive_memory(other.id), ana.supersede_user_memory(other.id)] * 2
    ends = await asyncio.gather(*attempts, return_exceptions=True)
    assert {getattr(end, "status_code", 200) for end in ends} <= {200, 422}
    assert (await agent.get_memory(other.id)).status == "superseded", "what is superseded never comes back"
    ends = await asyncio.gather(
        agent.supersede_memory(other.id),
        *(ana.delete_user_memory(other.id) for _ in range(3)),
        return_exceptions=True,
    )
    assert sorted(getattr(end, "status_code", 200) for end in ends[1:]) == [200, 404, 404]
    assert getattr(ends[0], "status_code", 200) in (200, 404)
    assert await refused(agent.get_memory(other.id)) == (404, "not_found")


async def test_only_what_came_through_band_is_shown(acme: Tenant) -> None:
    """Facts of the workspace, extracted ones and what the bank has taken out of recall are not there."""
    agent, ana = acme.agent(), acme.person()
    bank = f"/v1/default/banks/aide{acme.mark}"
    item = {"items": [{"content": "Zoe keeps bees."}], "audience": "agent"}
    assert acme.ask("aide", "POST", f"{bank}/memories", item).status_code == 200
    fact = {"text": "The hall is cold.", "source": {"kind": "message", "place": f"hall{acme.mark}"}}
    id_ = acme.ask("aide", "POST", f"{bank}/facts", fact).json()["id"]
    made = await store(agent, "Bees need sun.")
    assert await listed(agent, status="all") == await seen(ana, status="all") == {"Bees need sun."}
    recalled = acme.ask("aide", "POST", f"{bank}/memories/recall", {"query": "bees"}).json()["results"]
    assert {hit["text"] for hit in recalled} == {
        "Zoe keeps bees.",
        "Bees need sun.",
        fact["text"],
    }, "one store for all"
    invalid = acme.ask("aide", "PATCH", f"{bank}/memories/{made.id}", {"state": "invalidated"})
    assert invalid.status_code == 200
    assert await listed(agent, status="all") == set()
    for hidden in (id_, made.id):
        assert await refused(agent.get_memory(hidden)) == (404, "not_found")
        assert await refused(agent.archive_memory(hidden)) == (404, "not_found")
        assert await refused(ana.get_user_memory(hidden)) == (404, "not_found")
        assert await refused(ana.restore_user_memory(hidden)) == (404, "not_found")


async def test_secrets_are_not_kept(acme: Tenant) -> None:
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    made = await store(
        acme.agent(),
        f"The key is {secret}.",
        thought=f"about {secret}",
        metadata={"tags": [secret], "n": 1, "deep": {"x\u0000": [None, f"{secret} x", 1.5, True]}},
    )
    assert secret not in made.model_dump_json() and "REDACTED" in made.content
    assert made.metadata["n"] == 1 and made.metadata["deep"]["x"][2:] == [1.5, True]


async def test_unseen_and_unknown_are_the_same_answer(acme: Tenant) -> None:
    """But for the id that was asked for and that of the request, byte for byte; nobody learns by errors or counts."""
    made = await store(acme.agent(), "a secret of aide's")
    stranger = acme.world.tenant()
    for who, path in (
        ("bot", "GET agent/memories/{}"),
        ("bot", "POST agent/memories/{}/supersede"),
        ("bot", "POST agent/memories/{}/archive"),
        ("ben", "GET me/memories/{}"),
        ("ben", "DELETE me/memories/{}"),
        ("ben", "POST me/memories/{}/restore"),
    ):
        answers = []
        for id_ in (made.id, missing()):
            answer = stranger.ask(who, *path.format(id_).replace(" ", " /api/v1/").split(" "))
            said = answer.json()["error"] | {"request_id": None}
            headers = {name: value for name, value in answer.headers.items() if name != "date"}
            answers.append((answer.status_code, str(said).replace(id_, "…"), headers))
        assert answers[0] == answers[1]
        assert answers[0][0] == 404


@pytest.mark.parametrize("path", ["/api/v1/agent/nothing", "/api/v1/me/memories/x/y/z"])
def test_what_is_no_route_is_told_in_the_envelope(band: World, path: str) -> None:
    for method, status in (("GET", 404), ("POST", 404)):
        answer = band.operator.request(method, path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, "not_found")
    answer = band.operator.put("/api/v1/agent/memories")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert band.operator.get("/v1/nothing").json() == {"detail": "Not Found"}
