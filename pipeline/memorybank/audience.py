"""Who may see and change what. The only place where such a rule lives.

Inside a bank stands the audience: a row that names a circle (the bank itself, an agent, a subject, an organization, a
place, a direct talk). Each remembered row belongs to one. A request is resolved once: its key to a Principal, and that,
for one bank and perhaps one place, to a Viewer, which every read asks for. There is no way to read without one.

A Reach is the rule itself, for one principal: `Reach.sees` says it of one audience, `queries/audiences.sql` of all
audiences of a bank at once.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID


class AudienceKind(StrEnum):
    """The kinds of circles."""

    BANK = "bank"
    AGENT = "agent"
    SUBJECT = "subject"
    ORGANIZATION = "organization"
    PLACE = "place"
    DM = "dm"


@dataclass(frozen=True)
class Audience:
    """A circle inside a bank, by the ids that its kind needs (0014_directory.sql holds which).

    `subject`: `person` is whoever is spoken of, a person or an agent; `organization` is the author's, and only where
    that has none `agent` is the author. `place` is never a thread.
    """

    kind: AudienceKind
    organization: UUID | None = None
    agent: UUID | None = None
    person: UUID | None = None
    place: UUID | None = None

    @classmethod
    def about(cls, subject: UUID, author: UUID, organization: UUID | None) -> "Audience":
        """Return the circle of what an author says of a subject."""
        alone = author if organization is None else None
        return cls(AudienceKind.SUBJECT, organization=organization, agent=alone, person=subject)


@dataclass(frozen=True)
class Viewer:
    """Who asks: the audience ids this request may see, or, explicitly, the operator, who sees all of them.

    `banks` are the ids of the banks whose existence they may learn; None: of all. `placed`: only what applies in a
    place. `rooms`: through Band, what was said there for an organization or of somebody is seen too.
    """

    audiences: tuple[int, ...]
    sees_all: bool = False
    banks: tuple[str, ...] | None = None
    placed: bool = False
    rooms: frozenset[UUID] = frozenset()

    @classmethod
    def operator(cls) -> "Viewer":
        """Return the operator: whoever runs the installation."""
        return cls(audiences=(), sees_all=True)

    def parameters(self) -> Mapping[str, Any]:
        """Return the two SQL parameters that every read of an audience's rows takes."""
        return {"sees_all": self.sees_all, "audiences": self._as_array}

    @cached_property
    def _as_array(self) -> str:
        """The audiences as PostgreSQL writes an array: of a list each statement would turn each number into text."""
        return f"{{{','.join(map(str, self.audiences))}}}"

    def knows_of(self, bank_id: str) -> bool:
        """Return whether they may learn that a bank is there."""
        return self.banks is None or bank_id in self.banks


class PrincipalKind(StrEnum):
    """Whom a key may stand for."""

    OPERATOR = "operator"
    PERSON = "person"
    AGENT = "agent"


class PlaceKind(StrEnum):
    """Who is in a place: everybody of an organization may join, those who were asked, one person and one agent."""

    PUBLIC = "public"
    PRIVATE = "private"
    DM = "dm"


@dataclass(frozen=True)
class Place:
    """Where something is said, threads as their root. `agent`: the only one that talks there; `person`: of a dm."""

    id: UUID
    kind: PlaceKind
    organization: UUID | None = None
    agent: UUID | None = None
    person: UUID | None = None


@dataclass(frozen=True)
class Principal:
    """Whom a request speaks for, as the directory knows them at this moment.

    `agents` with the banks they remember in: an agent itself, or those that a person owns. `places`: roots where a
    person is a member. `banks`: those that an operator's key opens; None: all. `memory_access`: their organization's
    plan includes Band's memories.
    """

    kind: PrincipalKind
    id: UUID | None = None
    organization: UUID | None = None
    owns_organization: bool = False
    memory_access: bool = True
    agents: Mapping[UUID, str] = field(default_factory=dict)
    places: frozenset[UUID] = frozenset()
    banks: frozenset[str] | None = None

    @property
    def operates(self) -> bool:
        """Whether this is an operator, of all banks or of some."""
        return self.kind is PrincipalKind.OPERATOR

    @property
    def operates_all(self) -> bool:
        """Whether this is the operator of the whole installation."""
        return self.operates and self.banks is None

    def uses(self, bank_id: str) -> bool:
        """Return whether this is an operator of a bank, an agent that remembers there, or the owner of one."""
        if self.operates:
            return self.banks is None or bank_id in self.banks
        return bank_id in self.agents.values()

    def knows(self, who: UUID, organization: UUID | None) -> bool:
        """Return whether they may know somebody by name: themselves, their agents, and who is of their organization."""
        return who == self.id or who in self.agents or same(organization, self.organization)

    def reads_in(self, place: UUID | None, public: Collection[UUID]) -> bool:
        """Return whether they may know where something was said; `public`: where all of their organization reads."""
        return place is None or self.operates or place in self.places or place in public

    def may_speak_in(self, place: Place) -> bool:
        """Return whether they may name a place as where they are."""
        if self.operates:
            return True
        if self.kind is PrincipalKind.PERSON:
            return place.id in self.places
        if place.agent is not None:
            return place.agent == self.id
        return place.organization is not None and place.organization == self.organization


#: Who runs the installation.
OPERATOR = Principal(PrincipalKind.OPERATOR)


