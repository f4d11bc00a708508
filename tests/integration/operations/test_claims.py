"""Who gets an operation, when, and in which order."""

import asyncio
import time
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from operation_world import World, build

from memorybank import clock
from memorybank.errors import Conflict
from memorybank.operations import Ending, Kind, RoundEnd
from memorybank.storage import operations
from memorybank.storage.pool import Database
from memorybank.storage.workers import Doorbell

DONE = RoundEnd(Ending.DONE)


@pytest.fixture
def bell(database: Database) -> Iterator[Doorbell]:
    doorbell = Doorbell(database.conninfo)
    yield doorbell
    doorbell.close()


async def ring(bell: Doorbell, limit: int = 10, rering: float = 60) -> list[UUID]:
    rung = await asyncio.to_thread(bell.ring, [Kind.RETAIN], limit, rering)
    return [one.operation_id for one in rung]


async def test_a_claim_counts_the_attempt_and_says_what_to_do(world: World) -> None:
    operation = await world.submit(payload={"items": [1]})
    claim = await world.claimed(operation)
    assert (claim.attempts, claim.bank_id, claim.kind, claim.payload) == (
        1,
        "team",
        Kind.RETAIN,
        {"items": [1]},
    )
    row = await world.row(operation)
    assert (row["status"], row["attempts"], row["lease_token"]) == ("processing", 1, claim.lease.token)


async def test_of_many_claimers_one_wins(world: World) -> None:
    operation = await world.submit()
    claims = await asyncio.gather(*(world.claim(operation) for _ in range(8)))
    assert sum(claim is not None for claim in claims) == 1
    assert (await world.row(operation))["attempts"] == 1


async def test_what_is_not_due_not_pending_or_a_batch_is_not_claimed(world: World) -> None:
    parent, (part,) = await world.batch(1)
    assert await world.claim(parent) is None
    await world.run_sql("UPDATE operation SET due_at = now() + interval '1 hour' WHERE id = %s", part)
    assert await world.claim(part) is None
    assert await world.claim(uuid4()) is None


async def test_a_known_id_is_refused(world: World) -> None:
    operation = await world.submit()
    with pytest.raises(Conflict):
        await world.submit(id=operation)


async def test_work_with_a_common_key_keeps_its_order_and_never_overlaps(world: World) -> None:
    first = await world.submit(serial_keys=("a", "b"))
    second = await world.submit(serial_keys=("b", "c"))
    third = await world.submit(serial_keys=("c",))
    free = await world.submit(serial_keys=("z",))
    assert await world.claim(second) is None
    assert await world.claim(third) is None
    assert await world.claim(free) is not None
    claim = await world.claimed(first)
    assert await world.claim(second) is None
    await operations.finish(world.database, claim, DONE, 3)
    claim = await world.claimed(second)
    assert await world.claim(third) is None
    await operations.finish(world.database, claim, DONE, 3)
    assert await world.claim(third) is not None


async def test_an_older_id_that_came_later_waits_for_the_one_that_runs(world: World) -> None:
    older, newer = world.new(serial_keys=("a",)), world.new(serial_keys=("a",))
    await world.submit(**vars(newer))
    claim = await world.claimed(newer.id)
    await world.submit(**vars(older))
    assert await world.claim(older.id) is None
    await operations.finish(world.database, claim, DONE, 3)
    assert await world.claim(older.id) is not None


async def test_claims_of_one_key_that_race_do_not_both_win(world: World) -> None:
    for _ in range(30):
        older, newer = world.new(serial_keys=("k",)), world.new(serial_keys=("k",))
        await world.submit(**vars(newer))
        # The older row becomes visible while the newer one is being claimed.
        await asyncio.gather(
            world.claim(newer.id), world.submit(**vars(older)), world.claim(newer.id), world.claim(older.id)
        )
        running = [await world.status(one.id) == "processing" for one in (older, newer)]
        assert running.count(True) <= 1
        await world.run_sql("DELETE FROM operation")


