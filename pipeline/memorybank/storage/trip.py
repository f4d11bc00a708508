"""Statements of a recall that are sent in one go, and what they bring as arrays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from psycopg import AsyncCursor
from psycopg.errors import QueryCanceled
from psycopg.rows import DictRow

from memorybank.errors import ArmTooSlow, TimedOut
from memorybank.storage import packed
from memorybank.storage.copying import literal
from memorybank.storage.found import NO_DISTANCES, NONE, Addresses, Array, Distances, Tagged
from memorybank.storage.queries import Connection, Parameters, Row, load

#: Which arm a statement feeds: that arm can be left out. What the others read is part of every answer.
ARMS = {
    "search.distances": "semantic",
    "search.postings": "bm25",
    "search.named": "graph",
    "search.around": "graph",
    "search.linked": "graph",
    "search.dated": "temporal",
    "search.later": "temporal",
    "nearest.sample": "semantic",
    "nearest.nearest": "semantic",
    "nearest.windows": "semantic",
    "nearest.document_sizes": "semantic",
}
#: What stands in a statement as a number, not as a parameter: the width of a vector is part of its type.
_WIDTH = "%(dimensions)s"
#: Bits of each of the two numbers that stand in one.
_HALF = 32


@dataclass
class Trip:
    """Statements that are sent in one go."""

    connection: Connection
    sent: list[tuple[str, AsyncCursor[DictRow]]] = field(default_factory=list)

    async def ask(self, name: str, parameters: Parameters) -> AsyncCursor[DictRow]:
        """Send a statement."""
        cursor = packed.cursor(self.connection)
        self.sent.append((name, cursor))
        sql = load()[name].sql
        if _WIDTH in sql:
            sql = sql.replace(_WIDTH, str(int(parameters["dimensions"])))
        return await cursor.execute(sql, parameters)

    async def limit(self, seconds: float) -> None:
        """Say what each statement of this transaction may take from here on."""
        await self.ask("search.limit", {"milliseconds": str(max(1, round(seconds * 1000)))})

    def too_slow(self) -> TimedOut:
        """Return which arm was stopped: all statements before the stopped one have a result."""
        stopped = next((name for name, cursor in self.sent if cursor.pgresult is None), "")
        return ArmTooSlow(ARMS[stopped]) if stopped in ARMS else TimedOut("reading the bank took too long")


@asynccontextmanager
async def trip(connection: Connection) -> AsyncIterator[Trip]:
    """Send all statements of the block at once; raises ArmTooSlow or TimedOut where one takes too long."""
    made = Trip(connection)
    try:
        async with connection.pipeline():
            yield made
    except QueryCanceled as error:
        raise made.too_slow() from error


async def ask(connection: Connection, name: str, parameters: Parameters) -> AsyncCursor[DictRow]:
    """Send one statement and wait for it; raises TimedOut."""
    try:
        return await Trip(connection).ask(name, parameters)
    except QueryCanceled as error:
        raise TimedOut("reading the bank took too long") from error


async def rows(cursor: AsyncCursor[DictRow] | None) -> list[Row]:
    """Return what a statement brought; nothing where it was not asked."""
    return await cursor.fetchall() if cursor else []


def of_addresses(addresses: Addresses) -> dict[str, Any]:
    """Return addresses as parameters."""
    return {
        "documents": literal(addresses.documents.tolist()),
        "positions": literal(addresses.positions.tolist()),
    }


def addresses_of(row: Row) -> Addresses:
    """Return the addresses of a row of packed arrays; null stands for no unit at all."""
    documents, positions = row["documents"], row["positions"]
    return Addresses(NONE if documents is None else documents, NONE if positions is None else positions)


def tagged_of(row: Row) -> Tagged:
    """Return the units of a row that hold its tags."""
    return Tagged(frozenset(row["tags"]), addresses_of(row))


def distances_of(row: Row) -> Distances:
    """Return the distances of a row of packed arrays, of which two hold two numbers in each of theirs."""
    if row["addresses"] is None:
        return NO_DISTANCES
    speakers, traits = _halves(row["forms"])
    return Distances(Addresses(*_halves(row["addresses"])), row["distances"], speakers, traits)


def _halves(numbers: Array) -> tuple[Array, Array]:
    """Return the upper 32 bits of each number, and the lower."""
    return numbers >> _HALF, numbers & ((1 << _HALF) - 1)
