"""Whatever dies in the middle of a retain, and whenever: each fact is there exactly once, and nothing half written."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from processes import QUICK, WHEN_ASKED, Client, Installation, Program, eventually, items
from psycopg.rows import dict_row

from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.embedded_state import read_state
from memorybank.testing.scripted_llm import ScriptedLLM
from memorybank_eval import crash, crash_consolidation
from memorybank_eval.crash_site import site
from memorybank_eval.nursery import Forked, Nursery

#: Twenty sessions; each is one chunk, so one call of the model, and two facts.
SESSIONS = [
    f"Ines: Crate {n} came by ship {n + 300}.\nMilo: Crate {n} went to shelf {n + 700}." for n in range(20)
]
FACTS = sorted(line for session in SESSIONS for line in session.splitlines())
#: Calls that one operation has with the model at once (`retain.extraction_concurrency`).
AT_ONCE = 8
#: All that one fact is in storage, by bank.
ROWS = """
SELECT b.bank_id, count(*) AS units, count(DISTINCT u.text) AS texts,
       count(*) FILTER (WHERE u.status = 'active') AS active,
       (SELECT count(*) FROM embedding e WHERE e.bank = b.id) AS vectors,
       (SELECT count(*) FROM posting p WHERE p.bank = b.id AND p.term = 0) AS indexed,
       (SELECT count(*) FROM chunk c WHERE c.bank = b.id AND c.state <> 'extracted') AS open_chunks,
       (SELECT count(*) FROM operation o WHERE o.bank = b.id AND o.status <> 'completed') AS open_operations
