"""What Band and the key-value interface tell: all of one's own, nothing else; they read across banks."""

from collections.abc import Callable
from typing import Any

from isolation_calls import NOTHING, NOWHERE
from isolation_look import Leak, Look, same
from isolation_world import BAND, ENTRIES, Stated

ME = "/api/v1/me/memories"
#: What changes a statement, by who may ask.
CHANGES = {
    "agent": [("POST", f"{BAND}/{{}}/{verb}") for verb in ("supersede", "archive")],
    "person": [
        ("DELETE", f"{ME}/{{}}"),
        *(("POST", f"{ME}/{{}}/{verb}") for verb in ("supersede", "archive", "restore")),
    ],
}


async def band(look: Look) -> None:
    """A list holds what is theirs; what is not is answered as what is not there."""
    if look.asker.kind == "agent":
        await look.get("/api/v1/agent/me")
        await look.get("/api/v1/agent/chats")
        await _lists_of_an_agent(look)
    elif look.asker.kind == "person":
        await look.get("/api/v1/me/profile")
        await _lists_of_a_person(look)
    else:
        for path in (BAND, ME):
            assert (await look.ask("GET", path)).status_code == 401
        return
    await _one_by_one(look)


async def _lists_of_an_agent(look: Look) -> None:
    me, own = look.asker.number, look.world.plan.agents[look.asker.number].organization
    await _listed(look, BAND, {}, lambda one: one.by == me)
    if own is not None:
        of_all = {"memory_scope": "org", "scope": "organization"}
        await _listed(
            look,
            BAND,
            of_all,
            lambda one: one.circle.kind == "organization" and one.circle.organization == own,
        )
    for person in range(len(look.world.plan.people)):
        asked = {"scope": "subject", "subject_id": str(look.world.uuid("person", person))}
        await _listed(
            look,
            BAND,
            asked,
            lambda one, person=person: one.circle.subject == ("person", person) and _sees(look, one),
        )


async def _lists_of_a_person(look: Look) -> None:
    await _listed(look, ME, {}, lambda one: _sees(look, one))
    await _listed(
        look, ME, {"scope": "about_me"}, lambda one: one.circle.subject == ("person", look.asker.number)
    )
    for place in range(len(look.world.plan.places)):
        asked = {"chat_room_id": look.world.place(place)}
        answer = await look.get(ME, **asked)
        told = {item["id"] for item in answer["data"]}
        if told and not look.world.oracle.member(look.asker.number, place):
            of = {look.world.band[id_].circle for id_ in told}
            if not all(look.world.oracle.sees_through_band(look.asker, circle, None) for circle in of):
                raise Leak(f"{look.asker} is not in place {place}, and was told {answer}")


async def _listed(look: Look, path: str, asked: dict[str, Any], expected: Callable[[Stated], bool]) -> None:
    """Expect exactly some statements, and that many, by both kinds of pages."""
    theirs = {name for name, one in look.world.band.items() if "-" in name and expected(one)}
    answer = await look.get(path, **asked, page=1, page_size=50)
    same({item["id"] for item in answer["data"]}, theirs, f"{path} {asked}", look.asker)
    if answer["meta"]["total_count"] != len(theirs):
        raise Leak(f"{look.asker}: {answer['meta']} of {len(theirs)} statements")
    first = await look.get(path, **asked, limit=1)
    if first["meta"]["has_more"] is not (len(theirs) > 1):
        raise Leak(f"{look.asker}: {first['meta']} of {len(theirs)} statements")


async def _one_by_one(look: Look) -> None:
    path = BAND if look.asker.kind == "agent" else ME
    nothing = await look.ask("GET", f"{path}/{NOTHING}")
    for name, one in look.world.band.items():
        if "-" not in name:
            continue
        answer = await look.ask("GET", f"{path}/{name}")
        if _sees(look, one):
            assert answer.status_code == 200, answer.text
            continue
        if _worded(answer, name) != _worded(nothing, NOTHING):
            raise Leak(f"{look.asker}: {answer.text} of {name}, {nothing.text} of nothing")
        if _colleagues(look, one):
            # The contract says of what their organization keeps that it is not theirs to change (B13, B16).
            continue
        for method, form in CHANGES[look.asker.kind]:
            there = await look.ask(method, form.format(name))
            absent = await look.ask(method, form.format(NOTHING))
            if _worded(there, name) != _worded(absent, NOTHING):
                raise Leak(f"{look.asker}: {there.text} of {name}, {absent.text} of nothing")


def _worded(answer: Any, sent: str) -> tuple[int, Any]:
    """Return what an error says, but for the number of its request."""
    said = answer.json()["error"]
    return answer.status_code, {**said, "message": said["message"].replace(sent, "…"), "request_id": ""}


def _sees(look: Look, one: Stated) -> bool:
    return look.world.oracle.sees_through_band(look.asker, one.circle, one.room)


def _colleagues(look: Look, one: Stated) -> bool:
    plan, me = look.world.plan, look.asker
    own = (plan.people if me.kind == "person" else plan.agents)[me.number].organization
    return own is not None and plan.agents[one.by].organization == own


async def entries(look: Look) -> None:
    """Keys are those of one's own agents; those of others are as those of no agent."""
    if look.asker.kind == "operator":
        return
    mine = {
        number
        for number, agent in enumerate(look.world.plan.agents)
        if (number == look.asker.number if look.asker.kind == "agent" else agent.owner == look.asker.number)
    }
    told = await look.get(ENTRIES, agentId="all")
    keys = {key for agent in mine for key in look.world.entries[agent]}
    same(set(told["memory"]), keys, "keys", look.asker)
    if told["count"] != len(keys):
        raise Leak(f"{look.asker}: {told['count']} keys, {len(keys)} are theirs")
    agents = {item["id"] for item in (await look.get("/api/agents"))["agents"]}
    same(agents, {look.world.id("agent", number) for number in mine}, "agents", look.asker)
    absent = await look.ask("GET", ENTRIES, params={"agentId": NOWHERE})
    for number in set(range(len(look.world.plan.agents))) - mine:
        name = look.world.id("agent", number)
        there = await look.ask("GET", ENTRIES, params={"agentId": name})
        if (
            there.text.replace(name, "…") != absent.text.replace(NOWHERE, "…")
            or there.status_code != absent.status_code
        ):
            raise Leak(f"{look.asker}: {there.text} of the agent {number}, {absent.text} of none")
        body = {"agentId": name, "key": "k", "memory": 1}
        there, none = [await look.ask("POST", ENTRIES, {**body, "agentId": one}) for one in (name, NOWHERE)]
        if there.text.replace(name, "…") != none.text.replace(NOWHERE, "…"):
            raise Leak(f"{look.asker}: {there.text} of the agent {number}, {none.text} of none")
