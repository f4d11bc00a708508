"""A bank past the size of exact search: its own index, candidates in place of all units, and the same answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import UUID, uuid4

import psycopg
import pytest
from recall_world import Unit, World

from memorybank import rounds
from memorybank.audience import Viewer
from memorybank.ids import new_id
from memorybank.liveness import Worker
from memorybank.memory import MemoryBank
from memorybank.model import Bank
from memorybank.operations import Kind, Status
from memorybank.recall.large.promotion import Promotion
from memorybank.recall.query import RecallQuery
from memorybank.recall.run import RecallResult
from memorybank.recall.stage import Recall
from memorybank.settings import Settings
from memorybank.storage import banks, models, operations, vector_index
from memorybank.storage.operations import NewOperation
from memorybank.tags import TagLeaf, TagNot

PEOPLE = ("Mara", "Odile", "Tom", "Ines", "Raj", "Lena")
ACTS = ("painted", "sold", "found", "lost", "repaired", "photographed", "measured")
THINGS = ("the harbour crane", "a red bicycle", "the old lighthouse", "a violin", "the greenhouse", "a kayak")
PLACES = ("in Oslo", "near the river", "at the market", "on the island", "in Lyon")
DOCUMENTS, UNITS, OBSERVATIONS = 30, 10, 90
BEGUN = datetime(2024, 1, 8, tzinfo=UTC)
#: Small enough that the bank of these tests is large.
EXACT = 60
QUESTIONS = (
    "Who painted the harbour crane in Oslo?",
    "What did Odile lose near the river?",
    "Which violin was repaired on the island?",
    "What happened on 18 January 2024?",
    "Mara: where is the kayak?",
)


def _unit(number: int) -> Unit:
    said = (PEOPLE, ACTS, THINGS, PLACES)
    who, did, what, where = (
        part[number * step % len(part)] for part, step in zip(said, (5, 3, 7, 11), strict=True)
    )
    tags = [
        f"half-{number % 2}",
        *(["tenth"] if number % 10 == 3 else []),
        *(["few"] if number % 75 == 4 else []),
    ]
    return Unit(
        f"{who}: I {did} {what} {where}, note {number}.",
        mentioned_at=BEGUN + timedelta(days=number // UNITS, minutes=number),
        entities=[who] if number % 4 == 0 else [],
        tags=tags,
        fact_type="experience" if number % 3 == 0 else "world",
    )


class Large:
    """A world with a large bank: `exact` asks without its index, `ask` with it."""

    def __init__(self, world: World, bank: Bank, audiences: tuple[int, int, int], settings: Settings) -> None:
        self.world, self.bank, self.audiences = world, bank, audiences
        own = settings.recall.model_copy(update={"exact_units": EXACT})
        self.recall = Recall(
            world.database, world.recall.embedder, settings.model_copy(update={"recall": own})
        )

    async def model(self) -> int:
        async with self.world.database.connection() as connection:
            embedder = self.recall.embedder
            return await models.embedding_model(connection, embedder.model, embedder.dimensions)

    async def promote(self) -> None:
        """Give the bank its index, as a worker would."""
        model = await self.model()
        assert await vector_index.build(self.world.database, self.bank.id, model)
        async with self.world.database.transaction() as connection:
            await vector_index.adopt(connection, self.bank.id, model)
            self.bank = await banks.get(connection, self.bank.bank_id)

    async def ask(self, query: RecallQuery, viewer: Viewer) -> RecallResult:
        return await self.recall(self.bank, self.world.config, replace(query, trace=True), viewer)

    async def exact(self, query: RecallQuery, viewer: Viewer) -> RecallResult:
        whole = replace(self.bank, indexed_model=None)
        return await self.recall(whole, self.world.config, replace(query, trace=True), viewer)

    async def indexes(self) -> list[str]:
        async with self.world.database.connection() as connection:
            cursor = await connection.execute(
                "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
                " WHERE c.relname LIKE 'embedding\\_hnsw\\_%'"
            )
            return [row["relname"] if row["indisvalid"] else "broken" for row in await cursor.fetchall()]


@pytest.fixture
async def large(world: World, settings: Settings) -> AsyncIterator[Large]:
    bank, everybody = await world.bank("large")
    some = await world.audience(bank.id, "place")
    few = await world.audience(bank.id, "dm", uuid4())
    for number in range(DOCUMENTS):
        audience = few if number == 7 else some if number % 3 == 0 else everybody
        await world.document(bank, audience, [_unit(number * UNITS + at) for at in range(UNITS)])
    for number in range(OBSERVATIONS):
        seen = replace(_unit(number), text=f"Observed: {_unit(number).text}", fact_type="observation")
        await world.document(bank, everybody if number % 3 else some, [seen])
    yield Large(world, bank, (everybody, some, few), settings)


def _narrowed(result: RecallResult) -> bool:
    assert result.trace is not None
    return "narrow" in {phase["phase_name"] for phase in result.trace["summary"]["phase_metrics"]}


FILTERS = {
    "all": {},
    "half": {"tags": ("half-1",), "tags_match": "any_strict"},
    "a tenth": {"tags": ("tenth",), "tags_match": "all_strict"},
    "few": {"tags": ("few",), "tags_match": "any_strict"},
    "no tag of these": {"tag_groups": TagNot(TagLeaf(("tenth", "few")))},
    "one type": {"types": ("experience",)},
    "observations": {"types": ("observation",)},
    "nothing": {"tags": ("nobody",), "tags_match": "any_strict"},
}


async def test_candidates_give_the_answers_of_all_units(large: Large) -> None:
    await large.promote()
    everybody, some, few = large.audiences
    viewers = (Viewer.operator(), Viewer((everybody,)), Viewer((some, everybody)), Viewer((some, few)))
    first, missed = 0, 0
    for viewer, chosen in product(viewers, FILTERS):
        for text in QUESTIONS:
            query = RecallQuery(text, budget="low", **FILTERS[chosen])
            found, exact = await large.ask(query, viewer), await large.exact(query, viewer)
            assert _narrowed(found) and not _narrowed(exact)
            assert ("temporal" in found.stages) == ("temporal" in exact.stages)
            told = {hit.id: hit for hit in exact.hits}
            for hit in found.hits[:10]:
                same = told[hit.id]
                assert hit.scores.semantic == pytest.approx(same.scores.semantic, abs=1e-6)
                assert hit.scores.keyword == pytest.approx(same.scores.keyword)
            missing = {hit.id for hit in exact.hits[:10]} - {hit.id for hit in found.hits[:10]}
            assert len(missing) <= 2, (viewer, chosen, text)
            first, missed = first + len(exact.hits[:10]), missed + len(missing)
    assert missed < 0.01 * first


async def test_who_may_see_few_units_is_answered_exactly(large: Large) -> None:
    await large.promote()
    viewer = Viewer((large.audiences[2],))
    for text in QUESTIONS:
        query = RecallQuery(text)
        found, exact = await large.ask(query, viewer), await large.exact(query, viewer)
        assert not _narrowed(found)
        assert [hit.id for hit in found.hits] == [hit.id for hit in exact.hits] and found.hits


async def test_an_index_of_another_model_is_not_asked(large: Large) -> None:
    await large.promote()
    large.bank = replace(large.bank, indexed_model=await large.model() + 1)
    result = await large.ask(RecallQuery(QUESTIONS[0]), Viewer.operator())
    assert result.hits and not _narrowed(result)


async def test_what_comes_after_the_index_was_built_is_found(large: Large) -> None:
    await large.promote()
    await large.world.document(large.bank, large.audiences[0], ["Zoltan juggled seven pineapples."])
    result = await large.ask(RecallQuery("Who juggled pineapples?"), Viewer.operator())
    assert result.hits[0].text == "Zoltan juggled seven pineapples." and _narrowed(result)


async def test_a_bank_is_queued_once_and_only_when_it_is_large(large: Large) -> None:
    database, model = large.world.database, await large.model()

    async def queue(exact: int) -> bool:
        async with database.transaction() as connection:
            return await vector_index.queue(connection, large.bank.id, large.audiences[0], model, exact)

    assert not await queue(DOCUMENTS * UNITS + OBSERVATIONS)
    assert sum(await asyncio.gather(*(queue(EXACT) for _ in range(5)))) == 1
    await large.promote()
    async with database.connection() as connection:
        await connection.execute("DELETE FROM operation")
    assert not await queue(EXACT)
    query, viewer = RecallQuery(QUESTIONS[0]), Viewer.operator()
    before = await large.ask(query, viewer)
    async with database.connection() as connection:
        await connection.execute(f"DROP INDEX embedding_hnsw_{large.bank.id}_{model}")
    assert [hit.id for hit in (await large.ask(query, viewer)).hits] == [hit.id for hit in before.hits]
    assert await queue(EXACT), "an index that somebody has dropped is missed"


@asynccontextmanager
async def _reading(conninfo: str) -> AsyncIterator[None]:
    """Read on and on: who does keeps a build from its end."""
    async with await psycopg.AsyncConnection.connect(conninfo) as reader:
        await reader.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        await reader.execute("SELECT count(*) FROM embedding")
        yield


async def _queued(large: Large) -> UUID:
    payload = {"model": await large.model()}
    made = NewOperation(new_id(), large.bank.id, large.audiences[0], Kind.VECTOR_INDEX, payload)
    async with large.world.database.transaction() as connection:
        await operations.submit(connection, [made])
    return made.id


async def _work(large: Large) -> tuple[Status | None, bool]:
    """Do a round of a build; return its status, and whether the bank has an index now."""
    operation, database = await _queued(large), large.world.database
    settings = large.recall.settings.worker
    worker = Worker(database, settings)
    handlers = {Kind.VECTOR_INDEX: Promotion(database).work}
    status = await rounds.run(database, handlers, operation, worker, settings)
    async with database.connection() as connection:
        bank = await banks.get(connection, large.bank.bank_id)
    return status, bank.indexed_model == await large.model()


async def test_a_worker_builds_the_index(large: Large) -> None:
    assert await _work(large) == (Status.COMPLETED, True)
    assert len(await large.indexes()) == 1
    assert await _work(large) == (Status.COMPLETED, True)
    assert len(await large.indexes()) == 1


async def test_a_build_waits_for_another_one(large: Large, conninfo: str) -> None:
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as other:
        await other.execute("SELECT pg_advisory_lock(%s)", [vector_index.BUILD_LOCK])
        assert await _work(large) == (Status.PENDING, False)
    assert await large.indexes() == []


async def test_a_build_goes_on_after_its_round(large: Large, conninfo: str) -> None:
    operation, database = await _queued(large), large.world.database
    short = large.recall.settings.worker.model_copy(update={"round_seconds": 0.2})
    handlers, worker = {Kind.VECTOR_INDEX: Promotion(database).work}, Worker(database, short)
    async with _reading(conninfo):
        assert await rounds.run(database, handlers, operation, worker, short) is Status.PENDING
        assert await large.indexes() == ["broken"]
    async with database.connection() as connection:
        await connection.execute("UPDATE operation SET due_at = now()")
    assert await rounds.run(database, handlers, operation, worker, short) is Status.COMPLETED
    assert await large.indexes() == [f"embedding_hnsw_{large.bank.id}_{await large.model()}"]


async def test_a_process_that_ends_takes_its_build_with_it(large: Large, conninfo: str) -> None:
    operation, database = await _queued(large), large.world.database
    settings = large.recall.settings.worker
    handlers, worker = {Kind.VECTOR_INDEX: Promotion(database).work}, Worker(database, settings)
    async with _reading(conninfo):
        asyncio.get_running_loop().call_later(0.3, worker.drain)
        assert await rounds.run(database, handlers, operation, worker, settings) is Status.PENDING
        async with database.connection() as connection:
            cursor = await connection.execute("SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%'")
            assert await cursor.fetchall() == []


async def test_what_a_crash_left_of_an_index_is_built_anew(large: Large, conninfo: str) -> None:
    async with _reading(conninfo):
        build = asyncio.create_task(
            vector_index.build(large.world.database, large.bank.id, await large.model())
        )
        async with asyncio.timeout(20):
            while await large.indexes() != ["broken"]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        build.cancel()
        await asyncio.gather(build, return_exceptions=True)
    assert await large.indexes() == ["broken"]
    assert await _work(large) == (Status.COMPLETED, True)
    assert len(await large.indexes()) == 1 and await large.indexes() != ["broken"]


async def test_an_index_goes_with_its_bank(large: Large) -> None:
    await large.promote()
    database = large.world.database
    async with database.transaction() as connection:
        deleted = await banks.delete(connection, large.bank.bank_id)
    assert deleted.indexed and len(await large.indexes()) == 1
    await vector_index.prune(database)
    assert await large.indexes() == []


async def test_an_index_whose_bank_goes_while_it_is_built_goes_too(large: Large) -> None:
    database, model = large.world.database, await large.model()
    bank = large.bank.id
    async with database.transaction() as connection:
        await banks.delete(connection, large.bank.bank_id)
    assert await vector_index.build(database, bank, model) == 0
    assert await large.indexes() == []


async def test_vectors_that_come_too_late_are_left_out_of_a_large_bank_too(large: Large) -> None:
    await large.promote()
    settings = large.recall.settings
    own = settings.recall.model_copy(update={"arm_timeout_seconds": 0.3})
    large.recall = replace(large.recall, settings=settings.model_copy(update={"recall": own}))
    async with large.world.database.transaction() as connection:
        await connection.execute("LOCK TABLE embedding IN ACCESS EXCLUSIVE MODE")
        found = await large.ask(RecallQuery(QUESTIONS[0]), Viewer.operator())
    assert found.left_out.keys() == {"semantic", "speakers"} and "crane" in found.hits[0].text


async def test_a_bank_that_grew_without_retain_is_found_by_the_sweep(large: Large) -> None:
    model, database = await large.model(), large.world.database
    for exact, queued in ((1_000_000, 0), (EXACT, 1), (EXACT, 0)):
        async with database.transaction() as connection:
            assert await vector_index.sweep(connection, model, exact) == queued
    await large.promote()
    async with database.transaction() as connection:
        await connection.execute("DELETE FROM operation")
        assert await vector_index.sweep(connection, model, EXACT) == 0


async def test_deleting_a_bank_over_the_facade_drops_its_index(large: Large, conninfo: str) -> None:
    await large.promote()
    settings = large.recall.settings
    own = settings.model_copy(
        update={"database": settings.database.model_copy(update={"url": conninfo})},
    )
    async with MemoryBank.opened(own) as memory:
        assert await memory.delete_bank(large.bank.bank_id) > 0
    assert await large.indexes() == []
