"""Retain with litellm in between, against the scripted endpoint."""

import pytest
from retain_world import World, item

from memorybank.llm.litellm_client import LitellmModel
from memorybank.operations import Status
from memorybank.settings import defaults
from memorybank.testing.scripted_llm import ScriptedLLM

LINES = [f"Ada: item {n} stands on shelf {n * 7} of the long hall, behind the green door." for n in range(75)]
#: Characters of the prompt's user part besides the content, and more.
AROUND = 200


@pytest.fixture
async def served(world: World, endpoint: ScriptedLLM) -> World:
    here = {
        "model": "openai/scripted",
        "base_url": endpoint.base_url,
        "api_key": "none",
        "timeout_seconds": 20,
    }
    stage = defaults().llm.model_copy(update=here)
    world.model = LitellmModel({"retain": stage, "reflect": stage, "consolidation": stage})
    return world


async def test_each_turn_is_a_fact_and_each_chunk_a_call(served: World, endpoint: ScriptedLLM) -> None:
    kept = await served.keep(item("\n".join(LINES)))
    assert await served.texts() == LINES
    assert endpoint.calls == kept.result["llm_calls"] == kept.result["chunks_in"]
    assert kept.result["usage"]["input_tokens"] > 0
    assert "Ada" in await served.entity_names()


async def test_answers_that_are_cut_are_asked_for_in_pieces(served: World, endpoint: ScriptedLLM) -> None:
    endpoint.fail("length", times=None, longer_than=1200 + AROUND)
    kept = await served.keep(item("\n".join(LINES)))
    assert await served.texts() == LINES
    assert kept.error_message is None
    answered = [call for call in await served.rows("SELECT status FROM llm_call") if call["status"] == "ok"]
    assert endpoint.calls == kept.result["llm_calls"] <= 2 * len(answered)


async def test_a_refused_chunk_is_not_asked_again_and_the_others_are_kept(
    served: World, endpoint: ScriptedLLM
) -> None:
    await served.configure(retain_chunk_size=1000)
    endpoint.fail("policy", times=None, when="item 40 ")
    kept = await served.keep(item("\n".join(LINES)))
    assert kept.status is Status.COMPLETED
    assert kept.result["extraction_errors_count"] == 1
    assert kept.result["llm_calls"] == kept.result["chunks_in"] == endpoint.calls
    texts = await served.texts()
    assert LINES[0] in texts
    assert LINES[40] not in texts
    assert LINES[74] in texts


@pytest.mark.parametrize("kind", ["bare_list", "fenced", "thinking"])
async def test_what_models_really_write_is_one_call(served: World, endpoint: ScriptedLLM, kind: str) -> None:
    endpoint.fail(kind, times=None)
    kept = await served.keep(item("Ravi: I moved the nightly backup to 03:00."))
    assert await served.texts() == ["Ravi: I moved the nightly backup to 03:00."]
    assert kept.result["llm_calls"] == 1


async def test_what_calls_cost_is_summed_where_litellm_knows_the_model(
    served: World, endpoint: ScriptedLLM
) -> None:
    known = {
        stage: one.model_copy(update={"model": "openai/gpt-4o-mini"})
        for stage, one in served.model.stages.items()
    }
    served.model = LitellmModel(known)
    endpoint.fail("prose")
    kept = await served.keep(item("Ravi: I moved the nightly backup to 03:00."))
    calls = await served.rows("SELECT status, cost, input_tokens FROM llm_call ORDER BY attempt")
    assert [call["status"] for call in calls] == ["error", "ok"]
    assert all(call["cost"] > 0 and call["input_tokens"] > 0 for call in calls)
    assert kept.result["cost"] == pytest.approx(sum(call["cost"] for call in calls))
    assert kept.result["usage"]["input_tokens"] == endpoint.stats()["total"]["prompt_tokens"]