FROM bank b JOIN memory_unit u ON u.bank = b.id GROUP BY b.id
"""


def rows(home: Path) -> list[dict[str, Any]]:
    with psycopg.connect(EmbeddedServer(home).conninfo(), row_factory=dict_row) as connection:
        return connection.execute(ROWS).fetchall()


def whole(row: dict[str, Any], facts: int) -> bool:
    """Whether a bank holds so many facts once, all of each, and no work is left."""
    once = {row[name] for name in ("units", "texts", "active", "vectors", "indexed")} == {facts}
    return once and row["open_chunks"] == row["open_operations"] == 0


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as running:
        yield running


@pytest.fixture
def model() -> Iterator[ScriptedLLM]:
    with ScriptedLLM() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, model: ScriptedLLM) -> Iterator[Installation]:
    """An installation with a scripted model, and workers that are quick to be missed."""
    made = Installation(
        tmp_path,
        MEMORYBANK_LLM__MODEL="openai/scripted",
        MEMORYBANK_LLM__BASE_URL=model.base_url,
        MEMORYBANK_LLM__API_KEY="none",
        **QUICK,
        **WHEN_ASKED,
    )
    yield made
    model.release()
    made.end()


def work(nursery: Nursery, place: Installation, **environ: str) -> Forked:
    worker = nursery(place.environ | environ, place.folder / "workers.err")
    place.forked.append(worker)
    return worker


def test_20_kills_of_a_worker_lose_and_double_nothing(nursery: Nursery, tmp_path: Path) -> None:
    plans = crash.plans(crash.RUNS, quick=True)

    async def all_runs() -> tuple[list[crash.Kill], list[dict[str, Any]]]:
        async with site(tmp_path, nursery, crash.SETTINGS) as at:
            return await crash.measure(at, plans), rows(tmp_path)

    kills, banks = asyncio.run(all_runs())
    # `crash.strike` has compared the facts, and refused a kill that did not fall in the middle.
    assert len(kills) == 20
    assert all(kill.stored >= 1 and kill.pending >= 1 for kill in kills)
    assert all(kill.repeated_calls <= kill.flying for kill in kills)
    assert len({kill.stored for kill in kills}) >= 10, "the kills fell at different moments"
    held = {row["bank_id"]: row for row in banks}
    for plan in plans:
        assert whole(held[crash.bank_of(plan)], crash.SESSIONS * plan.turns)


def test_kills_in_a_consolidation_change_nothing_of_what_is_learned(nursery: Nursery, tmp_path: Path) -> None:
    planned = crash_consolidation.moments(1, 2)

    async def all_runs() -> tuple[list[dict[str, Any]], list[crash_consolidation.Run]]:
        more = (crash_consolidation.SETTINGS, crash_consolidation.LATENCY)
        async with site(tmp_path, nursery, *more) as at:
            return await crash_consolidation.measure(at, planned, quick=True)

    # `measure` has compared what the runs came to, and refused calls that were repeated without need.
    expected, runs = asyncio.run(all_runs())
    assert [len(run.kills) for run in runs] == [1, 2]
    assert sum(row["proof_count"] for row in expected) == crash_consolidation.FACTS
    assert {row["proof_count"] for row in expected} == {2, 3}
    assert all(len(row["before"]) == row["proof_count"] - 1 for row in expected)


def test_a_worker_stopped_past_its_lease_writes_nothing(
    nursery: Nursery, place: Installation, model: ScriptedLLM
) -> None:
    bank = Client(place.serve().url(), "stopped")
    first = work(nursery, place)
    model.hold()
    operation = bank.submit(*SESSIONS)
    eventually(lambda: model.stats()["waiting"] == AT_ONCE, "the first worker does not ask")
    first.send_signal(signal.SIGSTOP)
    second = work(nursery, place)
    # The first is still connected: only its lease, run out, gives the work to the second.
    eventually(lambda: model.stats()["waiting"] == 2 * AT_ONCE, "the second worker does not take over")
    model.release()
    assert bank.ended(operation)["status"] == "completed"
    calls = model.calls
    # The answers to the first one's calls have long come; it reads them now.
    first.send_signal(signal.SIGCONT)
    log = place.folder / "workers.err"
    eventually(lambda: "round ended: " in log.read_text(), "the first worker does not notice")
    assert bank.facts() == FACTS
    assert [whole(row, len(FACTS)) for row in rows(place.home)] == [True]
    assert model.calls == calls == len(SESSIONS) + AT_ONCE
    # It is well again: alone, it does the next piece of work.
    second.kill()
    second.wait()
    assert bank.ended(bank.submit("Ines: The first worker is back."))["status"] == "completed"


def test_answers_that_come_while_another_worker_works_are_not_written(
    nursery: Nursery, place: Installation, model: ScriptedLLM
) -> None:
    bank = Client(place.serve().url(), "overtaken")
    first = work(nursery, place)
    model.hold()
    operation = bank.submit(*SESSIONS)
    eventually(lambda: model.stats()["waiting"] == AT_ONCE, "the first worker does not ask")
    first.send_signal(signal.SIGSTOP)
    work(nursery, place)
    eventually(lambda: model.stats()["waiting"] == 2 * AT_ONCE, "the second worker does not take over")
    # Some answers for both of them; neither has written all when the first one wakes.
    model.release(AT_ONCE)
    first.send_signal(signal.SIGCONT)
    log = place.folder / "workers.err"
    eventually(lambda: "round ended: " in log.read_text(), "the first worker does not notice")
    model.release()
    assert bank.ended(operation)["status"] == "completed"
    assert bank.facts() == FACTS
    assert [whole(row, len(FACTS)) for row in rows(place.home)] == [True]


def test_a_worker_ends_a_sync_retain_whose_api_was_killed(
    nursery: Nursery, place: Installation, model: ScriptedLLM
) -> None:
    api = place.serve()
    bank = Client(api.url(), "sync")
    worker = work(nursery, place)
    model.hold()
    cut: list[httpx.HTTPError] = []

    def ask() -> None:
        try:
            bank.retain(*SESSIONS)
        except httpx.HTTPError as error:
            cut.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(lambda: model.stats()["waiting"] == AT_ONCE, "the API does not ask")
    model.release(3)
    eventually(bank.facts, "nothing is stored")
    # The database dies with it: the worker starts it again, then ends the work.
    api.kill()
    asking.join()
    asked = model.calls
    assert len(cut) == 1
    model.release()
    again = Client(place.serve().url(), "sync")
    eventually(lambda: again.facts() == FACTS, "the worker does not end the work")
    eventually(lambda: [whole(row, len(FACTS)) for row in rows(place.home)] == [True], "work is left")
    assert model.calls <= len(SESSIONS) + asked - 1, "what is stored is not asked again"
    assert worker.running


def test_all_go_on_after_kill_9_of_postgres(place: Installation, model: ScriptedLLM) -> None:
    up = place.up()
    bank = Client(up.url(), "database")
    model.hold()
    operation = bank.submit(*SESSIONS)
    eventually(lambda: model.stats()["waiting"] == AT_ONCE, "the worker does not ask")
    model.release(5)
    eventually(lambda: bank.stored(operation) >= 1, "nothing is stored")
    worker = up.worker()
    kill_postgres(place)
    model.release()
    assert ended_after_all(bank, operation)["status"] == "completed"
    assert bank.facts() == FACTS
    assert [whole(row, len(FACTS)) for row in rows(place.home)] == [True]
    assert (up.running, up.worker()) == (True, worker), "nobody had to be started again"
    # And once more, under a call of the API.
    kill_postgres(place)
    eventually(lambda: healthy(up), "the API does not come back")
    assert bank.ended(bank.submit("Ines: The lights are on again."))["status"] == "completed"
    assert "Ines: The lights are on again." in bank.facts()


def test_the_next_up_ends_what_a_killed_one_left(place: Installation, model: ScriptedLLM) -> None:
    up = place.up()
    bank = Client(up.url(), "left")
    model.hold()
    operation = bank.submit(*SESSIONS)
    eventually(lambda: model.stats()["waiting"] == AT_ONCE, "the worker does not ask")
    model.release(5)
    eventually(lambda: bank.stored(operation) >= 1, "nothing is stored")
    up.kill()
    asked = model.calls
    place.deserted()
    model.release()
    again = Client(place.up().url(), "left")
    assert again.ended(operation)["status"] == "completed"
    assert again.facts() == FACTS
    assert [whole(row, len(FACTS)) for row in rows(place.home)] == [True]
    assert model.calls <= len(SESSIONS) + asked - 1, "what is stored is not asked again"


def test_sigterm_lets_calls_end_and_begins_none(
    nursery: Nursery, place: Installation, model: ScriptedLLM
) -> None:
    bank = Client(place.serve().url(), "drained")
    worker = place.worker().ready()
    model.hold()
    operation = bank.submit(*SESSIONS)
    eventually(lambda: model.stats()["waiting"] == AT_ONCE, "the worker does not ask")
    worker.send(signal.SIGTERM)
    threading.Timer(0.5, model.release).start()
    assert worker.wait() == 0
    assert model.calls == AT_ONCE
    left = bank.operation(operation)
    assert left["status"] in ("pending", "processing")
    assert (bank.stored(operation), left.get("retry_count", 0)) == (AT_ONCE, 0)
    work(nursery, place)
    assert bank.ended(operation)["status"] == "completed"
    assert (bank.facts(), model.calls) == (FACTS, len(SESSIONS)), "nothing was asked twice"


def test_sigterm_gives_back_what_does_not_end_in_time(
    nursery: Nursery, place: Installation, model: ScriptedLLM
) -> None:
    bank = Client(place.serve().url(), "given-back")
    worker = work(nursery, place, MEMORYBANK_WORKER__GRACE_SECONDS="0.5")
    model.hold()
    operation = bank.submit(*SESSIONS)
    eventually(lambda: model.stats()["waiting"] == AT_ONCE, "the worker does not ask")
    worker.send_signal(signal.SIGTERM)
    worker.wait()
    model.release()
    work(nursery, place)
    assert bank.ended(operation)["status"] == "completed"
    assert bank.facts() == FACTS
    assert bank.operation(operation).get("retry_count", 0) == 0


def test_a_sync_retain_that_the_api_cannot_end_is_told_so_and_goes_on(
    nursery: Nursery, place: Installation, model: ScriptedLLM
) -> None:
    work(nursery, place)
    api = place.serve()
    url = api.url()
    model.hold()
    answers: list[httpx.Response] = []

    def ask() -> None:
        path = f"{url}/v1/default/banks/told/memories"
        answers.append(httpx.post(path, json={"items": items(*SESSIONS)}, timeout=60, trust_env=False))

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(lambda: model.stats()["waiting"] == AT_ONCE, "the API does not ask")
    api.send(signal.SIGTERM)
    threading.Timer(0.5, model.release).start()
    assert api.wait() == 0
    asking.join()
    assert answers[0].status_code == 409
    assert "goes on in the background" in answers[0].json()["detail"]
    again = Client(place.serve().url(), "told")
    eventually(lambda: again.facts() == FACTS, "the worker does not end the work")
    assert model.calls == len(SESSIONS), "nothing was asked twice"


def kill_postgres(place: Installation) -> None:
    state = read_state(place.home / "postgres.json")
    assert state is not None
    server = state.server
    os.kill(server.pid, signal.SIGKILL)
    eventually(lambda: not server.lives(), "the server lives on")


def healthy(up: Program) -> bool:
    try:
        return httpx.get(up.url() + "/health", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def ended_after_all(bank: Client, operation: str) -> dict[str, Any]:
    """Wait for an operation while the database may be away."""

    def look() -> dict[str, Any] | None:
        try:
            found = bank.operation(operation)
        except AssertionError:
            return None
        return found if found["status"] in ("completed", "failed", "cancelled") else None

    return eventually(look, "the operation does not end")
