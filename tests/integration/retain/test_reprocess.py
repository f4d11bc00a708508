"""A document read again: new facts beside the old ones, which go only when theirs are there."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from retain_world import AT, World, item

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import BadRequest, ModelRefused
from memorybank.operations import Status
from memorybank.storage import documents, operations
from memorybank.testing.scripted_model import ScriptedModel

PARAGRAPHS = [f"Paragraph {n} tells of shelf {n * 7}. " + "It is long and dull. " * 8 for n in range(4)]
TEXT = "\n\n".join(PARAGRAPHS)


def told(prefix: str = "", *lost: str) -> ScriptedModel:
    """A model that gives the beginning of each text, worded its own way, and refuses some."""

    def answer(content: str) -> Any:
        if any(part in content for part in lost):
            return ModelRefused("no")
        return {"facts": [{"what": f"{prefix}{content[:11]}", "entities": ["Ada"]}]}

    return ScriptedModel(answer)


async def _ids(world: World) -> dict[str, Any]:
    return {row["text"]: row["id"] for row in await world.rows("SELECT id, text FROM memory_unit")}


async def _chunks(world: World) -> list[tuple[int, str, str]]:
    rows = await world.rows("SELECT ordinal, state, text FROM chunk ORDER BY ordinal")
    return [(row["ordinal"], row["state"], row["text"]) for row in rows]


@pytest.fixture
async def kept(world: World) -> World:
    """Four paragraphs, a chunk and a fact each."""
    await world.configure(retain_chunk_size=220)
    world.model = told()
    await world.keep(item(TEXT, document_id="d"))
    assert await world.count("memory_unit") == 4
    return world


async def test_a_text_that_did_not_change_is_read_again_and_the_same_facts_keep_their_ids(
    kept: World,
) -> None:
    before, chunks, calls = await _ids(kept), await _chunks(kept), len(kept.model.requests)
    again = await kept.reprocess("d")
    assert (again.status, again.items_count) == (Status.COMPLETED, 1)
    assert (again.result["chunks_in"], again.result["chunks_out"]) == (4, 4)
    assert len(kept.model.requests) > calls
    assert (await _ids(kept), await _chunks(kept)) == (before, chunks)
    assert await kept.history("d") == [("retain", 4, 0), ("reprocess", 4, 4)]
    await kept.consistent()


async def test_facts_that_do_not_come_again_go(kept: World) -> None:
    kept.model = told("Now: ")
    await kept.reprocess("d")
    assert await kept.texts() == [f"Now: Paragraph {n}" for n in range(4)]
    assert [ordinal for ordinal, _, _ in await _chunks(kept)] == [0, 1, 2, 3]
    await kept.consistent()


async def test_old_facts_stay_where_the_model_fails_and_go_when_it_does_not(kept: World) -> None:
    kept.model = told("Now: ", "Paragraph 2")
    again = await kept.reprocess("d")
    assert again.status is Status.COMPLETED and again.result["chunks_failed"] == 1
    now = {f"Now: Paragraph {n}" for n in (0, 1, 3)}
    assert set(await kept.texts()) == {"Paragraph 2", *now}
    assert [state for _, state, _ in await _chunks(kept)].count("replaced") == 1
    kept.model = told("Now: ")
    await kept.reprocess("d")
    assert set(await kept.texts()) == {f"Now: Paragraph {n}" for n in range(4)}
    await kept.consistent()


async def test_nothing_is_lost_where_all_fails_or_it_is_cancelled(kept: World) -> None:
    before = await _ids(kept)
    kept.model = told("Now: ", "Paragraph")
    failed = await kept.reprocess("d")
    assert failed.status is Status.FAILED and await _ids(kept) == before
    kept.model = told()
    async with kept.database.transaction() as connection:
        await operations.retry(connection, kept.bank.id, failed.id, Viewer.operator())
    await kept.work(failed.parts[0].id)
    assert (await kept.operation(failed.id)).status is Status.COMPLETED
    assert await _ids(kept) == before and await kept.count("chunk") == 4


async def test_the_same_request_after_a_failed_reading_ends_it(kept: World) -> None:
    before = await _ids(kept)
    kept.model = told("", "Paragraph")
    await kept.reprocess("d")
    kept.model = told()
    await kept.keep(item(TEXT, document_id="d"))
    assert await _ids(kept) == before
    assert [state for _, state, _ in await _chunks(kept)] == ["extracted"] * 4
    await kept.consistent()


async def test_another_chunk_size_holds_from_then_on(kept: World) -> None:
    await kept.configure(retain_chunk_size=3000)
    kept.model = told()
    await kept.reprocess("d")
    assert [(ordinal, text) for ordinal, _, text in await _chunks(kept)] == [(0, TEXT)]
    assert await kept.texts() == ["Paragraph 0"]
    await kept.consistent()


async def test_each_item_keeps_its_own_date_context_and_tags(world: World) -> None:
    world.model = told()
    later = AT + timedelta(days=400)
    items = [
        item("Yesterday Ada moved.", document_id="d", context="mail", tags=("a",), metadata={"page": "1"}),
        item("Paragraph of Ben.", document_id="d", context="chat", timestamp=later, tags=("b",)),
        item("Undated of Cid.", document_id="d", timestamp=None, entities=()),
    ]
    await world.keep(*items)
    columns = "context, mentioned_at, mentioned_at_assumed, tags, metadata"
    for table in ("chunk", "memory_unit"):
        before = await world.rows(f"SELECT {columns} FROM {table} ORDER BY context, tags")  # noqa: S608
        world.model = told(f"{table}: ")
        assert (await world.reprocess("d")).status is Status.COMPLETED
        assert await world.rows(f"SELECT {columns} FROM {table} ORDER BY context, tags") == before  # noqa: S608
    assert [text for _, _, text in await _chunks(world)] == [one.content for one in items]


async def test_a_year_later_the_same_dates_come_out(world: World) -> None:
    world.model = ScriptedModel(
        lambda content: {
            "facts": [
                {
                    "what": "Ada moved last Friday.",
                    "when": "last Friday",
                    "fact_kind": "event",
                    "entities": [],
                }
            ]
        }
    )
    await world.keep(item("Ada: I moved last Friday.", document_id="d", timestamp=AT))
    columns = "text, occurred_start, occurred_end, mentioned_at"
    before = await world.rows(f"SELECT {columns} FROM memory_unit")  # noqa: S608
    assert before[0]["occurred_start"] == datetime(2026, 2, 27, tzinfo=UTC)
    with clock.fixed(AT + timedelta(days=365)):
        assert (await world.reprocess("d")).status is Status.COMPLETED
    assert await world.rows(f"SELECT {columns} FROM memory_unit") == before  # noqa: S608


async def test_a_strategy_is_kept(world: World) -> None:
    await world.configure(retain_strategies={"whole": {"retain_extraction_mode": "chunks"}})
    world.model = told()
    await world.keep(item("Ada keeps a key.", document_id="d", strategy="whole"))
    await world.reprocess("d")
    assert (await world.texts(), world.model.requests) == (["Ada keeps a key."], [])


async def test_what_is_not_kept_or_gone_is_not_read(world: World) -> None:
    await world.configure(store_document_text=False)
    await world.keep(item("Ada keeps a key.", document_id="d"))
    with pytest.raises(BadRequest, match="text is not stored"):
        await world.reprocess("d")
    await world.configure(store_document_text=True)
    await world.keep(item("Ada keeps a key.", document_id="d"))
    assert [text for _, _, text in await _chunks(world)] == ["Ada keeps a key."]
    submitted = await world.retain.again(world.bank, await world.found("d"))
    async with world.database.transaction() as connection:
        assert await documents.delete(connection, world.bank.id, "d", Viewer.operator()) == 1
    await world.work(submitted.children[0])
    ended = await world.operation(submitted.operation_id)
    assert (ended.status, ended.result["chunks_in"]) == (Status.COMPLETED, 0)
    assert await world.count("memory_unit") == await world.count("document_event") == 0


async def test_texts_go_where_none_are_kept_any_more(kept: World) -> None:
    await kept.configure(store_document_text=False, retain_chunk_size=220)
    again = await kept.keep(item(TEXT, document_id="d"))
    assert again.result["chunks_unchanged"] == 4
    assert {text for _, _, text in await _chunks(kept)} == {None}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"timestamp_assumed": True}, {"timestamp": AT - timedelta(days=900)}),
        ({}, {"strategy": "other"}),
    ],
)
async def test_the_same_text_sent_to_be_read_differently_is(
    world: World, first: dict[str, Any], then: dict[str, Any]
) -> None:
    await world.configure(retain_strategies={"other": {"retain_mission": "Keep all."}})
    world.model = told()
    await world.keep(item("Ada keeps a key.", document_id="d", **first))
    for again in (1, 1):
        await world.keep(item("Ada keeps a key.", document_id="d", **then))
        assert len(world.model.requests) == 1 + again
    [unit] = await world.rows("SELECT mentioned_at, mentioned_at_assumed FROM memory_unit")
    assert unit["mentioned_at"] == then.get("timestamp", AT) and not unit["mentioned_at_assumed"]
    assert await world.count("chunk") == 1
