"""Documents: delta, append, stale requests, text that is not kept."""

import json
from datetime import timedelta
from typing import Any

from retain_world import AT, World, item

from memorybank import clock
from memorybank.operations import Status
from memorybank.testing.scripted_model import ScriptedModel

PARAGRAPHS = [f"Paragraph {n} tells of shelf {n * 7}. " + "It is long and dull. " * 8 for n in range(6)]


async def _ids(world: World) -> dict[str, Any]:
    rows = await world.rows("SELECT id, text FROM memory_unit")
    return {row["text"]: row["id"] for row in rows}


async def _start(world: World) -> ScriptedModel:
    await world.configure(retain_chunk_size=220)
    world.model = ScriptedModel(lambda content: {"facts": [{"what": content[:24], "entities": ["Ada"]}]})
    return world.model


async def test_the_same_document_again_costs_nothing(world: World) -> None:
    model = await _start(world)
    text = "\n\n".join(PARAGRAPHS)
    await world.keep(item(text, document_id="d"))
    before, calls, embedded = await _ids(world), len(model.requests), world.embedder.calls
    again = await world.keep(item(text, document_id="d"))
    assert await _ids(world) == before
    assert (len(model.requests), world.embedder.calls) == (calls, embedded)
    assert (again.status, again.result["chunks_in"], again.result["chunks_unchanged"]) == (
        Status.COMPLETED,
        0,
        6,
    )


async def test_an_inserted_paragraph_is_the_only_one_extracted_and_the_others_move(world: World) -> None:
    model = await _start(world)
    await world.keep(item("\n\n".join(PARAGRAPHS), document_id="d"))
    before, calls = await _ids(world), len(model.requests)
    new = "A new paragraph on top. " + "It is long and dull. " * 8
    await world.keep(item("\n\n".join([new, *PARAGRAPHS]), document_id="d"))
    assert len(model.requests) == calls + 1
    after = await _ids(world)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1
    assert (await world.texts())[0] == new[:24].strip()
    await world.consistent()


async def test_a_changed_paragraph_takes_its_facts_and_orphaned_names_along(world: World) -> None:
    model = await _start(world)
    model.answer = lambda content: {
        "facts": [{"what": content[:24], "entities": [f"Name of {content[:11]}"]}]
    }
    await world.keep(item("\n\n".join(PARAGRAPHS), document_id="d"))
    before = await _ids(world)
    await world.keep(
        item("\n\n".join([*PARAGRAPHS[:2], "Changed " + PARAGRAPHS[2], *PARAGRAPHS[4:]]), document_id="d")
    )
    after = await _ids(world)
    assert len(after) == 5
    assert len(before.keys() & after.keys()) == 4
    assert all(before[text] == after[text] for text in before.keys() & after.keys())
    assert "Name of Paragraph 3" not in await world.entity_names()
    await world.consistent()


async def test_a_replacing_request_without_anything_in_common_replaces_all(world: World) -> None:
    await _start(world)
    await world.keep(item("one thing", document_id="d", tags=("old",)))
    await world.keep(item("another", document_id="d", tags=("new",)))
    assert await world.texts() == ["another"]
    [document] = await world.rows("SELECT original_text, tags, text_length FROM document")
    assert document == {"original_text": "another", "tags": ["new"], "text_length": 7}


async def test_other_tags_reach_the_facts_without_a_call(world: World) -> None:
    model = await _start(world)
    await world.keep(item("one thing", document_id="d", tags=("old", "both"), metadata={"page": "7"}))
    await world.keep(
        item("one thing", document_id="d", tags=("both", "new"), metadata={"page": "8"}, context="later")
    )
    assert len(model.requests) == 1
    [unit] = await world.rows("SELECT tags, metadata, context FROM memory_unit")
    assert (sorted(unit["tags"]), unit["metadata"], unit["context"]) == (
        ["both", "new"],
        {"page": "8"},
        "later",
    )


async def test_a_growing_transcript_costs_only_its_new_turns(world: World) -> None:
    model = await _start(world)
    turns = [
        f"Ada: turn {n} is about shelf {n * 7}, and it is long enough to fill a line." for n in range(30)
    ]
    for end in range(1, 31):
        await world.keep(
            item("\n".join(turns[:end]), document_id="chat", timestamp=AT + timedelta(minutes=end))
        )
    assert len(model.requests) <= 60
    chunks = await world.rows("SELECT text FROM chunk ORDER BY ordinal")
    assert "\n".join(chunk["text"] for chunk in chunks) == "\n".join(turns)


