"""R4: thousands of tiny banks. Nothing is made for a bank but rows, and no call holds more locks than with one bank."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from recall_world import World

from memorybank.audience import Viewer
from memorybank.model import Bank
from memorybank.recall.stage import Recall
from memorybank.storage import banks
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection

MANY = 5_000
KEY = "The spare key is with the florist."
#: Copies of one bank with one fact, all at once.
COPIES = f"""
INSERT INTO bank (bank_id, name, created_at, updated_at)
SELECT 'tiny-' || at, 'tiny', now(), now() FROM generate_series(1, {MANY}) AS at;
CREATE TEMP TABLE tiny AS SELECT id, row_number() OVER (ORDER BY id) AS at FROM bank WHERE name = 'tiny';
INSERT INTO audience (bank, kind) SELECT id, 'bank' FROM tiny;
INSERT INTO document (bank, id, audience_id, text_length, content_hash, submitted_at, created_at, updated_at)
SELECT a.bank, 'd', a.id, 0, '', now(), now(), now() FROM audience a JOIN tiny ON tiny.id = a.bank;
INSERT INTO memory_unit (id, bank, audience_id, document, document_number, position, fact_type, text, created_at,
                         updated_at)
SELECT gen_random_uuid(), d.bank, d.audience_id, d.number, d.number, u.position, u.fact_type,
       u.text || ' Bank ' || tiny.at, now(), now()
FROM memory_unit u, document d JOIN tiny ON tiny.id = d.bank WHERE u.text = '{KEY}';
INSERT INTO embedding (bank, document, position, audience_id, model, speaker, traits, text_hash, vector)
SELECT d.bank, d.number, e.position, d.audience_id, e.model, e.speaker, e.traits, e.text_hash, e.vector
FROM embedding e, document d JOIN tiny ON tiny.id = d.bank;
INSERT INTO posting (bank, term, document, position, audience_id, tf, length)
SELECT d.bank, p.term, d.number, p.position, d.audience_id, p.tf, p.length
FROM posting p, document d JOIN tiny ON tiny.id = d.bank;
ANALYZE;
"""  # noqa: S608


@dataclass
class Counting:
    """A database that counts the locks which each transaction holds at its end."""

    database: Database
    locks: list[int] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.database, name)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        async with self.database.snapshot() as connection:
            yield connection
            self.locks.append(await _count(connection, "pg_locks WHERE pid = pg_backend_pid()"))


async def _count(connection: Connection, what: str) -> int:
    cursor = await connection.execute(f"SELECT count(*) AS found FROM {what}")  # type: ignore[arg-type]  # noqa: S608
    row = await cursor.fetchone()
    assert row is not None
    return int(row["found"])


async def _delete(database: Database, bank_id: str) -> int:
    """Delete a bank; return how many locks that took."""
    async with database.transaction() as connection:
        assert (await banks.delete(connection, bank_id)).total > 0
        return await _count(connection, "pg_locks WHERE pid = pg_backend_pid()")


async def _tiny(database: Database, number: int) -> Bank:
    async with database.connection() as connection:
        bank = await banks.get(connection, f"tiny-{number}")
    assert bank is not None
    return bank


async def test_many_tiny_banks_cost_rows_alone(world: World) -> None:
    counting = Counting(world.database)
    recall = Recall(counting, world.recall.embedder, world.recall.settings)  # type: ignore[arg-type]
    counted = replace(world, recall=recall)
    lone, audience = await world.bank("lone")
    await world.document(lone, audience, [KEY])
    other, other_audience = await world.bank("other")
    async with world.database.connection() as connection:
        relations = await _count(connection, "pg_class")
    assert await counted.texts(lone, audience, "Who has the spare key?") == [KEY]
    async with world.database.connection() as connection:
        await connection.execute(COPIES)  # type: ignore[arg-type]
        assert await _count(connection, "bank") == MANY + 2
        # The one more is the temporary table of the copies.
        assert await _count(connection, "pg_class WHERE relpersistence = 'p'") == relations
    for number in (1, MANY // 2, MANY):
        bank = await _tiny(world.database, number)
        hits = await counted.texts(bank, Viewer.operator(), "Who has the spare key?")
        assert hits == [f"{KEY} Bank {number}"]
    assert max(counting.locks[1:]) <= counting.locks[0]
    await world.document(other, other_audience, [KEY])
    deleted = [await _delete(world.database, name) for name in ("other", "tiny-1", f"tiny-{MANY}")]
    assert len(set(deleted)) == 1
    assert await counted.texts(await _tiny(world.database, 2), Viewer.operator(), "key") == [f"{KEY} Bank 2"]
