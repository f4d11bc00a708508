"""A world is made: its directory, what a bank says of itself, what is said in it, and what is learned from that."""

import random
from typing import Any

import httpx
from isolation_oracle import Asker, Circle, Oracle, askers
from isolation_plan import BANKS, Plan, Saying
from isolation_site import WORD, Site
from isolation_world import BAND, ENTRIES, Stated, World, next_number

#: A name that several circles know, each as its own text writes it.
STARS = ("", " under Qvasar", " under QVASAR")
#: The id of a document that several circles have, each its own one.
MINUTES = "doc-minutes"
#: Circles of a world that have mental models.
MODELLED = 2


async def made(site: Site, plan: Plan) -> World:
    """Make a world: its directory, what is said in it, and what is learned from that."""
    world = World(site, plan, next_number(), Oracle(plan))
    for bank in range(BANKS):
        world.banks.append("bank-" + world.secret(Circle("knows", bank)).lower())
    for kind, count in (
        ("organization", plan.organizations),
        ("person", len(plan.people)),
        ("agent", len(plan.agents)),
        ("place", len(plan.places)),
    ):
        for number in range(count):
            world.name(kind, number)
    for asker in askers(plan):
        world.keys[asker] = f"key-{asker.kind}-{world.number}-{asker.number}-0123456789"
    operator = Asker("operator")
    world.keys[operator] = site.operator
    applied = await world.ask(operator, "PUT", "/v1/default/directory", world.directory())
    assert applied.status_code == 200, applied.text
    wanted = {"kind": "operator", "banks": [world.banks[0]]}
    world.keys[Asker("operator", bank=0)] = (
        await world.ask(operator, "POST", "/v1/default/keys", wanted)
    ).json()["key"]
    for bank in range(BANKS):
        await _settle(world, operator, bank)
    for saying in plan.sayings:
        await _WAYS[saying.way](world, saying)
    await _learn(world)
    return world


async def _settle(world: World, operator: Asker, bank: int) -> None:
    """Say what a bank itself says: settings and directives, for those who use it."""
    uses = Circle("uses", bank)
    body = {"name": world.secret(Circle("knows", bank)), "reflect_mission": world.secret(uses)}
    assert (await world.ask(operator, "PUT", world.path(bank), body)).status_code == 200
    rule = {"name": world.secret(uses), "content": f"Say {world.secret(uses)}."}
    made = await world.ask(operator, "POST", world.path(bank, "/directives"), rule)
    # The errors of what a directive forbids name it to whoever met them.
    world.secrets[made.json()["id"]] = Circle("knows", bank)


def _text(world: World, circle: Circle, star: int) -> str:
    return f"{world.secret(circle)} met {world.secret(circle)}{STARS[star]}."


def _said(world: World, who: tuple[str, int], circle: Circle, answer: httpx.Response) -> bool:
    """Note whether something was kept; what was refused is nobody's."""
    kept = answer.status_code in (200, 201)
    assert kept or answer.status_code in (403, 404, 422), f"{answer.status_code} {answer.text}"
    if kept:
        world.oracle.said.add(circle)
        world.kept[who].add(circle)
        if "id" in answer.json():
            world.facts.add(answer.json()["id"])
    return kept


def _there(world: World, saying: Saying, bank: int) -> Circle:
    """Return the circle of those who are in the place of a saying."""
    assert saying.place is not None
    spot = world.plan.places[saying.place]
    if spot.kind == "dm":
        return Circle("dm", bank, agent=spot.agent, person=spot.members[0])
    return Circle("place", bank, place=saying.place)


async def _retain(world: World, saying: Saying) -> None:
    """An agent retains: for its bank, itself, or those in a place."""
    agent = world.plan.agents[saying.by]
    body: dict[str, Any] = {}
    if saying.place is not None:
        circle = _there(world, saying, agent.bank)
        body["place"] = world.place(saying.place, saying.thread)
    elif saying.circle == "agent":
        circle, body["audience"] = Circle("agent", agent.bank, agent=saying.by), "agent"
    else:
        circle = Circle("bank", agent.bank)
    item = {
        "content": _text(world, circle, saying.names_the_star) + "\n" + _text(world, circle, 0),
        "document_id": MINUTES if saying.names_the_star == 1 else f"doc-{world.secret(circle)}",
        "context": f"in {world.secret(circle)}",
        "tags": [f"tag-{world.secret(circle)}"],
        "metadata": {world.secret(circle): world.secret(circle)},
    }
    asker = Asker("agent", saying.by)
    answer = await world.ask(asker, "POST", world.path(agent.bank, "/memories"), {"items": [item], **body})
    if not _said(world, ("agent", saying.by), circle, answer):
        _unsay(world, item)


def _unsay(world: World, said: Any) -> None:
    """What was refused is known to nobody, not even the operator."""
    for word in WORD.findall(repr(said).encode()):
        world.secrets[word.decode().lower()] = Circle("nobody", 0)


async def _told(world: World, saying: Saying) -> None:
    """An agent keeps a fact that it heard in a place: for those there, or all, where all may hear it."""
    agent = world.plan.agents[saying.by]
    if saying.place is None:
        return
    circle = _there(world, saying, agent.bank)
    spot = world.plan.places[saying.place]
    if spot.kind == "public" and spot.organization is not None and spot.organization == agent.organization:
        circle = Circle("organization", agent.bank, organization=agent.organization)
    text = _text(world, circle, saying.names_the_star)
    source = {
        "kind": "message",
        "place": world.place(saying.place, saying.thread),
        "message_id": f"m-{world.secret(circle)}",
        "at": "2026-03-01T09:00:00Z",
    }
    asker = Asker("agent", saying.by)
    answer = await world.ask(
        asker, "POST", world.path(agent.bank, "/facts"), {"text": text, "source": source}
    )
    if not _said(world, ("agent", saying.by), circle, answer):
        _unsay(world, (text, source))


