"""API keys and the sessions made from them: hashes, whom they stand for, when they were used.

A key is 256 random bits, so its SHA-256 is as good in the database as any slow hash: there is nothing to guess. It is
found by the index of hashes; how long that takes says something of a hash that nobody can aim at, nothing of a key.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from memorybank import clock
from memorybank.audience import Principal, PrincipalKind
from memorybank.errors import Conflict, InvalidInput, NotFound
from memorybank.ids import new_id
from memorybank.storage.queries import Connection, Row, execute, fetch_all, fetch_by_key, fetch_one, fetch_row

#: What our own keys begin with, so that a scanner of secrets knows them.
MARK = "mb_"
#: Random bytes of a key and of a session.
RANDOM_BYTES = 32
#: What a key of the caller's own may be: what a header carries as it is, and too long to be tried out.
GIVEN = re.compile("[!-~]{16,256}")
#: Characters of a key that are shown in lists, of one the caller's own at most a quarter of it.
PREFIX_CHARS = 8
#: How far behind `last_used_at` may be: a write for each request would cost more than the request.
USED_EVERY = timedelta(minutes=1)
#: Longest name of a key, in characters; banks that one key may name.
MAX_NAME_CHARS, MAX_BANKS = 200, 1000


@dataclass(frozen=True)
class Holder:
    """Whom a key is for; `banks`: those that an operator's key opens, None: all."""

    kind: PrincipalKind
    principal: UUID | None = None
    banks: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Key:
    """A key as it may be shown: never the key itself."""

    id: UUID
    prefix: str
    name: str
    kind: str
    principal: UUID | None
    external_id: str | None
    banks: list[str] | None
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True)
class Opened:
    """A valid key: its number, and whom it stands for."""

    key: UUID
    principal: Principal


async def exist(connection: Connection) -> bool:
    """Return whether any key was ever made. From then on every request needs one, also when all are revoked."""
    return bool((await fetch_row(connection, "keys.exist", {}))["exist"])


async def opened(
    connection: Connection, *, key: str | None = None, session: str | None = None
) -> Opened | None:
    """Return whom a key or a session stands for, or None for one that is unknown, over or revoked."""
    now = clock.now()
    asked = {"key": _hash(key), "session": _hash(session), "now": now}
    found = await fetch_by_key(connection, "keys.opened", asked)
    if not found:
        return None
    [row] = found
    before = now - USED_EVERY
    if row["last_used_at"] is None or row["last_used_at"] < before:
        await execute(connection, "keys.used", {"key": row["key"], "now": now, "before": before})
    return Opened(row["key"], _principal(row))


async def principal(connection: Connection, kind: PrincipalKind, id_: UUID) -> Principal | None:
    """Return a person or an agent as a principal, or None where there is none."""
    row = await fetch_one(connection, "keys.principal", {"kind": kind, "id": id_})
    return None if row is None else _principal(row)


async def create(
    connection: Connection, holder: Holder, name: str = "", given: str | None = None
) -> tuple[UUID, str]:
    """Make a key and return its number and the key, which nobody can read again; `given` is one of the caller's own.

    Raises InvalidInput for a key or name that cannot be one, Conflict for one that is somebody else's or revoked.
    """
    if given is not None and not GIVEN.fullmatch(given):
        raise InvalidInput("a key has 16 to 256 characters of ASCII without spaces", loc=("body", "key"))
    if len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise InvalidInput(f"at most {MAX_NAME_CHARS} printable characters", loc=("body", "name"), value=name)
    key = given or MARK + secrets.token_urlsafe(RANDOM_BYTES)
    number = new_id()
    new = {
        "id": number,
        "hash": _hash(key),
        "prefix": key[: min(PREFIX_CHARS, len(key) // 4)],
        "name": name,
        "kind": holder.kind,
        "principal": holder.principal,
        "banks": None if holder.banks is None else list(holder.banks),
        "now": clock.now(),
    }
    if not await execute(connection, "keys.add", new):
        row = await fetch_row(connection, "keys.with_hash", new)
        if (row["kind"], row["principal"]) != (holder.kind, holder.principal) or row["revoked_at"]:
            raise Conflict("this key cannot be used: it is another's, or was revoked; give another one")
        return row["id"], key
    return number, key


async def held(connection: Connection, principals: Sequence[UUID]) -> set[tuple[str, UUID | None]]:
    """Return which of these have or had a key, as (kind, id), and ("operator", None) where an operator has."""
    rows = await fetch_all(connection, "keys.held", {"principals": list(principals)})
    return {(row["kind"], row["principal"]) for row in rows}


async def list_(connection: Connection) -> list[Key]:
    """Return every key there ever was, the newest first."""
    return [Key(**row) for row in await fetch_all(connection, "keys.list", {})]


async def revoke(connection: Connection, key: UUID) -> None:
    """Revoke a key, with its sessions; again is no error. Raises NotFound."""
    if await fetch_one(connection, "keys.revoke", {"key": key, "now": clock.now()}) is None:
        raise NotFound(f"Key '{key}' not found")


async def revoke_all(connection: Connection, kind: PrincipalKind, principal: UUID) -> None:
    """Revoke the keys of a person or an agent that is removed."""
    await execute(connection, "keys.revoke_all", {"kind": kind, "principal": principal, "now": clock.now()})


async def begin_session(connection: Connection, key: UUID, lasts: timedelta) -> str:
    """Return a new session of a key; those that are over are swept out."""
    token, now = secrets.token_urlsafe(RANDOM_BYTES), clock.now()
    await execute(connection, "keys.prune_sessions", {"now": now})
    new = {"hash": _hash(token), "key": key, "expires_at": now + lasts}
    await execute(connection, "keys.begin_session", new)
    return token


async def end_session(connection: Connection, session: str) -> None:
    """End a session; one that is over is no error."""
    await execute(connection, "keys.end_session", {"hash": _hash(session)})


def _hash(secret: str | None) -> bytes | None:
    return None if secret is None else hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _principal(row: Row) -> Principal:
    kind = PrincipalKind(row["kind"])
    if kind is PrincipalKind.OPERATOR:
        return Principal(kind, banks=None if row["banks"] is None else frozenset(row["banks"]))
    return Principal(
        kind,
        id=row["id"],
        organization=row["organization"],
        owns_organization=row["role"] == "owner" and row["organization"] is not None,
        memory_access=row["memory_access"],
        agents=dict(zip(row["agents"], row["agent_banks"], strict=True)),
        places=frozenset(row["places"]),
    )
