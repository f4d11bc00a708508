"""The rules on workspace facts: how one is worded, who may know it, who may say that. Pure.

Scope is decided here and not by a model: never wider than the source. An organization is what people call workspace.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from memorybank.audience import Audience, AudienceKind, Place, PlaceKind, Principal, PrincipalKind, same
from memorybank.errors import (
    FactNotOneParagraph,
    FactTooLong,
    InvalidInput,
    NotFound,
    OwnerRequired,
    SourceNotPublic,
)
from memorybank.storage.directory import Agent
from memorybank.storage.stated import MAX_FACT_CHARS
from memorybank.text import normalize, visible

#: Unicode's own end of a paragraph.
_SEPARATOR = re.compile("\u2029")


class Scope(StrEnum):
    """Who may know a fact: everybody, those in a place, one person in the talk with the agent."""

    WORKSPACE = "workspace"
    CONVERSATION = "conversation"
    JUST_YOU = "just_you"


#: Said to who may not change what a whole workspace knows.
OWNERS = "only owners of the workspace add or change what all of it knows"
#: The circle that a scope is.
CIRCLES = {
    Scope.WORKSPACE: AudienceKind.ORGANIZATION,
    Scope.CONVERSATION: AudienceKind.PLACE,
    Scope.JUST_YOU: AudienceKind.DM,
}


@dataclass(frozen=True)
class Told:
    """Where an agent has a fact from, as it says so: `person`: who said it; `ref`: the id of the message or session."""

    kind: Literal["message", "session", "person"]
    place: str
    person: str | None = None
    ref: str | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class NewFact:
    """A fact to add. `scope` None: what its source allows; `place`: that of a conversation, None: that of the source.

    `agent`: who shall remember it, where a bank has several.
    """

    text: str
    scope: Scope | None = None
    place: str | None = None
    told: Told | None = None
    agent: str | None = None


@dataclass(frozen=True)
class Heard:
    """A source as the directory knows it. `owner`: whether who told it owns the workspace; None: nobody told it."""

    place: Place
    person: UUID | None = None
    owner: bool | None = None


def worded(text: str) -> str:
    """Return a fact as it is kept: one line. Raises InvalidInput, FactTooLong, FactNotOneParagraph."""
    where = ("body", "text")
    line = _SEPARATOR.sub("\n\n", normalize(text)).strip()
    if not line:
        raise InvalidInput("a fact says something", loc=where, value=text)
    if not all(visible(part).strip() for part in line.splitlines()):
        raise FactNotOneParagraph("a fact is one paragraph: no blank line in it", loc=where)
    line = " ".join(part.strip() for part in line.splitlines())
    if len(line) > MAX_FACT_CHARS:
        raise FactTooLong(f"a fact has at most {MAX_FACT_CHARS} characters, this one {len(line)}", loc=where)
    return line


def chosen(person: Principal, agent: Agent, scope: Scope | None, place: Place | None) -> Audience:
    """Return for whom a person adds a fact; raises InvalidInput, OwnerRequired.

    `place`: that of a conversation, where they are.
    """
    match scope:
        case Scope.JUST_YOU:
            return Audience(AudienceKind.DM, agent=agent.id, person=person.id)
        case Scope.WORKSPACE:
            if not person.owns_organization or not same(agent.organization, person.organization):
                raise OwnerRequired(OWNERS)
            return Audience(AudienceKind.ORGANIZATION, organization=person.organization)
        case Scope.CONVERSATION if place is not None:
            return of_place(place, agent.id)
    raise InvalidInput(
        "say for whom: just_you, workspace, or conversation with its place", loc=("body", "for")
    )


def learned(agent: Agent, scope: Scope | None, place: Place, heard: Heard) -> Audience:
    """Return for whom an agent keeps what it heard; raises SourceNotPublic, OwnerRequired, InvalidInput.

    `place`: that of a conversation; where none was said, that of the source.
    """
    public = heard.place.kind is PlaceKind.PUBLIC and same(heard.place.organization, agent.organization)
    match scope or _as_wide_as(heard.place, public):
        case Scope.WORKSPACE:
            if heard.owner is False:
                raise OwnerRequired("only an owner tells an agent something for the whole workspace")
            if heard.owner is None and not public:
                raise SourceNotPublic(
                    "it was not said where all of the workspace reads", loc=("body", "source")
                )
            return Audience(AudienceKind.ORGANIZATION, organization=agent.organization)
        case Scope.CONVERSATION:
            if place.id != heard.place.id and not public:
                raise SourceNotPublic("it was said in another place", loc=("body", "source"))
            return of_place(place, agent.id)
    person = heard.place.person or heard.person
    if person is None:
        raise InvalidInput("say whom it is for: source.person", loc=("body", "source", "person"))
    return Audience(AudienceKind.DM, agent=agent.id, person=person)


def retained(principal: Principal, place: Place | None, wanted: AudienceKind | None) -> Audience:
    """Return for whom something is retained: what is said in a place is for those who are there, else for the bank.

    Raises SourceNotPublic for what would be known beyond where it was said, OwnerRequired, InvalidInput.
    """
    public = place is None or place.kind is PlaceKind.PUBLIC
    match wanted or (AudienceKind.PLACE if place is not None else AudienceKind.BANK):
        case AudienceKind.PLACE if place is not None:
            return of_place(place, place.agent)
        case AudienceKind.AGENT if principal.kind is PrincipalKind.AGENT:
            return Audience(AudienceKind.AGENT, agent=principal.id)
        case AudienceKind.BANK if public:
            return Audience(AudienceKind.BANK)
        case AudienceKind.ORGANIZATION if public and principal.owns_organization:
            return Audience(AudienceKind.ORGANIZATION, organization=principal.organization)
        case AudienceKind.BANK | AudienceKind.ORGANIZATION if not public:
            raise SourceNotPublic("it was not said where all of them read", loc=("body", "audience"))
    raise InvalidInput(
        "audience is bank, or place (with one), agent (for an agent), organization (for its owner)",
        loc=("body", "audience"),
    )


def _as_wide_as(place: Place, public: bool) -> Scope:
    """Return the scope of what is said in a place; `public`: all of the workspace reads there."""
    if place.kind is PlaceKind.DM:
        return Scope.JUST_YOU
    return Scope.WORKSPACE if public else Scope.CONVERSATION


def of_place(place: Place, agent: UUID | None) -> Audience:
    """Return the circle of those who are in a place; a direct talk is one with that agent. Raises NotFound."""
    if place.kind is not PlaceKind.DM:
        return Audience(AudienceKind.PLACE, place=place.id)
    if place.agent != agent or place.person is None:
        raise NotFound(f"Place '{place.id}' not found")
    return Audience(AudienceKind.DM, agent=agent, person=place.person)
