"""Taking back what consolidation did, because somebody asks for it: the facts stay and are consolidated anew."""

from datetime import datetime
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.storage import entities, history, listings, mentions
from memorybank.storage.queries import Connection, execute, fetch_all


async def recover(connection: Connection, bank: int, viewer: Viewer) -> int:
    """Let facts wait again for which no answer could be had; return how many."""
    await mentions.alone(connection, bank)
    return await execute(connection, "clearing.recover", {"bank": bank, **viewer.parameters()})


async def clear(
    connection: Connection, bank: int, viewer: Viewer, now: datetime, fact: UUID | None = None
) -> int:
    """Delete all observations of a bank, or those that stand on a fact, and return how many; raises NotFound.

    Every fact, or what these stood on, is to be consolidated again.
    """
    asked = {"bank": bank, "fact": fact, **viewer.parameters()}
    await mentions.alone(connection, bank)
    if fact is None:
        named = [row["entity"] for row in await fetch_all(connection, "clearing.named", asked)]
    else:
        await listings.get_memory(connection, bank, viewer, fact)
        named = await entities.of(connection, "units", [fact])
    documents = await fetch_all(connection, "clearing.documents", asked)
    deleted, *_ = [
        await execute(connection, f"clearing.{step}", asked)
        for step in (("observations", "passes", "facts") if fact is None else ("of_fact",))
    ]
    await entities.prune(connection, bank, named)
    for row in documents:
        await history.record(
            connection, row["document"], history.Event(history.Act.OBSERVATIONS_CLEARED), now
        )
    return deleted
