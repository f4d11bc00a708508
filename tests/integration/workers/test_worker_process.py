"""Real worker processes at their work: what runs, in which order, and how they stop."""

import asyncio
import signal
import time

import psutil
import pytest
from worker_world import World


async def test_operations_run_side_by_side_on_one_loop(world: World) -> None:
    ids = await world.submit([{"seconds": 0.5}] * 4)
    process = world.start()
    await world.stepped(1)
    began = time.monotonic()
    await world.ended(ids)
    assert time.monotonic() - began < 0.5, "the other three ran at the same time"
    assert {effect.pid for effect in await world.effects()} == {process.pid}


async def test_work_that_comes_later_is_done_at_once_every_time(world: World) -> None:
    world.start()
    waits = []
    for _ in range(10):
        began = time.monotonic()
        ids = await world.submit([{}])
        await world.ended(ids)
        waits.append(time.monotonic() - began)
    assert sorted(waits)[5] < 0.15, "rung by the commit, not found by the next look"


async def test_a_lost_ring_is_rung_again(world: World) -> None:
    world.start()
    await world.ended(await world.submit([{}]))
    (lost,) = await world.submit([{}], rung=True)
    began = time.monotonic()
    await world.ended([lost])
    assert time.monotonic() - began > 0.9, "re-ringing waits a second here"


async def test_the_urgent_first(world: World) -> None:
    usual = await world.submit([{"seconds": 0.1}] * 3)
    urgent = await world.submit([{"seconds": 0.1}] * 2, priority=10)
    world.start(concurrency=1)
    await world.ended([*usual, *urgent])
    assert [effect.operation for effect in await world.effects()] == [*urgent, *usual]


async def test_a_long_operation_lets_others_in(world: World) -> None:
    (long_job,) = await world.submit([{"steps": 6, "seconds": 0.1}])
    world.start(concurrency=1, round_seconds=0.15)
    await world.stepped(1)
    short_jobs = await world.submit([{}] * 2)
    await world.ended([long_job, *short_jobs])
    order = [effect.operation for effect in await world.effects()]
    assert max(order.index(job) for job in short_jobs) < 6
    await world.exactly_once(long_job, 6)


async def test_work_with_one_key_keeps_its_order_over_all_processes(world: World) -> None:
    ids = [
        (await world.submit([{"steps": 3, "seconds": 0.01}], serial_keys=("doc", f"own-{i}")))[0]
        for i in range(6)
    ]
    world.start()
    world.start()
    await world.ended(ids)
    assert [(effect.operation, effect.step) for effect in await world.effects()] == [
        (operation, step) for operation in ids for step in range(3)
    ]


async def test_a_time_out_that_escapes_does_no_harm(world: World) -> None:
    process = world.start(concurrency=1, retry_seconds=0)
    (bad,) = await world.submit([{"does": "time out"}])
    await world.ended([bad])
    assert await world.status(bad) == "failed"
    before = sum(psutil.Process(process.pid).cpu_times()[:2])
    await asyncio.sleep(1)
    assert sum(psutil.Process(process.pid).cpu_times()[:2]) - before < 0.5, "nothing spins"
    (good,) = await world.submit([{}])
    await world.ended([good])
    rows = await world.rows("SELECT attempts, error_message FROM operation WHERE status = 'failed'")
    assert [(row["attempts"], row["error_message"].split(" (")[0]) for row in rows] == [
        (3, "internal error: TimeoutError")
    ]


async def test_sigterm_lets_the_step_end_and_leaves_the_rest(world: World) -> None:
    process = world.start()
    await world.submit([{"steps": 50, "seconds": 0.3}])
    await world.stepped(1)
    process.send(signal.SIGTERM)
    assert process.wait() == 0
    (row,) = await world.rows("SELECT status, attempts, rung_at, worker FROM operation")
    assert row == {"status": "pending", "attempts": 0, "rung_at": None, "worker": None}
    assert await world.rows("SELECT * FROM worker") == []
    written = len(await world.effects())
    world.start()
    await world.stepped(written + 1)
    found = [effect.step for effect in await world.effects()]
    assert found == list(range(len(found)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_after_the_grace_a_round_is_cancelled_and_given_back(
    world: World, number: signal.Signals
) -> None:
    process = world.start(grace_seconds=0.3)
    await world.submit([{"seconds": 60}])

    async def claimed() -> bool:
        return [row["status"] for row in await world.rows("SELECT status FROM operation")] == ["processing"]

    await world.until(claimed)
    later = await world.submit([{}] * 8, serial_keys=("waits",))
    began = time.monotonic()
    process.send(number)
    assert process.wait() == 0
    assert time.monotonic() - began < 5
    rows = await world.rows("SELECT status, attempts FROM operation WHERE serial_keys = '{}'")
    assert rows == [{"status": "pending", "attempts": 0}]
    states = {await world.status(one) for one in later}
    assert states <= {"pending", "completed"}, "nothing hangs"


async def test_an_idle_worker_stops_soon(world: World) -> None:
    process = world.start()
    await world.ended(await world.submit([{}]))
    began = time.monotonic()
    process.send(signal.SIGTERM)
    assert process.wait() == 0
    assert time.monotonic() - began < 3


async def test_a_worker_that_cannot_open_its_workplace_ends_and_says_why(world: World) -> None:
    world.where = "host=127.0.0.1 port=1 dbname=none connect_timeout=1"
    process = world.start()
    assert process.wait() == 1
    assert "PostgreSQL does not answer" in process.log()
