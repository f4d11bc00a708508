"""What retain reads and writes on its own operation row: its payload, and counts that outlive a round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from memorybank.audience import Viewer
from memorybank.storage.queries import Connection, execute, fetch_all, fetch_one, fetch_row


@dataclass(frozen=True)
class Submission:
    """A request that was taken before, by the id its client gave it."""

    bank: int
    kind: str
    items_count: int
    children: tuple[UUID, ...]


@dataclass(frozen=True)
class Carried:
    """What earlier rounds of an operation left: counts by name, and whether it had ended and was asked for anew."""

    counts: Mapping[str, int]
    again: bool


async def submission(connection: Connection, operation_id: UUID) -> Submission | None:
    """Return the request with this id, of whatever bank, or None."""
    row = await fetch_one(connection, "retains.submission", {"id": operation_id})
    if row is None:
        return None
    return Submission(row["bank"], row["kind"], row["items_count"], tuple(row["children"]))


async def set_payload(connection: Connection, operation_id: UUID, payload: Mapping[str, Any]) -> None:
    """Replace the payload of an operation, in a transaction that holds its lease."""
    await execute(connection, "retains.set_payload", {"id": operation_id, "payload": Jsonb(dict(payload))})


async def forget_content(
    connection: Connection, bank: int, ids: Sequence[str] | None, viewer: Viewer
) -> None:
    """Take documents out of all that waits to be written, or may be tried again; None: all of them.

    Before `mentions.alone`. What is being worked on sees it with `awaited`.
    """
    parameters = {"bank": bank, "ids": None if ids is None else list(ids), **viewer.parameters()}
    await execute(connection, "retains.forget_content", parameters)


async def awaited(connection: Connection, operation_id: UUID) -> set[str]:
    """Return the documents that an operation shall still write, in a transaction that holds its lease."""
    return {row["id"] for row in await fetch_all(connection, "retains.awaited", {"id": operation_id})}


async def carried(connection: Connection, operation_id: UUID) -> Carried:
    """Return what earlier rounds of an operation left."""
    row = await fetch_row(connection, "retains.carried", {"id": operation_id})
    return Carried(row["counts"] or {}, row["again"])


async def set_result(connection: Connection, operation_id: UUID, result: Mapping[str, Any]) -> None:
    """Keep the counts of an operation that ends as failed, in a transaction that holds its lease."""
    await execute(connection, "retains.set_result", {"id": operation_id, "result": Jsonb(dict(result))})
