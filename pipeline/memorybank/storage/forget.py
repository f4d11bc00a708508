"""Forgetting many memories at once."""

from datetime import datetime

from memorybank.audience import Viewer
from memorybank.model import FactType
from memorybank.storage import clearing, entities, history, mentions, retains
from memorybank.storage.queries import Connection, execute, fetch_all


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
        await execute(connection, "forget.documents", asked)
    else:
        for row in said:
            event = history.Event(history.Act.FACT_DELETED, removed=row["facts"])
            await history.record(connection, row["document"], event, now)
    await entities.prune(connection, bank, [row["entity"] for row in named])
    return deleted
