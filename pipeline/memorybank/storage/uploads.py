"""Uploaded files: their bytes, from the request until a worker has read them as text."""

from dataclasses import dataclass
from uuid import UUID

from memorybank.storage.queries import Connection, execute, fetch_one


@dataclass(frozen=True)
class NewUpload:
    """A file that came with a request, under the audience of its operation."""

    operation: UUID
    bank: int
    audience_id: int
    content: bytes


async def add(connection: Connection, upload: NewUpload) -> None:
    """Store the bytes of a file, in the transaction that queues its operation."""
    await execute(connection, "uploads.add", vars(upload))


async def content(connection: Connection, operation: UUID) -> bytes | None:
    """Return the bytes of an operation's file; None where they were read, or given up, before."""
    row = await fetch_one(connection, "uploads.content", {"operation": operation})
    return None if row is None else bytes(row["content"])


async def delete(connection: Connection, operation: UUID) -> None:
    """Forget the bytes of an operation's file, in a transaction that holds its lease."""
    await execute(connection, "uploads.delete", {"operation": operation})
