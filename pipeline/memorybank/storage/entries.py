"""Entries: keys and values of agents, each with the memory by which recall finds it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.storage import stated
from memorybank.storage.queries import Connection, execute, fetch_all, fetch_row


@dataclass(frozen=True)
class Entry:
    """A key and its value, any JSON."""

    key: str
    value: Any
    updated_at: datetime


@dataclass(frozen=True)
class Face:
    """What recall has found an entry by: a memory, what it says if it is active, and whether it is pinned."""

    unit: UUID | None
    text: str | None
    pinned: bool


async def list_(connection: Connection, agents: Sequence[UUID]) -> list[Entry]:
    """Return the entries of agents by key, of each key the newest."""
    rows = await fetch_all(connection, "entries.list", {"agents": list(agents)})
    return [Entry(row["key"], json.loads(row["value"]), row["updated_at"]) for row in rows]


async def put(connection: Connection, audience_id: int, agent: UUID, entry: Entry) -> Face:
    """Set the value of a key, and return by what the one before was found. `audience_id`: that of the agent."""
    new = {"agent": agent, "key": entry.key, "value": json.dumps(entry.value), "audience_id": audience_id}
    with stated.rules():
        row = await fetch_row(connection, "entries.put", {**new, "now": entry.updated_at})
    return Face(**row)


async def show(connection: Connection, agent: UUID, key: str, unit: UUID | None) -> None:
    """Say by which memory recall finds an entry from now on; None: by none."""
    await execute(connection, "entries.show", {"agent": agent, "key": key, "unit": unit})


async def forget_unseen(connection: Connection, bank: int, viewer: Viewer) -> None:
    """Forget the entries that no memory stands for."""
    await execute(connection, "entries.forget_unseen", {"bank": bank, **viewer.parameters()})
