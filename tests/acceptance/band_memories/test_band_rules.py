"""Band's memories by Band's own clients: `AgentTools`, `HumanTools` and the REST client, rule by rule."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from band_rest import AgentMemoryCreateRequest
from band_world import Tenant, World, listed, missing, raw_store, refused, seen, store, texts


async def test_b01_without_scope_and_subject_a_memory_is_the_agents_own(acme: Tenant) -> None:
    told = AgentMemoryCreateRequest(
        content="Ana is left-handed.", thought="useful", system="long_term", type="semantic", segment="user"
    )
    made = (await acme.agent().rest.agent_api_memories.create_agent_memory(memory=told)).data
    assert (made.scope, made.organization_id, made.status) == ("agent", None, "active")
    assert (made.content, made.thought, made.system, made.type, made.segment) == (
        "Ana is left-handed.",
        "useful",
        "long_term",
        "semantic",
        "user",
    )
    assert (made.subject_id, made.metadata) == (None, None)
    assert datetime.now(UTC) - made.inserted_at < timedelta(minutes=5)


async def test_b02_with_a_subject_it_is_about_them(acme: Tenant) -> None:
    made = (await raw_store(acme.agent(), subject_id=acme.id("person", "ben"))).json()["data"]
    assert (made["scope"], made["subject_id"]) == ("subject", acme.id("person", "ben"))
    assert made["organization_id"] == acme.organization
    alone = acme.world.tenant(organized=False)
    made = (await raw_store(alone.agent(), subject_id=acme.id("person", "ben"))).json()["data"]
    assert (made["scope"], made["organization_id"]) == ("subject", None)


async def test_b03_the_source_is_the_agent_of_the_key(acme: Tenant) -> None:
    more = {"source_agent_id": acme.id("agent", "bot"), "organization_id": missing(), "status": "archived"}
    made = (await raw_store(acme.agent(), **more)).json()["data"]
    assert (made["source_agent_id"], made["status"]) == (acme.id("agent", "aide"), "active")
    assert made["organization_id"] is None


async def test_b04_what_is_an_agents_own_no_other_agent_sees(acme: Tenant) -> None:
    made = await store(acme.agent("bot"), "Bot keeps marzipan.")
    for whose in (None, "me", "org"):
        for scope in (None, "agent", "all", "organization", "subject"):
            for more in ({}, {"subject_id": acme.id("person", "ana")}, {"content_query": "marzipan"}):
                query = {"memory_scope": whose, "scope": scope, "status": "all", **more}
                given = {name: value for name, value in query.items() if value is not None}
                assert "Bot keeps marzipan." not in await listed(acme.agent(), **given)
    assert await refused(acme.agent().get_memory(made.id)) == (404, "not_found")


async def test_b05_a_list_without_filters_holds_what_the_agent_has_stored(acme: Tenant) -> None:
    agent, subject = acme.agent(), acme.id("person", "ben")
    await store(agent, "own")
    await store(agent, "on Ben", "subject", subject_id=subject)
    await store(agent, "for all", "organization")
    gone = await store(agent, "gone")
    await agent.archive_memory(gone.id)
    await store(acme.agent("bot"), "of another", "organization")
    assert texts(await agent.list_memories()) == await listed(agent) == {"own", "on Ben", "for all"}


async def test_b06_scopes_narrow_the_agents_own(acme: Tenant) -> None:
    agent, subject = acme.agent(), acme.id("person", "ben")
    await store(agent, "agent")
    await store(agent, "subject", "subject", subject_id=subject)
    await store(agent, "organization", "organization")
    await store(acme.agent("bot"), "of another", "organization")
    for scope in ("agent", "subject", "organization"):
        assert texts(await agent.list_memories(scope=scope)) == {scope}
        assert await listed(agent, scope=scope, memory_scope="me") == {scope}
    everything = {"agent", "subject", "organization"}
    assert texts(await agent.list_memories(scope="all")) == everything
    assert await listed(agent, scope="all", memory_scope="me") == everything


async def test_b07_of_the_organization_are_its_own_memories_alone(acme: Tenant) -> None:
    await store(acme.agent(), "mine", "organization")
    await store(acme.agent("bot"), "theirs", "organization")
    await store(acme.agent("bot"), "on Ana", "subject", subject_id=acme.id("person", "ana"))
    await store(acme.agent("bot"), "private")
    for more in ({}, {"scope": "organization"}, {"scope": "all"}):
        assert await listed(acme.agent(), memory_scope="org", **more) == {"mine", "theirs"}
    assert await listed(acme.agent(), memory_scope="org", subject_id=acme.id("person", "ana")) == set()


async def test_b08_a_subject_is_reached_by_its_id(acme: Tenant) -> None:
    ana, ben = acme.id("person", "ana"), acme.id("person", "ben")
    await store(acme.agent("bot"), "theirs on Ana", "subject", subject_id=ana)
    await store(acme.agent(), "mine on Ana", "subject", subject_id=ana)
    await store(acme.agent(), "mine on Ben", "subject", subject_id=ben)
    found = await listed(acme.agent(), memory_scope="org", scope="subject", subject_id=ana)
    assert found == {"theirs on Ana", "mine on Ana"}
    assert await listed(acme.agent(), memory_scope="org", scope="subject") == {"mine on Ana", "mine on Ben"}
    assert await listed(acme.agent(), memory_scope="org", scope="agent") == set()


async def test_b09_organizations_share_nothing_and_nobody_is_none(acme: Tenant) -> None:
    """Neither do two agents that have none."""
    subject = acme.id("person", "ana")
    made = [
        await store(acme.agent(), "Acme's plan.", "organization"),
        await store(acme.agent(), "On Ana.", "subject", subject_id=subject),
    ]
    alone = acme.world.tenant(organized=False)
    hers = await store(alone.agent(), "Aide's on Ana.", "subject", subject_id=subject)
    for other in (acme.world.tenant().agent(), alone.agent("bot")):
        for one in [*made, hers]:
            assert await refused(other.get_memory(one.id)) == (404, "not_found")
            assert await refused(other.supersede_memory(one.id)) == (404, "not_found")
        assert await listed(other, scope="subject", subject_id=subject, status="all") == set()
        assert await listed(other) == set()
    assert await listed(acme.world.tenant().agent(), memory_scope="org") == set()
    assert await listed(alone.agent(), scope="subject", subject_id=subject) == {"Aide's on Ana."}


async def test_b10_lists_hold_what_is_active_unless_asked(acme: Tenant) -> None:
    agent = acme.agent()
    for status in ("active", "superseded", "archived"):
        made = await store(agent, status)
        if status != "active":
            await getattr(agent, status.removesuffix("d") + "_memory")(made.id)
    assert texts(await agent.list_memories()) == {"active"}
    for status in ("active", "superseded", "archived"):
        assert texts(await agent.list_memories(status=status)) == {status}
    assert texts(await agent.list_memories(status="all")) == {"active", "superseded", "archived"}


async def test_b11_words_are_searched_in_the_content(acme: Tenant) -> None:
    agent = acme.agent()
    made = await store(agent, "Ana prefers an SUV.", thought="about sedans")
    await store(agent, "Ben prefers a sedan.", segment="guideline", type="procedural")
    assert texts(await agent.list_memories(content_query="prefer suv")) == {"Ana prefers an SUV."}
    assert texts(await agent.list_memories(content_query="sedan")) == {"Ben prefers a sedan."}
    await agent.archive_memory(made.id)
    assert await listed(agent, content_query="suv", status="archived") == {"Ana prefers an SUV."}
    assert texts(await agent.list_memories(segment="guideline")) == {"Ben prefers a sedan."}
    assert texts(await agent.list_memories(system="long_term", type="procedural")) == {"Ben prefers a sedan."}
    assert texts(await agent.list_memories(system="working")) == set()


async def test_b12_a_status_changes_and_the_memory_stays(acme: Tenant) -> None:
    agent, ana = acme.agent(), acme.person()
    for change, status in ((agent.supersede_memory, "superseded"), (agent.archive_memory, "archived")):
        made = await store(agent, f"to be {status}", metadata={"tags": ["a"], "references": [missing()]})
        before = (await ana.get_user_memory(made.id)).data
        changed = await change(made.id)
        assert changed == made.model_copy(update={"status": status})
        after = (await ana.get_user_memory(made.id)).data
        assert after.updated_at > before.updated_at == before.inserted_at == after.inserted_at
        assert await agent.get_memory(made.id) == changed


async def test_b13_only_the_author_changes_a_memory(acme: Tenant) -> None:
    agent = acme.agent()
    made = [
        await store(agent, "for all", "organization"),
        await store(agent, "on Ana", "subject", subject_id=acme.id("person", "ana")),
    ]
    for one in made:
        assert (await acme.agent("bot").get_memory(one.id)).content == one.content
        for change in (acme.agent("bot").supersede_memory, acme.agent("bot").archive_memory):
            assert await refused(change(one.id)) == (403, "forbidden")
        assert (await agent.get_memory(one.id)).status == "active"


async def test_b14_what_is_superseded_stays_so_and_people_restore_what_is_archived(acme: Tenant) -> None:
    agent, ana = acme.agent(), acme.person()
    old, kept, put_away = [await store(agent, text) for text in ("old", "kept", "put away")]
    await agent.supersede_memory(old.id)
    for one in (old, kept):
        assert await refused(ana.restore_user_memory(one.id)) == (422, "invalid_status_transition")
    await agent.archive_memory(put_away.id)
    restored = (await ana.restore_user_memory(put_away.id)).data
    assert (restored.status, restored.inserted_at) == ("active", put_away.inserted_at)
    assert texts(await agent.list_memories(content_query="put away")) == {"put away"}


async def _of_all_kinds(acme: Tenant) -> dict[str, Any]:
    """What aide and bot store that Ana may or may not see, by its text."""
    aide, bot, ana = acme.agent(), acme.agent("bot"), acme.id("person", "ana")
    ben = acme.id("person", "ben")
    far = acme.world.tenant()
    made = [
        await store(bot, "about Ana", "subject", subject_id=ana),
        await store(bot, "about Ben", "subject", subject_id=ben),
        await store(bot, "for all", "organization"),
        await store(bot, "bot's own"),
        await store(aide, "aide's own"),
        await store(far.agent(), "far", "organization"),
    ]
    for text, fields in (
        ("about Ben in ops", {"scope": "subject", "subject_id": ben}),
        ("for all in ops", {"scope": "organization"}),
        ("bot's own in ops", {}),
    ):
        stored = await raw_store(bot, content=text, chat_room_id=f"ops{acme.mark}", **fields)
        made.append(type(made[0]).model_validate(stored.json()["data"]))
    return {one.content: one for one in made}


async def test_b15_what_a_person_sees(acme: Tenant) -> None:
    made = await _of_all_kinds(acme)
    common = {"for all", "for all in ops"}
    hers = common | {"about Ana", "aide's own", "about Ben in ops"}
    his = common | {"about Ben", "about Ben in ops", "bot's own", "bot's own in ops"}
    for person, visible in ((acme.person(), hers), (acme.person("ben"), his)):
        assert await seen(person) == texts(await person.list_user_memories(page_size=50)) == visible
        for text, one in made.items():
            if text in visible:
                assert (await person.get_user_memory(one.id)).data.content == text
            else:
                assert await refused(person.get_user_memory(one.id)) == (404, "not_found")


async def test_b16_what_a_person_changes(acme: Tenant) -> None:
    made, ana = await _of_all_kinds(acme), acme.person()
    changes = (
        ana.supersede_user_memory,
        ana.archive_user_memory,
        ana.restore_user_memory,
        ana.delete_user_memory,
    )
    for text, one in made.items():
        if text not in ("about Ana", "aide's own"):
            expected = (404, "not_found") if text == "far" else (403, "forbidden")
            for change in changes:
                assert await refused(change(one.id)) == expected, text
    for text in ("about Ana", "aide's own"):
        id_ = made[text].id
        assert (await ana.archive_user_memory(id_)).data.status == "archived"
        assert (await ana.restore_user_memory(id_)).data.status == "active"
        assert (await ana.supersede_user_memory(id_)).data.status == "superseded"
        assert await ana.delete_user_memory(id_) == {"deleted": True, "id": id_}


async def test_b17_people_narrow_their_lists(acme: Tenant) -> None:
    await _of_all_kinds(acme)
    ana, ops = acme.person(), f"ops{acme.mark}"
    acme.world.declare(places=[{"id": f"thread{acme.mark}", "parent": ops}])
    cases = (
        ({"scope": "about_me"}, {"about Ana"}),
        ({"scope": "organization"}, {"for all", "for all in ops"}),
        ({"scope": "room"}, {"about Ben in ops", "for all in ops"}),
        ({"chat_room_id": ops}, {"about Ben in ops", "for all in ops"}),
        ({"chat_room_id": f"thread{acme.mark}"}, {"about Ben in ops", "for all in ops"}),
        ({"chat_room_id": "nowhere"}, set()),
        ({"chat_room_id": acme.id("place", "ops"), "scope": "room"}, {"about Ben in ops", "for all in ops"}),
        ({"chat_room_id": acme.id("place", "hall"), "scope": "room"}, set()),
        ({"source_agent_id": acme.id("agent", "aide")}, {"aide's own"}),
        ({"scope": "about_me", "source_agent_id": acme.id("agent", "aide")}, set()),
        ({"content_query": "ben ops"}, {"about Ben in ops"}),
        ({"status": "archived"}, set()),
    )
    for query, expected in cases:
        assert await seen(ana, **query) == expected, query
    assert len(await seen(ana, scope="all")) == 5
    found = await ana.list_user_memories(chat_room_id=ops, scope="room", memory_type="semantic")
    assert texts(found) == {"about Ben in ops", "for all in ops"}


async def test_b18_what_a_person_deletes_is_gone(acme: Tenant) -> None:
    made = await store(acme.agent(), "to be forgotten")
    await acme.person().delete_user_memory(made.id)
    gone = (404, "not_found")
    assert await refused(acme.person().get_user_memory(made.id)) == gone
    assert await refused(acme.agent().get_memory(made.id)) == gone
    assert await refused(acme.person().restore_user_memory(made.id)) == gone
    assert await refused(acme.person().delete_user_memory(made.id)) == gone
    assert await listed(acme.agent(), status="all") == set()


async def test_b19_without_the_plan_every_route_is_closed(world: World) -> None:
    poor = world.tenant(access=False)
    agent, ana, id_ = poor.agent(), poor.person(), missing()
    attempts = [
        agent.list_memories(),
        store(agent, "x"),
        agent.get_memory(id_),
        agent.supersede_memory(id_),
        agent.archive_memory(id_),
        ana.list_user_memories(),
        ana.get_user_memory(id_),
        ana.supersede_user_memory(id_),
        ana.archive_user_memory(id_),
        ana.restore_user_memory(id_),
        ana.delete_user_memory(id_),
    ]
    for attempt in attempts:
        assert await refused(attempt) == (403, "plan_required")
    answer = await raw_store(agent, system="broken")
    assert answer.status_code == 403, "said before the body is looked at"
    assert answer.json()["error"]["message"] == (
        "Memory API access requires an Enterprise plan. Please upgrade your subscription to use this endpoint."
    )
    assert (await agent.rest.agent_api_identity.get_agent_me()).data.name == "Aide"


async def test_b20_ids_that_are_none_are_unknown(acme: Tenant) -> None:
    for id_ in ("x", "A_b-9", missing()):
        assert await refused(acme.agent().get_memory(id_)) == (404, "not_found")
        assert await refused(acme.agent().archive_memory(id_)) == (404, "not_found")
        assert await refused(acme.person().delete_user_memory(id_)) == (404, "not_found")
    assert (
        await acme.agent().execute_tool_call_structured("band_get_memory", {"memory_id": "a/b"})
    ).ok is False


async def test_d1_asking_for_a_subject_reaches_what_others_say(acme: Tenant) -> None:
    ana = acme.id("person", "ana")
    await store(acme.agent("bot"), "theirs", "subject", subject_id=ana)
    await store(acme.agent(), "mine", "subject", subject_id=ana)
    both = {"mine", "theirs"}
    assert texts(await acme.agent().list_memories(scope="subject", subject_id=ana)) == both
    assert await listed(acme.agent(), scope="subject", subject_id=ana, memory_scope="org") == both
    assert await listed(acme.agent(), scope="subject", subject_id=ana, memory_scope="me") == {"mine"}
    assert texts(await acme.agent().list_memories(subject_id=ana)) == {"mine"}


@pytest.mark.parametrize("type_", ["semantic", "procedural", "iconic"])
async def test_d2_working_memories_are_episodes(acme: Tenant, type_: str) -> None:
    answer = await raw_store(acme.agent(), system="working", type=type_)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_error")
    assert list(answer.json()["error"]["details"]) == ["/memory/type"]
    assert (await store(acme.agent(), "an episode", system="working", type="episodic")).type == "episodic"


async def test_d3_superseding_links_nothing(acme: Tenant) -> None:
    made = await store(acme.agent(), "old", metadata={"tags": ["a"]})
    changed = await acme.agent().supersede_memory(made.id)
    assert (changed.id, changed.metadata) == (made.id, {"tags": ["a"]})
    assert await listed(acme.agent(), status="all") == {"old"}


async def test_d4_a_deleted_agent_leaves_what_it_shared(acme: Tenant) -> None:
    agent, ben = acme.agent(), acme.id("person", "ben")
    own = await store(agent, "its own")
    shared = await store(agent, "for all", "organization")
    about = await store(agent, "on Ben", "subject", subject_id=ben)
    acme.world.declare(remove=[{"kind": "agent", "id": f"aide{acme.mark}"}])
    for one in (shared, about):
        assert (await acme.person("ben").get_user_memory(one.id)).data.source_agent_id is None
        assert (await acme.agent("bot").get_memory(one.id)).source_agent_id is None
        assert await refused(acme.agent("bot").archive_memory(one.id)) == (403, "forbidden")
    assert await refused(acme.person().get_user_memory(own.id)) == (404, "not_found")


async def test_d5_a_room_never_shows_what_is_an_agents_own(acme: Tenant) -> None:
    """Who leaves it sees no more of it at once; neither does somebody of elsewhere see more than was said there."""
    stored = await raw_store(acme.agent("bot"), content="own", chat_room_id=f"ops{acme.mark}")
    assert stored.status_code == 201
    shared = await raw_store(
        acme.agent("bot"),
        content="on Ben",
        chat_room_id=f"ops{acme.mark}",
        subject_id=acme.id("person", "ben"),
    )
    guest = acme.world.tenant()
    acme.ops(f"ana{acme.mark}", f"ana{guest.mark}")
    assert await seen(acme.person()) == await seen(guest.person()) == {"on Ben"}
    id_ = shared.json()["data"]["id"]
    assert await refused(guest.person().archive_user_memory(id_)) == (403, "forbidden")
    acme.ops()
    assert await seen(acme.person()) == await seen(guest.person()) == set()
    assert await refused(guest.person().archive_user_memory(id_)) == (404, "not_found")


async def test_d6_repeating_a_status_changes_nothing(acme: Tenant) -> None:
    agent, ana = acme.agent(), acme.person()
    made = await store(agent, "twice")
    for change in (agent.archive_memory, agent.supersede_memory):
        first = await change(made.id)
        before = (await ana.get_user_memory(made.id)).data
        assert await change(made.id) == first
        assert (await ana.get_user_memory(made.id)).data == before
    assert await refused(agent.archive_memory(made.id)) == (422, "invalid_status_transition")


async def test_d7_what_an_agent_of_the_same_house_keeps_is_forbidden_to_change(acme: Tenant) -> None:
    made = await store(acme.agent("bot"), "private")
    assert await refused(acme.agent().get_memory(made.id)) == (404, "not_found")
    assert await refused(acme.agent().supersede_memory(made.id)) == (403, "forbidden")
    assert await refused(acme.agent().archive_memory(made.id)) == (403, "forbidden")
    far = acme.world.tenant().agent()
    assert await refused(far.supersede_memory(made.id)) == (404, "not_found")
