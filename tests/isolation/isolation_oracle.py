"""Who sees what, in plain words of the contract (the table of who sees what, and its paragraph "Who sees").

Written from the contract and knows nothing of the code: people, agents and organizations are indexes of a plan.
"""

from dataclasses import dataclass
from typing import Literal

from isolation_plan import Plan


@dataclass(frozen=True)
class Circle:
    """For whom something is remembered in a bank. Two more kinds hold what a bank itself says: `uses` what only those
    read who use it (settings, directives), `knows` its name.
    """

    kind: Literal["bank", "agent", "subject", "organization", "place", "dm", "uses", "knows", "nobody"]
    bank: int
    agent: int | None = None
    organization: int | None = None
    #: ("person", n) or ("agent", n), of whom is spoken.
    subject: tuple[str, int] | None = None
    person: int | None = None
    place: int | None = None


@dataclass(frozen=True)
class Asker:
    """Who asks: `number` is that of a person or an agent; `bank` that of an operator of one."""

    kind: Literal["operator", "person", "agent"]
    number: int = 0
    bank: int | None = None


def askers(plan: Plan) -> list[Asker]:
    """Return everybody with a key."""
    return [
        Asker("operator"),
        Asker("operator", bank=0),
        *(Asker("person", n) for n in range(len(plan.people))),
        *(Asker("agent", n) for n in range(len(plan.agents))),
    ]


class Oracle:
    """What each asker sees in one world; `left`: (person, place) of those who are in a place no more."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.left: set[tuple[int, int]] = set()
        #: Circles that something was said in.
        self.said: set[Circle] = set()

    def member(self, person: int, place: int) -> bool:
        return person in self.plan.places[place].members and (person, place) not in self.left

    def speaks_in(self, asker: Asker, place: int) -> bool:
        """Return whether somebody may say that they are in a place."""
        spot = self.plan.places[place]
        if asker.kind == "operator":
            return asker.bank is None or self._concerns(asker.bank, place)
        if asker.kind == "person":
            return self.member(asker.number, place)
        if spot.agent is not None:
            return spot.agent == asker.number
        own = self.plan.agents[asker.number].organization
        return own is not None and own == spot.organization

    def _concerns(self, bank: int, place: int) -> bool:
        """Return whether an agent of a bank may be in a place."""
        return any(
            agent.bank == bank and self.speaks_in(Asker("agent", number), place)
            for number, agent in enumerate(self.plan.agents)
        )

    def uses(self, asker: Asker, bank: int) -> bool:
        """Return whether a bank is somebody's to use: of an operator, an agent in it, the owner of one."""
        if asker.kind == "operator":
            return asker.bank in (None, bank)
        if asker.kind == "agent":
            return self.plan.agents[asker.number].bank == bank
        return any(agent.owner == asker.number and agent.bank == bank for agent in self.plan.agents)

    def knows(self, asker: Asker, bank: int) -> bool:
        """Return whether somebody has to do with a bank."""
        if asker.kind != "person" or self.uses(asker, bank):
            return self.uses(asker, bank)
        me = self.plan.people[asker.number]
        for number, agent in enumerate(self.plan.agents):
            if agent.bank != bank:
                continue
            if me.organization is not None and me.organization == agent.organization:
                return True
            for place, spot in enumerate(self.plan.places):
                theirs = spot.agent == number or (
                    spot.agent is None
                    and spot.organization is not None
                    and spot.organization == agent.organization
                )
                if theirs and self.member(asker.number, place):
                    return True
        return any(circle.bank == bank and self._in_reach(asker, circle) for circle in self.said)

    def sees(self, asker: Asker, circle: Circle) -> bool:
        """Return whether somebody sees what a circle remembers, anywhere."""
        if circle.kind == "nobody":
            return False
        if asker.kind == "operator":
            return asker.bank in (None, circle.bank)
        if asker.kind == "agent" and self.plan.agents[asker.number].bank != circle.bank:
            return False
        if circle.kind == "knows":
            return self.knows(asker, circle.bank)
        return self._in_reach(asker, circle)

    def sees_through_band(self, asker: Asker, circle: Circle, room: int | None) -> bool:
        """Return whether Band shows a statement: in all banks, and to a person what was said where they are."""
        if asker.kind == "operator" or circle.kind not in ("agent", "subject", "organization"):
            return False
        here = asker.kind == "person" and room is not None and self.member(asker.number, room)
        return self._in_reach(asker, circle) or (here and circle.kind != "agent")

    def _in_reach(self, asker: Asker, circle: Circle) -> bool:
        if circle.kind in ("bank", "uses"):
            return self.uses(asker, circle.bank)
        return (
            self._agent(asker.number, circle) if asker.kind == "agent" else self._person(asker.number, circle)
        )

    def _agent(self, me: int, circle: Circle) -> bool:
        own = self.plan.agents[me].organization
        match circle.kind:
            case "agent":
                return circle.agent == me
            case "organization":
                return own is not None and circle.organization == own
            case "subject":
                return circle.agent == me or (own is not None and circle.organization == own)
        return False

    def _person(self, me: int, circle: Circle) -> bool:
        match circle.kind:
            case "agent":
                return circle.agent is not None and self.plan.agents[circle.agent].owner == me
            case "organization":
                own = self.plan.people[me].organization
                return own is not None and circle.organization == own
            case "subject":
                return circle.subject == ("person", me)
            case "place":
                return circle.place is not None and self.member(me, circle.place)
            case "dm":
                return circle.person == me
        return False

    def sees_at(self, asker: Asker, place: int, circle: Circle) -> bool:
        """Return whether somebody sees what a circle remembers while they are in a place: only what applies there."""
        spot = self.plan.places[place]
        if circle.kind == "place":
            return circle.place == place and circle.bank in self._banks(asker)
        if circle.kind == "dm":
            here = spot.kind == "dm" and (circle.agent, circle.person) == (spot.agent, spot.members[0])
            return here and circle.bank in self._banks(asker)
        with_them = spot.kind == "dm" and circle.subject == ("person", spot.members[0])
        if circle.kind == "subject" and asker.kind != "person" and not with_them:
            return False
        return self.sees(asker, circle)

    def _banks(self, asker: Asker) -> set[int]:
        return {bank for bank in range(2) if self.knows(asker, bank)}
