"""Writing under a lease, losing it, and what becomes of work whose worker is gone."""

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest
from operation_world import World, short_times

from memorybank.errors import DatabaseUnavailable, LeaseLost
from memorybank.liveness import Worker
from memorybank.operations import Ending, Progress, RoundEnd
from memorybank.settings import Settings
from memorybank.storage import operations, workers
from memorybank.storage.pool import Database
from memorybank.storage.workers import Pulse

TROUBLE = RoundEnd(Ending.TROUBLE, "it broke", delay=30)
MORE = RoundEnd(Ending.MORE)


@pytest.fixture
async def effects(world: World) -> World:
    await world.run_sql("CREATE TABLE effect (value int)")
    return world


@pytest.fixture
def pulse(database: Database) -> Iterator[Pulse]:
    session = Pulse(database.conninfo, uuid4(), 20)
    yield session
    session.close()


async def count(world: World) -> int:
    async with world.database.connection() as connection:
        row = await (await connection.execute("SELECT count(*) AS n FROM effect")).fetchone()
        assert row is not None
        return int(row["n"])


async def test_who_lost_the_lease_writes_nothing(effects: World) -> None:
    operation = await effects.submit()
    stale = await effects.claimed(operation)
    await effects.run_sql("UPDATE operation SET lease_expires_at = now() WHERE id = %s", operation)
    assert await workers.sweep(effects.database, 60, 3) == 1
    fresh = await effects.claimed(operation)
    with pytest.raises(LeaseLost):
        async with operations.writing(effects.database, stale.lease) as (connection, _):
            await connection.execute("INSERT INTO effect VALUES (1)")
    with pytest.raises(LeaseLost):
        await operations.finish(effects.database, stale, RoundEnd(Ending.DONE), 3)
    assert await count(effects) == 0
    async with operations.writing(effects.database, fresh.lease) as (connection, _):
        await connection.execute("INSERT INTO effect VALUES (1)")
    assert await count(effects) == 1


async def test_a_lease_that_ran_out_is_over_even_if_nobody_took_it(world: World) -> None:
    claim = await world.claimed(await world.submit(), seconds=0.05)
    await asyncio.sleep(0.06)
    with pytest.raises(LeaseLost):
        async with operations.writing(world.database, claim.lease):
            pass


async def test_the_server_ends_the_transaction_of_a_holder_that_stands_still(effects: World) -> None:
    claim = await effects.claimed(await effects.submit(), seconds=0.2)
    with pytest.raises((LeaseLost, DatabaseUnavailable)):
        async with operations.writing(effects.database, claim.lease) as (connection, _):
            await connection.execute("INSERT INTO effect VALUES (1)")
            await asyncio.sleep(0.5)
            await connection.execute("INSERT INTO effect VALUES (2)")
    assert await count(effects) == 0
    # The connection it cost is replaced.
    assert await effects.status(claim.lease.operation_id) == "processing"


async def test_progress_commits_with_the_work_and_sets_the_attempts_back(effects: World) -> None:
    operation = await effects.submit()
    at = (await effects.row(operation))["created_at"]
    claim = await effects.claimed(operation)

    async def write(processed: int) -> None:
        async with operations.writing(effects.database, claim.lease) as (connection, _):
            await connection.execute("INSERT INTO effect VALUES (1)")
            await operations.progress(
                connection, claim.lease, Progress("extract", at, processed, 5, {"kept": 3})
            )

    await write(0)
    assert (await effects.row(operation))["attempts"] == 1
    await write(2)
    row = await effects.row(operation)
    assert row["attempts"] == 0
    assert row["progress"]["processed"] == 2
    await effects.run_sql("UPDATE operation SET attempts = 2")
    await write(2)
    assert (await effects.row(operation))["attempts"] == 2, "the same number again is no progress"


