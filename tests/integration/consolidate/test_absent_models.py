"""Is it the facts, or the model? Some facts fail for ever, some models for hours: neither is the other's loss."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from consolidation_world import World

from memorybank.errors import ModelError, ModelMalformed, ModelRefused, ModelUnavailable
from memorybank.operations import Status
from memorybank.testing.scripted_answers import rows
from memorybank.testing.scripted_model import by_words

FACTS = [f"Item {number} of the inventory stands in hall {number * 7}" for number in range(1, 25)]


def texts(user: str) -> set[str]:
    return {row["text"] for row in rows("new_facts", user)}


def poisoned(error: ModelError, *places: int) -> Callable[[str], Any]:
    """Return a model that fails wherever one of these facts is shown."""
    bad = {FACTS[place] for place in places}
    return lambda user: error if bad & texts(user) else by_words(user)


def away_after(answers: int) -> Callable[[str], Any]:
    """Return a model that answers so often, and then nobody."""
    left = iter(range(answers))
    return lambda user: by_words(user) if next(left, None) is not None else ModelUnavailable("gone")


@pytest.fixture
def hurried(world: World) -> World:
    """Nothing is waited for long."""
    llm = world.settings.llm.model_copy(update={"backoff_seconds": 0.001, "backoff_cap_seconds": 0.002})
    worker = world.settings.worker.model_copy(update={"retry_seconds": 0.0})
    world.settings = world.settings.model_copy(update={"llm": llm, "worker": worker})
    return world


async def failed(world: World) -> list[int]:
    """Return the places of the facts that are marked."""
    states = await world.facts()
    return [place for place, text in enumerate(FACTS) if states.get(text) == "failed"]


@pytest.mark.parametrize(
    ("error", "places"),
    [
        (ModelRefused("policy"), (0, 1, 2, 8, 9)),
        (ModelMalformed("no JSON"), (0, 8, 16)),
        (ModelMalformed("no JSON"), (3, 4, 12)),
        (ModelUnavailable("slow"), (0, 8, 16)),
        (ModelUnavailable("slow"), (23,)),
    ],
)
async def test_facts_that_fail_for_ever_stop_no_other(
    hurried: World, error: ModelError, places: Sequence[int]
) -> None:
    """Also where the first batches have one each and nothing was answered before: each run tries other facts."""
    told = hurried.with_(poisoned(error, *places))
    await told.keep(*FACTS)
    for _ in range(20):
        done = await told.consolidate()
        if done.status is Status.COMPLETED:
            break
    assert await failed(told) == list(places)
    assert sorted(await told.texts()) == sorted(text for at, text in enumerate(FACTS) if at not in places)
    assert done.status is Status.COMPLETED and f"{len(places)} of 24 facts" in str(done.error_message)


@pytest.mark.parametrize("answers", [0, 1, 2])
@pytest.mark.parametrize(("facts", "tags"), [(24, 1), (24, 3), (6, 6)])
async def test_a_model_that_goes_away_in_the_middle_costs_no_fact(
    hurried: World, answers: int, facts: int, tags: int
) -> None:
    """Whatever is left, whole batches of one scope or scopes of one fact each, waits until it is back."""
    told = hurried.with_(away_after(answers))
    for at in range(tags):
        await told.keep(*FACTS[at:facts:tags], tags=(f"t{at}",))
    done = await told.consolidate()
    assert (done.status, done.error_message) == (Status.FAILED, "gone")
    assert await failed(told) == [] and "pending" in (await told.facts()).values()
    rounds = told.settings.worker.max_attempts
    assert len(told.model.requests) <= answers + 12 * rounds * told.settings.consolidation.attempts
    await told.with_(by_words).consolidate()
    assert set((await told.facts()).values()) == {"done"}


async def test_a_model_that_comes_back_in_the_middle_marks_nothing(hurried: World) -> None:
    left = iter(range(3 * hurried.settings.consolidation.attempts))
    told = hurried.with_(
        lambda user: ModelUnavailable("gone") if next(left, None) is not None else by_words(user)
    )
    for at in range(6):
        await told.keep(FACTS[at], tags=(f"t{at}",))
    await told.consolidate()
    assert set((await told.facts()).values()) == {"done"}


@pytest.mark.parametrize("facts", [2, 8, 24])
@pytest.mark.parametrize("said", ["I would rather tell a story.", {"actions": [{"action": "drop"}]}])
async def test_a_broken_model_marks_nothing_in_small_banks_either(
    hurried: World, said: Any, facts: int
) -> None:
    told = hurried.with_(lambda user: said)
    await told.keep(*FACTS[:facts])
    done = await told.consolidate()
    assert done.status is Status.FAILED and done.error_message
    assert set((await told.facts()).values()) == {"pending"}
    assert len(told.model.requests) <= 4 * told.settings.consolidation.attempts
