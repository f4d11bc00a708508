"""Forgetting many memories at once."""

from memorybank.audience import Viewer
from memorybank.storage import entities, mentions
from memorybank.storage.queries import Connection, execute, fetch_all


async def clear(connection: Connection, bank: int, fact_type: str | None, viewer: Viewer) -> int:
    """Forget the visible memories of a bank, or of one type; return how many. Without a type documents go too.

    Runs in the caller's transaction. Names that nothing mentions any more go as well.
    """
    asked = {"bank": bank, "fact_type": fact_type, **viewer.parameters()}
    await mentions.alone(connection, bank)
    await fetch_all(connection, "forget.lock_documents", asked)
    named = await fetch_all(connection, "forget.named", asked)
    deleted = await execute(connection, "forget.units", asked)
    if fact_type is None:
        await execute(connection, "forget.documents", asked)
    await entities.prune(connection, bank, [row["entity"] for row in named])
    return deleted
