"""What becomes of chunks and operations when the model fails, by what can be done about it."""

import json

import pytest
from retain_world import World, item

from memorybank.errors import (
    ModelMalformed,
    ModelMisconfigured,
    ModelRateLimited,
    ModelRefused,
    ModelTruncated,
    ModelUnavailable,
)
from memorybank.operations import Status
from memorybank.storage import operations
from memorybank.testing.scripted_model import ScriptedModel, one_fact_a_line

pytestmark = pytest.mark.usefixtures("apart")

ITEMS = [item(f"Ada told item {n}.", document_id=f"d{n}") for n in range(5)]


def failing(error: Exception, *numbers: int) -> ScriptedModel:
    """A model that fails on these items."""
    return ScriptedModel(
        lambda text: error if any(f"item {n}." in text for n in numbers) else one_fact_a_line(text)
    )


async def test_a_refused_chunk_is_lost_and_named_and_the_others_are_kept(world: World) -> None:
    world.model = failing(ModelRefused("policy"), 3)
    kept = await world.keep(*ITEMS)
    assert sorted(await world.texts()) == [f"Ada told item {n}." for n in (0, 1, 2, 4)]
    assert kept.status is Status.COMPLETED
    assert "1 of 5" in (kept.error_message or "")
    assert kept.result["extraction_errors_count"] == 1
    assert kept.result["extraction_errors_sample"] == ["document d3, chunk 0: model_refused"]
    assert (kept.result["chunks_in"], kept.result["chunks_out"], kept.result["chunks_failed"]) == (5, 4, 1)
    assert len(world.model.requests) == 5
    assert kept.result["llm_calls"] == 5
    [call] = await world.rows("SELECT error FROM llm_call WHERE status = 'error'")
    assert call["error"] == "model_refused"


async def test_mode_verbatim_loses_no_text_to_the_model(world: World) -> None:
    world.model = failing(ModelRefused("policy"), 3)
    await world.configure(retain_extraction_mode="verbatim")
    kept = await world.keep(*ITEMS)
    assert sorted(await world.texts()) == [f"Ada told item {n}." for n in range(5)]
    assert kept.status is Status.COMPLETED
    assert "1 of 5 parts lost some" in (kept.error_message or "")
    assert kept.result["extraction_errors_sample"] == ["document d3, chunk 0: 1 model_refused"]
    assert (kept.result["chunks_out"], kept.result["chunks_failed"]) == (5, 0)
    assert kept.result["dropped_by_reason"] == {"model_refused": 1}


async def test_a_malformed_chunk_is_lost_after_its_budget_and_the_others_are_kept(world: World) -> None:
    world.model = ScriptedModel(lambda text: "no json" if "item 3." in text else one_fact_a_line(text))
    kept = await world.keep(*ITEMS)
    assert kept.result["extraction_errors_sample"] == ["document d3, chunk 0: model_malformed"]
    assert kept.result["llm_calls"] == 4 + world.settings.retain.attempts
    assert kept.result["usage"]["input_tokens"] == 10 * kept.result["llm_calls"]


@pytest.mark.parametrize("error", [ModelRefused("no"), ModelTruncated("cut"), ModelMalformed("bad")])
async def test_an_operation_that_lost_everything_has_failed(world: World, error: Exception) -> None:
    world.model = failing(error, 0, 1)
    kept = await world.keep(*ITEMS[:2])
    assert kept.status is Status.FAILED
    assert "2 of 2" in (kept.error_message or "")
    assert kept.parts[0].result["extraction_errors_count"] == 2
    assert await world.count("memory_unit") == 0


async def test_a_failed_operation_that_is_asked_for_again_tries_its_lost_chunks(world: World) -> None:
    world.model = failing(ModelRefused("no"), 0, 1)
    failed = await world.keep(*ITEMS[:2])
    world.model = failing(ModelRefused("no"), 1)
    async with world.database.transaction() as connection:
        await operations.retry(connection, world.bank.id, failed.id, operations.Viewer.operator())
    await world.work(failed.parts[0].id)
    again = await world.operation(failed.id)
    assert (again.status, await world.texts()) == (Status.COMPLETED, ["Ada told item 0."])
    assert again.result["extraction_errors_count"] == 1


async def test_a_rate_limit_ends_the_round_and_keeps_what_is_done(world: World) -> None:
    world.model = failing(ModelRateLimited("later", retry_after=60), 3, 4)
    waiting = await world.keep(*ITEMS)
    [part] = waiting.parts
    assert part.status is Status.PENDING
    assert (part.attempts, part.retry_at is not None) == (0, True)
    assert len(await world.texts()) == 3
    calls = len(world.model.requests)
    world.model = ScriptedModel()
    await world.rows("UPDATE operation SET due_at = now() RETURNING 1")
    assert await world.work(part.id) is Status.COMPLETED
    assert len(await world.texts()) == 5
    assert (calls, len(world.model.requests)) == (5, 2)
    done = await world.operation(waiting.id)
    assert (done.result["unit_ids_count"], done.result["llm_calls"]) == (5, 7)