@pytest.mark.parametrize(
    ("end", "attempts"), [(MORE, 0), (RoundEnd(Ending.WAIT, "wait", 9.0), 0), (TROUBLE, 1)]
)
async def test_only_trouble_costs_an_attempt(world: World, end: RoundEnd, attempts: int) -> None:
    operation = await world.submit()
    await operations.finish(world.database, await world.claimed(operation), end, 3)
    row = await world.row(operation)
    assert (row["status"], row["attempts"], row["lease_token"], row["worker"]) == (
        "pending",
        attempts,
        None,
        None,
    )


async def test_spent_attempts_are_a_failure_in_the_same_transaction(world: World) -> None:
    operation = await world.submit()
    for attempt in (1, 2, 3):
        await world.run_sql("UPDATE operation SET due_at = now()")
        claim = await world.claimed(operation)
        assert claim.attempts == attempt
        status = await operations.finish(world.database, claim, TROUBLE, 3)
    row = await world.row(operation)
    assert (status, row["status"], row["attempts"], row["error_message"]) == (
        "failed",
        "failed",
        3,
        "it broke",
    )
    assert row["completed_at"] is not None
    assert await world.claim(operation) is None


async def test_a_worker_that_dies_with_its_work_each_time_ends_it(world: World) -> None:
    parent, (poison,) = await world.batch(1)
    for claims in (1, 2, 3):
        assert (await world.claimed(poison)).attempts == claims
        # Its worker was never heard of: its row is not there.
        assert await workers.sweep(world.database, 60, 3) == 1
    assert await world.claim(poison) is None
    row = await world.row(poison)
    assert (row["status"], row["attempts"]) == ("failed", 3)
    assert "worker died" in row["error_message"]
    assert await world.status(parent) == "failed"


async def test_a_worker_that_is_connected_keeps_its_lease_without_beats(world: World, pulse: Pulse) -> None:
    await asyncio.to_thread(pulse.beat, [])
    worker = pulse._worker
    operation = await world.submit()
    await world.claimed(operation, worker=worker)
    await world.run_sql("UPDATE worker SET beat_at = now() - interval '1 hour'")
    # The server of the tests may have started less than dead_seconds ago: so none.
    assert await workers.sweep(world.database, 0, 3) == 0
    pulse.close()
    await until_no_lock(world)
    assert await workers.sweep(world.database, 0, 3) == 1
    assert await world.status(operation) == "pending"


async def test_without_a_lock_the_beat_still_counts_for_some_seconds(world: World, pulse: Pulse) -> None:
    await asyncio.to_thread(pulse.beat, [])
    operation = await world.submit()
    await world.claimed(operation, worker=pulse._worker)
    pulse.close()
    await until_no_lock(world)
    assert await workers.sweep(world.database, 60, 3) == 0
    await world.run_sql("UPDATE operation SET lease_expires_at = now()")
    assert await workers.sweep(world.database, 60, 3) == 1


async def test_a_beat_renews_what_runs_and_ends_what_does_not(world: World, pulse: Pulse) -> None:
    await asyncio.to_thread(pulse.beat, [])
    running, orphan, foreign = [await world.submit() for _ in range(3)]
    claim = await world.claimed(running, worker=pulse._worker, seconds=5)
    loose = await world.claimed(orphan, worker=pulse._worker)
    others = await world.claimed(foreign)
    unheard = await world.submit()
    await world.claimed(unheard, worker=pulse._worker)
    before = {o: (await world.row(o))["lease_expires_at"] for o in (running, orphan, foreign, unheard)}
    beats = await asyncio.to_thread(pulse.beat, [claim.lease.token], [loose.lease.token, others.lease.token])
    assert claim.lease.token in [beat.token for beat in beats]
    after = {o: (await world.row(o))["lease_expires_at"] for o in (running, orphan, foreign, unheard)}
    assert after[running] > before[running]
    assert after[orphan] < before[orphan]
    assert after[foreign] == before[foreign]
    assert after[unheard] == before[unheard], "claimed while the beat was on its way"


