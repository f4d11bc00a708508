"""A planned installation made real: over HTTP, with keys; each thing that is said holds words that nobody else says."""

import itertools
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from isolation_oracle import Asker, Circle, Oracle
from isolation_plan import Plan
from isolation_site import Site

from memorybank.ids import stable_id

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_numbers = itertools.count(1)
BAND, ENTRIES = "/api/v1/agent/memories", "/api/memory"


def next_number() -> int:
    """Return a number that nothing had."""
    return next(_numbers)


def new_word() -> str:
    """Return a word that was never said."""
    number, letters = next(_numbers) * 7_919_993 % 26**6, ""
    for _ in range(6):
        number, digit = divmod(number, 26)
        letters += _LETTERS[digit]
    return f"Zq{letters}x"


@dataclass(frozen=True)
class Stated:
    """A statement through Band: for whom, by which agent, and in which room, if in any."""

    circle: Circle
    by: int
    room: int | None


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
    #: What was stated through Band, by id and by word; the keys of each agent.
    band: dict[str, Stated] = field(default_factory=dict)
    entries: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
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

    def name(self, kind: str, number: int) -> str:
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
