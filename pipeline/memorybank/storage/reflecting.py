"""What reflect looks up beside its searches: what stands behind a fact, and how fresh the observations are."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.model import FactType, Hit, Scores
from memorybank.storage import search
from memorybank.storage.queries import Connection, Row, fetch_all, fetch_row


@dataclass(frozen=True)
class Passage:
    """A text around a fact, with the tags that it was retained under."""

    fact: UUID
    text: str
    tags: tuple[str, ...]


async def facts(connection: Connection, bank: int, viewer: Viewer, ids: Sequence[UUID]) -> list[Hit]:
    """Return active facts and observations in the order of the ids; those that are gone or unseen are left out."""
    parameters = {"bank": bank, "ids": list(ids), **viewer.parameters()}
    found = {row["id"]: _hit(row) for row in await fetch_all(connection, "reflecting.facts", parameters)}
    return [found[id_] for id_ in ids if id_ in found]


def _hit(row: Row) -> Hit:
    said = {"fact_type": FactType(row["fact_type"]), "tags": tuple(row["tags"]), "scores": Scores(0.0)}
    return Hit(**row | said)


async def around(
    connection: Connection, bank: int, viewer: Viewer, ids: Sequence[UUID], steps: int
) -> list[Passage]:
    """Return the texts that facts were drawn from and those up to `steps` chunks away, the nearest first, each once.

    Texts that are not kept, or that say what was invalidated, are left out.
    """
    parameters = {"bank": bank, "ids": list(ids), "steps": steps, **viewer.parameters()}
    rows = await fetch_all(connection, "reflecting.around", parameters)
    first = {row["chunk"]: row for row in reversed(rows)}
    texts = await search.chunks(connection, bank, viewer, list(first))
    nearest = dict.fromkeys(row["chunk"] for row in rows)
    return [
        Passage(first[chunk]["fact"], texts[chunk].text, tuple(first[chunk]["tags"]))
        for chunk in nearest
        if chunk in texts
    ]


async def waiting(connection: Connection, bank: int, viewer: Viewer, limit: int) -> int:
    """Return how many visible facts wait for consolidation; at most `limit` are counted."""
    parameters = {"bank": bank, "limit": limit, **viewer.parameters()}
    return int((await fetch_row(connection, "reflecting.waiting", parameters))["facts"])
