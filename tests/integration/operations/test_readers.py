"""What readers of operations may do: look, list, cancel, retry, delete; and how a batch follows its parts."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from operation_world import World, build

from memorybank.audience import Viewer
from memorybank.errors import Conflict, LeaseLost, NotFound
from memorybank.operations import Ending, Kind, Progress, RoundEnd, Status
from memorybank.storage import operations
from memorybank.storage.operations import OperationFilter, OperationRecord

EVERYBODY = Viewer.operator()
MORE = RoundEnd(Ending.MORE)
HOPELESS = RoundEnd(Ending.HOPELESS, "the model refused")


def kept(count: int, **more: Any) -> RoundEnd:
    return RoundEnd(Ending.DONE, result={"facts_kept": count, **more})


async def finish(world: World, operation: UUID, end: RoundEnd) -> Status:
    return await operations.finish(world.database, await world.claimed(operation), end, 3)


async def get(world: World, operation: UUID, viewer: Viewer = EVERYBODY) -> OperationRecord | None:
    async with world.database.connection() as connection:
        return await operations.get(connection, world.bank, operation, viewer)


async def cancel(world: World, operation: UUID, viewer: Viewer = EVERYBODY) -> Status:
    async with world.database.transaction() as connection:
        return await operations.cancel(connection, world.bank, operation, viewer)


async def retry(world: World, operation: UUID, viewer: Viewer = EVERYBODY) -> tuple[UUID, ...]:
    async with world.database.transaction() as connection:
        return await operations.retry(connection, world.bank, operation, viewer)


async def delete(world: World, operation: UUID, viewer: Viewer = EVERYBODY) -> None:
    async with world.database.transaction() as connection:
        await operations.delete(connection, world.bank, operation, viewer)


async def test_a_batch_is_pending_until_its_last_part_ends_and_sums_them(world: World) -> None:
    parent, (first, second) = await world.batch(2)
    await finish(world, first, kept(3, dropped_by_reason={"empty": 1}, extraction_errors_sample=["a"]))
    assert await world.status(parent) == "pending"
    await finish(world, second, kept(4, dropped_by_reason={"empty": 2, "copy": 1}))
    record = await get(world, parent)
    assert record is not None
    assert record.status is Status.COMPLETED
    assert record.completed_at is not None
    assert record.result == {
        "num_sub_batches": 2,
        "facts_kept": 7,
        "dropped_by_reason": {"empty": 3, "copy": 1},
        "extraction_errors_sample": ["a"],
    }
    assert [part.result["sub_batch_index"] for part in record.parts] == [1, 2]


async def test_a_failed_part_fails_the_batch_with_the_most_common_error(world: World) -> None:
    parent, parts = await world.batch(4)
    await finish(world, parts[0], kept(1))
    await finish(world, parts[1], RoundEnd(Ending.HOPELESS, "rare"))
    await finish(world, parts[2], HOPELESS)
    await finish(world, parts[3], HOPELESS)
    row = await world.row(parent)
    assert (row["status"], row["error_message"], row["result"]["facts_kept"]) == (
        "failed",
        "the model refused",
        1,
    )


async def test_a_cancelled_part_does_not_leave_the_batch_hanging(world: World) -> None:
    parent, (first, second) = await world.batch(2)
    await cancel(world, first)
    assert await world.status(parent) == "pending"
    await finish(world, second, kept(1))
    row = await world.row(parent)
    assert (row["status"], row["error_message"]) == ("cancelled", "1 of 2 parts cancelled")
    parent, (first, second) = await world.batch(2)
    await finish(world, first, HOPELESS)
    await cancel(world, second)
    assert await world.status(parent) == "failed"


async def test_parts_that_end_together_end_the_batch_once_and_do_not_lock_each_other_out(
    world: World,
) -> None:
    for _ in range(10):
        parent, parts = await world.batch(4)
        claims = [await world.claimed(part) for part in parts]
        await asyncio.gather(*(operations.finish(world.database, claim, kept(1), 3) for claim in claims))
        row = await world.row(parent)
        assert (row["status"], row["result"]["facts_kept"]) == ("completed", 4)


async def test_ends_cancels_and_retries_side_by_side_do_not_deadlock(world: World) -> None:
    for _ in range(10):
        parent, parts = await world.batch(4)
        claims = [await world.claimed(part) for part in parts[:2]]
        results = await asyncio.gather(
            *(operations.finish(world.database, claim, kept(1), 3) for claim in claims),
            cancel(world, parent),
            *(cancel(world, part) for part in parts[2:]),
            return_exceptions=True,
        )
        assert all(isinstance(result, Status | Conflict) for result in results), results
        assert {await world.status(part) for part in parts} <= {"completed", "cancelled"}
        assert await world.status(parent) == "cancelled"


async def test_cancel_before_the_start(world: World) -> None:
    operation = await world.submit()
    assert await cancel(world, operation) is Status.CANCELLED
    assert await world.claim(operation) is None
    with pytest.raises(Conflict):
        await cancel(world, operation)


async def test_cancel_while_it_runs_ends_it_at_its_next_look(world: World) -> None:
    operation = await world.submit()
    claim = await world.claimed(operation)
    assert await cancel(world, operation) is Status.PROCESSING
    async with operations.writing(world.database, claim.lease) as (_, standing):
        assert standing.cancel_requested
    assert await operations.finish(world.database, claim, MORE, 3) is Status.CANCELLED
    row = await world.row(operation)
    assert (row["status"], row["cancel_requested"]) == ("cancelled", False)


async def test_cancel_that_comes_too_late_changes_nothing(world: World) -> None:
    operation = await world.submit()
    claim = await world.claimed(operation)
    await cancel(world, operation)
    assert await operations.finish(world.database, claim, kept(1), 3) is Status.COMPLETED


async def test_cancel_of_a_batch_takes_its_parts_with_it(world: World) -> None:
    parent, (waiting, running, ended) = await world.batch(3)
    await finish(world, ended, kept(5))
    claim = await world.claimed(running)
    assert await cancel(world, parent) is Status.CANCELLED
    assert [await world.status(one) for one in (parent, waiting, running, ended)] == [
        "cancelled", "cancelled", "processing", "completed",
    ]  # fmt: skip
    await operations.finish(world.database, claim, MORE, 3)
    row = await world.row(parent)
    assert (row["status"], row["result"]["facts_kept"]) == ("cancelled", 5)


async def test_retry_begins_anew(world: World) -> None:
    operation = await world.submit()
    with pytest.raises(Conflict):
        await retry(world, operation)
    await finish(world, operation, HOPELESS)
    assert await retry(world, operation) == (operation,)
    row = await world.row(operation)
    assert (row["status"], row["attempts"], row["error_message"], row["completed_at"]) == (
        "pending",
        0,
        None,
        None,
    )
    assert await finish(world, operation, kept(1)) is Status.COMPLETED
    with pytest.raises(Conflict):
        await retry(world, operation)


async def test_retry_of_a_batch_queues_what_failed_and_only_that(world: World) -> None:
    parent, (good, bad, cancelled) = await world.batch(3)
    await finish(world, good, kept(2))
    await finish(world, bad, HOPELESS)
    await cancel(world, cancelled)
    assert await world.status(parent) == "failed"
    assert set(await retry(world, parent)) == {bad, cancelled}
    assert [await world.status(one) for one in (parent, good, bad)] == ["pending", "completed", "pending"]
    await finish(world, bad, kept(3))
    await finish(world, cancelled, kept(4))
    row = await world.row(parent)
    assert (row["status"], row["error_message"], row["result"]["facts_kept"]) == ("completed", None, 9)


async def test_retry_of_a_part_opens_its_batch_again(world: World) -> None:
    parent, (bad,) = await world.batch(1)
    await finish(world, bad, HOPELESS)
    await retry(world, bad)
    assert await world.status(parent) == "pending"
    await finish(world, bad, kept(1))
    assert await world.status(parent) == "completed"


async def test_retry_takes_back_a_cancel_that_was_not_followed_yet(world: World) -> None:
    parent, (running,) = await world.batch(1)
    claim = await world.claimed(running)
    await cancel(world, parent)
    assert await retry(world, parent) == (running,)
    assert await operations.finish(world.database, claim, MORE, 3) is Status.PENDING
    await finish(world, running, kept(1))
    assert await world.status(parent) == "completed"


async def test_delete_only_what_has_ended(world: World) -> None:
    parent, (first, second) = await world.batch(2)
    for operation in (parent, first):
        with pytest.raises(Conflict):
            await delete(world, operation)
    await finish(world, first, kept(1))
    await cancel(world, parent)
    await delete(world, parent)
    for operation in (parent, first, second):
        assert await get(world, operation) is None


async def test_a_cancelled_batch_is_not_deleted_under_a_part_that_runs(world: World) -> None:
    parent, (running,) = await world.batch(1)
    claim = await world.claimed(running)
    await cancel(world, parent)
    with pytest.raises(Conflict):
        await delete(world, parent)
    await operations.finish(world.database, claim, MORE, 3)
    await delete(world, parent)


async def test_a_part_can_be_deleted_alone(world: World) -> None:
    parent, (first, second) = await world.batch(2)
    await finish(world, first, kept(2))
    await delete(world, first)
    await finish(world, second, kept(3))
    assert (await world.row(parent))["result"]["facts_kept"] == 3


async def test_when_the_bank_goes_its_work_writes_nothing_more(world: World) -> None:
    _, (running, _) = await world.batch(2)
    claim = await world.claimed(running)
    async with world.database.transaction() as connection:
        await operations.lock_bank(connection, world.bank)
        assert await operations.delete_bank(connection, world.bank) == 3
    with pytest.raises(LeaseLost):
        await operations.finish(world.database, claim, kept(1), 3)


async def test_who_may_not_see_gets_the_answer_of_the_unknown(world: World) -> None:
    operation = await world.submit()
    stranger = Viewer((world.other_audience,))
    other = await build(world.database, "others")
    assert await get(world, operation, stranger) is None
    assert await get(other, operation) is None
    for viewer, place, asked in (
        (stranger, world, operation),
        (EVERYBODY, other, operation),
        (EVERYBODY, world, uuid4()),
    ):
        for act in (cancel, retry, delete):
            with pytest.raises(NotFound, match=f"Operation {asked} not found"):
                await act(place, asked, viewer)
    async with world.database.connection() as connection:
        assert await operations.list_(connection, world.bank, stranger, OperationFilter()) == (0, [])
    assert await get(world, operation, Viewer((world.audience,))) is not None


async def test_lists_are_pages_newest_first(world: World) -> None:
    parent, (first, second) = await world.batch(2)
    lone = await world.submit(payload={"secret": 1})
    await finish(world, first, kept(1))

    async def listed(**wanted: Any) -> tuple[int, list[UUID]]:
        async with world.database.connection() as connection:
            total, records = await operations.list_(
                connection, world.bank, EVERYBODY, OperationFilter(**wanted)
            )
            assert all(record.payload is None for record in records)
            return total, [record.id for record in records]

    total, ids = await listed()
    assert (total, ids[0], set(ids)) == (4, lone, {parent, first, second, lone})
    assert await listed(limit=1, offset=3) == (4, ids[3:])
    assert await listed(status="completed") == (1, [first])
    assert await listed(status="nonsense") == (0, [])
    assert await listed(kind="batch_retain") == (1, [parent])
    assert await listed(exclude_parents=True, status="pending") == (2, [lone, second])


async def test_the_progress_of_a_batch_is_that_of_its_parts(world: World) -> None:
    parent, parts = await world.batch(2)
    created = (await world.row(parent))["created_at"]
    for part, (processed, total) in zip(parts, ((2, 10), (3, 5)), strict=True):
        claim = await world.claimed(part)
        async with operations.writing(world.database, claim.lease) as (connection, _):
            await operations.progress(connection, claim.lease, Progress("extract", created, processed, total))
    record = await get(world, parent)
    assert record is not None
    assert record.progress == Progress("extract", created, 5, 15)
    assert record.kind == Kind.BATCH_RETAIN


async def test_a_wait_is_seen(world: World) -> None:
    operation = await world.submit()
    await finish(world, operation, RoundEnd(Ending.WAIT, "the provider asks to wait", 60))
    record = await get(world, operation)
    assert record is not None
    assert (record.status, record.error_message) == (Status.PENDING, "the provider asks to wait")
    assert record.retry_at is not None
