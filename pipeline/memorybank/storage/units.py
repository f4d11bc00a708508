"""Units: everything remembered, with the search rows (postings, vectors) that an active unit has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.types.json import Jsonb

from memorybank.indexing import form_of, index_terms, text_hash
from memorybank.storage import copying, packed
from memorybank.storage.copying import INT4, INT8
from memorybank.storage.found import TYPE_BITS
from memorybank.storage.queries import Connection, execute, fetch_all, load
from memorybank.text.traits import Form

#: Places that a chunk has for its facts: the address of a unit is its chunk's ordinal times this, plus its index.
POSITIONS = 1024
#: Chunks that a document can have, so that every address is a PostgreSQL integer.
MAX_ORDINAL = (2**31 - 1) // POSITIONS - 1
#: The term under which every unit has one posting, with tf 1 and its length: by it a trigger counts the bank's units.
EVERY_UNIT = 0
#: A text's hash on the wire.
_TEXT_HASH = "V16"

_POSTING = copying.row_type(
    bank=INT8, term=INT8, document=INT4, position=INT4, audience_id=INT8, tf=INT4, length=INT4
)


@dataclass(frozen=True)
class Indexed:
    """What a unit is found by, at its address: `terms` maps a term's hash to how often it stands in the text."""

    document: int
    position: int
    fact_type: str
    text_hash: bytes
    terms: Mapping[int, int]
    form: Form


def indexed(said: str, at: datetime | None, address: tuple[int, int, str]) -> Indexed:
    """Return what a text that was said at a time is found by; `address`: document, position and type of the unit."""
    return Indexed(*address, text_hash(said), index_terms(said), form_of(said, at))


@dataclass(frozen=True)
class NewUnit(Indexed):
    """A fact to store. `statement`: the hash of what it says, of which time and place; `tags` are sorted, each once."""

    id: UUID
    chunk: UUID
    text: str
    statement: bytes
    context: str = ""
    place_name: str | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    mentioned_at_assumed: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    observation_scopes: str | list[list[str]] | None = None


@dataclass(frozen=True)
class StoredVectors:
    """Vectors of units, by address: documents and positions (n,), vectors float32 (n, d)."""

    documents: np.ndarray
    positions: np.ndarray
    vectors: np.ndarray


async def add(
    connection: Connection, bank: int, audience_id: int, units: Sequence[NewUnit], now: datetime
) -> None:
    """Store facts with their postings."""
    records = [(unit.id, bank, audience_id, now, now, *_record(unit)) for unit in units]
    await copying.copy_records(connection, "units.copy", records)
    await add_postings(connection, bank, audience_id, units)


async def add_postings(connection: Connection, bank: int, audience_id: int, units: Sequence[Indexed]) -> None:
    """Store the terms of units."""
    await copying.copy_rows(connection, "units.copy_postings", [_postings(bank, audience_id, units)])


async def add_vectors(
    connection: Connection,
    bank: int,
    audience_id: int,
    model: int,
    units: Sequence[Indexed],
    vectors: np.ndarray,
) -> None:
    """Store a vector for each unit: float (units, dimensions)."""
    own = {"text_hash": _TEXT_HASH, "vector": copying.halfvec(vectors.shape[1])}
    address = {"bank": INT8, "document": INT4, "position": INT4, "audience_id": INT8}
    kind = copying.row_type(**address, model=INT4, speaker=INT4, traits=INT4, **own)
    rows = copying.rows(kind, len(units))
    rows["bank"], rows["audience_id"], rows["model"] = bank, audience_id, model
    rows["document"] = [unit.document for unit in units]
    rows["position"] = [unit.position for unit in units]
    rows["speaker"] = [unit.form.speaker for unit in units]
    rows["traits"] = [unit.form.traits | TYPE_BITS[unit.fact_type] for unit in units]
    rows["text_hash"] = np.frombuffer(b"".join(unit.text_hash for unit in units), _TEXT_HASH)
    rows["vector"] = copying.halfvec_bytes(vectors)
    await copying.copy_rows(connection, "units.copy_vectors", [rows])


async def unindex(connection: Connection, bank: int, ids: Sequence[UUID]) -> None:
    """Delete the search rows of units, whose text has changed."""
    for step in ("unpost", "unembed"):
        await execute(connection, f"units.{step}", {"bank": bank, "ids": list(ids)})


async def known_vectors(
    connection: Connection, bank: int, model: int, hashes: Sequence[bytes], dimensions: int
) -> dict[bytes, np.ndarray]:
    """Return the vectors that texts have in this bank already, by the hash of the text."""
    if not hashes:
        return {}
    parameters = {"bank": bank, "model": model, "hashes": list(hashes)}
    rows = await fetch_all(connection, "units.known_vectors", parameters)
    return {bytes(row["text_hash"]): copying.floats(row["packed"], dimensions)[0] for row in rows}


async def newest_vectors(
    connection: Connection, bank: int, audience_id: int, model: int, dimensions: int, limit: int
) -> StoredVectors:
    """Return the vectors of the newest units of an audience, at most `limit`."""
    parameters = {"bank": bank, "audience_id": audience_id, "model": model, "limit": limit}
    # Megabytes: in the text form of the protocol each byte would be two letters.
    async with packed.cursor(connection) as cursor:
        await cursor.execute(load()["units.newest_vectors"].sql, parameters)
        [row] = await cursor.fetchall()
    none = np.empty(0, np.int32)
    return StoredVectors(
        row["documents"] if row["packed"] else none,
        row["positions"] if row["packed"] else none,
        copying.floats(row["packed"] or b"", dimensions),
    )


async def at(
    connection: Connection, bank: int, audience_id: int, addresses: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], tuple[UUID, str]]:
    """Return id and fact type of the units at these addresses (document number, position)."""
    if not addresses:
        return {}
    parameters = {
        "bank": bank,
        "audience_id": audience_id,
        "documents": copying.literal(document for document, _ in addresses),
        "positions": copying.literal(position for _, position in addresses),
    }
    rows = await fetch_all(connection, "units.at", parameters)
    return {(row["document_number"], row["position"]): (row["id"], row["fact_type"]) for row in rows}


def _record(unit: NewUnit) -> tuple[Any, ...]:
    return (
        unit.document,
        unit.document,
        unit.chunk,
        unit.position,
        unit.fact_type,
        unit.text,
        unit.statement,
        unit.context,
        unit.place_name,
        unit.occurred_start,
        unit.occurred_end,
        unit.mentioned_at,
        unit.mentioned_at_assumed,
        list(unit.tags),
        Jsonb(dict(unit.metadata)),
        Jsonb(unit.observation_scopes) if unit.observation_scopes else None,
    )


def _postings(bank: int, audience_id: int, units: Sequence[Indexed]) -> copying.Rows:
    """Return one row for each unit and term, and one marker row for each unit, by which units are counted.

    `length` is the number of terms in the unit, repeats counted; at least 1.
    """
    rows = copying.rows(_POSTING, sum(len(unit.terms) + 1 for unit in units))
    rows["bank"], rows["audience_id"] = bank, audience_id
    at = 0
    for unit in units:
        end = at + len(unit.terms) + 1
        part = rows[at:end]
        part["term"], part["tf"] = [*unit.terms, EVERY_UNIT], [*unit.terms.values(), 1]
        part["document"], part["position"] = unit.document, unit.position
        part["length"] = max(1, sum(unit.terms.values()))
        at = end
    return rows
