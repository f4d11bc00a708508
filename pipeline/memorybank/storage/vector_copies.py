"""Copies of the vectors of banks that are asked again and again: what each question would read, kept in the process.

A copy is of one version of a bank. Every search reads in its snapshot which version that holds (`search.statistics`),
and takes no copy of another: no answer is older than its snapshot, whoever writes from wherever.
"""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memorybank.audience import Viewer
from memorybank.errors import DatabaseUnavailable
from memorybank.storage import copying, packed, search
from memorybank.storage.found import Addresses, Array, Distances, Gathered, Statistics
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection, Row, load
from memorybank.storage.search import FirstTrip

#: Questions at one version after which a copy is made. To make it costs what it saves so many, at 20,000 units (at 420
#: half): so a bank that is written between questions is hardly ever copied, and whoever writes at the worst moment pays
#: for vectors twice.
ASKED = 10
#: Units that are measured on the event loop at most (0.4 ms); more are worth the way to a thread.
LOOP_UNITS = 5_000
#: Bytes of a unit beside its vector: address, audience, speaker and traits.
_BESIDE = 24
#: Banks whose questions are counted at most, those last asked.
_COUNTED = 1_000

logger = logging.getLogger(__name__)

#: A bank and the name of an embedding model.
Key = tuple[int, str]


@dataclass(frozen=True)
class Copy:
    """Every unit of one version of a bank, of all audiences (n,); `vectors` float32 (n, dimensions), of length 1."""

    vectors: Array
    addresses: Addresses
    audiences: Array
    speakers: Array
    traits: Array

    @classmethod
    def of(cls, row: Row, dimensions: int) -> "Copy":
        """Return the copy that a row of packed arrays holds, of one unit at least."""
        vectors = _directions(copying.floats(row["packed"], dimensions))
        addresses = Addresses(row["documents"], row["positions"])
        return cls(vectors, addresses, row["audiences"], row["speakers"], row["traits"])

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return self.vectors.nbytes + _BESIDE * len(self.vectors)

    def distances(self, vector: np.ndarray[Any, Any], viewer: Viewer) -> Distances:
        """Return what `search.distances` would: the cosine distance of each unit that the viewer may see."""
        # In halves first: so the database reads it. All are measured: it takes more to copy out those that are seen.
        asked = _directions(vector.astype(np.float16).astype(np.float32))
        distances = 1 - np.clip(self.vectors @ asked, -1, 1)
        seen: Any = slice(None) if viewer.sees_all else np.isin(self.audiences, viewer.audiences)
        return Distances(
            Addresses(self.addresses.documents[seen], self.addresses.positions[seen]),
            distances[seen],
            self.speakers[seen],
            self.traits[seen],
        )


@dataclass
class _Asked:
    """How often a bank was asked at one version, and the copy of it, where there is one."""

    version: int
    times: int = 0
    copy: Copy | None = None


class VectorCopies:
    """The copies of one process, those last asked for, in `room` bytes; one is made at a time, beside the questions."""

    def __init__(self, database: Database, room: int, most_units: int) -> None:
        self._database, self._room, self._most = database, room, most_units
        self._banks: OrderedDict[Key, _Asked] = OrderedDict()
        self._making: asyncio.Task[None] | None = None

    async def gather(self, connection: Connection, bank: int, viewer: Viewer, asked: FirstTrip) -> Gathered:
        """Return what `search.gather` does, the distances by a copy where one is of the version of the snapshot."""
        vector, key = asked.vector, (bank, asked.model)
        if vector is None or asked.nearest:
            return await search.gather(connection, bank, viewer, asked)
        held = self._banks.get(key)
        if held is None or held.copy is None:
            gathered = await search.gather(connection, bank, viewer, asked)
            self._note(key, gathered.statistics, len(vector))
            return gathered
        # Measured while the database reads the rest, and for nothing at the first question after a write.
        measured = _measured(held.copy, vector, viewer)
        gathered = await search.gather(connection, bank, viewer, replace(asked, vector=None))
        self._note(key, gathered.statistics, len(vector))
        if held.version == gathered.statistics.version:
            return replace(gathered, distances=await measured)
        vectors = FirstTrip(asked.seconds, vector, asked.model, (), 1, 1)
        return replace(gathered, distances=(await search.gather(connection, bank, viewer, vectors)).distances)

    def _note(self, key: Key, sizes: Statistics, dimensions: int) -> None:
        """Take note that all vectors of a bank were asked for, and have a copy made where that will pay."""
        fits = sizes.held * (4 * dimensions + _BESIDE) <= self._room and sizes.held <= self._most
        if sizes.version is None or not fits:
            self._banks.pop(key, None)
            return
        known = self._banks.get(key)
        if known is None or known.version != sizes.version:
            known = self._banks[key] = _Asked(sizes.version)
        self._banks.move_to_end(key)
        known.times += 1
        if known.copy is None and known.times >= ASKED and self._making is None:
            known.times = 0  # where nothing comes of it, it is tried again as late
            self._making = asyncio.create_task(self._make(key, dimensions))
        self._make_room()

    async def close(self) -> None:
        """Stop making a copy."""
        if self._making:
            self._making.cancel()
            await asyncio.gather(self._making, return_exceptions=True)

    async def _make(self, key: Key, dimensions: int) -> None:
        try:
            async with self._database.connection() as connection, packed.cursor(connection) as cursor:
                await cursor.execute(load()["search.copy"].sql, {"bank": key[0], "model": key[1]})
                [row] = await cursor.fetchall()
            known = self._banks.get(key)
            if known and row["version"] == known.version and row["packed"]:
                known.copy = await asyncio.to_thread(Copy.of, row, dimensions)
        except DatabaseUnavailable as error:
            logger.warning("no copy was made of the vectors of bank %s: %s", key[0], error)
        finally:
            self._making = None
            self._make_room()

    def _make_room(self) -> None:
        held = sum(known.copy.size for known in self._banks.values() if known.copy)
        while held > self._room or len(self._banks) > _COUNTED:
            _, gone = self._banks.popitem(last=False)
            held -= gone.copy.size if gone.copy else 0


def _directions(vectors: Array) -> Array:
    """Make vectors (…, dimensions) of length 1, in place; one of zeros is near to nothing: NaN, as in the database."""
    with np.errstate(invalid="ignore"):
        vectors /= np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None]
    return vectors


def _measured(copy: Copy, vector: np.ndarray[Any, Any], viewer: Viewer) -> "asyncio.Future[Distances]":
    loop = asyncio.get_running_loop()
    if len(copy.vectors) > LOOP_UNITS:
        return loop.run_in_executor(None, copy.distances, vector, viewer)
    done = loop.create_future()
    done.set_result(copy.distances(vector, viewer))
    return done
