"""Rounds: work goes on where it stopped, and each chunk has its effect once, whatever happens in between."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from retain_world import World, item

from memorybank.audience import Viewer
from memorybank.operations import Claim, Status
from memorybank.retain import writing
from memorybank.retain.job import UNDER_WAY
from memorybank.retain.writing import Group
from memorybank.rounds import Round
from memorybank.storage import banks, documents
from memorybank.storage.queries import Connection
from memorybank.testing.scripted_model import ScriptedModel, one_fact_a_line

pytestmark = pytest.mark.usefixtures("apart")

ITEMS = [item(f"Ada told item {n}.", document_id=f"d{n:02}") for n in range(20)]


async def _submitted(world: World) -> Any:
    return (await world.submit(*ITEMS, interactive=True)).children[0]


async def test_a_round_that_is_over_goes_on_in_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.model = ScriptedModel()
    world.settings = world.settings.model_copy(
        update={"retain": world.settings.retain.model_copy(update={"extraction_concurrency": 1})}
    )
    child, model = await _submitted(world), world.model
    monkeypatch.setattr(Round, "over", lambda round_: len(model.requests) % 7 == 6)
    statuses = []
    while (status := await world.work(child)) is Status.PENDING:
        statuses.append(status)
        # The next round must not be over before it begins.
        model.requests.append(model.requests[-1])
    assert status is Status.COMPLETED
    assert len(statuses) >= 2
    assert sorted(await world.texts()) == sorted(one.content for one in ITEMS)
    assert (await world.operation(child)).result["unit_ids_count"] == 20


async def test_what_is_extracted_at_once_is_stored_in_small_groups(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.settings = world.settings.model_copy(
        update={"retain": world.settings.retain.model_copy(update={"extraction_concurrency": 2})}
    )
    groups: list[int] = []
    write = writing.write

    async def counted(connection: Connection, claim: Claim, group: Group, **options: Any) -> Any:
        groups.append(len(group.done))
        return await write(connection, claim, group, **options)

    monkeypatch.setattr(writing, "write", counted)
    await world.keep(*ITEMS)
    assert sum(groups) == len(ITEMS)
    assert max(groups) <= 2 * UNDER_WAY


async def test_a_lost_lease_writes_nothing_and_the_next_round_finds_the_work(world: World) -> None:
    child = await _submitted(world)
    answered = asyncio.Event()

    class Slow(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            if "item 13." in request.user:
                answered.set()
                await asyncio.sleep(0.2)
            return await super().complete(request)

    world.model = Slow()
    first = asyncio.create_task(world.work(child))
    await answered.wait()
    await world.rows(
        "UPDATE operation SET status = 'pending', lease_token = NULL, lease_expires_at = NULL"
        " WHERE id = %s RETURNING 1", child
    )  # fmt: skip
    stored = await world.count("chunk WHERE state = 'extracted'")
    assert await first is None
    assert await world.count("chunk WHERE state = 'extracted'") == stored
    world.model = ScriptedModel()
    assert await world.work(child) is Status.COMPLETED
    assert sorted(await world.texts()) == sorted(one.content for one in ITEMS)
    assert len(world.model.requests) == 20 - stored


async def test_a_cancelled_round_stores_whole_chunks_only(world: World) -> None:
    child = await _submitted(world)
    asked = asyncio.Event()
    world.model = ScriptedModel(lambda text: asked.set() or one_fact_a_line(text))
    task = asyncio.create_task(world.work(child))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await world.work(child) is Status.COMPLETED
    assert sorted(await world.texts()) == sorted(one.content for one in ITEMS)
    await world.consistent()


async def test_a_document_deleted_meanwhile_leaves_nothing(world: World) -> None:
    child = await _submitted(world)

    class Deleting(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            if "item 13." in request.user:
                async with world.database.transaction() as connection:
                    await documents.delete(connection, world.bank.id, "d13", Viewer.operator())
            return await super().complete(request)

    world.model = Deleting()
    assert await world.work(child) is Status.COMPLETED
    texts = await world.texts()
    assert len(texts) == 19
    assert "Ada told item 13." not in texts


async def test_progress_says_how_far_it_is(world: World) -> None:
    world.model = ScriptedModel()
    kept = await world.keep(*ITEMS)
    progress = kept.parts[0].progress
    assert progress is not None
    assert (progress.stage, progress.processed, progress.total) == ("extraction", 20, 20)
    assert progress.detail["facts"] == 20


async def test_an_operation_to_the_same_document_waits_its_turn(world: World) -> None:
    world.model = ScriptedModel()
    first = await world.submit(replace(ITEMS[0], content="first"), interactive=True)
    second = await world.submit(replace(ITEMS[0], content="second"), interactive=True)
    assert await world.work(second.children[0]) is None
    assert await world.work(first.children[0]) is Status.COMPLETED
    assert await world.work(second.children[0]) is Status.COMPLETED
    assert await world.texts() == ["second"]


def test_the_scripted_answers_are_what_these_tests_count_on() -> None:
    assert one_fact_a_line("a\n\nb") == {
        "facts": [{"what": "a", "entities": []}, {"what": "b", "entities": []}]
    }


async def test_a_bank_deleted_meanwhile_ends_the_work(world: World) -> None:
    child = await _submitted(world)
    reached = asyncio.Event()
    world.model = ScriptedModel(
        lambda text: reached.set() or one_fact_a_line(text) if "item 3." in text else one_fact_a_line(text)
    )
    task = asyncio.create_task(world.work(child))
    await reached.wait()
    async with world.database.transaction() as connection:
        await banks.delete(connection, world.bank.bank_id)
    assert await task in (None, Status.COMPLETED)
    for table in (
        "bank",
        "document",
        "chunk",
        "memory_unit",
        "posting",
        "embedding",
        "entity",
        "operation",
        "llm_call",
    ):
        assert await world.count(table) == 0, table


async def test_a_chunk_that_breaks_the_program_costs_itself_only(world: World) -> None:
    class Broken(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            if "item 3." in request.user:
                raise IndexError("nobody foresaw this")
            return await super().complete(request)

    child = await _submitted(world)
    world.model = Broken()
    with pytest.raises(IndexError):
        await world.work(child)
    assert len(await world.texts()) == 19
    assert (await world.operation(child)).status is Status.PENDING
    world.model = ScriptedModel()
    await world.rows("UPDATE operation SET due_at = now() RETURNING 1")
    assert await world.work(child) is Status.COMPLETED
    assert len(world.model.requests) == 1


async def test_a_bank_that_outgrows_exact_search_is_queued_for_an_index(world: World) -> None:
    world.model = ScriptedModel()
    recall = world.settings.recall.model_copy(update={"exact_units": 5})
    world.settings = world.settings.model_copy(update={"recall": recall})
    queued = "SELECT kind FROM operation WHERE kind = 'vector_index' AND bank = %s"
    await world.keep(*ITEMS[:5])
    assert await world.rows(queued, world.bank.id) == []
    await world.keep(*ITEMS[5:10])
    await world.keep(*ITEMS[10:])
    assert len(await world.rows(queued, world.bank.id)) == 1