async def test_an_unavailable_model_is_tried_again_later_and_at_last_fails(world: World) -> None:
    world.model = failing(ModelUnavailable("down"), 0, 1, 2, 3, 4)
    [child] = (await world.submit(*ITEMS, interactive=True)).children
    statuses = []
    for _ in range(world.settings.worker.max_attempts):
        await world.rows("UPDATE operation SET due_at = now() RETURNING 1")
        statuses.append(await world.work(child))
    assert statuses == [Status.PENDING] * (world.settings.worker.max_attempts - 1) + [Status.FAILED]


async def test_a_wrong_key_fails_at_once(world: World) -> None:
    world.model = failing(ModelMisconfigured("wrong key"), 0, 1, 2, 3, 4)
    kept = await world.keep(*ITEMS)
    assert (kept.status, kept.error_message) == (Status.FAILED, "wrong key")


async def test_a_chunk_without_facts_is_done(world: World) -> None:
    world.model = ScriptedModel(lambda _: {"facts": []})
    kept = await world.keep(item("Hi! How are you?"))
    assert (kept.status, kept.error_message, kept.result["unit_ids_count"]) == (Status.COMPLETED, None, 0)
    assert kept.result["chunks_out"] == 1


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("buzz " * 900, "degenerate (the same over"),
        ("Tavrith moved to Port Zundelmoor", "prompt_example (copied by the model"),
    ],
)
async def test_an_operation_all_of_whose_facts_are_unusable_has_failed(
    world: World, what: str, reason: str
) -> None:
    await world.keep(item("Old.", document_id="d0"))
    world.model = ScriptedModel(lambda _: {"facts": [{"what": what}]})
    lost = await world.keep(item("New.", document_id="d0"))
    assert lost.status is Status.FAILED
    assert f"document d0, chunk 0: nothing of it could be kept: {reason}" in (lost.error_message or "")
    assert sum(lost.parts[0].result["dropped_by_reason"].values()) == 1
    # What was there stays, and the same text is read again.
    assert await world.texts() == ["Old."]
    world.model = ScriptedModel(lambda _: one_fact_a_line("Ada left."))
    assert (await world.keep(item("New.", document_id="d0"))).status is Status.COMPLETED
    assert await world.texts() == ["Ada left."]


async def test_a_chunk_of_unusable_facts_is_named_beside_others(world: World) -> None:
    loop = {"facts": [{"what": "buzz " * 900}]}
    world.model = ScriptedModel(lambda text: loop if "item 3." in text else one_fact_a_line(text))
    kept = await world.keep(*ITEMS)
    assert kept.status is Status.COMPLETED and "1 of 5 parts were lost; document d3" in str(
        kept.error_message
    )
    assert (kept.result["facts_kept"], kept.result["dropped_by_reason"]) == (4, {"degenerate": 1})


@pytest.mark.parametrize("said", [None, {"facts": [{"what": "None"}]}])
async def test_a_greeting_is_no_loss(world: World, said: object) -> None:
    world.model = said and ScriptedModel(lambda _: said)
    kept = await world.keep(item("Hi! How are you?"))
    assert (kept.status, kept.error_message, kept.result["facts_kept"]) == (Status.COMPLETED, None, 0)


async def test_dropped_facts_are_counted_by_reason(world: World) -> None:
    world.model = ScriptedModel(
        lambda _: {"facts": [*({"what": f"fact {n}"} for n in range(8)), {"what": "buzz " * 900}, "Fact 1."]}
    )
    kept = await world.keep(item("x"))
    assert kept.result["dropped_by_reason"] == {"degenerate": 1, "duplicate": 1}
    assert (kept.result["facts_kept"], kept.result["facts_dropped"]) == (8, 2)


async def test_facts_that_cannot_be_read_are_counted_and_their_chunk_is_named(world: World) -> None:
    answer = {"facts": [*({"what": f"fact {n}"} for n in range(8)), 7]}
    world.model = ScriptedModel(lambda text: answer if "item 3." in text else one_fact_a_line(text))
    kept = await world.keep(*ITEMS)
    assert kept.status is Status.COMPLETED
    assert kept.error_message == "1 of 5 parts lost some of their facts; document d3, chunk 0: 1 malformed"
    assert kept.result["extraction_errors_sample"] == ["document d3, chunk 0: 1 malformed"]
    assert (kept.result["chunks_out"], kept.result["dropped_by_reason"]) == (5, {"malformed": 1})
    assert (kept.result["facts_kept"], kept.result["facts_dropped"]) == (12, 1)


async def test_a_chunk_all_of_whose_facts_cannot_be_read_is_lost(world: World) -> None:
    world.model = ScriptedModel(
        lambda text: {"facts": [7, 8]} if "item 3." in text else one_fact_a_line(text)
    )
    kept = await world.keep(*ITEMS)
    assert kept.error_message == "1 of 5 parts were lost; document d3, chunk 0: model_malformed"
    assert (kept.result["chunks_failed"], kept.result["dropped_by_reason"]) == (1, {"malformed": 2})


async def test_no_error_text_quotes_content(world: World) -> None:
    world.model = ScriptedModel(lambda _: "the florist has the key, but this is no JSON")
    kept = await world.keep(item("The spare key is with the florist."))
    assert "florist" not in json.dumps([kept.error_message, kept.parts[0].error_message, dict(kept.result)])
