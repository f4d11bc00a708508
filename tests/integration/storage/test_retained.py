"""What retain stores, seen from its tables: packed rows, vectors, documents, calls, models."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from memorybank.audience import Viewer
from memorybank.errors import InvalidConfig, NotFound
from memorybank.ids import new_id
from memorybank.model import Bank, LlmCall, TokenUsage
from memorybank.storage import banks, chunks, documents, entities, links, llm_calls, models, units
from memorybank.storage.chunks import About, NewChunk
from memorybank.storage.documents import NewDocument
from memorybank.storage.llm_calls import Caller
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.units import NewUnit
from memorybank.text.traits import Form, Trait

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
OPERATOR = Viewer.operator()


class Shelf:
    """A bank with one document of two chunks, two facts each; vectors of three dimensions."""

    def __init__(self, connection: Connection, bank: Bank, audience: int, operation: UUID) -> None:
        self.connection, self.bank, self.audience, self.operation = connection, bank, audience, operation
        self.facts: list[NewUnit] = []

    async def fill(self) -> None:
        connection, bank = self.connection, self.bank.id
        new = NewDocument("d", "text", 4, "hash", AT, tags=("a",))
        self.document = await documents.put(connection, bank, self.audience, new, AT)
        about = About(tags=("a",), metadata={"k": "v"})
        made = [NewChunk(new_id(), self.document, n, f"chunk {n}", bytes([n]) * 16, about) for n in range(2)]
        await chunks.add(connection, bank, self.audience, self.operation, made, AT)
        self.facts = [self.fact(chunk, index) for chunk in made for index in range(2)]
        self.vectors = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0], [0, 0, 1]], np.float32)
        self.model = await models.embedding_model(connection, "tiny", 3)
        await units.add(connection, bank, self.audience, self.facts, AT)
        await units.add_vectors(connection, bank, self.audience, self.model, self.facts, self.vectors)

    def fact(self, chunk: NewChunk, index: int) -> NewUnit:
        return NewUnit(
            id=new_id(),
            document=self.document,
            chunk=chunk.id,
            position=chunk.ordinal * units.POSITIONS + index,
            fact_type="world",
            text=f"fact {chunk.ordinal}.{index}",
            text_hash=bytes([chunk.ordinal, index]) * 8,
            statement=bytes([chunk.ordinal, index]) * 8,
            terms={7: 2, -(2**63): 1},
            form=Form(-3, Trait.ASKS),
            tags=("a", "own"),
        )

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        return await (await self.connection.execute(sql)).fetchall()


@pytest.fixture
async def shelf(database: Database) -> Any:
    async with database.transaction() as connection:
        bank = await banks.ensure(connection, "b", AT)
        audience = await banks.default_audience(connection, bank.id)
        operation = new_id()
        await connection.execute(
            "INSERT INTO operation (id, bank, audience_id, kind, created_at, updated_at)"
            " VALUES (%s, %s, %s, 'retain', %s, %s)",
            [operation, bank.id, audience, AT, AT],
        )
        shelf = Shelf(connection, bank, audience, operation)
        await shelf.fill()
        yield shelf


async def test_postings_and_vectors_come_back_as_they_went(shelf: Shelf) -> None:
    postings = await shelf.rows("SELECT term, tf, length, position FROM posting ORDER BY position, term")
    assert len(postings) == 12  # two terms and the marker each
    assert postings[0] == {"term": -(2**63), "tf": 1, "length": 3, "position": 0}
    stored = await units.newest_vectors(shelf.connection, shelf.bank.id, shelf.audience, shelf.model, 3, 3)
    assert list(stored.positions) == [1025, 1024, 1]
    assert np.allclose(stored.vectors, shelf.vectors[[3, 2, 1]], atol=1e-3)
    known = await units.known_vectors(
        shelf.connection, shelf.bank.id, shelf.model, [shelf.facts[2].text_hash, b"x" * 16], 3
    )
    assert list(known) == [shelf.facts[2].text_hash]
    assert np.allclose(known[shelf.facts[2].text_hash], shelf.vectors[2], atol=1e-3)


async def test_nobodys_vectors_are_an_empty_array(shelf: Shelf) -> None:
    none = await units.newest_vectors(shelf.connection, shelf.bank.id, shelf.audience + 1, shelf.model, 3, 9)
    assert none.vectors.shape == (0, 3)
    assert await units.known_vectors(shelf.connection, shelf.bank.id, shelf.model, [], 3) == {}


async def test_units_are_found_by_address_inside_their_audience(shelf: Shelf) -> None:
    wanted = [(shelf.document, 1), (shelf.document, 1024), (shelf.document, 99)]
    found = await units.at(shelf.connection, shelf.bank.id, shelf.audience, wanted)
    assert found == {
        (shelf.document, 1): (shelf.facts[1].id, "world"),
        (shelf.document, 1024): (shelf.facts[2].id, "world"),
    }
    assert await units.at(shelf.connection, shelf.bank.id, shelf.audience + 1, wanted) == {}


async def test_chunks_that_change_places_take_their_units_and_search_rows_along(shelf: Shelf) -> None:
    first, second = await chunks.of_document(shelf.connection, shelf.document)
    await chunks.move(shelf.connection, {first.id: 1, second.id: 0})
    rows = await shelf.rows("SELECT text, position FROM memory_unit ORDER BY position")
    assert [(row["text"], row["position"]) for row in rows] == [
        ("fact 1.0", 0), ("fact 1.1", 1), ("fact 0.0", 1024), ("fact 0.1", 1025),
    ]  # fmt: skip
    [row] = await shelf.rows("SELECT text_hash FROM embedding WHERE position = 1024")
    assert bytes(row["text_hash"]) == shelf.facts[0].text_hash
    assert len(await shelf.rows("SELECT 1 FROM posting WHERE position IN (0, 1, 1024, 1025)")) == 12


async def test_a_chunks_other_tags_leave_the_facts_own(shelf: Shelf) -> None:
    first, _ = await chunks.of_document(shelf.connection, shelf.document)
    await chunks.describe(shelf.connection, first.id, About("chat", tags=("b",)), AT)
    rows = await shelf.rows("SELECT tags, context, metadata FROM memory_unit ORDER BY position")
    assert [sorted(row["tags"]) for row in rows] == [["b", "own"], ["b", "own"], ["a", "own"], ["a", "own"]]
    assert (rows[0]["context"], rows[0]["metadata"], rows[3]["metadata"]) == ("chat", {}, {})


async def test_a_chunk_is_finished_once_and_by_its_own_operation(shelf: Shelf) -> None:
    first, second = await chunks.of_document(shelf.connection, shelf.document)
    both = [first.id, second.id]
    assert await chunks.finish(shelf.connection, new_id(), both, keep_text=True) == {}
    done = await chunks.finish(shelf.connection, shelf.operation, [first.id], keep_text=False)
    assert done == {first.id: first.about}
    assert set(await chunks.finish(shelf.connection, shelf.operation, both, keep_text=True)) == {second.id}
    assert [row["text"] for row in await shelf.rows("SELECT text FROM chunk ORDER BY ordinal")] == [
        None,
        "chunk 1",
    ]
    assert await chunks.fail(shelf.connection, shelf.operation, {first.id: "why"}, keep_text=True) == set()


async def test_lost_chunks_are_counted_named_and_tried_again(shelf: Shelf) -> None:
    first, _ = await chunks.of_document(shelf.connection, shelf.document)
    await chunks.fail(shelf.connection, shelf.operation, {first.id: "refused"}, keep_text=True)
    counts = await chunks.counts(shelf.connection, shelf.operation)
    assert (counts.pending, counts.failed, counts.errors) == (1, 1, ("document d, chunk 0: refused",))
    assert [chunk.ordinal for chunk in await chunks.pending(shelf.connection, shelf.operation, 9)] == [1]
    assert await chunks.retry_failed(shelf.connection, shelf.operation) == 1
    waiting = await chunks.pending(shelf.connection, shelf.operation, 9)
    assert [(chunk.ordinal, chunk.total, chunk.document_id) for chunk in waiting] == [
        (0, 2, "d"),
        (1, 2, "d"),
    ]


async def test_a_document_goes_with_all_that_came_from_it(shelf: Shelf) -> None:
    bank = shelf.bank.id
    ada = entities.Identity("ada")
    ids = await entities.ensure(shelf.connection, bank, {ada: "Ada"}, AT)
    said = [entities.Said(fact.id, fact.chunk, "ada", ada, ada) for fact in shelf.facts]
    await entities.mention(shelf.connection, bank, said, ids)
    await entities.learn(
        shelf.connection, bank, shelf.audience, [entities.Known("ada", "own", ada, "Ada", "")], ids
    )
    pair = (shelf.facts[0].id, shelf.facts[1].id)
    await links.add(
        shelf.connection,
        bank,
        [links.Link(*pair, links.SEMANTIC, 0.75), links.Link(*pair, links.CAUSED_BY, 1.0)],
    )
    rows = await shelf.rows("SELECT kind, weight FROM unit_link ORDER BY kind")
    assert rows == [{"kind": "caused_by", "weight": 1.0}, {"kind": "semantic", "weight": 0.75}]
    assert await documents.delete(shelf.connection, bank, "d", Viewer(())) is None
    assert await documents.delete(shelf.connection, bank, "d", Viewer((shelf.audience,))) == 4
    for table in (
        "document",
        "chunk",
        "memory_unit",
        "posting",
        "embedding",
        "entity",
        "entity_name",
        "unit_entity",
        "unit_link",
    ):
        assert await shelf.rows(f"SELECT 1 FROM {table}") == [], table  # noqa: S608
    assert await documents.delete(shelf.connection, bank, "d", OPERATOR) is None


async def test_a_documents_tags_are_those_of_its_facts(shelf: Shelf) -> None:
    assert not await documents.set_tags(shelf.connection, shelf.bank.id, "d", ["x"], Viewer(()), AT)
    assert await documents.set_tags(shelf.connection, shelf.bank.id, "d", ["x"], OPERATOR, AT)
    for table in ("document", "chunk", "memory_unit"):
        assert {tuple(row["tags"]) for row in await shelf.rows(f"SELECT tags FROM {table}")} == {("x",)}  # noqa: S608


async def test_calls_are_counted_under_their_operation(shelf: Shelf) -> None:
    caller = Caller(shelf.bank.id, shelf.audience, shelf.operation)
    call = LlmCall("retain", "m", 1, "ok", None, TokenUsage(10, 5, 3, 1, 0.25), 12.5, AT)
    for who in (caller, caller, Caller()):
        await llm_calls.add(shelf.connection, who, call)
    spent = await llm_calls.spent(shelf.connection, shelf.operation, OPERATOR)
    assert spent == (2, TokenUsage(20, 10, 6, 2, 0.5))
    assert await llm_calls.spent(shelf.connection, shelf.operation, Viewer(())) == (0, TokenUsage())


async def test_a_call_for_a_bank_that_is_gone_is_not_found(database: Database) -> None:
    call = LlmCall("retain", "m", 1, "ok", None, TokenUsage(), 0.0, AT)
    async with database.connection() as connection:
        with pytest.raises(NotFound):
            await llm_calls.add(connection, Caller(99, 1), call)


async def test_a_model_has_one_number_and_one_width(shelf: Shelf) -> None:
    assert await models.embedding_model(shelf.connection, "tiny", 3) == shelf.model
    assert await models.embedding_model(shelf.connection, "other", 5) != shelf.model
    with pytest.raises(InvalidConfig, match="3"):
        await models.embedding_model(shelf.connection, "tiny", 4)


async def test_a_bank_is_deleted_with_everything(shelf: Shelf) -> None:
    deleted = await banks.delete(shelf.connection, "b")
    assert (deleted.units, deleted.documents, deleted.total) == (4, 1, 5)
    for table in (
        "bank",
        "audience",
        "operation",
        "document",
        "chunk",
        "memory_unit",
        "posting",
        "embedding",
    ):
        assert await shelf.rows(f"SELECT 1 FROM {table}") == [], table  # noqa: S608
