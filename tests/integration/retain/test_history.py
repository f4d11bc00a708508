"""The history of a document, and what is forgotten before it was written."""

import asyncio
import json
from datetime import timedelta

import pytest
from retain_world import AT, World, item

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.liveness import Worker
from memorybank.operations import Status
from memorybank.retain import payload, staging
from memorybank.storage import documents, forget, listings, operations

SECRET = "Quetzal keeps the key."


async def test_each_operation_is_one_row_with_its_counts(world: World) -> None:
    await world.configure(retain_extraction_mode="chunks", retain_chunk_size=60)
    turns = [f"Ada: turn {n} is about shelf {n * 7}, and it is long." for n in range(4)]
    await world.keep(item("\n".join(turns[:3]), document_id="d"))
    await world.keep(item("\n".join(turns[:3]), document_id="d"))
    await world.keep(item("\n".join([*turns[1:3], turns[3]]), document_id="d"))
    await world.keep(item("Ben: yes, it is.", document_id="d", update_mode="append"))
    await world.keep(item(f"{turns[3]}", document_id="other"))
    assert await world.history("d") == [
        ("retain", 3, 0),
        ("retain", 0, 0),
        ("retain", 1, 1),
        ("append", 1, 0),
    ]
    # What another document said first is said here too.
    assert await world.history("other") == [("retain", 1, 0)]


async def test_other_acts_and_who_sees_them(world: World) -> None:
    await world.keep(item(SECRET, document_id="d"))
    with clock.fixed(AT + timedelta(days=400)):
        async with world.database.transaction() as connection:
            await documents.set_tags(connection, world.bank.id, "d", ["t"], Viewer.operator(), clock.now())
        async with world.database.transaction() as connection:
            await forget.clear(connection, world.bank.id, "world", Viewer.operator(), clock.now())
    assert await world.history("d") == [("retain", 1, 0), ("retag", 0, 0), ("fact_deleted", 0, 1)]
    held = await world.found("d")
    async with world.database.connection() as connection:
        page = await listings.list_history(connection, Viewer.operator(), held.number, listings.Page(1, 1))
        hidden = await listings.list_history(
            connection, Viewer((world.audience + 1,)), held.number, listings.Page()
        )
    assert ([row["kind"] for row in page.rows], page.total) == (["retag"], 3)
    assert (hidden.rows, hidden.total) == ([], 0)


@pytest.mark.parametrize("everything", [False, True])
async def test_what_waits_to_be_written_is_forgotten_with_its_document(
    world: World, everything: bool
) -> None:
    await world.keep(item("First.", document_id="d"))
    later = await world.submit(item(SECRET, document_id="d"), item("Kept for another.", document_id="e"))
    cancelled = await world.submit(item(SECRET, document_id="d"))
    async with world.database.transaction() as connection:
        await operations.cancel(connection, world.bank.id, cancelled.operation_id, Viewer.operator())
        if everything:
            await forget.clear(connection, world.bank.id, None, Viewer.operator(), clock.now())
        else:
            await documents.delete(connection, world.bank.id, "d", Viewer.operator())
    assert "Quetzal" not in json.dumps(await world.rows("SELECT to_jsonb(o) AS row FROM operation o"))
    await world.work(later.children[0])
    assert (await world.operation(later.operation_id)).status is Status.COMPLETED
    assert await world.texts() == ([] if everything else ["Kept for another."])


async def test_a_document_deleted_between_the_claim_and_the_writing_is_not_written(world: World) -> None:
    await world.keep(item("First.", document_id="d"))
    later = await world.submit(item(SECRET, document_id="d"))
    worker = Worker(world.database, world.settings.worker)
    with worker.holding(later.children[0]) as hold:
        async with world.database.transaction() as connection:
            claim = await operations.claim(connection, hold.lease, worker.id, 60)
        assert claim is not None and "Quetzal" in json.dumps(claim.payload)
        async with world.database.transaction() as connection:
            await documents.delete(connection, world.bank.id, "d", Viewer.operator())
        told = payload.from_json(claim.payload)
        assert isinstance(told, payload.Batch)
        async with operations.writing(world.database, hold.lease) as (connection, _):
            staged = await staging.stage(connection, claim, told, world.settings.bank)
    assert (staged.chunks, staged.skipped, staged.errors) == (0, {"forgotten": 1}, ())
    assert await world.count("document") == 0


async def test_a_document_that_another_audience_deletes_is_not_forgotten(world: World) -> None:
    await world.submit(item(SECRET, document_id="d"))
    async with world.database.transaction() as connection:
        await documents.delete(connection, world.bank.id, "d", Viewer((world.audience + 1,)))
    assert "Quetzal" in json.dumps(await world.rows("SELECT payload FROM operation"))


async def test_appends_at_once_all_land(world: World) -> None:
    await world.configure(retain_extraction_mode="chunks")
    turns = [json.dumps([{"role": "user", "content": f"turn {n}"}]) for n in range(4)]
    await asyncio.gather(*(world.keep(item(turn, document_id="d", update_mode="append")) for turn in turns))
    while waiting := await world.rows(
        "SELECT id FROM operation WHERE status = 'pending' AND kind = 'retain'"
    ):
        for row in waiting:
            await world.work(row["id"])
    [document] = await world.rows("SELECT original_text FROM document")
    said = [turn["content"] for turn in json.loads(document["original_text"])]
    assert sorted(said) == [f"turn {n}" for n in range(4)]
    assert [text.split('"')[-2] for text in await world.texts()] == said
    assert [added for _, added, _ in await world.history("d")] == [1, 1, 1, 1]


async def test_small_edits_of_a_long_document_cost_two_calls_at_most(world: World) -> None:
    paragraphs = [
        f"Paragraph {n} tells of shelf {n * 7}. " + f"It is long, dull and {n}. " * 25 + "So."
        for n in range(100)
    ]
    await world.keep(item("\n\n".join(paragraphs), document_id="d"))
    assert len("\n\n".join(paragraphs)) > 60_000
    for at, put_in, taken in [(0, 1, 0), (50, 1, 0), (101, 1, 0), (0, 0, 1), (7, 1, 1), (60, 0, 1)]:
        paragraphs[at : at + taken] = [f"Put in at {at}, and it is new. " * 20 + "So."] * put_in
        again = await world.keep(item("\n\n".join(paragraphs), document_id="d"))
        assert again.result["chunks_in"] <= 2, (at, put_in, taken)
    await world.consistent()
    embedded = world.embedder.calls
    again = await world.keep(item("\n\n".join(paragraphs), document_id="d"))
    assert (again.result["chunks_in"], world.embedder.calls) == (0, embedded)
    chunks = await world.rows("SELECT text FROM chunk ORDER BY ordinal")
    assert "\n\n".join(chunk["text"] for chunk in chunks) == "\n\n".join(paragraphs)
