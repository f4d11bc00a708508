"""Forgetting: one memory, with a report of what went, or many at once."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.model import FactType
from memorybank.storage import clearing, entities, entries, history, mentions, retains
from memorybank.storage.queries import Connection, execute, fetch_all, fetch_one, fetch_row


@dataclass(frozen=True)
class Erasure:
    """What went with a memory: what was learned from it, statements of mental models, names that nothing says.

    `chunks` are texts that say it: they stay with their documents, and recall shows them no more.
    """

    memory: UUID
    observations: int
    statements: int
    entities: int
    chunks: int


async def one(connection: Connection, bank: int, memory: UUID, viewer: Viewer, now: datetime) -> Erasure:
    """Forget a memory in any state; raises NotFound.

    What else its observations stood on is to be consolidated anew. The same words, kept or read again, are a new one.
    """
    await mentions.alone(connection, bank)
    asked = {"bank": bank, "id": memory, **viewer.parameters()}
    counted = await fetch_one(connection, "forget.counted", asked)
    if counted is None:
        raise NotFound(f"Memory {memory} not found")
    documents = await fetch_all(connection, "curation.documents", asked)
    named = await entities.of(connection, "units", [memory])
    chunks = await execute(connection, "forget.withhold", asked)
    await execute(connection, "forget.one", asked)
    for row in documents:
        event = history.Event(history.Act.FACT_DELETED, fact=memory, removed=1)
        await history.record(connection, row["document"], event, now)
    await entities.prune(connection, bank, named)
    left = await fetch_row(connection, "forget.left", {"ids": list(named)})
    return Erasure(
        memory, counted["observations"], counted["statements"], len(set(named)) - left["entities"], chunks
    )


async def clear(
    connection: Connection, bank: int, fact_type: str | None, viewer: Viewer, now: datetime
) -> int:
    """Forget the visible memories of a bank, or of one type; return how many. Without a type documents go too,
    and what waits to be written.

    Runs in the caller's transaction. Names that nothing mentions any more go as well.
    """
    if fact_type == FactType.OBSERVATION:
        return await clearing.clear(connection, bank, viewer, now)
    asked = {"bank": bank, "fact_type": fact_type, **viewer.parameters()}
    if fact_type is None:
        await retains.forget_content(connection, bank, None, viewer)
    await mentions.alone(connection, bank)
    await fetch_all(connection, "forget.lock_documents", asked)
    named = await fetch_all(connection, "forget.named", asked)
    said = await fetch_all(connection, "forget.said", asked)
    deleted = await execute(connection, "forget.units", asked)
    if fact_type is None:
        await entries.forget_unseen(connection, bank, viewer)
        await execute(connection, "forget.documents", asked)
    else:
        for row in said:
            event = history.Event(history.Act.FACT_DELETED, removed=row["facts"])
            await history.record(connection, row["document"], event, now)
    await entities.prune(connection, bank, [row["entity"] for row in named])
    return deleted