@dataclass(frozen=True)
class Reach:
    """Which audiences somebody may see: the rule, for one principal, at one place or none.

    `banks` and `agents`: whose own circles; None: all. `organization`: whose circle. What is said of somebody: in
    `subjects_of`, by `author`, both of all or of `of_whom` alone; and `about` somebody, by whomever. `places`: roots. A
    direct talk is that of `dm_person`, with `dm_agent` or, where that is None, with any agent.
    """

    banks: frozenset[str] | None = frozenset()
    agents: frozenset[UUID] | None = frozenset()
    organization: UUID | None = None
    subjects_of: UUID | None = None
    author: UUID | None = None
    of_whom: UUID | None = None
    about: UUID | None = None
    places: frozenset[UUID] = frozenset()
    dm_person: UUID | None = None
    dm_agent: UUID | None = None

    @classmethod
    def of(cls, principal: Principal, place: Place | None = None) -> "Reach":
        """Return what somebody may see; with a place only what applies there. An operator's needs a place."""
        everywhere = _EVERYWHERE[principal.kind](principal, place)
        if place is None:
            return everywhere
        if place.kind is PlaceKind.DM:
            talk = replace(everywhere, places=frozenset(), dm_person=place.person, dm_agent=place.agent)
            return replace(talk, of_whom=place.person)
        # Where others read, an agent is not told what is said of one of them.
        there = replace(everywhere, places=frozenset({place.id}), dm_person=None, dm_agent=None)
        return replace(there, subjects_of=None, author=None)

    @classmethod
    def of_changes(cls, principal: Principal) -> "Reach":
        """Return what somebody may change of what they see, whoever has written it; an operator changes all."""
        seen = cls.of(principal)
        if principal.kind is PrincipalKind.AGENT:
            # Of the rest, an agent changes what it wrote itself: `may_change`.
            return cls(banks=seen.banks, agents=seen.agents)
        return seen if principal.owns_organization else replace(seen, organization=None)

    def sees(self, bank_id: str, audience: Audience) -> bool:
        """Return whether an audience of a bank is in reach."""
        match audience.kind:
            case AudienceKind.BANK:
                return self.banks is None or bank_id in self.banks
            case AudienceKind.AGENT:
                return self.agents is None or audience.agent in self.agents
            case AudienceKind.ORGANIZATION:
                return same(audience.organization, self.organization)
            case AudienceKind.SUBJECT:
                told = same(audience.organization, self.subjects_of) or same(audience.agent, self.author)
                of_them = self.of_whom in (None, audience.person)
                return (told and of_them) or same(audience.person, self.about)
            case AudienceKind.PLACE:
                return audience.place in self.places
            case AudienceKind.DM:
                return same(audience.person, self.dm_person) and self.dm_agent in (None, audience.agent)


def same(one: UUID | None, other: UUID | None) -> bool:
    """Return whether two ids are there and equal: who has no organization shares none with anybody."""
    return one is not None and one == other


def _of_agent(agent: Principal, place: Place | None) -> Reach:
    return Reach(
        banks=frozenset(agent.agents.values()),
        agents=frozenset(agent.agents),
        organization=agent.organization,
        subjects_of=agent.organization,
        author=agent.id,
    )


def _of_person(person: Principal, place: Place | None) -> Reach:
    return Reach(
        banks=frozenset(person.agents.values()),
        agents=frozenset(person.agents),
        organization=person.organization,
        about=person.id,
        places=person.places,
        dm_person=person.id,
    )


def _of_operator(operator: Principal, place: Place | None) -> Reach:
    """Return what applies in a place, whoever would ask there."""
    if place is None:
        raise ValueError("an operator sees everything: only a place narrows that")
    return Reach(
        banks=operator.banks,
        agents=None if place.agent is None else frozenset({place.agent}),
        organization=place.organization,
        subjects_of=place.organization,
        author=place.agent,
    )


_EVERYWHERE = {
    PrincipalKind.AGENT: _of_agent,
    PrincipalKind.PERSON: _of_person,
    PrincipalKind.OPERATOR: _of_operator,
}


def may_see(principal: Principal, bank_id: str, audience: Audience, place: Place | None = None) -> bool:
    """Return whether somebody may see what an audience of a bank knows: anywhere, or for a place."""
    if principal.operates and place is None:
        return principal.uses(bank_id)
    if principal.kind is PrincipalKind.AGENT and not principal.uses(bank_id):
        return False
    if place is not None and not principal.may_speak_in(place):
        return False
    return Reach.of(principal, place).sees(bank_id, audience)


def shows_through_band(principal: Principal, bank_id: str, audience: Audience, said_in: UUID | None) -> bool:
    """Return whether Band shows somebody a memory, of whichever bank.

    People see also what was said where they are, of somebody or for an organization; never what is an agent's own.
    """
    shared = audience.kind in (AudienceKind.SUBJECT, AudienceKind.ORGANIZATION)
    return (shared and said_in in principal.places) or Reach.of(principal).sees(bank_id, audience)


class Surface(StrEnum):
    """Through which interface something is changed: they differ in what they leave to people."""

    BAND = "band"
    FACTS = "facts"
    KV = "kv"


def may_change(
    principal: Principal, bank_id: str, audience: Audience, author: UUID | None, through: Surface
) -> bool:
    """Return whether somebody may correct, pin, retire or forget what an author has left to an audience of a bank.

    An agent: what it wrote itself. A person: what is about them or private to an agent of theirs; through facts also
    what was said in their talks and places, and as an owner what the organization knows; key-value entries of their own
    agents. What may be changed through the memory-bank API is a Reach, `of_changes`.
    """
    if principal.operates:
        return principal.uses(bank_id)
    if principal.kind is PrincipalKind.AGENT:
        return principal.uses(bank_id) and same(author, principal.id)
    allowed = Reach.of_changes(principal).sees(bank_id, audience)
    match through:
        case Surface.BAND:
            return allowed and audience.kind in (AudienceKind.SUBJECT, AudienceKind.AGENT)
        case Surface.KV:
            return allowed and audience.kind is AudienceKind.AGENT
    return allowed
