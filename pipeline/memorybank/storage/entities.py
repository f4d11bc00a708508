"""Entities: what names mean in an audience, and which units mention them.

An entity is what a key means in a bank; a second one of the same key has another sense. What an audience knows of names
stands in `entity_name`: nothing that one viewer sees depends on what another audience keeps.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from memorybank.errors import Conflict
from memorybank.ids import stable_id
from memorybank.storage.queries import Connection, execute, fetch_all

#: Longest identity key: PostgreSQL cannot index longer ones (2,700 bytes).
MAX_KEY_CHARS = 256
#: Times that names are made and held again when another transaction prunes them in between.
UPSERT_ATTEMPTS = 5
#: How a key names an entity: by its own name; as a text used it; as good as its own; as a part of a person's name.
Rule = Literal["own", "alias", "same", "part"]


@dataclass(frozen=True, order=True)
class Identity:
    """What an entity is known by in its bank."""

    key: str
    sense: str = ""
    is_label: bool = False


@dataclass(frozen=True)
class Known:
    """What a key means in an audience. `into`: what people merged it into."""

    called: str
    rule: Rule
    identity: Identity
    name: str
    kind: str
    id: UUID | None = None
    into: "Known | None" = None

    @property
    def root(self) -> "Known":
        """What counts as mentioned."""
        return self.into or self


@dataclass(frozen=True)
class Present:
    """An entity that a document mentions already."""

    document: int
    known: Known


@dataclass(frozen=True)
class Near:
    """What was mentioned beside an entity lately, and how often it was itself, up to a cap."""

    entities: frozenset[UUID]
    mentions: int


@dataclass(frozen=True)
class Said:
    """A chunk, or who corrects it (None), says that a unit names an entity by a key.

    `leaf` is the entity itself, `root` what people merged it into.
    """

    unit: UUID
    chunk: UUID | None
    key: str
    leaf: Identity
    root: Identity


async def find(connection: Connection, bank: int, audience_id: int, keys: Iterable[str]) -> list[Known]:
    """Return what these keys mean in an audience."""
    parameters = {"bank": bank, "audience_id": audience_id, "keys": sorted(set(keys))}
    found: list[Known] = []
    for row in await fetch_all(connection, "entities.find", parameters):
        into = None
        if row["root"]:
            root = Identity(row["root_key"], row["root_sense"])
            into = Known(root.key, "own", root, row["root_name"], row["kind"], row["root"])
        identity = Identity(row["key"], row["sense"])
        found.append(Known(row["called"], row["rule"], identity, row["name"], row["kind"], row["id"], into))
    return found


async def present(
    connection: Connection, bank: int, audience_id: int, documents: Sequence[int]
) -> list[Present]:
    """Return what the newest units of these documents mention, once for each document."""
    parameters = {"bank": bank, "audience_id": audience_id, "documents": list(documents)}
    return [
        Present(
            row["document"],
            Known(row["key"], "own", Identity(row["key"], row["sense"]), row["name"], row["kind"], row["id"]),
        )
        for row in await fetch_all(connection, "entities.present", parameters)
    ]


async def near(connection: Connection, bank: int, audience_id: int, ids: Sequence[UUID]) -> dict[UUID, Near]:
    """Return what stands beside these entities in the chunks that mentioned them last."""
    parameters = {"bank": bank, "audience_id": audience_id, "ids": list(ids)}
    rows = await fetch_all(connection, "entities.near", parameters)
    return {row["entity"]: Near(frozenset(row["entities"]), row["mentions"]) for row in rows}


async def of(
    connection: Connection, what: Literal["documents", "chunks", "units"], ids: Sequence[int] | Sequence[UUID]
) -> list[UUID]:
    """Return the entities that what these say, and what stands on it, mention."""
    rows = await fetch_all(connection, f"entities.of_{what}", {"ids": list(ids)})
    return [row["entity"] for row in rows]


async def keep(connection: Connection, unit: UUID, entities: Sequence[UUID]) -> None:
    """Let a unit mention no other entities than these, whatever its chunks say."""
    await execute(connection, "entities.keep", {"unit": unit, "entities": list(entities)})


async def ensure(
    connection: Connection, bank: int, names: dict[Identity, str], now: datetime
) -> dict[Identity, UUID]:
    """Return the entity of each identity, making what is missing under its name, and keep them from being pruned.

    Rows are made and locked in key order, so that retains of the same names in any order never deadlock.
    """
    wanted = sorted(names)
    parameters = {
        "bank": bank,
        "keys": [identity.key for identity in wanted],
        "senses": [identity.sense for identity in wanted],
        "labels": [identity.is_label for identity in wanted],
        "ids": [_id(bank, identity) for identity in wanted],
        "names": [names[identity] for identity in wanted],
        "now": now,
    }
    for _ in range(UPSERT_ATTEMPTS if wanted else 0):
        rows = await fetch_all(connection, "entities.hold", parameters)
        held = {Identity(row["key"], row["sense"], row["is_label"]): row["id"] for row in rows}
        if held.keys() >= names.keys():
            return held
        await execute(connection, "entities.add", parameters)
    if wanted:
        raise Conflict("names were deleted as fast as they were stored; try again")
    return {}


def _id(bank: int, identity: Identity) -> UUID:
    """Return the id of a new entity: one with a time in it would tell since when a bank knows a name, by whomever."""
    return stable_id("entity", f"{bank} {identity.is_label} {identity.sense} {identity.key}")


async def mention(connection: Connection, bank: int, said: Iterable[Said], ids: dict[Identity, UUID]) -> None:
    """Store which unit mentions which entity, and by which key where it is not just its own."""
    rows = list(dict.fromkeys(said))
    parameters = {
        "bank": bank,
        "units": [one.unit for one in rows],
        "chunks": [one.chunk for one in rows],
        "entities": [ids[one.root] for one in rows],
        "keys": [one.key for one in rows],
        "via": [ids[one.leaf] for one in rows],
        "plain": [one.leaf == one.root and one.key == one.leaf.key for one in rows],
    }
    await execute(connection, "entities.mention", parameters)


async def learn(
    connection: Connection, bank: int, audience_id: int, known: Sequence[Known], ids: dict[Identity, UUID]
) -> None:
    """Keep what keys mean in an audience; after all entities are made, in key order: so none waits in a circle."""
    if known:
        parameters = {
            "bank": bank,
            "audience_id": audience_id,
            "keys": [one.called for one in known],
            "entities": [ids[one.identity] for one in known],
            "rules": [one.rule for one in known],
            "names": [one.name for one in known],
            "kinds": [one.kind for one in known],
            "roots": [one.into and ids[one.into.identity] for one in known],
        }
        await execute(connection, "entities.learn", parameters)


async def move(connection: Connection, document: int, source: UUID, target: UUID, root: UUID) -> None:
    """Let the units of one document mention `target` (in `root`) where they mentioned `source` itself."""
    parameters = {"document": document, "source": source, "target": target, "root": root}
    await execute(connection, "entities.move", parameters)


async def prune(connection: Connection, bank: int, ids: Sequence[UUID]) -> None:
    """Delete what an audience no longer says of these entities, and those that nothing mentions any more.

    First locked, then looked at again: a retain that has just mentioned one is either seen or waits.
    """
    if ids:
        asked = list(set(ids))
        gone = await fetch_all(connection, "entities.unlearn", {"bank": bank, "ids": asked})
        asked += [row["entity"] for row in gone]
        held = await fetch_all(connection, "entities.lock_orphans", {"bank": bank, "ids": asked})
        await execute(connection, "entities.delete_orphans", {"ids": [row["id"] for row in held]})
