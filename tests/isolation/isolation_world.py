"""A planned installation made real: over HTTP, with keys; each thing that is said holds words that nobody else says."""

import itertools
import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from isolation_oracle import Asker, Circle, Oracle, askers
from isolation_plan import BANKS, Plan, Saying
from isolation_site import WORD, Site

from memorybank import clock
from memorybank.audience import Audience, AudienceKind, Surface
from memorybank.ids import stable_id
from memorybank.model import Source
from memorybank.storage.stated import Statement, Taxonomy

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_numbers = itertools.count(1)
#: A name that several circles know, each as its own text writes it.
#: Circles of a world that have mental models.
MODELLED = 2
#: Of what kind statements are.
TAXONOMY = Taxonomy("long_term", "semantic", "agent", "")
STARS = ("", " under Qvasar", " under QVASAR")


def new_word() -> str:
    """Return a word that was never said."""
    number, letters = next(_numbers) * 7_919_993 % 26**6, ""
    for _ in range(6):
        number, digit = divmod(number, 26)
        letters += _LETTERS[digit]
    return f"Zq{letters}x"


@dataclass
class World:
    """What stands, and what each secret word and id belongs to."""

    site: Site
    plan: Plan
    number: int
    oracle: Oracle
    keys: dict[Asker, str] = field(default_factory=dict)
    #: Secret words, in lower case, and ids: the circle that knows them.
    secrets: dict[str, Circle] = field(default_factory=dict)
    #: Names of people, agents, organizations and places, which the directory's own rules show.
    names: dict[str, tuple[str, int]] = field(default_factory=dict)
    banks: list[str] = field(default_factory=list)
    #: Who kept what: the circles in which a person or an agent has said something, by which they are known there.
    kept: dict[tuple[str, int], set[Circle]] = field(default_factory=lambda: defaultdict(set))
    #: Ids of workspace facts.
    facts: set[str] = field(default_factory=set)

    # --- names of things ---

    def id(self, kind: str, number: int) -> str:
        return f"{kind}-{self.number}-{number}"

    def uuid(self, kind: str, number: int) -> UUID:
        return stable_id(kind, self.id(kind, number))

    def secret(self, circle: Circle) -> str:
        word = new_word()
        self.secrets[word.lower()] = circle
        return word

    def _name(self, kind: str, number: int) -> str:
        word = new_word()
        self.names[word.lower()] = (kind, number)
        return word

    def place(self, number: int, thread: bool = False) -> str:
        return self.id("thread" if thread else "place", number)

    def path(self, bank: int, rest: str = "") -> str:
        return f"/v1/default/banks/{self.banks[bank]}{rest}"

    # --- asking ---

    async def ask(
        self, asker: Asker, method: str, path: str, body: Any = None, **options: Any
    ) -> httpx.Response:
        return await self.site.ask(method, path, self.keys[asker], body, **options)

    async def audience(self, circle: Circle) -> int:
        """Return the number of a circle that something was said in."""

        def some(kind: str, number: int | None) -> UUID | None:
            return None if number is None else self.uuid(kind, number)

        subject = None if circle.subject is None else self.uuid(*circle.subject)
        [row] = await self.site.rows(
            "SELECT a.id FROM audience a JOIN bank b ON b.id = a.bank WHERE b.bank_id = %s AND a.kind = %s"
            " AND (a.organization, a.agent, a.person, a.place)"
            " IS NOT DISTINCT FROM (%s::uuid, %s::uuid, %s::uuid, %s::uuid)",
            self.banks[circle.bank],
            circle.kind,
            some("organization", circle.organization),
            some("agent", circle.agent),
            subject or some("person", circle.person),
            some("place", circle.place),
        )
        return int(row["id"])

    # --- making ---

    def directory(self) -> dict[str, Any]:
        """Return the declaration of all that the plan has, as things are now."""
        plan = self.plan

        def some(kind: str, number: int | None) -> str | None:
            return None if number is None else self.id(kind, number)

        places: list[dict[str, Any]] = []
        for number, place in enumerate(plan.places):
            members = [person for person in place.members if self.oracle.member(person, number)]
            places.append(
                {
                    "id": self.place(number),
                    "kind": place.kind,
                    "organization": some("organization", place.organization),
                    "agent": some("agent", place.agent),
                    "title": self.title(number),
                    "members": [self.id("person", person) for person in members],
                }
            )
            places.append({"id": self.place(number, thread=True), "parent": self.place(number)})
        return {
            "organizations": [
                {"id": self.id("organization", number), "name": self.named["organization", number]}
                for number in range(plan.organizations)
            ],
            "people": [
                {
                    "id": self.id("person", number),
                    "name": self.named["person", number],
                    "organization": some("organization", person.organization),
                    "role": "owner" if person.owner else "member",
                    "key": self.keys[Asker("person", number)],
                }
                for number, person in enumerate(plan.people)
            ],
            "agents": [
                {
                    "id": self.id("agent", number),
                    "name": self.named["agent", number],
                    "owner": some("person", agent.owner),
                    "organization": some("organization", agent.organization),
                    "bank": self.banks[agent.bank],
                    "key": self.keys[Asker("agent", number)],
                }
                for number, agent in enumerate(plan.agents)
            ],
            "places": places,
        }

    @property
    def named(self) -> dict[tuple[str, int], str]:
        return {of: f"Zq{word[2:]}" for word, of in self.names.items()}

    def title(self, place: int) -> str:
        return self.named["place", place]


async def made(site: Site, plan: Plan) -> World:
    """Make a world: its directory, what is said in it, and what is learned from that."""
    world = World(site, plan, next(_numbers), Oracle(plan))
    for bank in range(BANKS):
        world.banks.append("bank-" + world.secret(Circle("knows", bank)).lower())
    for kind, count in (
        ("organization", plan.organizations),
        ("person", len(plan.people)),
        ("agent", len(plan.agents)),
        ("place", len(plan.places)),
    ):
        for number in range(count):
            world._name(kind, number)
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
        "document_id": f"doc-{world.secret(circle)}",
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
    if world.plan.places[saying.place].kind == "public":
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
    """An agent states something of somebody, for itself, or for its organization."""
    agent = world.plan.agents[saying.by]
    mine, organization = world.uuid("agent", saying.by), None
    if agent.organization is not None:
        organization = world.uuid("organization", agent.organization)
    if saying.circle == "agent":
        circle = Circle("agent", agent.bank, agent=saying.by)
        audience = Audience(AudienceKind.AGENT, agent=mine)
    else:
        alone = saying.by if organization is None else None
        subject = ("person", saying.person)
        circle = Circle("subject", agent.bank, alone, agent.organization, subject)
        audience = Audience.about(world.uuid("person", saying.person), mine, organization)
    text = _text(world, circle, saying.names_the_star)
    source = Source("session", clock.now(), ref=world.secret(circle))
    statement = Statement(text, audience, Surface.BAND, mine, mine, source, taxonomy=TAXONOMY)
    await world.site.memory.state(world.banks[agent.bank], statement)
    world.oracle.said.add(circle)
    world.kept["agent", saying.by].add(circle)


_WAYS = {"retain": _retain, "told": _told, "fact": _fact, "stated": _stated}


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
