"""The directory as it stands: organizations, people, agents and the places where they talk.

Who is asked for by id may be named as the caller does, or by the UUID that we made of it (`ids.stable_id`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memorybank.audience import Place, PlaceKind, Principal, PrincipalKind
from memorybank.errors import NotFound
from memorybank.ids import stable_id
from memorybank.storage.queries import Connection, Row, fetch_all, fetch_one, fetch_row


@dataclass(frozen=True)
class Organization:
    """Whom people and agents belong to; `memory_access`: its plan includes Band's memories."""

    id: UUID
    external_id: str
    name: str
    memory_access: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Person:
    """Somebody; `role` in the organization: owner or member."""

    id: UUID
    external_id: str
    name: str
    handle: str
    email: str | None
    organization: UUID | None
    role: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Agent:
    """An agent, which remembers in the bank `bank_id`; that appears on first use."""

    id: UUID
    external_id: str
    name: str
    handle: str
    description: str
    owner: UUID | None
    organization: UUID | None
    bank_id: str
    created_at: datetime
    updated_at: datetime


class Named(NamedTuple):
    """How somebody is called, a "person" or an "agent", and of which organization they are."""

    kind: str
    name: str
    organization: UUID | None


@dataclass(frozen=True)
class ListedPlace:
    """A place as the directory shows it; of a thread, `root` is another place, and that has the members."""

    id: UUID
    external_id: str
    kind: str
    organization: UUID | None
    agent: UUID | None
    root: UUID
    title: str
    members: tuple[UUID, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Directory:
    """All of it, each list by the caller's ids."""

    organizations: tuple[Organization, ...]
    people: tuple[Person, ...]
    agents: tuple[Agent, ...]
    places: tuple[ListedPlace, ...]


async def show(connection: Connection) -> Directory:
    """Return the whole directory."""
    return Directory(
        organizations=tuple(
            Organization(**row) for row in await fetch_all(connection, "directory.organizations", {})
        ),
        people=tuple(Person(**row) for row in await fetch_all(connection, "directory.people", {})),
        agents=tuple(Agent(**row) for row in await fetch_all(connection, "directory.agents", {})),
        places=tuple(
            ListedPlace(**row | {"members": tuple(row["members"])})
            for row in await fetch_all(connection, "directory.places", {})
        ),
    )


async def organization(connection: Connection, named: str | UUID) -> Organization:
    """Return an organization; raises NotFound."""
    return Organization(**await _found(connection, "organization", named))


async def person(connection: Connection, named: str | UUID) -> Person:
    """Return a person; raises NotFound."""
    return Person(**await _found(connection, "person", named))


async def agent(connection: Connection, named: str | UUID) -> Agent:
    """Return an agent; raises NotFound."""
    return Agent(**await _found(connection, "agent", named))


async def agents_in(connection: Connection, bank_id: str) -> list[Agent]:
    """Return the agents that remember in a bank, by the caller's ids."""
    return [Agent(**row) for row in await fetch_all(connection, "directory.agents_in", {"bank_id": bank_id})]


async def agents_of(connection: Connection, ids: Sequence[UUID]) -> list[Agent]:
    """Return those of the agents that are there, by the caller's ids."""
    return [Agent(**row) for row in await fetch_all(connection, "directory.agents_of", {"ids": list(ids)})]


async def public(
    connection: Connection, places: Sequence[UUID], organization: UUID | None
) -> frozenset[UUID]:
    """Return those of the places that everybody of an organization may read."""
    asked = {"places": list(places), "organization": organization}
    return frozenset(row["id"] for row in await fetch_all(connection, "directory.public", asked))


async def place(connection: Connection, named: str | UUID) -> Place:
    """Return a place, a thread as its root; raises NotFound."""
    row = await _found(connection, "place", named)
    return Place(**row | {"kind": PlaceKind(row["kind"])})


async def members(connection: Connection, named: str | UUID) -> frozenset[UUID]:
    """Return who is in a place; of one that is not there, nobody."""
    rows = await fetch_all(connection, "directory.members", {"id": id_of("place", named)})
    return frozenset(row["person"] for row in rows)


async def names(connection: Connection, ids: Collection[UUID]) -> Mapping[UUID, Named]:
    """Return how people and agents are called; who is gone is missing."""
    rows = await fetch_all(connection, "directory.names", {"ids": list(ids)})
    return {row["id"]: Named(row["kind"], row["name"], row["organization"]) for row in rows}


async def rooms(connection: Connection, ids: Collection[UUID]) -> Mapping[UUID, tuple[PlaceKind, str]]:
    """Return of places what they are, and their titles; what is gone is missing."""
    rows = await fetch_all(connection, "directory.rooms", {"ids": list(ids)})
    return {row["id"]: (PlaceKind(row["kind"]), row["title"]) for row in rows}


async def owns(connection: Connection, principal: Principal, bank_id: str) -> bool:
    """Return whether all agents that remember in a bank are a person's: what goes with it is nobody else's then."""
    if principal.kind is not PrincipalKind.PERSON or not principal.uses(bank_id):
        return False
    row = await fetch_row(connection, "directory.owned", {"person": principal.id, "bank_id": bank_id})
    return bool(row["owned"])


def id_of(kind: str, named: str | UUID) -> UUID:
    """Return the id of what a caller names."""
    return named if isinstance(named, UUID) else stable_id(kind, named)


def unknown(what: str, named: str | UUID) -> NotFound:
    """Return what is said of somebody or something that is not there, or not for who asks."""
    return NotFound(f"{what} '{named}' not found")


async def _found(connection: Connection, kind: str, named: str | UUID) -> Row:
    row = await fetch_one(connection, f"directory.{kind}", {"id": id_of(kind, named)})
    if row is None:
        raise unknown(kind.capitalize(), named)
    return row
