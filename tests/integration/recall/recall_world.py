"""A small world to recall from: banks, audiences, documents and units written straight into the tables."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector import HalfVector
from psycopg.types.json import Jsonb

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.ids import new_id
from memorybank.indexing import form_of
from memorybank.model import Bank
from memorybank.recall.query import RecallQuery
from memorybank.recall.run import RecallResult
from memorybank.recall.stage import Recall
from memorybank.settings import BankConfig
from memorybank.storage.found import OBSERVED, TYPE_BITS
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.units import EVERY_UNIT
from memorybank.text import name_key, term_hash, terms


@dataclass(frozen=True)
class Unit:
    """What a test says of a unit; the rest is filled in."""

    text: str
    mentioned_at: datetime | None = None
    occurred: tuple[datetime | None, datetime | None] | None = None
    entities: Sequence[str] = ()
    tags: Sequence[str] = ()
    fact_type: str = "world"
    context: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    status: str = "active"


@dataclass
class World:
    """Writes banks and units, and asks."""

    database: Database
    recall: Recall
    config: BankConfig

    async def bank(self, bank_id: str = "team") -> tuple[Bank, int]:
        """Make a bank; return it and its default audience."""
        now = clock.now()
        async with self.database.connection() as connection:
            cursor = await connection.execute(
                "INSERT INTO bank (bank_id, name, created_at, updated_at) VALUES (%s, %s, %s, %s) RETURNING *",
                [bank_id, bank_id, now, now],
            )
            row = await cursor.fetchone()
            assert row is not None
            return Bank(**row), await self.audience(row["id"], "bank")

    async def audience(self, bank: int, kind: str, person: UUID | None = None) -> int:
        """Make an audience."""
        async with self.database.connection() as connection:
            cursor = await connection.execute(
                "INSERT INTO audience (bank, kind, person, agent, place) VALUES (%s, %s, %s, %s, %s) RETURNING id",
                [bank, kind, person, person, new_id() if kind == "place" else None],
            )
            row = await cursor.fetchone()
            assert row is not None
            return int(row["id"])

    async def document(
        self, bank: Bank, audience: int, units: Sequence[Unit | str], document_id: str | None = None
    ) -> list[UUID]:
        """Write one document whose units stand in this order; return their ids."""
        async with self.database.transaction() as connection, connection.pipeline():
            model = await _model(connection, self.recall.embedder.model, self.recall.embedder.dimensions)
            number = await _document(connection, bank.id, audience, document_id or f"doc-{new_id()}")
            made = [Unit(unit) if isinstance(unit, str) else unit for unit in units]
            return [
                await self._unit(connection, (bank.id, audience, number, at, model), unit)
                for at, unit in enumerate(made)
            ]

    async def _unit(
        self, connection: Connection, address: tuple[int, int, int, int, int], unit: Unit
    ) -> UUID:
        bank, audience, number, at, _ = address
        position, identity = OBSERVED if unit.fact_type == "observation" else at * 1024, new_id()
        chunk = await _chunk(connection, (bank, audience, number, at), unit)
        start, end = unit.occurred or (None, None)
        row: dict[str, Any] = {
            "id": identity,
            "bank": bank,
            "audience_id": audience,
            "document": number,
            "chunk": chunk,
            "document_number": number,
            "position": position,
            "fact_type": unit.fact_type,
            "text": unit.text,
            "context": unit.context,
            "occurred_start": start,
            "occurred_end": end,
            "mentioned_at": unit.mentioned_at,
            "tags": list(unit.tags),
            "metadata": Jsonb(unit.metadata),
            "status": unit.status,
            "created_at": clock.now(),
            "updated_at": clock.now(),
        }
        await _insert(connection, "memory_unit", row)
        if unit.status == "active":
            await self._index(connection, address, position, unit)
        for name in unit.entities:
            await _mention(connection, bank, identity, name)
        return identity

    async def _index(
        self, connection: Connection, address: tuple[int, int, int, int, int], position: int, unit: Unit
    ) -> None:
        text = unit.text
        bank, audience, number, _, model = address
        where = {"bank": bank, "document": number, "position": position, "audience_id": audience}
        vector = HalfVector(self.recall.embedder.encode([text])[0])  # type: ignore[union-attr]
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        shown = form_of(text, None)
        form = {"speaker": shown.speaker, "traits": shown.traits | TYPE_BITS[unit.fact_type]}
        await _insert(
            connection, "embedding", where | form | {"model": model, "text_hash": digest, "vector": vector}
        )
        found = Counter(term_hash(term) for term in terms(text))
        length = max(1, found.total())
        for term, tf in {EVERY_UNIT: 1, **found}.items():
            await _insert(connection, "posting", where | {"term": term, "tf": tf, "length": length})

    async def observe(self, bank: Bank, audience: int, text: str, sources: Sequence[UUID]) -> UUID:
        """Write an observation that stands on these facts; return its id."""
        (identity,) = await self.document(bank, audience, [Unit(text, fact_type="observation")])
        async with self.database.transaction() as connection:
            for source in sources:
                row = {"observation": identity, "source": source, "bank": bank.id, "audience_id": audience}
                await _insert(connection, "observation_source", row)
        return identity

    async def ask(self, bank: Bank, viewer: Viewer | int, query: str, **more: Any) -> RecallResult:
        """Recall as a viewer, or as one who may see one audience."""
        sees = viewer if isinstance(viewer, Viewer) else Viewer((viewer,))
        config = more.pop("config", self.config)
        return await self.recall(bank, config, RecallQuery(query, **more), sees)

    async def texts(self, bank: Bank, viewer: Viewer | int, query: str, **more: Any) -> list[str]:
        """Return the texts of the hits."""
        return [hit.text for hit in (await self.ask(bank, viewer, query, **more)).hits]


async def _insert(connection: Connection, table: str, row: dict[str, Any]) -> None:
    columns, values = ", ".join(row), ", ".join(f"%({column})s" for column in row)
    await connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({values})", row)  # type: ignore[arg-type]  # noqa: S608


async def _model(connection: Connection, name: str, dimensions: int) -> int:
    cursor = await connection.execute(
        "INSERT INTO embedding_model (name, dimensions) VALUES (%s, %s)"
        " ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
        [name, dimensions],
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["id"])


async def _document(connection: Connection, bank: int, audience: int, document_id: str) -> int:
    now = clock.now()
    cursor = await connection.execute(
        "INSERT INTO document (bank, id, audience_id, text_length, content_hash, submitted_at, created_at, updated_at)"
        " VALUES (%s, %s, %s, 0, '', %s, %s, %s) RETURNING number",
        [bank, document_id, audience, now, now, now],
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["number"])


async def _chunk(connection: Connection, address: tuple[int, int, int, int], unit: Unit) -> UUID:
    bank, audience, number, ordinal = address
    identity = new_id()
    row = {
        "id": identity,
        "bank": bank,
        "document": number,
        "ordinal": ordinal,
        "audience_id": audience,
        "text": f"Chunk of: {unit.text}",
        "content_hash": b"",
        "state": "extracted",
        "created_at": clock.now(),
    }
    await _insert(connection, "chunk", row)
    return identity


async def _mention(connection: Connection, bank: int, unit: UUID, name: str) -> None:
    cursor = await connection.execute(
        "INSERT INTO entity (id, bank, key, name, created_at) VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT (bank, key, sense, is_label) DO UPDATE SET name = entity.name RETURNING id",
        [new_id(), bank, name_key(name), name, clock.now()],
    )
    row = await cursor.fetchone()
    assert row is not None
    await _insert(connection, "unit_entity", {"unit": unit, "entity": row["id"], "bank": bank})
