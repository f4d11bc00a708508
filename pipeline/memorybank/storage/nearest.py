"""Vectors of a large bank: the nearest by its own index, units that stand for all, and some with their neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import AsyncCursor
from psycopg.rows import DictRow

from memorybank.audience import Viewer
from memorybank.storage.copying import literal
from memorybank.storage.found import Addresses, Distances, Sample, Tagged, Windows
from memorybank.storage.queries import Connection
from memorybank.storage.trip import Trip, addresses_of, distances_of, of_addresses, rows, trip

#: Units that stand for all: a deviation is known to 5 percent by so many.
SAMPLED = 256
#: Units of a document are counted up to here: BM25 hardly sees how much longer a document is than that.
LARGEST = 1_000


@dataclass(frozen=True)
class Scope:
    """Where vectors are read: a bank, who asks, the model by number and name, the question's vector."""

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
class Near:
    """The nearest units to ask for: how many, and of which bits in their traits each has one; 0: of any."""

    scope: Scope
    limit: int
    traits: int = 0


async def sample(connection: Connection, scope: Scope, exact: int, seconds: float) -> Sample | None:
    """Return units that stand for all; None where the viewer sees at most `exact`, or the index is of another model.

    `seconds`: what each statement may take, from here on. Raises ArmTooSlow.
    """
    own = {"name": scope.name, "exact": exact, "sampled": SAMPLED, "largest": LARGEST}
    async with trip(connection) as sent:
        await sent.limit(seconds)
        asked = await sent.ask("nearest.sample", scope.parameters() | own)
    for row in await rows(asked):
        found = distances_of(row)
        if len(found.addresses):
            return Sample(found, row["sizes"], len(found.addresses) / row["looked_at"])
    return None


async def ask_nearest(sent: Trip, near: Near) -> AsyncCursor[DictRow]:
    """Send the question for the nearest units; the answer is a row of packed arrays."""
    own = {"limit": near.limit, "traits": near.traits}
    return await sent.ask("nearest.nearest", near.scope.parameters() | own)


async def at(connection: Connection, scope: Scope, addresses: Addresses) -> Distances:
    """Return the distances of these units; raises ArmTooSlow."""
    async with trip(connection) as sent:
        asked = await sent.ask("nearest.windows", scope.parameters() | of_addresses(addresses) | {"reach": 0})
    return distances_of((await rows(asked))[0])


async def windows(connection: Connection, scope: Scope, addresses: Addresses, reach: int) -> Windows:
    """Return units with `reach` neighbours on each side, and the sizes of their documents; raises ArmTooSlow."""
    counted = {"documents": literal(np.unique(addresses.documents).tolist()), "largest": LARGEST}
    around = of_addresses(addresses) | {"reach": reach}
    async with trip(connection) as sent:
        near = await sent.ask("nearest.windows", scope.parameters() | around)
        sizes = await sent.ask("nearest.sizes", scope.parameters() | counted)
    [held] = await rows(sizes)
    return Windows(distances_of((await rows(near))[0]), held["documents"], held["sizes"])


async def tags(connection: Connection, scope: Scope, addresses: Addresses) -> Sequence[Tagged]:
    """Return these units grouped by their tags."""
    async with trip(connection) as sent:
        asked = await sent.ask("nearest.tags", scope.parameters() | of_addresses(addresses))
    return [Tagged(frozenset(row["tags"]), addresses_of(row)) for row in await rows(asked)]