async def test_a_beat_does_not_revive_a_lease_and_does_not_wait_for_a_writer(
    world: World, pulse: Pulse
) -> None:
    await asyncio.to_thread(pulse.beat, [])
    over, written = await world.submit(), await world.submit()
    old = await world.claimed(over, worker=pulse._worker)
    busy = await world.claimed(written, worker=pulse._worker)
    await world.run_sql("UPDATE operation SET lease_expires_at = now() WHERE id = %s", over)
    async with operations.writing(world.database, busy.lease):
        beats = await asyncio.wait_for(
            asyncio.to_thread(pulse.beat, [old.lease.token, busy.lease.token]), timeout=5
        )
    assert beats == []
    with pytest.raises(LeaseLost):
        async with operations.writing(world.database, old.lease):
            pass


async def test_a_forgotten_worker_registers_again(world: World, pulse: Pulse) -> None:
    await asyncio.to_thread(pulse.beat, [])
    await world.run_sql("UPDATE worker SET beat_at = now() - interval '1 day'")
    await workers.sweep(world.database, 60, 3)
    async with world.database.connection() as connection:
        assert await workers.living(connection) == 1
    await world.run_sql("DELETE FROM worker")
    await asyncio.to_thread(pulse.beat, [])
    async with world.database.connection() as connection:
        row = await (await connection.execute("SELECT id FROM worker")).fetchone()
        assert row is not None
        assert row["id"] == pulse._worker
    await asyncio.to_thread(pulse.end)
    async with world.database.connection() as connection:
        assert await (await connection.execute("SELECT id FROM worker")).fetchone() is None


async def test_a_worker_comes_back_after_its_session_was_lost(world: World) -> None:
    worker = Worker(world.database, short_times(heartbeat_seconds=0.05))
    await worker.start()
    operation = await world.submit()
    with worker.holding(operation) as hold:
        async with world.database.transaction() as connection:
            await operations.claim(connection, hold.lease, worker.id, 20)
        orphan = await world.submit()
        with worker.holding(orphan) as lost:
            async with world.database.transaction() as connection:
                await operations.claim(connection, lost.lease, worker.id, 20)
        await world.run_sql(
            "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE locktype = 'advisory' AND objsubid = 2"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        for _ in range(100):
            await asyncio.sleep(0.05)
            await workers.sweep(world.database, 60, 3)
            async with world.database.connection() as connection:
                alive = await workers.living(connection)
            if alive and await world.status(orphan) == "pending":
                break
        assert alive == 1
        assert await world.status(orphan) == "pending"
        assert await world.status(operation) == "processing"
    await worker.stop()
    await worker.stop()


async def test_a_round_over_its_hard_cap_is_not_renewed(world: World) -> None:
    short = short_times(
        heartbeat_seconds=0.05, dead_seconds=0.1, lease_seconds=0.3, round_seconds=0.5, round_cap_seconds=0.5
    )
    worker = Worker(world.database, short)
    await worker.start()
    operation = await world.submit()
    with worker.holding(operation) as hold:
        async with world.database.transaction() as connection:
            await operations.claim(connection, hold.lease, worker.id, short.lease_seconds)
        await asyncio.sleep(0.4)
        async with operations.writing(world.database, hold.lease):
            pass
        await asyncio.sleep(0.6)
        with pytest.raises(LeaseLost):
            async with operations.writing(world.database, hold.lease):
                pass
    await worker.stop()


async def test_a_worker_without_a_database_does_not_start(settings: Settings) -> None:
    async def nowhere() -> str:
        return "host=127.0.0.1 port=1 dbname=none connect_timeout=1"

    database = Database(nowhere, settings.database)
    with pytest.raises(DatabaseUnavailable):
        await Worker(database, short_times()).start()


async def until_no_lock(world: World) -> None:
    for _ in range(200):
        async with world.database.connection() as connection:
            if not await workers.living(connection):
                return
        await asyncio.sleep(0.02)
    raise AssertionError("the session is still there")