async def _fact(world: World, saying: Saying) -> None:
    """A person adds a fact: for themselves, a place, or, as an owner, the organization."""
    agent, bank = world.plan.agents[saying.by], world.plan.agents[saying.by].bank
    wish: dict[str, Any]
    if saying.place is not None and world.plan.places[saying.place].kind != "dm":
        circle = _there(world, saying, bank)
        wish = {"scope": "conversation", "place": world.place(saying.place, saying.thread)}
    elif saying.circle == "organization":
        circle, wish = Circle("organization", bank, organization=agent.organization), {"scope": "workspace"}
    else:
        circle, wish = Circle("dm", bank, agent=saying.by, person=saying.person), {"scope": "just_you"}
    body = {
        "text": _text(world, circle, saying.names_the_star),
        "for": wish,
        "agent": world.id("agent", saying.by),
    }
    answer = await world.ask(Asker("person", saying.person), "POST", world.path(bank, "/facts"), body)
    if not _said(world, ("person", saying.person), circle, answer):
        _unsay(world, body)


async def _stated(world: World, saying: Saying) -> None:
    """An agent states something through Band: for itself, of somebody, or for its organization."""
    agent = world.plan.agents[saying.by]
    scope = saying.circle if saying.circle in ("agent", "organization") else "subject"
    circle = Circle(scope, agent.bank, agent=saying.by)
    subject = {}
    if scope == "organization":
        circle = Circle(scope, agent.bank, organization=agent.organization)
    elif scope == "subject":
        alone = saying.by if agent.organization is None else None
        circle = Circle(scope, agent.bank, alone, agent.organization, ("person", saying.person))
        subject = {"subject_id": str(world.uuid("person", saying.person))}
    room = None if saying.place is None else world.place(saying.place, saying.thread)
    memory = {
        "content": _text(world, circle, saying.names_the_star),
        "thought": world.secret(circle),
        "system": "long_term",
        "type": "semantic",
        "segment": "agent",
        "scope": scope,
        "metadata": {world.secret(circle): world.secret(circle)},
        "chat_room_id": room,
        **subject,
    }
    answer = await world.ask(Asker("agent", saying.by), "POST", BAND, {"memory": memory})
    if not _said(world, ("agent", saying.by), circle, answer):
        _unsay(world, memory)
        return
    world.band[answer.json()["data"]["id"]] = Stated(circle, saying.by, saying.place)
    for word in WORD.findall(repr(memory).encode()):
        world.band[word.decode().lower()] = Stated(circle, saying.by, saying.place)


async def _entry(world: World, saying: Saying) -> None:
    """An agent keeps a value under a key of its own."""
    circle = Circle("agent", world.plan.agents[saying.by].bank, agent=saying.by)
    key = world.secret(circle)
    body = {
        "agentId": world.id("agent", saying.by),
        "key": key,
        "memory": {
            world.secret(circle): [
                f"{world.secret(circle)} met {world.secret(circle)}{STARS[saying.names_the_star]}."
            ]
        },
    }
    answer = await world.ask(Asker("agent", saying.by), "POST", ENTRIES, body)
    assert _said(world, ("agent", saying.by), circle, answer), answer.text
    world.entries[saying.by].add(key)


_WAYS = {"retain": _retain, "told": _told, "fact": _fact, "stated": _stated, "entry": _entry}


async def _learn(world: World) -> None:
    """Let be learned what is to be learned: observations of each circle, and models, pages and folders for some."""
    await _work(world)
    operator = Asker("operator")
    # The bank's own last: what waits in its circle is moved into the next.
    said = sorted(world.oracle.said, key=repr)
    some = random.Random(world.plan.seed).sample(said, min(len(said), MODELLED))
    for circle in sorted(some, key=lambda one: one.kind == "bank"):
        await _model(world, operator, circle)
    await _work(world)


async def _model(world: World, operator: Asker, circle: Circle) -> None:
    """Make a folder, a page and a mental model of a circle. The interface makes them for a bank's own alone."""
    query = f"Who met {world.secret(circle)}?"
    folder = {"name": world.secret(circle)}
    made = await world.ask(operator, "POST", world.path(circle.bank, "/knowledge-base/folders"), folder)
    page = {"name": world.secret(circle), "source_query": query, "parent_id": made.json()["id"]}
    await world.ask(operator, "POST", world.path(circle.bank, "/knowledge-base/pages"), page)
    model = {"id": f"m-{world.secret(circle).lower()}", "name": world.secret(circle), "source_query": query}
    answer = await world.ask(operator, "POST", world.path(circle.bank, "/mental-models"), model)
    assert answer.status_code == 200, answer.text
    names = [folder["name"], page["name"], model["name"]]
    await world.site.moved(world.banks[circle.bank], await world.audience(circle), names)


async def _work(world: World) -> None:
    """Do what waits to be done."""
    for _ in range(8):
        waiting = await world.site.rows(
            "SELECT o.id FROM operation o JOIN bank b ON b.id = o.bank"
            " WHERE b.bank_id = ANY(%s) AND o.status = 'pending' AND NOT o.is_parent ORDER BY o.id",
            world.banks,
        )
        if not waiting:
            return
        for row in waiting:
            await world.site.memory.work(row["id"])
    raise AssertionError("work without end")
