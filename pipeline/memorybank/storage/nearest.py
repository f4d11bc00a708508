"""Vectors of a large bank: the nearest by its own index, units that stand for all, and some with their neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pgvector import HalfVector

from memorybank.audience import Viewer
from memorybank.storage.copying import literal
from memorybank.storage.found import Addresses, Distances, Sample, Tagged, Windows
from memorybank.storage.queries import Connection, Row
from memorybank.storage.trip import distances_of, of_addresses, rows, tagged_of, trip

#: Units that stand for all: a deviation is known to 5 percent by so many.
SAMPLED = 256
#: Units of a document are counted up to here: BM25 hardly sees how much longer a document is than that.
LARGEST = 1_000


@dataclass(frozen=True)
class VectorSearch:
    """Where vectors are read, and near what: a bank, who asks, the model by number and name, the question's vector."""

    bank: int
    viewer: Viewer
    model: int
    name: str
    vector: np.ndarray[Any, Any]

    def parameters(self) -> dict[str, Any]:
        """Return what every statement here takes."""
        return {
            "bank": self.bank,
            "model": self.model,
            "vector": HalfVector(self.vector),
            "dimensions": len(self.vector),
            **self.viewer.parameters(),
        }


@dataclass(frozen=True)
class Nearest:
    """The nearest units to ask for: how many, and of which bits in their traits each has one; 0: of any."""

    search: VectorSearch
    limit: int
    traits: int = 0

    def parameters(self) -> dict[str, Any]:
        """Return what the statement takes."""
        return {**self.search.parameters(), "limit": self.limit, "traits": self.traits}


async def sample(connection: Connection, search: VectorSearch, exact: int, seconds: float) -> Sample | None:
    """Return units that stand for all; None where the viewer sees at most `exact`, or the index is of another model.

    `seconds`: what each statement may take, from here on. Raises ArmTooSlow.
    """
    own = {"name": search.name, "exact": exact, "sampled": SAMPLED, "largest": LARGEST}
    async with trip(connection) as sent:
        await sent.limit(seconds)
        asked = await sent.ask("nearest.sample", search.parameters() | own)
    for row in await rows(asked):
        found = distances_of(row)
        if len(found.addresses):
            return Sample(found, row["sizes"], len(found.addresses) / row["looked_at"])
    return None


async def at(connection: Connection, search: VectorSearch, addresses: Addresses) -> Distances:
    """Return the distances of these units; raises ArmTooSlow."""
    [row] = await _asked(connection, "windows", search, of_addresses(addresses) | {"reach": 0})
    return distances_of(row)


async def windows(connection: Connection, search: VectorSearch, addresses: Addresses, reach: int) -> Windows:
    """Return units with `reach` neighbours on each side, and the sizes of their documents; raises ArmTooSlow."""
    documents = literal(np.unique(addresses.documents).tolist())
    async with trip(connection) as sent:
        near = await sent.ask(
            "nearest.windows", search.parameters() | of_addresses(addresses) | {"reach": reach}
        )
        counted = await sent.ask(
            "nearest.document_sizes", search.parameters() | {"documents": documents, "largest": LARGEST}
        )
    [held] = await rows(counted)
    return Windows(distances_of((await rows(near))[0]), held["documents"], held["sizes"])


async def tags(
    connection: Connection, search: VectorSearch, addresses: Addresses, facts: bool | None
) -> Sequence[Tagged]:
    """Return these units grouped by their tags, `facts` as in `FirstTrip`; raises TimedOut."""
    own = of_addresses(addresses) | {"facts": facts}
    return [tagged_of(row) for row in await _asked(connection, "tags", search, own)]


async def _asked(connection: Connection, name: str, search: VectorSearch, own: dict[str, Any]) -> list[Row]:
    async with trip(connection) as sent:
        asked = await sent.ask(f"nearest.{name}", search.parameters() | own)
    return await rows(asked)
