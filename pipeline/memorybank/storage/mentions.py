"""Facts that are said again: known by what they say, counted by mention, and theirs who say them with other tags.

Here are also the two locks under which facts are written and deleted. Order of all locks: bank, people, agents, places,
operations, facts (these), documents, rows of facts, entities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from memorybank.ids import new_id
from memorybank.storage.copying import copy_records, literal
from memorybank.storage.queries import Connection, execute, fetch_all
from memorybank.storage.units import NewUnit

#: Locks that the statements of an audience share. A transaction holds this many at most, and the server has room for
#: some 7,000 in all; two transactions of ten new statements each wait for each other in one case of three.
BUCKETS = 256


@dataclass(frozen=True)
class Home:
    """A stored fact and the chunk where it lives."""

    unit: UUID
    chunk: UUID | None


@dataclass(frozen=True)
class Curated:
    """A fact that people have corrected or invalidated, as it was read, in a chunk that is read again.

    `names_own`: what it names is theirs to say, not the text's.
    """

    unit: UUID
    chunk: UUID
    document: int
    statement: bytes
    text: str
    names_own: bool


@dataclass(frozen=True)
class Mention:
    """A stored fact, said again: `place` in that chunk."""

    unit: UUID
    chunk: UUID
    place: int
    context: str
    mentioned_at: datetime | None
    mentioned_at_assumed: bool


async def beside(connection: Connection, bank: int, audience_id: int, statements: Sequence[bytes]) -> None:
    """Let a transaction write these statements: nobody deletes facts of the bank, nobody else writes the same ones."""
    buckets = sorted({statement[0] % BUCKETS for statement in statements})
    await fetch_all(
        connection, "mentions.beside", {"bank": bank, "audience_id": audience_id, "buckets": literal(buckets)}
    )


async def alone(connection: Connection, bank: int) -> None:
    """Let a transaction delete or move facts of a bank: nobody else writes or deletes any.

    Taken before documents are locked.
    """
    await fetch_all(connection, "mentions.alone", {"bank": bank})


async def alone_for(connection: Connection, bank: int, audience_id: int, ids: Sequence[str]) -> None:
    """Do the same where one of these documents of an audience exists."""
    if ids:
        await fetch_all(
            connection, "mentions.alone_for", {"bank": bank, "audience_id": audience_id, "ids": list(ids)}
        )


async def same(
    connection: Connection, bank: int, audience_id: int, facts: Sequence[NewUnit]
) -> dict[int, Home]:
    """Return, by place among `facts`, the stored facts that say the same; under `beside`."""
    asked = [
        {
            "place": place,
            "statement": fact.statement.hex(),
            "tags": fact.tags,
            "metadata": dict(fact.metadata),
            "scopes": fact.observation_scopes or None,
        }
        for place, fact in enumerate(facts)
    ]
    if not asked:
        return {}
    parameters = {"bank": bank, "audience_id": audience_id, "asked": Jsonb(asked)}
    rows = await fetch_all(connection, "mentions.same", parameters)
    return {row["place"]: Home(row["id"], row["chunk"]) for row in rows}


async def curated(connection: Connection, operation: UUID) -> list[Curated]:
    """Return what people have corrected or invalidated in the chunks that an operation replaces; under `beside`."""
    rows = await fetch_all(connection, "mentions.curated", {"operation": operation})
    return [Curated(**row | {"statement": bytes(row["statement"])}) for row in rows]


async def add(connection: Connection, bank: int, audience_id: int, mentions: Sequence[Mention]) -> None:
    """Store mentions; each counts for its fact."""
    records = [
        (bank, audience_id, m.unit, m.chunk, m.place, m.context, m.mentioned_at, m.mentioned_at_assumed)
        for m in mentions
    ]
    await copy_records(connection, "mentions.copy", records)


async def part(connection: Connection, chunk: UUID, about: Mapping[str, Any]) -> None:
    """Give a chunk facts of its own where it shares them and is to have other tags, metadata or scopes; under `alone`.

    `about` has the parameters `tags`, `metadata` and `observation_scopes` as they will be.
    """
    changed = await fetch_all(connection, "mentions.described", {"id": chunk, **about})
    await _part(connection, [row["id"] for row in changed])


async def part_document(connection: Connection, document: int, tags: Sequence[str]) -> None:
    """Give the chunks of a document facts of their own where they share them and are to have other tags; `alone`."""
    changed = await fetch_all(
        connection, "mentions.retagged", {"document": document, "tags": sorted(set(tags))}
    )
    await _part(connection, [row["id"] for row in changed])


async def _part(connection: Connection, ids: Sequence[UUID]) -> None:
    if not ids:
        return
    await execute(connection, "mentions.rehome", {"ids": ids})
    shared = await fetch_all(connection, "mentions.shared", {"ids": ids})
    if not shared:
        return
    parameters = {
        "ids": ids,
        "units": [row["unit"] for row in shared],
        "chunks": [row["chunk"] for row in shared],
        "copies": [new_id() for _ in shared],
    }
    copies = ("units", "postings", "vectors", "names", "links")
    for step in (
        *(f"copy_{table}" for table in copies),
        "delete_homes",
        "hand_names",
        "hand_over",
        "recount",
    ):
        await execute(connection, f"mentions.{step}", parameters)
