"""A fact as people change it: read, and written as a whole with the history of the documents that say it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.storage import history
from memorybank.storage.queries import Connection, execute, fetch_all, fetch_one


@dataclass(frozen=True)
class Stored:
    """A memory. `corrected`: the fields that people have set; `read_…`: what a text said, where that was changed.

    `entities`: the names of what it names, by id.
    """

    id: UUID
    audience_id: int
    document_number: int
    position: int
    fact_type: str
    text: str
    context: str
    place_name: str | None
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    mentioned_at_assumed: bool
    statement: bytes | None
    status: str
    status_reason: str | None
    status_at: datetime | None
    corrected: tuple[str, ...]
    read_text: str | None
    read_statement: bytes | None
    edited_at: datetime | None
    revision: int
    entities: Mapping[UUID, str]


async def get(connection: Connection, bank: int, fact: UUID, viewer: Viewer) -> Stored:
    """Return a memory in any state; raises NotFound. Under `mentions.alone` nobody changes it from there on."""
    row = await fetch_one(connection, "curation.get", {"bank": bank, "id": fact, **viewer.parameters()})
    if row is None:
        raise NotFound(f"Memory {fact} not found")
    entities = {UUID(id_): name for id_, name in row["entities"].items()}
    return Stored(**row | {"corrected": tuple(row["corrected"]), "entities": entities})


async def write(connection: Connection, fact: Stored, acts: Sequence[history.Act], now: datetime) -> None:
    """Write a fact as it shall be, and what was done to it; under `mentions.alone`."""
    await execute(connection, "curation.write", {**vars(fact), "corrected": list(fact.corrected), "now": now})
    for row in await fetch_all(connection, "curation.documents", {"id": fact.id}):
        for act in acts:
            await history.record(connection, row["document"], history.Event(act, fact=fact.id), now)


async def unlink(connection: Connection, fact: UUID) -> None:
    """Delete the links of a fact to what it was near to."""
    await execute(connection, "curation.unlink", {"id": fact})
