"""The directory and its keys: who there is, and by what they are known. For the operator alone.

The command line asks the same with the database alone, without a server.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from memorybank.audience import PrincipalKind
from memorybank.errors import InvalidInput
from memorybank.serve.actions.translate import uuid_of
from memorybank.serve.admission import key_making
from memorybank.serve.calls import Rule, call
from memorybank.serve.http.schemas.directory import (
    AppliedResponse,
    CreatedKeyResponse,
    CreateKeyRequest,
    DirectoryRequest,
    DirectoryResponse,
    KeyItem,
    KeyListResponse,
    ListedAgent,
    ListedOrganization,
    ListedPerson,
    ListedPlace,
    MadeKeyResponse,
)
from memorybank.serve.http.schemas.wire import Deleted, stamp
from memorybank.storage import applying, directory, keys
from memorybank.storage.banks import stored_id
from memorybank.storage.keys import MAX_BANKS, Holder
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection

DIRECTORY = "/v1/default/directory"
KEYS = "/v1/default/keys"

Entry = directory.Organization | directory.Person | directory.Agent | directory.ListedPlace


@call("GET", DIRECTORY, rule=Rule.OPERATES)
async def get_directory(database: Database) -> DirectoryResponse:
    """Return who there is: organizations, people, agents and places, with their UUIDs."""
    async with database.snapshot() as connection:
        found = await directory.show(connection)
    every: list[Entry] = [*found.organizations, *found.people, *found.agents, *found.places]
    named = {one.id: one.external_id for one in every}
    return DirectoryResponse(
        organizations=[ListedOrganization(**_told(one, named)) for one in found.organizations],
        people=[ListedPerson(**_told(one, named)) for one in found.people],
        agents=[ListedAgent(**_told(one, named), bank=one.bank_id) for one in found.agents],
        places=[ListedPlace(**_told(one, named)) for one in found.places],
    )


def _told(one: Entry, named: Mapping[UUID, str]) -> dict[str, Any]:
    """Return an entry with the caller's ids for ours."""

    def told(value: Any) -> Any:
        if isinstance(value, tuple):
            return [named[member] for member in value]
        if isinstance(value, datetime):
            return stamp(value)
        return named[value] if isinstance(value, UUID) else value

    return {**{field: told(value) for field, value in vars(one).items()}, "uuid": one.id}


@call("PUT", DIRECTORY, rule=Rule.OPERATES)
async def put_directory(database: Database, body: DirectoryRequest) -> AppliedResponse:
    """Put who is named as declared, and make the keys they lack, which are told this once. Again changes nothing.

    What is not named stays: what shall go stands in `remove`, and an agent takes along what it remembers for itself.
    """
    async with key_making(database) as connection:
        done = await applying.apply(connection, body.declared)
    return AppliedResponse(
        keys=[MadeKeyResponse(**vars(key)) for key in done.keys],
        made_private=list(done.made_private),
        removed=done.removed,
        forgotten=done.forgotten,
    )


@call("GET", KEYS, rule=Rule.OPERATES)
async def list_keys(database: Database) -> KeyListResponse:
    """List every key there ever was, never what it is."""
    async with database.connection() as connection:
        found = await keys.list_(connection)
    return KeyListResponse(
        items=[
            KeyItem(
                key_id=one.id,
                prefix=one.prefix,
                name=one.name,
                kind=one.kind,
                id=one.external_id,
                banks=one.banks,
                created_at=stamp(one.created_at),
                last_used_at=stamp(one.last_used_at),
                revoked_at=stamp(one.revoked_at),
            )
            for one in found
        ]
    )


@call("POST", KEYS, status=201, rule=Rule.OPERATES)
async def create_key(database: Database, body: CreateKeyRequest) -> CreatedKeyResponse:
    """Make a key, which is told this once. From the first one on, every request needs one."""
    async with key_making(database) as connection:
        number, key = await keys.create(connection, await _holder(connection, body), body.name)
    return CreatedKeyResponse(key_id=number, key=key)


async def _holder(connection: Connection, body: CreateKeyRequest) -> Holder:
    """Return whom a key is for; raises InvalidInput, and NotFound for somebody whom the directory does not know."""
    operates = body.kind is PrincipalKind.OPERATOR
    if operates == (body.id is not None):
        raise InvalidInput("of a person or an agent, and of nobody else", loc=("body", "id"), value=body.id)
    if body.banks is not None and (not operates or not 0 < len(body.banks) <= MAX_BANKS):
        raise InvalidInput(f"1 to {MAX_BANKS} banks, for an operator", loc=("body", "banks"))
    if body.id is None:
        banks = None if body.banks is None else tuple(dict.fromkeys(map(stored_id, body.banks)))
        return Holder(body.kind, banks=banks)
    find = directory.person if body.kind is PrincipalKind.PERSON else directory.agent
    return Holder(body.kind, (await find(connection, body.id)).id)


@call("DELETE", KEYS + "/{key_id}", rule=Rule.OPERATES)
async def revoke_key(database: Database, key_id: str) -> Deleted:
    """Revoke a key, and the sessions made from it, at once."""
    key = uuid_of(key_id, "key_id")
    async with database.transaction() as connection:
        await keys.revoke(connection, key)
    return Deleted()
