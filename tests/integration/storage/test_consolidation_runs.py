"""Runs of consolidation: triggers coalesce, a backlog is found by itself, and a hopeless bank does not loop."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from observation_world import AT, OPERATOR, World

from memorybank import clock
from memorybank.errors import NotFound
from memorybank.ids import new_id
from memorybank.operations import Kind, Lease
from memorybank.settings import Settings
from memorybank.storage import banks, consolidations, operations
from memorybank.storage.consolidations import PAUSE_CAP_SECONDS, PAUSE_SECONDS, Queued
from memorybank.storage.operations import NewOperation
from memorybank.storage.pool import Database


@pytest.fixture
async def world(database: Database) -> World:
    return await World.made(database)


async def queue(world: World, *scopes: tuple[str, ...]) -> Queued:
    async with world.database.transaction() as connection:
        queued = await consolidations.queue(connection, world.bank, scopes or None)
    assert queued is not None
    return queued


async def swept(world: World, settings: Settings, wait_seconds: float = 0.0) -> int:
    async with world.database.transaction() as connection:
        return await consolidations.sweep(connection, settings.bank, wait_seconds)


async def claim(world: World, operation: UUID) -> bool:
    lease = Lease(operation, new_id())
    async with world.database.transaction() as connection:
        return await operations.claim(connection, lease, new_id(), 30) is not None


async def end(world: World, operation: UUID, status: str, ago: float = 0.0) -> None:
    """Let a run end, so many seconds ago."""
    await world.run(
        "UPDATE operation SET status = %s, lease_token = NULL, fresh = false, completed_at = now() - %s WHERE id = %s",
        status,
        timedelta(seconds=ago),
        operation,
    )


async def test_triggers_get_the_run_that_waits_also_at_once(world: World) -> None:
    queued = await asyncio.gather(*(queue(world) for _ in range(6)))
    assert len({one.operation_id for one in queued}) == 1
    assert sorted(one.deduplicated for one in queued) == [False] + [True] * 5
    scoped = [await queue(world, ("a",)), await queue(world, ("a",))]
    assert len({one.operation_id for one in (*scoped, queued[0])}) == 3


async def test_behind_a_run_that_has_begun_waits_another_and_both_end(world: World) -> None:
    first = await queue(world)
    assert await claim(world, first.operation_id)
    second = await queue(world)
    assert (second.operation_id, second.deduplicated) != (first.operation_id, True)
    assert not await claim(world, second.operation_id), "one run a bank"
    # The first gives its turn back: two wait, and a trigger gets the one that is next.
    await world.run("UPDATE operation SET status = 'pending', lease_token = NULL WHERE status = 'processing'")
    assert await queue(world) == Queued(first.operation_id, deduplicated=True)
    await end(world, first.operation_id, "completed")
    assert await claim(world, second.operation_id)


async def test_what_was_cancelled_can_be_tried_again_beside_a_new_run(world: World) -> None:
    from_before = await queue(world)
    await world.run("UPDATE operation SET status = 'cancelled', completed_at = now()")
    await queue(world)
    async with world.database.transaction() as connection:
        again = await operations.retry(connection, world.bank, from_before.operation_id, OPERATOR)
    assert again == (from_before.operation_id,)


async def test_a_bank_that_is_being_changed_is_left_to_the_sweep(world: World) -> None:
    async with world.database.transaction() as changing:
        await banks.lock(changing, "b")
        async with world.database.transaction() as connection:
            assert await consolidations.queue(connection, world.bank) is None
        asking = asyncio.create_task(ask(world))
        await asyncio.sleep(0.1)
        assert not asking.done()
    assert (await asking).deduplicated is False


async def ask(world: World) -> Queued:
    async with world.database.transaction() as connection:
        return await consolidations.ask(connection, world.bank)


async def test_a_bank_that_is_gone_is_not_found(world: World) -> None:
    async with world.database.transaction() as connection:
        await banks.delete(connection, "b")
    with pytest.raises(NotFound):
        await ask(world)


async def test_a_backlog_is_found_by_itself(world: World, settings: Settings) -> None:
    assert await swept(world, settings) == 0
    await world.keep("d", "one")
    await World.made(world.database, "empty")
    other = await World.made(world.database, "other")
    await other.keep("d", "one")
    assert await swept(world, settings) == 2
    assert await swept(world, settings) == 0, "it waits"
    await world.run(
        "UPDATE operation SET status = 'processing', lease_token = gen_random_uuid() WHERE kind = 'consolidation'"
    )
    assert await swept(world, settings) == 0, "it runs"


@pytest.mark.parametrize(
    "settled",
    [
        "UPDATE memory_unit SET consolidated_at = now()",
        "UPDATE memory_unit SET consolidation_failed_at = now()",
        "UPDATE memory_unit SET status = 'archived'",
        "UPDATE memory_unit SET created_at = now()",
        "UPDATE bank SET config = '{\"enable_observations\": false}'",
        "UPDATE bank SET config = '{\"enable_auto_consolidation\": false}'",
        "UPDATE operation SET status = 'processing', lease_token = gen_random_uuid() WHERE kind = 'retain'",
    ],
)
async def test_what_is_no_backlog_is_left_alone(world: World, settings: Settings, settled: str) -> None:
    await world.keep("d", "one")
    await world.run(settled)
    assert await swept(world, settings) == 0


async def test_a_bank_may_want_what_the_installation_does_not(world: World, settings: Settings) -> None:
    await world.keep("d", "one")
    off = settings.model_copy(
        update={"bank": settings.bank.model_copy(update={"enable_observations": False})}
    )
    assert await swept(world, off) == 0
    await world.run("UPDATE bank SET config = '{\"enable_observations\": true}'")
    assert await swept(world, off) == 1


async def test_facts_that_few_may_see_are_swept_when_their_time_has_come(
    world: World, settings: Settings
) -> None:
    [place] = await world.rows(
        "INSERT INTO audience (bank, kind, place) VALUES (%s, 'place', gen_random_uuid()) RETURNING id",
        world.bank,
    )
    await world.keep("d", "one", audience=place["id"])
    age = (clock.now() - AT).total_seconds()
    assert await swept(world, settings, age + 60) == 0
    assert await swept(world, settings, age - 60) == 1


@pytest.mark.parametrize(
    ("ended", "pause"),
    [
        ([("completed", 0)], PAUSE_SECONDS),
        ([("failed", 0)], PAUSE_SECONDS),
        ([("failed", 2), ("failed", 1), ("failed", 0)], PAUSE_SECONDS),
        ([("completed", 900), ("failed", 120), ("cancelled", 60), ("failed", 0)], 120),
        ([("failed", 900), ("failed", 800), ("completed", 0)], PAUSE_SECONDS),
        ([("failed", 90_000), ("failed", 0)], PAUSE_CAP_SECONDS),
    ],
)
async def test_the_longer_runs_have_failed_the_later_comes_the_next(
    world: World, settings: Settings, ended: list[tuple[str, float]], pause: float
) -> None:
    """However many they were: each retain queues one."""
    await world.keep("d", "one")
    for status, ago in ended:
        await end(world, (await queue(world)).operation_id, status, pause - 5 + ago)
    assert await swept(world, settings) == 0
    await world.run("UPDATE operation SET completed_at = completed_at - interval '6 seconds'")
    assert await swept(world, settings) == 1


async def test_a_document_named_like_the_key_waits_for_no_run(world: World) -> None:
    queued = await queue(world)
    assert await claim(world, queued.operation_id)
    work = NewOperation(new_id(), world.bank, world.audience, Kind.RETAIN, {}, serial_keys=("consolidation",))
    async with world.database.transaction() as connection:
        await operations.submit(connection, [work])
    assert await claim(world, work.id)