async def test_append_keeps_what_is_there_and_merges_json_arrays(world: World) -> None:
    model = await _start(world)
    first, second = [{"role": "user", "content": "hi"}], [{"role": "user", "content": "bye"}]
    await world.keep(item(json.dumps(first), document_id="d", tags=("a",)))
    [kept] = (await _ids(world)).values()
    later = {"update_mode": "append", "timestamp": AT + timedelta(days=1), "tags": ("b",)}
    await world.keep(item(json.dumps(second), document_id="d", **later))
    assert len(model.requests) == 2
    [document] = await world.rows("SELECT original_text, tags, retain_params FROM document")
    assert json.loads(document["original_text"]) == [*first, *second]
    assert document["tags"] == ["a", "b"]
    assert await world.count(f"memory_unit WHERE id = '{kept}'") == 1
    assert await world.count("memory_unit") == 2
    chunks = await world.rows("SELECT ordinal, mentioned_at, tags FROM chunk ORDER BY ordinal")
    assert [(chunk["ordinal"], chunk["tags"]) for chunk in chunks] == [(0, ["a"]), (1, ["b"])]
    assert chunks[0]["mentioned_at"] == AT
    await world.consistent()


async def test_append_to_an_unknown_document_makes_it(world: World) -> None:
    await _start(world)
    kept = await world.keep(item("new", document_id="d", update_mode="append"))
    assert (kept.status, await world.texts()) == (Status.COMPLETED, ["new"])


async def test_a_replace_that_comes_late_is_skipped(world: World) -> None:
    await _start(world)
    with clock.fixed(AT):
        old = await world.submit(item("old", document_id="d"))
    with clock.fixed(AT + timedelta(hours=1)):
        # As if the older one had failed and is tried again when the newer one is done.
        await world.rows("UPDATE operation SET status = 'failed' RETURNING 1")
        new = await world.submit(item("new", document_id="d"))
        await world.work(new.children[0])
        await world.rows("UPDATE operation SET status = 'pending' WHERE id = %s RETURNING 1", old.children[0])
        await world.work(old.children[0])
    assert await world.texts() == ["new"]
    late = (await world.operation(old.operation_id)).parts[0]
    assert (late.status, late.error_message) == (Status.COMPLETED, None)
    assert late.result["documents_skipped"] == {"stale": 1}


async def test_no_text_is_kept_where_the_bank_says_so(world: World) -> None:
    await _start(world)
    await world.configure(store_document_text=False, retain_chunk_size=220)
    secret = " ".join(f"Ada keeps key {number} under flower pot {number}." for number in range(12))
    await world.keep(item(secret, document_id="d"))
    assert await world.count("memory_unit") > 1
    for table in ("document", "chunk", "operation", "llm_call"):
        dumped = json.dumps(await world.rows(f"SELECT to_jsonb(t) AS row FROM {table} t"))  # noqa: S608
        assert "flower" not in dumped, table
    kept = await world.keep(item(secret, document_id="d"))
    assert kept.result["chunks_unchanged"] == await world.count("chunk")
    # The bank keeps text from now on, but of this document there is none.
    await world.configure(store_document_text=True)
    refused = await world.keep(item("more", document_id="d", update_mode="append"))
    assert refused.status is Status.FAILED
    assert "not kept" in (refused.error_message or "")


async def test_a_queue_keeps_no_content_after_staging(world: World) -> None:
    await _start(world)
    submitted = await world.submit(item("Ada keeps the key under the flower pot."), interactive=True)
    await world.work(submitted.children[0])
    [row] = await world.rows("SELECT payload::text AS payload FROM operation WHERE kind = 'retain'")
    assert "flower" not in row["payload"]


async def test_the_whole_of_a_huge_item_is_covered(world: World) -> None:
    await world.configure(retain_extraction_mode="chunks")
    text = "a" * 300_000
    kept = await world.keep(item(text))
    chunks = await world.rows("SELECT text FROM chunk ORDER BY ordinal")
    assert "".join(chunk["text"] for chunk in chunks) == text
    assert max(len(chunk["text"]) for chunk in chunks) == 3000
    assert kept.result["unit_ids_count"] == 100


async def test_the_same_text_with_other_tags_is_two_facts_with_one_embedding(world: World) -> None:
    await world.configure(retain_extraction_mode="chunks")
    for tag in ("a", "b"):
        await world.keep(item("The spare key is with the florist.", document_id=tag, tags=(tag,)))
    assert (await world.count("memory_unit"), world.embedder.calls) == (2, 1)
    [link] = await world.rows("SELECT kind, weight FROM unit_link")
    assert (link["kind"], round(link["weight"], 3)) == ("semantic", 1.0)
