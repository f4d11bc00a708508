"""Models that answer garbage, wrong ids, "delete everything", or not at all: nothing is lost, and the run says so."""

import pytest
from bad_decisions import BAD
from consolidation_world import World

from memorybank.llm.litellm_client import LitellmModel
from memorybank.operations import Status
from memorybank.settings import STAGES
from memorybank.testing.scripted_llm import ScriptedLLM

#: Facts that are observed before the model goes bad, and those that come then, about the same things.
BEFORE = [f"Ada keeps item {n} of the collection in hall {n * 7} behind the green door" for n in range(1, 13)]
AFTER = [f"Ben moved item {n} of the collection out of hall {n * 7} on a rainy day" for n in range(1, 13)]


@pytest.fixture
async def served(world: World, endpoint: ScriptedLLM) -> World:
    """A bank with observations, and a model behind HTTP."""
    here = {
        "model": "openai/scripted",
        "base_url": endpoint.base_url,
        "api_key": "none",
        "timeout_seconds": 0.5,
        "backoff_seconds": 0.001,
        "backoff_cap_seconds": 0.002,
    }
    llm = world.settings.llm.model_copy(update=here)
    world.settings = world.settings.model_copy(update={"llm": llm})
    world.model = LitellmModel(dict.fromkeys(STAGES, llm))
    await world.keep(*BEFORE, day=1)
    assert (await world.consolidate()).error_message is None
    await world.keep(*AFTER, day=5)
    endpoint.reset()
    return world


@pytest.mark.parametrize("kind", sorted(BAD.keys() - {"some_wrong_ids"}))
async def test_a_model_that_is_no_use_changes_nothing(
    served: World, endpoint: ScriptedLLM, kind: str
) -> None:
    before = await served.observed()
    endpoint.fail(kind, times=None)
    done = await served.consolidate()
    assert await served.observed() == before
    assert done.status is Status.FAILED
    assert "none of its actions can be used" in str(done.error_message)
    assert endpoint.calls <= 4 * served.settings.consolidation.attempts
    assert set(list((await served.facts()).values())[12:]) == {"pending"}
    endpoint.reset()
    healed = await served.consolidate()
    assert (healed.status, healed.error_message) == (Status.COMPLETED, None)
    assert set((await served.facts()).values()) == {"done"}
    assert sorted(await served.texts()) == sorted(BEFORE + AFTER)


@pytest.mark.parametrize("kind", ["prose", "empty", "not_json", "refusal", "length", "schema_echo"])
async def test_a_model_that_does_not_decide_changes_nothing(
    served: World, endpoint: ScriptedLLM, kind: str
) -> None:
    before = await served.observed()
    endpoint.fail(kind, times=None)
    done = await served.consolidate()
    assert await served.observed() == before
    assert done.status in (Status.FAILED, Status.PENDING)
    assert done.error_message
    assert set((await served.facts()).values()) == {"done", "pending"}
    assert endpoint.calls <= 4 * served.settings.consolidation.attempts


async def test_what_is_right_in_an_answer_is_done(served: World, endpoint: ScriptedLLM) -> None:
    endpoint.fail("some_wrong_ids", times=None)
    done = await served.consolidate()
    assert (done.status, done.result["observations_created"]) == (Status.COMPLETED, 6)
    assert done.error_message == "6 actions of the model could not be taken (6 unknown_observation)"
    assert set(BEFORE) < set(await served.texts())


@pytest.mark.parametrize("kind", ["hang", "delete_everything", "prose", "overloaded", "drop"])
async def test_a_model_that_fails_half_the_time_loses_nothing(
    served: World, endpoint: ScriptedLLM, kind: str
) -> None:
    await served.configure(consolidation_llm_batch_size=2)
    endpoint.fail(kind, times=None, every=2)
    done = await served.consolidate()
    assert done.status is Status.COMPLETED
    assert set((await served.facts()).values()) == {"done"}
    assert sorted(await served.texts()) == sorted(BEFORE + AFTER)
    assert endpoint.calls <= 6 * served.settings.consolidation.attempts
