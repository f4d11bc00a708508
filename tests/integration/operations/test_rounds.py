"""A round from claim to settlement: what a handler returns or raises, and what becomes of the operation."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import pytest
from operation_world import World, build, done, short_times

from memorybank import rounds
from memorybank.audience import Viewer
from memorybank.errors import (
    DatabaseUnavailable,
    InvalidInput,
    LeaseLost,
    MemoryBankError,
    ModelMalformed,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
    TimedOut,
)
from memorybank.liveness import Worker
from memorybank.operations import Kind, Outcome, Status
from memorybank.rounds import Handler, Round
from memorybank.storage import operations
from memorybank.storage.workers import Doorbell

TIMES = short_times()


@pytest.fixture
async def worker(world: World) -> AsyncIterator[Worker]:
    started = Worker(world.database, TIMES)
    await started.start()
    yield started
    await started.stop()


@pytest.fixture
def run(world: World, worker: Worker) -> Callable[..., Any]:
    async def one(operation: UUID, handler: Handler, **times: Any) -> Status | None:
        return await rounds.run(
            world.database, {Kind.RETAIN: handler}, operation, worker, short_times(**times)
        )

    return one


def raising(error: BaseException) -> Handler:
    async def handler(_: Round) -> Outcome:
        raise error

    return handler


async def test_a_round_that_is_done(world: World, run: Any) -> None:
    operation = await world.submit(result={"items_count": 1})
    assert await run(operation, done) is Status.COMPLETED
    row = await world.row(operation)
    assert row["result"] == {"items_count": 1, "facts_kept": 2}
    assert await run(operation, done) is None, "a doubled message is harmless"


async def test_kept_some_and_lost_some_says_so(world: World, run: Any) -> None:
    operation = await world.submit()

    async def handler(_: Round) -> Outcome:
        return Outcome(result={"extraction_errors_count": 1}, error_message="1 of 5 chunks failed")

    assert await run(operation, handler) is Status.COMPLETED
    assert (await world.row(operation))["error_message"] == "1 of 5 chunks failed"


async def test_many_rounds_of_one_operation_cost_no_attempts(world: World, run: Any) -> None:
    operation = await world.submit()

    async def more(_: Round) -> Outcome:
        return Outcome(more=True)

    for _ in range(2 * TIMES.max_attempts):
        assert await run(operation, more) is Status.PENDING
    assert await run(operation, done) is Status.COMPLETED


async def test_progress_is_what_the_round_reports(world: World, run: Any) -> None:
    operation = await world.submit()

    async def handler(round_: Round) -> Outcome:
        async with round_.writing() as connection:
            await round_.report(connection, "extract", 2, 5, facts_kept=7)
        return Outcome(more=True)

    await run(operation, handler)
    async with world.database.connection() as connection:
        record = await operations.get(connection, world.bank, operation, Viewer.operator())
    assert record is not None
    assert record.progress is not None
    assert (record.progress.processed, record.progress.total) == (2, 5)
    assert record.progress.detail == {"facts_kept": 7}


async def test_writers_of_one_round_take_turns_without_holding_connections(world: World, run: Any) -> None:
    operation = await world.submit()
    inside = 0

    async def handler(round_: Round) -> Outcome:
        async def write() -> None:
            nonlocal inside
            async with round_.writing() as connection:
                inside += 1
                assert inside == 1
                await connection.execute("SELECT 1")
                inside -= 1

        async with asyncio.TaskGroup() as group:
            for _ in range(40):
                group.create_task(write())
        return Outcome()

    assert await run(operation, handler) is Status.COMPLETED


@pytest.mark.parametrize(
    ("error", "status", "attempts", "message"),
    [
        (ModelRateLimited("slow down", retry_after=60), "pending", 0, "slow down"),
        (ModelRateLimited("slow down"), "pending", 0, "slow down"),
        (ModelUnavailable("503"), "pending", 1, "503"),
        (TimedOut("too long"), "pending", 1, "too long"),
        (DatabaseUnavailable("gone"), "pending", 1, "gone"),
        (ModelRefused("policy"), "failed", 1, "policy"),
        (ModelMalformed("no JSON"), "failed", 1, "no JSON"),
        (InvalidInput("bad"), "failed", 1, "bad"),
        (MemoryBankError("x" * 6000), "failed", 1, "x" * 5000),
        (ExceptionGroup("g", [ModelRefused("policy"), ModelUnavailable("503")]), "failed", 1, "policy"),
        (ExceptionGroup("g", [ExceptionGroup("h", [ModelUnavailable("503")])]), "pending", 1, "503"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_errors_of_memorybank_settle_by_their_kind(
    world: World, run: Any, error: Exception, status: str, attempts: int, message: str
) -> None:
    operation = await world.submit()
    assert await run(operation, raising(error), retry_seconds=60) == status
    row = await world.row(operation)
    assert (row["status"], row["attempts"], row["error_message"]) == (status, attempts, message)
    if status == "pending":
        waits = (row["due_at"] - row["updated_at"]).total_seconds()
        # A database is back sooner than a provider.
        assert 0 < waits < 2 if isinstance(error, DatabaseUnavailable) else 29 < waits < 61


@pytest.mark.parametrize(
    "error",
    [
        KeyError("the text of a memory"),
        TimeoutError("a socket"),
        ExceptionGroup("g", [ModelUnavailable("503"), KeyError("k")]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_error_that_nobody_foresaw_is_recorded_and_passed_on(
    world: World, run: Any, error: Exception
) -> None:
    operation = await world.submit()
    with pytest.raises((KeyError, TimeoutError)):
        await run(operation, raising(error))
    row = await world.row(operation)
    assert (row["status"], row["attempts"]) == ("pending", 1)
    assert row["error_message"].startswith("internal error: ")
    assert "memory" not in row["error_message"]
    for _ in range(2):
        with pytest.raises((KeyError, TimeoutError)):
            await run(operation, raising(error))
    assert await world.status(operation) == "failed"


async def test_a_round_over_its_hard_cap_is_cut_off_and_counted(world: World, run: Any) -> None:
    operation = await world.submit()

    async def handler(_: Round) -> Outcome:
        await asyncio.sleep(60)
        return Outcome()

    assert await run(operation, handler, round_seconds=0.05, round_cap_seconds=0.05) is Status.PENDING
    row = await world.row(operation)
    assert (row["attempts"], row["error_message"]) == (1, "a round was cut off after 0.05 seconds")


async def test_a_cancelled_task_gives_its_operation_back(world: World, run: Any) -> None:
    operation = await world.submit()
    began = asyncio.Event()

    async def handler(_: Round) -> Outcome:
        began.set()
        await asyncio.sleep(60)
        return Outcome()

    task = asyncio.create_task(run(operation, handler))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    row = await world.row(operation)
    assert (row["status"], row["attempts"]) == ("pending", 0)


async def test_a_lost_lease_is_no_error_and_changes_nothing(world: World, run: Any) -> None:
    operation = await world.submit()

    async def handler(round_: Round) -> Outcome:
        await world.run_sql("UPDATE operation SET lease_expires_at = now()")
        async with round_.writing():
            raise AssertionError("not reached")
        return Outcome()

    assert await run(operation, handler) is None
    assert await world.status(operation) == "processing"
    assert await run(operation, raising(ExceptionGroup("g", [KeyError(), LeaseLost("x")]))) is None


async def test_a_round_is_over_when_time_is_up_or_a_cancel_was_seen(world: World, run: Any) -> None:
    first, second, third = [await world.submit() for _ in range(3)]

    async def until_over(round_: Round) -> Outcome:
        for _ in range(200):
            if round_.over():
                return Outcome(more=True)
            await asyncio.sleep(0.02)
        raise AssertionError("not over")

    assert await run(first, until_over, round_seconds=0.1) is Status.PENDING

    async def cancelled_at_a_write(round_: Round) -> Outcome:
        async with world.database.transaction() as connection:
            await operations.cancel(connection, world.bank, second, Viewer.operator())
        assert not round_.over()
        async with round_.writing():
            assert round_.over()
        return Outcome(more=True)

    assert await run(second, cancelled_at_a_write) is Status.CANCELLED

    async def cancelled_between(round_: Round) -> Outcome:
        async with world.database.transaction() as connection:
            await operations.cancel(connection, world.bank, third, Viewer.operator())
        return await until_over(round_)  # the heartbeat tells

    assert await run(third, cancelled_between) is Status.CANCELLED


async def test_who_drains_claims_nothing_and_ends_what_runs(world: World, run: Any, worker: Worker) -> None:
    first, second = await world.submit(), await world.submit()

    async def handler(round_: Round) -> Outcome:
        worker.drain()
        return Outcome(more=round_.over())

    assert await run(first, handler) is Status.PENDING
    assert await run(second, done) is None
    assert (await world.row(second))["attempts"] == 0


async def test_banks_take_turns(world: World, run: Any) -> None:
    long_job = await world.submit()
    other = await build(world.database, "others")
    short_job = await other.submit()
    order = []

    async def handler(round_: Round) -> Outcome:
        order.append(round_.claim.bank_id)
        return Outcome(more=round_.claim.bank_id == "team" and len(order) < 3)

    bell = Doorbell(world.database.conninfo)
    while rung := await asyncio.to_thread(bell.ring, [Kind.RETAIN], 1, 60):
        await run(rung[0].operation_id, handler)
    bell.close()
    assert order == ["team", "others", "team"]
    assert {await world.status(one) for one in (long_job, short_job)} == {"completed"}
