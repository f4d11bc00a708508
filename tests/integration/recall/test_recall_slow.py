"""Recall when PostgreSQL is slow or goes away: an arm is left out and named, the whole is given up in time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest
from recall_world import Unit, World

from memorybank.errors import TimedOut
from memorybank.model import Bank
from memorybank.recall.run import RecallResult
from memorybank.recall.stage import Recall
from memorybank.storage.queries import load
from memorybank.storage.units import EVERY_UNIT

KEY = "The spare key is with the florist."
#: Seconds an arm may take here.
ARM = 0.3
#: The postings of every term come late.
SLOW_POSTINGS = f"""
ALTER TABLE posting RENAME TO posting_kept;
CREATE VIEW posting AS SELECT p.* FROM posting_kept p
WHERE p.term = {EVERY_UNIT} OR (SELECT true FROM pg_sleep({2 * ARM}))
"""  # noqa: S608

Told = tuple[World, Bank, int]
Slow = Callable[[], AbstractAsyncContextManager[None]]


@pytest.fixture
async def told(world: World) -> Told:
    """A world whose arms have little time, and a bank that holds something."""
    own = world.recall.settings.recall.model_copy(
        update={"arm_timeout_seconds": ARM, "timeout_seconds": 10.0}
    )
    settings = world.recall.settings.model_copy(update={"recall": own})
    hurried = replace(world, recall=Recall(world.database, world.recall.embedder, settings))
    bank, audience = await hurried.bank()
    await hurried.document(bank, audience, ["Tea is in the kitchen.", Unit(KEY, entities=["florist"])])
    return hurried, bank, audience


@pytest.fixture
def slow(told: Told, monkeypatch: pytest.MonkeyPatch) -> dict[str, Slow]:
    """Ways to make one arm late, and nothing else."""

    @asynccontextmanager
    async def late_names() -> AsyncIterator[None]:
        named = load()["search.named"]
        late = named.sql.replace(
            "FROM meant\n", f"FROM meant CROSS JOIN (SELECT pg_sleep({2 * ARM})) AS late\n"
        )
        assert late != named.sql
        with monkeypatch.context() as patch:
            patch.setitem(load(), named.name, replace(named, sql=late))
            yield

    return {"semantic": lambda: locked(told[0], "embedding"), "graph": late_names}


@asynccontextmanager
async def locked(world: World, table: str) -> AsyncIterator[None]:
    """Hold a table so that nobody can read it."""
    async with world.database.transaction() as connection:
        await connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")  # type: ignore[arg-type]
        yield


async def run(world: World, script: str) -> None:
    async with world.database.connection() as connection:
        for statement in script.strip().split(";"):
            await connection.execute(statement)  # type: ignore[arg-type]


async def ask(told: Told) -> RecallResult:
    world, bank, audience = told
    return await world.ask(bank, audience, "Who has the spare key, the florist?", trace=True)


def left_out(result: RecallResult) -> tuple[set[str], set[str]]:
    """Return the arms that the answer says it lacks, and those of which the trace says why."""
    assert result.trace is not None
    arms = result.trace["retrieval_results"]
    told = {arm["method_name"] for arm in arms if arm["metadata"].get("left_out") and not arm["results"]}
    assert result.trace["summary"]["left_out"] == result.left_out
    return set(result.left_out), told


async def test_no_arm_is_missing_where_none_is_slow(told: Told) -> None:
    result = await ask(told)
    assert left_out(result) == (set(), set()) and set(result.stages) == {"semantic", "bm25", "graph"}


@pytest.mark.parametrize("arm", ["semantic", "graph"])
async def test_an_arm_that_is_too_slow_is_left_out_and_named(
    told: Told, slow: dict[str, Slow], arm: str
) -> None:
    async with slow[arm]():
        result = await ask(told)
    assert result.hits[0].text == KEY
    assert left_out(result) == ({arm}, {arm}) and arm not in result.stages
    assert (result.hits[0].scores.semantic is None) == (arm == "semantic")
    assert left_out(await ask(told)) == (set(), set())


async def test_the_keyword_arm_may_be_missing_too(told: Told) -> None:
    await run(told[0], SLOW_POSTINGS)
    result = await ask(told)
    assert result.hits[0].text == KEY and result.hits[0].scores.keyword is None
    assert left_out(result) == ({"bm25"}, {"bm25"})


async def test_several_arms_may_be_missing_but_not_both_that_find(told: Told, slow: dict[str, Slow]) -> None:
    await run(told[0], SLOW_POSTINGS)
    async with slow["graph"]():
        assert left_out(await ask(told))[0] == {"bm25", "graph"}
    async with locked(told[0], "embedding"):
        with pytest.raises(TimedOut):
            await ask(told)


@pytest.mark.parametrize("table", ["bank_size", "memory_unit", "unit_entity", "entity_name"])
async def test_what_every_answer_needs_is_never_left_out(told: Told, table: str) -> None:
    async with locked(told[0], table):
        with pytest.raises(TimedOut):
            await ask(told)
    assert (await ask(told)).hits


async def test_a_recall_whose_connection_is_lost_is_asked_again(told: Told) -> None:
    world, _, _ = told
    own = world.recall.settings.recall.model_copy(update={"arm_timeout_seconds": 10.0})
    settings = world.recall.settings.model_copy(update={"recall": own})
    patient = replace(world, recall=Recall(world.database, world.recall.embedder, settings))
    async with locked(world, "embedding"):
        asked = asyncio.create_task(ask((patient, *told[1:])))
        await _waiting_is_ended(world)
    result = await asked
    assert result.hits[0].text == KEY and result.left_out == {}


async def _waiting_is_ended(world: World) -> None:
    """End the connection that waits for the lock, as soon as there is one."""
    while True:
        async with world.database.connection() as connection:
            cursor = await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            if await cursor.fetchall():
                return
        await asyncio.sleep(0.01)


async def test_nothing_is_written_in_a_snapshot_and_all_is_again_after_it(world: World) -> None:
    for _ in range(2):
        async with world.database.snapshot() as connection:
            cursor = await connection.execute("SHOW transaction_read_only")
            assert await cursor.fetchone() == {"transaction_read_only": "on"}
            cursor = await connection.execute("SHOW transaction_isolation")
            assert await cursor.fetchone() == {"transaction_isolation": "repeatable read"}
    await world.bank("written")
