"""A request becomes operations: grouped, keyed, idempotent."""

import asyncio
from uuid import uuid4

import pytest
from retain_world import World, item

from memorybank import clock
from memorybank.errors import BadRequest, Conflict, InvalidInput
from memorybank.operations import PRIORITY_INTERACTIVE, Kind, Status
from memorybank.storage import banks


async def test_a_parent_and_children_of_about_the_batch_size(world: World) -> None:
    submitted = await world.submit(*(item("word " * 6000, document_id=f"d{n}") for n in range(3)))
    assert (submitted.items_count, len(submitted.children), submitted.replayed) == (3, 3, False)
    assert submitted.operation_ids == (submitted.operation_id,)
    parent = await world.operation(submitted.operation_id)
    assert (parent.kind, parent.status, parent.is_parent) == (Kind.BATCH_RETAIN, Status.PENDING, True)
    assert parent.result["num_sub_batches"] == 3
    assert [part.result["sub_batch_index"] for part in parent.parts] == [1, 2, 3]
    assert [part.result["document_id"] for part in parent.parts] == ["d0", "d1", "d2"]
    [keys] = await world.rows(
        "SELECT array_agg(serial_keys ORDER BY id) AS keys FROM operation WHERE NOT is_parent"
    )
    assert keys["keys"] == [["d0"], ["d1"], ["d2"]]


async def test_recalled_blocks_that_were_left_out_are_counted(world: World) -> None:
    both = item("<memories>old</memories> new", context="<memories>old</memories>")
    submitted = await world.submit(both, item("plain"))
    assert (await world.operation(submitted.operation_id)).result["recalled_blocks"] == 2


async def test_interactive_work_is_the_callers(world: World) -> None:
    await world.submit(item("x"), interactive=True)
    rows = await world.rows("SELECT priority, rung_at IS NOT NULL AS rung FROM operation WHERE NOT is_parent")
    assert rows == [{"priority": PRIORITY_INTERACTIVE, "rung": True}]


async def test_the_same_operation_id_gives_the_same_answer_and_no_new_work(world: World) -> None:
    wanted = uuid4()
    first = await world.submit(item("one"), item("two"), operation_id=wanted)
    again = await world.submit(item("other"), operation_id=wanted)
    assert first.operation_id == again.operation_id == wanted
    assert (again.items_count, again.children, again.replayed) == (2, first.children, True)
    assert await world.count("operation") == 2


async def test_the_same_request_twice_at_once_is_taken_once(world: World) -> None:
    wanted = uuid4()
    both = await asyncio.gather(*(world.submit(item("one"), operation_id=wanted) for _ in range(4)))
    assert {submitted.children for submitted in both} == {both[0].children}
    assert sorted(submitted.replayed for submitted in both) == [False, True, True, True]
    assert await world.count("operation") == 2


async def test_an_operation_id_of_another_bank_or_kind_is_a_conflict(world: World) -> None:
    wanted = uuid4()
    submitted = await world.submit(item("one"), operation_id=wanted)
    with pytest.raises(Conflict):
        await world.submit(item("one"), operation_id=submitted.children[0])
    async with world.database.connection() as connection:
        world.bank = await banks.ensure(connection, "other", clock.now())
        world.audience = await banks.default_audience(connection, world.bank.id)
    with pytest.raises(Conflict):
        await world.submit(item("one"), operation_id=wanted)


async def test_each_strategy_has_a_parent_and_one_operation_id_cannot_name_them(world: World) -> None:
    items = (item("a", strategy="fast"), item("b"), item("c", strategy="fast"))
    submitted = await world.submit(*items)
    assert len(submitted.operation_ids) == 2
    assert submitted.items_count == 3
    with pytest.raises(BadRequest, match="several strategies"):
        await world.submit(*items, operation_id=uuid4())


async def test_a_refused_request_stores_nothing(world: World) -> None:
    with pytest.raises(InvalidInput):
        await world.submit(item("good"), item("\x00"))
    with pytest.raises(BadRequest):
        await world.submit(item("a", document_id="d"), item("b", document_id="d"))
    assert await world.count("operation") == 0


async def test_odd_bytes_are_taken_out_and_the_others_stored(world: World) -> None:
    await world.configure(retain_extraction_mode="chunks")
    dirty = item("Total\x00: 40 EUR", document_id="d\x00", tags=("t\x00",), metadata={"k\x00": "v\ud83d"})
    kept = await world.keep(item("first", document_id="a"), dirty, item("last", document_id="z"))
    assert kept.status is Status.COMPLETED
    assert sorted(await world.texts()) == ["Total: 40 EUR", "first", "last"]
    [row] = await world.rows("SELECT tags, metadata FROM memory_unit WHERE text LIKE 'Total%%'")
    assert row == {"tags": ["t"], "metadata": {"k": "v"}}


async def test_a_long_request_is_cut_as_a_short_one_is(world: World) -> None:
    submitted = await world.submit(*(item("word " * 9000, document_id=f"d{n}") for n in range(5)))
    assert len(submitted.children) == 5