async def test_the_same_key_in_another_bank_is_another_key(world: World) -> None:
    other = await build(world.database, "others")
    first = await world.submit(serial_keys=("a",))
    second = await other.submit(serial_keys=("a",))
    assert await world.claim(first) is not None
    assert await other.claim(second) is not None


async def test_ringing_is_a_claim_that_a_claim_or_an_end_takes_back(world: World, bell: Doorbell) -> None:
    operation = await world.submit()
    assert await ring(bell) == [operation]
    assert await ring(bell) == []
    claim = await world.claimed(operation)
    assert (await world.row(operation))["rung_at"] is None
    await operations.finish(world.database, claim, RoundEnd(Ending.MORE), 3)
    assert await ring(bell) == [operation]
    await asyncio.to_thread(bell.give_back, [operation])
    assert await ring(bell) == [operation]


async def test_a_lost_ring_is_rung_again(world: World, bell: Doorbell) -> None:
    operation = await world.submit()
    assert await ring(bell, rering=0.05) == [operation]
    await asyncio.sleep(0.06)
    assert await ring(bell, rering=0.05) == [operation]


async def test_what_its_submitter_runs_is_left_alone_for_a_while(world: World, bell: Doorbell) -> None:
    operation = await world.submit(rung=True)
    assert await ring(bell) == []
    assert await ring(bell, rering=0) == [operation]


async def test_the_urgent_are_rung_first_then_the_oldest(world: World, bell: Doorbell) -> None:
    first, second = await world.submit(), await world.submit()
    urgent = await world.submit(priority=10)
    assert await ring(bell, limit=2) == [urgent, first]
    assert await ring(bell) == [second]


async def test_work_left_over_goes_behind_what_waited(world: World, bell: Doorbell) -> None:
    long_job = await world.submit()
    other = await build(world.database, "others")
    claim = await world.claimed(long_job)
    short_job = await other.submit()
    await operations.finish(world.database, claim, RoundEnd(Ending.MORE), 3)
    assert await ring(bell) == [short_job, long_job]


async def test_work_that_waits_for_a_key_or_a_batch_is_not_rung(world: World, bell: Doorbell) -> None:
    _, (part,) = await world.batch(1, serial_keys=("a",))
    waiting = await world.submit(serial_keys=("a",))
    assert await ring(bell) == [part]
    claim = await world.claimed(part)
    assert await ring(bell) == []
    await operations.finish(world.database, claim, DONE, 3)
    assert await ring(bell) == [waiting]


async def test_the_commit_rings_and_a_rollback_does_not(world: World, bell: Doorbell) -> None:
    assert await ring(bell) == []  # connects
    waiting = asyncio.create_task(asyncio.to_thread(bell.wait, 0.3))
    with pytest.raises(RuntimeError):
        async with world.database.transaction() as connection:
            await operations.submit(connection, [world.new()])
            raise RuntimeError
    assert await waiting is False
    waiting = asyncio.create_task(asyncio.to_thread(bell.wait, 10))
    await world.submit()
    began = time.monotonic()
    assert await waiting is True
    assert time.monotonic() - began < 5


async def test_an_end_rings_for_what_waited_for_its_key(world: World, bell: Doorbell) -> None:
    operation = await world.submit(serial_keys=("a",))
    await world.submit(serial_keys=("a",))
    claim = await world.claimed(operation)
    assert await ring(bell) == []
    while await asyncio.to_thread(bell.wait, 0.05):
        pass
    await operations.finish(world.database, claim, DONE, 3)
    assert await asyncio.to_thread(bell.wait, 5) is True


async def test_times_come_from_the_one_clock_and_leases_from_the_server(world: World) -> None:
    with clock.fixed(clock.now().replace(year=2001)):
        operation = await world.submit()
        await world.claimed(operation)
    row = await world.row(operation)
    assert row["created_at"].year == row["updated_at"].year == 2001
    assert row["lease_expires_at"].year > 2001
