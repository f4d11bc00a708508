"""The rules on Band's memories: what one is, whom it is shared with, and which a list shows. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from memorybank.audience import Audience, AudienceKind, Principal, Surface
from memorybank.errors import InvalidInput, ScopeNeedsOrganization, ScopeNeedsSubject, SubjectNeedsScope
from memorybank.model import UnitStatus
from memorybank.retain.editing import MAX_TEXT_CHARS
from memorybank.retain.intake import MAX_CONTEXT_CHARS, MAX_METADATA_CHARS
from memorybank.storage.stated import Asked, Taxonomy
from memorybank.text import normalize, visible

#: Types that a memory of each system may have.
TYPES: Mapping[str, tuple[str, ...]] = {
    "sensory": ("iconic", "echoic", "haptic"),
    "working": ("episodic",),
    "long_term": ("episodic", "semantic", "procedural"),
}
#: States that Band knows. What was invalidated through the bank is not there.
STATUSES = (UnitStatus.ACTIVE, UnitStatus.SUPERSEDED, UnitStatus.ARCHIVED)
#: From which states one comes to another; what is in it already stays as it is.
BEFORE: Mapping[UnitStatus, tuple[UnitStatus, ...]] = {
    UnitStatus.SUPERSEDED: STATUSES,
    UnitStatus.ARCHIVED: (UnitStatus.ACTIVE, UnitStatus.ARCHIVED),
    UnitStatus.ACTIVE: (UnitStatus.ARCHIVED,),
}

Scope = Literal["agent", "subject", "organization"]
_AT = ("body", "memory")


@dataclass(frozen=True)
class NewMemory:
    """A memory to keep. `scope` None: that of a subject where there is one, else the agent's own; `room`: where it is
    from.
    """

    content: str
    taxonomy: Taxonomy
    scope: Scope | None = None
    subject: UUID | None = None
    room: str | None = None


def checked(new: NewMemory) -> NewMemory:
    """Return a memory that says something; raises InvalidInput."""
    own = new.taxonomy
    if own.type not in TYPES[own.system]:
        fitting = ", ".join(TYPES[own.system])
        raise InvalidInput(f"a memory of {own.system} is one of: {fitting}", loc=(*_AT, "type"))
    if own.metadata is not None and len(json.dumps(own.metadata)) > MAX_METADATA_CHARS:
        raise InvalidInput(f"at most {MAX_METADATA_CHARS} characters of JSON", loc=(*_AT, "metadata"))
    content, thought = (
        _said(new.content, "content", MAX_TEXT_CHARS),
        _said(own.thought, "thought", MAX_CONTEXT_CHARS),
    )
    return replace(new, content=content, taxonomy=replace(own, thought=thought))


def _said(text: str, name: str, longest: int) -> str:
    text = normalize(text)
    if not visible(text).strip():
        raise InvalidInput("can't be blank", loc=(*_AT, name))
    if len(text) > longest:
        raise InvalidInput(f"at most {longest} characters", loc=(*_AT, name))
    return text


def circle(agent: Principal, new: NewMemory) -> Audience:
    """Return whom a memory is shared with; raises ScopeNeedsOrganization, ScopeNeedsSubject, SubjectNeedsScope."""
    assert agent.id is not None
    match new.scope or ("agent" if new.subject is None else "subject"):
        case "subject" if new.subject is not None:
            return Audience.about(new.subject, agent.id, agent.organization)
        case "subject":
            raise ScopeNeedsSubject("say whom it is about: subject_id", loc=(*_AT, "subject_id"))
        case _ if new.subject is not None:
            raise SubjectNeedsScope('subject_id goes with scope "subject"', loc=(*_AT, "subject_id"))
        case "organization":
            _check_organization(agent, (*_AT, "scope"))
            return Audience(AudienceKind.ORGANIZATION, organization=agent.organization)
    return Audience(AudienceKind.AGENT, agent=agent.id)


def for_agent(
    asked: Asked, agent: Principal, scope: str | None, whose: str | None, subject: UUID | None
) -> Asked:
    """Return which memories an agent lists; `whose`: its own (me), or those of the organization (org) as well.

    What others say of a subject is shown to who asks for that subject, with `whose` or without; their other memories
    only with it. Raises ScopeNeedsOrganization.
    """
    kind = None if scope in (None, "all") else AudienceKind(scope)
    if whose == "org" or kind is AudienceKind.ORGANIZATION:
        _check_organization(agent, ("query", "scope" if whose != "org" else "memory_scope"))
    if whose == "org" and kind is None:
        kind = AudienceKind.ORGANIZATION
    of_subject = kind is AudienceKind.SUBJECT and subject is not None and whose != "me"
    everybody = of_subject or (kind is AudienceKind.ORGANIZATION and whose == "org")
    return replace(
        asked, surface=Surface.BAND, circle=kind, subject=subject, author=None if everybody else agent.id
    )


def for_person(asked: Asked, person: Principal, scope: str | None, room: UUID | None) -> Asked:
    """Return which memories a person lists: `about_me`, `organization`, of the rooms they are in (`room`), or all."""
    said_in = person.places if scope == "room" else None
    if room is not None:
        said_in = frozenset({room}) if said_in is None else said_in & {room}
    return replace(
        asked,
        surface=Surface.BAND,
        circle=AudienceKind.ORGANIZATION if scope == "organization" else None,
        subject=person.id if scope == "about_me" else None,
        said_in=said_in,
    )


def _check_organization(agent: Principal, loc: tuple[str, ...]) -> None:
    if agent.organization is None:
        raise ScopeNeedsOrganization("the agent belongs to no organization", loc=loc)
