"""Random installations: who is there, who is where, who says what. Words come later."""

import random
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

#: Banks of a world; agents are spread over them.
BANKS = 2
#: How something comes into the memory.
Way = Literal["retain", "fact", "told", "stated", "entry"]
#: The ways of what is said in a world.
WAYS: tuple[Way, ...] = ("retain",) * 4 + ("told",) * 2 + ("fact",) * 3 + ("stated",) * 3 + ("entry",)


@dataclass(frozen=True)
class Person:
    organization: int | None
    owner: bool


@dataclass(frozen=True)
class Agent:
    owner: int | None
    organization: int | None
    bank: int


@dataclass(frozen=True)
class Place:
    """`members` of a direct talk: the first one."""

    kind: Literal["public", "private", "dm"]
    organization: int | None
    agent: int | None
    members: tuple[int, ...]


@dataclass(frozen=True)
class Saying:
    """Something that an agent (`by`) keeps, or a person (`person`) adds for it; `place` says where, None nowhere.

    `thread`: in a thread of the place. `circle` is what is asked for, where the way leaves a choice.
    """

    way: Way
    by: int
    person: int
    place: int | None
    thread: bool
    circle: Literal["bank", "agent", "subject", "organization"]
    names_the_star: int


@dataclass(frozen=True)
class Plan:
    """An installation. `seed` is what it was made from, and chooses what is looked at beside lists."""

    seed: int
    organizations: int
    people: tuple[Person, ...]
    agents: tuple[Agent, ...]
    places: tuple[Place, ...]
    sayings: tuple[Saying, ...]


@st.composite
def plans(draw: st.DrawFn, beside: int) -> list[Plan]:
    """Draw installations; one number decides all of each, or most would be like the one before."""
    return [planned(draw(st.integers(0, 2**48))) for _ in range(beside)]


def planned(seed: int) -> Plan:
    """Return the installation that a number stands for."""
    chance = random.Random(seed)
    organizations = chance.randint(1, 2)

    def one_of(count: int, none: float = 0.0) -> Any:
        return None if chance.random() < none else chance.randrange(count)

    people = tuple(
        Person(one_of(organizations, 0.25), chance.random() < 0.5) for _ in range(chance.randint(2, 4))
    )
    agents = tuple(
        Agent(
            one_of(len(people), 0.25),
            one_of(organizations, 0.25),
            number % BANKS if number < BANKS else one_of(BANKS),
        )
        for number in range(chance.randint(2, 4))
    )
    places = []
    for _ in range(chance.randint(3, 5)):
        kind: Any = chance.choice(["public", "private", "private", "dm"])
        members = tuple(sorted(chance.sample(range(len(people)), chance.randint(1, 2))))
        if kind == "dm":
            places.append(Place(kind, None, one_of(len(agents)), members[:1]))
        else:
            agent = one_of(len(agents), 0.5 if kind == "private" else 0.7)
            # A place of one agent alone is in the organization of that, where it says none.
            organization = one_of(organizations, 0.1 if agent is None else 0.5)
            if organization is None and agent is not None:
                organization = agents[agent].organization
            places.append(Place(kind, organization, agent, members))
    sayings = tuple(
        Saying(
            way=way,
            by=one_of(len(agents)),
            person=one_of(len(people)),
            place=one_of(len(places), 0.3),
            thread=chance.random() < 0.3,
            circle=chance.choice(["agent", "subject", "organization", "bank"]),
            names_the_star=one_of(3),
        )
        for way in WAYS
    )
    return Plan(seed, organizations, people, agents, tuple(places), sayings)
