"""What was read stays until something is in its place: changed texts, and chunks that lost some of their facts."""

from typing import Any

import pytest
from retain_world import AT, World, item

from memorybank.audience import Viewer
from memorybank.errors import ModelRefused
from memorybank.operations import Status
from memorybank.storage import operations
from memorybank.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.usefixtures("apart")


def giving(*facts: Any) -> ScriptedModel:
    """A model that gives these facts whatever it is asked about; a number is one that cannot be read."""
    told = [{"what": fact, "entities": ["Ada"]} if isinstance(fact, str) else fact for fact in facts]
    return ScriptedModel(lambda _: {"facts": told})


FACTS = [f"fact {n} of Ada" for n in range(8)]


async def facts(world: World) -> dict[str, tuple[Any, int]]:
    rows = await world.rows("SELECT id, text, proof_count FROM memory_unit")
    return {row["text"]: (row["id"], row["proof_count"]) for row in rows}


async def states(world: World) -> list[str]:
    return [row["state"] for row in await world.rows("SELECT state FROM chunk ORDER BY ordinal")]


async def test_a_chunk_that_lost_facts_is_read_again_when_it_is_sent_again(world: World) -> None:
    world.model = giving(*FACTS[:6], 7)
    first = await world.keep(item("A text.", document_id="d"))
    assert "1 malformed" in (first.error_message or "")
    before = await facts(world)
    world.model = giving(*FACTS)
    again = await world.keep(item("A text.", document_id="d"))
    after = await facts(world)
    assert (again.status, again.error_message, set(after)) == (Status.COMPLETED, None, set(FACTS))
    assert before.items() <= after.items() and {count for _, count in after.values()} == {1}
    assert (await states(world), await world.entity_names()) == (["extracted"], ["Ada"])
    await world.consistent()
    calls = len(world.model.requests)
    await world.keep(item("A text.", document_id="d"))
    assert len(world.model.requests) == calls, "now it is whole"


@pytest.mark.parametrize("act", ["send", "reprocess"])
async def test_facts_that_come_no_more_stay_while_some_are_lost(world: World, act: str) -> None:
    world.model = giving(*FACTS[:6], *([7] if act == "send" else []))
    await world.keep(item("A text.", document_id="d"))
    before = await facts(world)
    for _ in range(3):
        world.model = giving(*FACTS[2:], 7)
        await (world.reprocess("d") if act == "reprocess" else world.keep(item("A text.", document_id="d")))
        after = await facts(world)
        assert set(after) == set(FACTS) and before.items() <= after.items()
        assert {count for _, count in after.values()} == {1}
        assert (await states(world), await world.count("unit_mention")) == (["extracted"], 0)
        assert await world.count("unit_entity") == len(FACTS)
        await world.consistent()
    world.model = giving(*FACTS[4:])
    await world.reprocess("d")
    assert set(await facts(world)) == set(FACTS[4:])
    await world.consistent()


async def test_what_another_document_says_too_is_counted_for_both(world: World) -> None:
    world.model = giving(*FACTS[:6], 7)
    for document in "de":
        await world.keep(item("A text.", document_id=document))
    for document in "edde":
        world.model = giving(*FACTS[3:7], 7)
        await world.keep(item("A text.", document_id=document))
    assert {text: count for text, (_, count) in (await facts(world)).items()} == dict.fromkeys(FACTS[:7], 2)
    await world.consistent()


async def test_a_changed_text_takes_nothing_away_before_it_is_read(world: World) -> None:
    world.model = giving("The key is in the drawer.")
    await world.keep(item("Old text.", document_id="d"))
    before = await facts(world)
    world.model = ScriptedModel(lambda _: ModelRefused("no"))
    failed = await world.keep(item("New text.", document_id="d"))
    assert failed.status is Status.FAILED
    assert "1 parts that were to be replaced stay" in (failed.error_message or "")
    assert failed.parts[0].result["extraction_errors_sample"] == ["document d, chunk 0: model_refused"]
    assert await facts(world) == before and await states(world) == ["failed", "replaced"]
    assert (await world.found("d")).original_text == "New text."
    world.model = giving("The key is on the hook.")
    await world.keep(item("New text.", document_id="d"))
    assert await world.texts() == ["The key is on the hook."] and await states(world) == ["extracted"]
    assert await world.history("d") == [("retain", 1, 0), ("retain", 0, 0), ("retain", 1, 1)]
    await world.consistent()


async def test_a_failed_operation_that_is_tried_again_ends_what_it_replaces(world: World) -> None:
    world.model = giving("The key is in the drawer.")
    await world.keep(item("Old text.", document_id="d"))
    world.model = ScriptedModel(lambda _: ModelRefused("no"))
    failed = await world.keep(item("New text.", document_id="d"))
    world.model = giving("The key is on the hook.")
    async with world.database.transaction() as connection:
        await operations.retry(connection, world.bank.id, failed.id, Viewer.operator())
    await world.work(failed.parts[0].id)
    done = await world.operation(failed.id)
    assert (done.status, done.error_message) == (Status.COMPLETED, None)
    assert await world.texts() == ["The key is on the hook."]


async def test_where_some_of_a_changed_text_is_read_nothing_of_the_old_one_stays(world: World) -> None:
    await world.keep(item("Old text of Ada.", document_id="d", timestamp=AT))
    world.model = ScriptedModel(
        lambda text: ModelRefused("no") if "Lost" in text else {"facts": [{"what": text, "entities": []}]}
    )
    kept = await world.keep(item("New text of Ben.", document_id="d"), item("Lost text.", document_id="d"))
    assert (kept.status, await world.texts()) == (Status.COMPLETED, ["New text of Ben."])
    assert await states(world) == ["extracted", "failed"]


async def test_a_text_that_only_shrinks_loses_what_it_no_longer_tells(world: World) -> None:
    world.model = ScriptedModel()
    both = [item("Ada left.", document_id="d"), item("Ben came.", document_id="d")]
    await world.keep(*both)
    await world.keep(both[1])
    assert (await world.texts(), await states(world)) == (["Ben came."], ["extracted"])
    await world.consistent()
