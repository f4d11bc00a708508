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


async def clear(connection: Connection, bank: int, viewer: Viewer, now: datetime) -> int:
    """Delete all observations of a bank, and return how many; every fact is to be consolidated again."""
    asked = {"bank": bank, "fact": None, **viewer.parameters()}
    await mentions.alone(connection, bank)
    documents = await _documents(connection, asked)
    named = await fetch_all(connection, "clearing.named", asked)
    deleted = await execute(connection, "clearing.observations", asked)
    for step in ("passes", "facts"):
        await execute(connection, f"clearing.{step}", asked)
    await entities.prune(connection, bank, [row["entity"] for row in named])
    await _tell(connection, documents, now)
    return deleted


async def clear_of(connection: Connection, bank: int, fact: UUID, viewer: Viewer, now: datetime) -> int:
    """Delete the observations that stand on a fact, and return how many; raises NotFound.

    It and what else they stood on are consolidated anew.
    """
    asked = {"bank": bank, "fact": fact, **viewer.parameters()}
    await mentions.alone(connection, bank)
    await listings.get_memory(connection, bank, viewer, fact)
    documents = await _documents(connection, asked)
    named = await entities.of_units(connection, [fact])
    deleted = await execute(connection, "clearing.of_fact", asked)
    await entities.prune(connection, bank, named)
    await _tell(connection, documents, now)
    return deleted


async def _documents(connection: Connection, asked: dict[str, object]) -> list[int]:
    return [row["document"] for row in await fetch_all(connection, "clearing.documents", asked)]


async def _tell(connection: Connection, documents: list[int], now: datetime) -> None:
    for document in documents:
        await history.record(connection, document, history.Event(history.Act.OBSERVATIONS_CLEARED), now)
