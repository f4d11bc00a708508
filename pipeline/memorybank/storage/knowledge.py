"""The tree of knowledge pages: folders, and where in them the pages stand, which are mental models."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
from pgvector import HalfVector
from psycopg import errors

from memorybank.audience import Viewer
from memorybank.errors import Conflict
from memorybank.storage.queries import Connection, execute, fetch_all


@dataclass(frozen=True)
class Folder:
    """A folder; `parent` is the number of the one it is in, None at the root."""

    number: int
    id: str
    name: str
    parent: int | None


async def folders(connection: Connection, bank: int, viewer: Viewer) -> list[Folder]:
    """Return the visible folders, by name."""
    rows = await fetch_all(connection, "knowledge.folders", {"bank": bank, **viewer.parameters()})
    return [Folder(**row) for row in rows]


async def hold(connection: Connection, bank: int) -> None:
    """Let nobody else change the tree until the transaction ends."""
    await fetch_all(connection, "knowledge.hold", {"bank": bank})


async def add(
    connection: Connection, bank: int, audience: int, id_: str, name: str, parent: int | None
) -> None:
    """Make a folder; raises Conflict where its parent has one of this name."""
    row = {"bank": bank, "audience_id": audience, "id": id_, "name": name, "parent": parent}
    async with one_of_a_name(name):
        await execute(connection, "knowledge.add", row)


async def place_folder(connection: Connection, folder: Folder) -> None:
    """Give a folder the name and the place that it has here; raises Conflict where one of this name is there."""
    async with one_of_a_name(folder.name):
        await execute(connection, "knowledge.place_folder", vars(folder))


async def place_page(connection: Connection, model: int, name: str, parent: int | None) -> None:
    """Put a page somewhere else; raises Conflict where one of its name is there."""
    async with one_of_a_name(name):
        await execute(connection, "knowledge.place_page", {"number": model, "parent": parent})


async def delete(connection: Connection, folder: Folder) -> None:
    """Delete a folder with all that is in it."""
    await execute(connection, "knowledge.delete", {"number": folder.number})


async def nearness(
    connection: Connection,
    bank: int,
    viewer: Viewer,
    question: tuple[int, np.ndarray],
    *,
    managed: bool = True,
) -> dict[int, float]:
    """Return the best cosine of what each visible page cites to a question, by the number of the page.

    `question`: the number of the embedding model, and the vector (d,). `managed` False: of each mental model.
    """
    model, vector = question
    asked = {"bank": bank, "model": model, "vector": HalfVector(vector).to_text(), "managed": managed}
    asked |= viewer.parameters()
    return {row["model"]: row["nearness"] for row in await fetch_all(connection, "knowledge.nearness", asked)}


@asynccontextmanager
async def one_of_a_name(name: str) -> AsyncIterator[None]:
    """Raise Conflict where a folder would hold two of a name."""
    try:
        yield
    except errors.UniqueViolation as error:
        raise Conflict(f"'{name}' is there already") from error
