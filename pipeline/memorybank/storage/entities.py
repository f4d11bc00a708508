"""Entities: names, their other spellings, and which units mention them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memorybank.errors import Conflict
from memorybank.ids import new_id
from memorybank.storage import copying
from memorybank.storage.queries import Connection, execute, fetch_all

#: Times that names are made and held again when another transaction prunes them in between.
UPSERT_ATTEMPTS = 5

_MENTION = copying.row_type({"unit": copying.UUID_BYTES, "entity": copying.UUID_BYTES, "bank": copying.INT8})


@dataclass(frozen=True)
class Name:
    """A name to be known: its identity key, how it is written, and what kind of thing it names."""

    key: str
    name: str
    kind: str = "CONCEPT"


@dataclass(frozen=True)
class Known:
    """An entity that exists. `alias` is the key it was found under, where that is not its own."""

    id: UUID
    key: str
    name: str
    kind: str
    document: int | None = None
    alias: str | None = None


@dataclass(frozen=True)
class Learned:
    """Another spelling of an entity, learned from a text of this audience."""

    key: str
    name: str
    entity: UUID


async def find(connection: Connection, bank: int, audience_id: int, keys: Iterable[str]) -> list[Known]:
    """Return the entities that these keys name, by their own key or by a spelling learned in this audience."""
    parameters = {"bank": bank, "audience_id": audience_id, "keys": sorted(set(keys))}
    return [Known(**row) for row in await fetch_all(connection, "entities.find", parameters)]


async def of_documents(connection: Connection, numbers: Sequence[int]) -> list[Known]:
    """Return the entities that units of these documents mention, once for each document."""
    rows = await fetch_all(connection, "entities.of_documents", {"numbers": list(numbers)})
    return [Known(**row) for row in rows]


async def of_chunks(connection: Connection, chunks: Sequence[UUID]) -> list[UUID]:
    """Return the entities that facts of these chunks mention."""
    rows = await fetch_all(connection, "entities.of_chunks", {"chunks": list(chunks)})
    return [row["entity"] for row in rows]


async def ensure(connection: Connection, bank: int, names: Iterable[Name], now: datetime) -> dict[str, UUID]:
    """Return the entity of each key, making what is missing, and keep them from being pruned.

    Rows are made and locked in key order, so that retains of the same names in any order never deadlock.
    """
    wanted = sorted({name.key: name for name in names}.values(), key=lambda name: name.key)
    keys = [name.key for name in wanted]
    parameters = {
        "bank": bank,
        "keys": keys,
        "ids": [new_id() for _ in wanted],
        "names": [name.name for name in wanted],
        "kinds": [name.kind for name in wanted],
        "now": now,
    }
    for _ in range(UPSERT_ATTEMPTS if wanted else 0):
        rows = await fetch_all(connection, "entities.hold", parameters)
        if len(rows) == len(keys):
            return {row["key"]: row["id"] for row in rows}
        await execute(connection, "entities.add", parameters)
    if wanted:
        raise Conflict("names were deleted as fast as they were stored; try again")
    return {}


async def learn(connection: Connection, bank: int, audience_id: int, aliases: Sequence[Learned]) -> None:
    """Keep other spellings. One that was learned for another entity before is ambiguous, and forgotten.

    One transaction of a bank at a time does this, after it has made its names: so none waits for another in a circle.
    """
    if aliases:
        parameters = {
            "bank": bank,
            "audience_id": audience_id,
            "keys": [alias.key for alias in aliases],
            "names": [alias.name for alias in aliases],
            "entities": [alias.entity for alias in aliases],
        }
        await fetch_all(connection, "entities.lock_aliases", {"bank": bank})
        forgotten = await fetch_all(connection, "entities.forget", parameters)
        await execute(
            connection, "entities.learn", parameters | {"ambiguous": [row["key"] for row in forgotten]}
        )


async def mention(
    connection: Connection, bank: int, pairs: Sequence[tuple[UUID, UUID]], known: Collection[UUID] = ()
) -> None:
    """Store which unit mentions which entity; each pair once. Units in `known` may mention some already."""
    fresh = [pair for pair in pairs if pair[0] not in known]
    rows = copying.rows(_MENTION, len(fresh))
    rows["bank"] = bank
    rows["unit"] = copying.uuids(unit for unit, _ in fresh)
    rows["entity"] = copying.uuids(entity for _, entity in fresh)
    await copying.copy_rows(connection, "entities.copy_mentions", [rows])
    again = [pair for pair in pairs if pair[0] in known]
    if again:
        units, mentioned = zip(*again, strict=True)
        parameters = {"bank": bank, "units": list(units), "entities": list(mentioned)}
        await execute(connection, "entities.mention_more", parameters)


async def move_mentions(connection: Connection, document: int, source: UUID, target: UUID) -> None:
    """Let the units of one document mention `target` where they mentioned `source`."""
    parameters = {"document": document, "source": source, "target": target}
    await execute(connection, "entities.copy_moved", parameters)
    await execute(connection, "entities.delete_moved", parameters)


async def prune(connection: Connection, bank: int, ids: Sequence[UUID]) -> None:
    """Delete those of these entities that nothing mentions any more.

    First locked, then looked at again: a retain that has just mentioned one is either seen or waits.
    """
    if ids:
        held = await fetch_all(connection, "entities.lock_orphans", {"bank": bank, "ids": list(set(ids))})
        await execute(connection, "entities.delete_orphans", {"ids": [row["id"] for row in held]})
