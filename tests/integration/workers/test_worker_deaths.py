"""Workers that die, stand still or lose their server: nothing is lost, nothing is done twice."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from worker_world import World, build

from memorybank.settings import Settings
from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.migrate import migrate
from memorybank.storage.pool import Database

JOB = {"steps": 30, "seconds": 0.05}


async def test_another_worker_goes_on_after_kill_9(world: World) -> None:
    first = world.start()
    (operation,) = await world.submit([JOB])
    await world.stepped(3)
    second = world.start()
    first.send(signal.SIGKILL)
    began = time.monotonic()
    first.wait()
    await world.until(lambda: wrote(world, second.pid))
    assert time.monotonic() - began < 5
    await world.ended([operation])
    assert await world.status(operation) == "completed"
    await world.exactly_once(operation, 30)


async def test_many_deaths_do_not_fail_work_that_makes_progress(world: World) -> None:
    (operation,) = await world.submit([{"steps": 60, "seconds": 0.02}])
    deaths = 0
    while deaths < 4:
        process = world.start(heartbeat_seconds=0.05, dead_seconds=0.1, sweep_seconds=0.05)
        before = len(await world.effects())
        await world.stepped(before + 2)
        process.send(signal.SIGKILL)
        process.wait()
        deaths += 1
    world.start()
    await world.ended([operation])
    assert await world.status(operation) == "completed"
    await world.exactly_once(operation, 60)


async def test_an_operation_that_kills_its_worker_fails_after_its_attempts(world: World) -> None:
    (poison,) = await world.submit([{"does": "kill"}])
    died = 0
    while await world.status(poison) != "failed":
        process = world.start()

        async def over(process: object = process) -> bool:
            return not world.processes[-1].running or await world.status(poison) == "failed"

        await world.until(over)
        died += not process.running
    assert died == 3
    (good,) = await world.submit([{}])
    await world.ended([good])
    (row,) = await world.rows("SELECT attempts, error_message FROM operation WHERE status = 'failed'")
    assert row["attempts"] == 3
    assert "worker died" in row["error_message"]


async def test_a_worker_stopped_past_its_lease_writes_nothing(world: World) -> None:
    first = world.start()
    (operation,) = await world.submit([JOB])
    await world.stepped(3)
    first.send(signal.SIGSTOP)
    second = world.start()
    # It is still connected, so only the lease tells.
    await world.until(lambda: wrote(world, second.pid))
    by_first = [effect for effect in await world.effects() if effect.pid == first.pid]
    first.send(signal.SIGCONT)
    await world.ended([operation])
    await asyncio.sleep(0.3)
    assert [effect for effect in await world.effects() if effect.pid == first.pid] == by_first
    await world.exactly_once(operation, 30)
    # The first is well again, and works on.
    second.send(signal.SIGTERM)
    assert second.wait() == 0
    (later,) = await world.submit([{}])
    await world.ended([later])


async def test_a_blocked_loop_loses_no_lease(world: World) -> None:
    world.start()
    (operation,) = await world.submit([{"steps": 1, "does": "block", "seconds": 3}])

    async def claimed() -> bool:
        return await world.status(operation) == "processing"

    await world.until(claimed)
    world.start()
    await world.ended([operation])
    assert len({effect.pid for effect in await world.effects()}) == 1
    await world.exactly_once(operation, 1)


async def test_workers_go_on_after_all_their_connections_were_cut(world: World) -> None:
    world.start()
    ids = await world.submit([JOB] * 3)
    await world.stepped(3)
    await world.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    await world.ended(ids)
    for operation in ids:
        await world.exactly_once(operation, 30)
    (later,) = await world.submit([{}])
    await world.ended([later])


@pytest.fixture
async def embedded(tmp_path: Path, settings: Settings) -> AsyncIterator[World]:
    server = EmbeddedServer(tmp_path)
    await asyncio.to_thread(server.ensure)

    async def where() -> str:
        return server.conninfo()

    await migrate(await where())
    database = Database(where, settings.database)
    await database.open()
    world = await build(database, f"home:{tmp_path}")
    yield world
    for process in world.processes:
        process.end()
    await database.close()
    await asyncio.to_thread(server.stop)


async def test_workers_go_on_after_the_server_was_killed(embedded: World) -> None:
    embedded.start()
    embedded.start()
    ids = await embedded.submit([JOB] * 3)
    await embedded.stepped(3)
    (backend,) = await embedded.rows("SELECT pg_backend_pid() AS pid")
    psutil.Process(psutil.Process(backend["pid"]).ppid()).kill()
    # Its recovery takes as long as the disk lets it.
    await embedded.ended(ids, 120)
    assert [await embedded.status(one) for one in ids] == ["completed"] * 3
    for operation in ids:
        await embedded.exactly_once(operation, 30)
    (later,) = await embedded.submit([{}])
    await embedded.ended([later])


async def wrote(world: World, pid: int) -> bool:
    return any(effect.pid == pid for effect in await world.effects())
