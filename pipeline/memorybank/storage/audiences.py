"""Audiences as rows: made on first use, and resolved for whoever asks."""

from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from psycopg.errors import ForeignKeyViolation

from memorybank.audience import (
    Audience,
    AudienceKind,
    Place,
    PlaceKind,
    Principal,
    PrincipalKind,
    Reach,
    Viewer,
)
from memorybank.errors import NotFound
from memorybank.storage import directory
from memorybank.storage.queries import Connection, execute, fetch_all, fetch_by_key, fetch_one, fetch_row


async def ensure(connection: Connection, bank: int, audience: Audience) -> int:
    """Return the number of an audience, made on first use, also where several do so at once; before any lock on facts.

    Raises NotFound for a bank, or for somebody whose own circle it would be, who is gone meanwhile.
    """
    wanted = {"bank": bank, **asdict(audience)}
    found = await fetch_one(connection, "audiences.find", wanted)
    if found is None:
        if audience.kind in (AudienceKind.AGENT, AudienceKind.DM):
            row = await fetch_row(connection, "audiences.hold", wanted)
            if row["held"] < 1 + (audience.kind is AudienceKind.DM):
                raise NotFound("whose circle it is was removed meanwhile")
        try:
            await execute(connection, "audiences.add", wanted)
        except ForeignKeyViolation as error:
            raise NotFound("the bank was deleted meanwhile") from error
        found = await fetch_row(connection, "audiences.find", wanted)
    return int(found["id"])


async def get(connection: Connection, number: int) -> Audience:
    """Return the audience that a number stands for."""
    row = await fetch_row(connection, "audiences.get", {"id": number})
    return Audience(**row | {"kind": AudienceKind(row["kind"])})


async def resolve(
    connection: Connection, principal: Principal, bank_id: str | None = None, place: str | UUID | None = None
) -> Viewer:
    """Return what a principal may see in a bank, or in all they have to do with; for a place, what applies there.

    Raises NotFound for a bank that they have nothing to do with, there or not, and for a place where they do not
    speak.
    """
    if principal.operates and place is None:
        if bank_id is not None and not principal.uses(bank_id):
            raise unknown_bank(bank_id)
        return _operator(principal)
    where = None if place is None else await spoken_in(connection, principal, place)
    viewer, placed = await _resolved(connection, principal, Reach.of(principal, where), bank_id, where)
    if place is not None and bank_id is not None and not placed:
        raise directory.unknown("Place", place)
    return replace(viewer, placed=where is not None)


async def resolve_changes(connection: Connection, principal: Principal, bank_id: str | None = None) -> Viewer:
    """Return what a principal may change through the memory-bank API; raises as `resolve` does."""
    if principal.operates:
        return await resolve(connection, principal, bank_id)
    viewer, _ = await _resolved(connection, principal, Reach.of_changes(principal), bank_id, None)
    return viewer


async def spoken_in(connection: Connection, principal: Principal, place: str | UUID) -> Place:
    """Return a place that a principal names as where they are, as its root; raises NotFound."""
    found = await directory.place(connection, place)
    if not principal.may_speak_in(found):
        raise directory.unknown("Place", place)
    return found


async def _resolved(
    connection: Connection, principal: Principal, reach: Reach, bank_id: str | None, place: Place | None
) -> tuple[Viewer, bool]:
    """Return what is in reach, and whether the bank has to do with the place."""
    # Over all banks another plan is right than in one.
    fetch = fetch_all if bank_id is None else fetch_by_key
    [row] = await fetch(connection, "audiences.resolve", _asked(principal, reach, bank_id, place))
    banks = _known(principal, row["banks"])
    if bank_id is not None and bank_id not in banks and not (principal.operates and principal.uses(bank_id)):
        raise unknown_bank(bank_id)
    return Viewer(tuple(row["audiences"]), banks=banks), row["placed"]


def _known(principal: Principal, found: list[str]) -> tuple[str, ...]:
    """Return the banks whose existence is known: an agent has one, whatever its organization knows elsewhere."""
    if principal.kind is PrincipalKind.AGENT:
        return tuple(principal.agents.values())
    return tuple(found)


def _operator(principal: Principal) -> Viewer:
    banks = None if principal.banks is None else tuple(sorted(principal.banks))
    return Viewer(audiences=(), sees_all=True, banks=banks)


def unknown_bank(bank_id: str) -> NotFound:
    """Return what is said of a bank that is not there, or not for who asks."""
    return NotFound(f"Bank '{bank_id}' not found")


def _asked(principal: Principal, reach: Reach, bank_id: str | None, place: Place | None) -> dict[str, Any]:
    person = principal.id if principal.kind is PrincipalKind.PERSON else None
    return {
        **vars(reach),
        "bank_id": bank_id,
        "all_banks": reach.banks is None,
        "banks": list(reach.banks or ()),
        "all_agents": reach.agents is None,
        "agents": list(reach.agents or ()),
        "place": None if place is None or place.kind is PlaceKind.DM else place.id,
        "anywhere": person if place is None else None,
        "own_agents": list(principal.agents),
        "member_of": principal.organization,
        "member": person,
        "place_agent": None if place is None else place.agent,
        "place_organization": None if place is None else place.organization,
    }
