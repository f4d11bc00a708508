"""Rounds: what is decided together, what is done of it, halving down to the fact at fault, broken models, limits."""

import json
from typing import Any

import pytest
from consolidation_world import World

from memorybank.errors import (
    ModelMalformed,
    ModelMisconfigured,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from memorybank.llm.structured import asked_for
from memorybank.operations import Status
from memorybank.testing.scripted_answers import rows
from memorybank.testing.scripted_model import ScriptedModel, by_words
from memorybank.text import count_tokens

FACTS = [f"Item {number} of the inventory stands in hall {number * 7}" for number in range(1, 21)]
POISON = "Item 13 "


def shown(world: World) -> list[list[str]]:
    """Return the facts of each call."""
    return [[row["text"] for row in rows("new_facts", asked.user)] for asked in world.model.requests]


def failing(error: Exception, when: str = POISON) -> Any:
    """Return a model that fails wherever a text is shown."""
    return lambda user: error if when in user else by_words(user)


async def test_batches_of_a_scope_and_marks(world: World) -> None:
    await world.keep(*FACTS)
    done = await world.consolidate()
    assert [len(batch) for batch in shown(world)] == [8, 8, 4]
    assert await world.texts() == FACTS
    assert set((await world.facts()).values()) == {"done"}
    assert (done.status, done.error_message) == (Status.COMPLETED, None)
    assert done.result == done.result | {
        "observations_created": 20,
        "facts_consolidated": 20,
        "facts_failed": 0,
        "skipped_by_reason": {},
        "llm_calls": 3,
    }
    assert done.result["usage"]["input_tokens"] == 30


async def test_what_a_conversation_costs(world: World) -> None:
    """419 turns of 40 tokens: the bound that is promised for a real one, and no half batches between rounds."""
    said = (
        "Ada said on day {} that item {} of the long list went to hall {} where Ben counts the crates"
        " and Cleo signs for them"
    )
    await world.keep(*(said.format(n % 30, n, n * 7) for n in range(419)))
    done = await world.consolidate()
    asked = world.model.requests
    tokens = sum(count_tokens(json.dumps(asked_for(one)[1]) + one.system + one.user) for one in asked)
    assert (done.result["facts_consolidated"], len(asked)) == (419, 53)
    assert tokens <= 260_000


async def test_the_end_of_a_run_is_told_with_it(world: World) -> None:
    await world.keep(*FACTS)
    await world.consolidate()
    broken = world.with_(failing(ModelMalformed("no JSON"), "Ada"))
    await broken.keep(*(f"Ada rows on lake {number}" for number in range(16)))
    await broken.consolidate()
    told = await world.rows("SELECT type, payload FROM event ORDER BY created_at, id")
    none = {"observations_created": 0, "observations_updated": 0, "observations_deleted": 0}
    assert told == [
        {
            "type": "consolidation.completed",
            "payload": none | {"observations_created": 20, "error_message": None},
        },
        {"type": "consolidation.completed", "payload": none | {"error_message": "no JSON"}},
    ]


async def test_a_second_run_finds_nothing_to_do(world: World) -> None:
    await world.keep(*FACTS)
    await world.consolidate()
    calls = len(world.model.requests)
    again = await world.consolidate()
    assert (again.status, again.result["facts_consolidated"]) == (Status.COMPLETED, 0)
    assert (len(world.model.requests), len(await world.texts())) == (calls, 20)


async def test_a_batch_sees_what_the_one_before_it_made(world: World) -> None:
    long = "Ada told Ben that the key of the blue boat lies under the stone near the old mill"
    await world.configure(consolidation_llm_batch_size=1)
    await world.keep(long, f"{long}.", f"{long} indeed", "Cleo sings")
    await world.consolidate()
    assert {one.text: one.proof_count for one in await world.observed()} == {long: 2, "Cleo sings": 1}


async def test_scopes_and_audiences_never_share_a_call(world: World) -> None:
    await world.keep("Ada sails", "Ada rows", tags=("a",))
    await world.keep("Ben sails", tags=("b",))
    await world.keep("Cleo sails", tags=("a", "b"), observation_scopes="per_tag")
    await world.consolidate()
    assert sorted(map(sorted, shown(world))) == [
        ["Ada rows", "Ada sails", "Cleo sails"],
        ["Ben sails", "Cleo sails"],
    ]
    assert sorted((one.text, one.tags) for one in await world.observed()) == [
        ("Ada rows", ("a",)),
        ("Ada sails", ("a",)),
        ("Ben sails", ("b",)),
        ("Cleo sails", ("a",)),
        ("Cleo sails", ("b",)),
    ]
    assert set((await world.facts()).values()) == {"done"}


async def test_a_run_over_one_scope_leaves_the_others(world: World) -> None:
    await world.keep("Ada sails", tags=("a",))
    await world.keep("Cleo sails", tags=("a", "b"), observation_scopes="per_tag")
    await world.consolidate(["b"])
    assert [one.tags for one in await world.observed()] == [("b",)]
    assert await world.facts() == {"Ada sails": "pending", "Cleo sails": "pending"}
    await world.consolidate()
    assert sorted(one.tags for one in await world.observed()) == [("a",), ("a",), ("b",)]
    assert set((await world.facts()).values()) == {"done"}


async def test_a_round_takes_so_many_facts_and_goes_to_the_back_of_the_queue(world: World) -> None:
    await world.configure(consolidation_max_memories_per_round=8, consolidation_llm_batch_size=4)
    await world.keep(*FACTS)
    operation = await world.queue()
    statuses = [await world.work(operation) for _ in range(3)]
    assert statuses == [Status.PENDING, Status.PENDING, Status.COMPLETED]
    record = await world.operation(operation)
    assert record.result["facts_consolidated"] == record.progress.processed == 20  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModelMalformed("no JSON"), "model_malformed"),
        (ModelRefused("policy"), "model_refused"),
        (ModelUnavailable("slow"), "model_unavailable"),
    ],
)
async def test_halving_down_to_the_fact_at_fault(world: World, error: Exception, code: str) -> None:
    told = world.with_(failing(error))
    told.settings = quick(told)
    await told.keep(*FACTS)
    done = await told.consolidate()
    states = await told.facts()
    assert {text for text, state in states.items() if state == "failed"} == {FACTS[12]}
    assert sorted(await told.texts()) == sorted(set(FACTS) - {FACTS[12]})
    assert done.status is Status.COMPLETED
    assert done.error_message == f"1 of 20 facts could not be consolidated (1 {code})"
    assert done.result["failed_by_reason"] == {code: 1}
    assert done.result["batches_halved"] == 3
    sizes = [len(batch) for batch in shown(told) if any(POISON in text for text in batch)]
    assert sizes[0] == 8 and sizes[-1] == 1 and len(sizes) <= 3 + 2 * 3 + 3


def quick(world: World) -> Any:
    """Return settings under which nothing is waited for long."""
    llm = world.settings.llm.model_copy(update={"backoff_seconds": 0.001, "backoff_cap_seconds": 0.002})
    return world.settings.model_copy(update={"llm": llm})


async def test_a_broken_model_stops_the_run_and_costs_no_fact(world: World) -> None:
    told = world.with_(lambda user: "I would rather tell a story.")
    await told.keep(*FACTS)
    done = await told.consolidate()
    assert done.status is Status.FAILED
    assert "JSON" in str(done.error_message)
    assert set((await told.facts()).values()) == {"pending"}
    assert len(told.model.requests) <= 4 * 3
    healthy = told.with_(by_words)
    await healthy.consolidate()
    assert set((await told.facts()).values()) == {"done"}


async def test_the_last_fact_of_a_bank_is_marked_too(world: World) -> None:
    told = world.with_(lambda user: ModelRefused("policy"))
    await told.keep("Ada sails")
    done = await told.consolidate()
    assert (done.status, await told.facts()) == (Status.FAILED, {"Ada sails": "failed"})
    assert done.error_message == "1 of 1 facts could not be consolidated (1 model_refused)"
    assert done.result["facts_failed"] == 1


async def test_a_provider_that_is_away_marks_nothing(world: World) -> None:
    told = world.with_(lambda user: ModelUnavailable("gone"))
    told.settings = quick(told)
    await told.keep("Ada sails")
    done = await told.consolidate()
    assert (done.status, done.error_message) == (Status.PENDING, "gone")
    assert done.retry_at is not None
    assert await told.facts() == {"Ada sails": "pending"}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelRateLimited("wait", retry_after=3000), Status.PENDING),
        (ModelMisconfigured("wrong key"), Status.FAILED),
    ],
)
async def test_what_every_batch_would_meet_ends_the_round(world: World, error: Any, status: Status) -> None:
    told = world.with_(failing(error))
    await told.keep(*FACTS)
    operation = await told.queue()
    await told.work(operation)
    record = await told.operation(operation)
    assert (record.status, record.error_message) == (status, error.message)
    assert len(told.model.requests) == 2
    assert list((await told.facts()).values()) == ["done"] * 8 + ["pending"] * 12


@pytest.mark.parametrize(("limit", "made"), [(3, 3), (0, 0), (-1, 20)])
async def test_a_scope_takes_no_more_than_its_limit(world: World, limit: int, made: int) -> None:
    await world.configure(max_observations_per_scope=limit)
    await world.keep(*FACTS)
    done = await world.consolidate()
    assert len(await world.texts()) == made
    assert done.result["skipped_by_reason"].get("scope_full", 0) == 20 - made
    assert (done.status, done.error_message) == (Status.COMPLETED, None)
    assert ("New observations at most: " in world.model.requests[0].user) == (limit >= 0)


async def test_a_bank_without_observations_makes_none(world: World) -> None:
    await world.configure(enable_observations=False)
    await world.keep("Ada sails")
    done = await world.consolidate()
    assert (done.status, await world.texts(), world.model.requests) == (Status.COMPLETED, [], [])


async def test_a_fact_that_changes_while_it_is_decided_on_waits(world: World) -> None:
    model = Interrupting(world)
    world.model = model
    await world.keep("Ada sails", "Ben sings")
    await world.consolidate()
    assert sorted(await world.texts()) == ["Ada sails no more", "Ben sings"]
    assert len(model.requests) == 2


class Interrupting(ScriptedModel):
    """A model during whose first answer somebody corrects a fact."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    async def complete(self, request: Any) -> Any:
        answered = await super().complete(request)
        if len(self.requests) == 1:
            async with self.world.database.transaction() as connection:
                await connection.execute(
                    "UPDATE memory_unit SET text = 'Ada sails no more' WHERE text = 'Ada sails'"
                )
        return answered


async def test_without_a_model_only_what_was_counted_is_observed(world: World) -> None:
    bare = world.with_(None)
    await bare.keep("Ada: city: Graz", "Ben sings", "Ada: pet: cat", day=1)
    await bare.consolidate()
    assert await bare.texts() == []
    await bare.keep("Ada: city: Linz", "Cleo rows", day=5)
    await bare.consolidate()
    [one] = await bare.observed()
    assert one.text == "Ada: city: Linz (latest of 2 statements, 2031-03-05; before that: Graz)"
    assert one.sources == {"Ada: city: Graz", "Ada: city: Linz"}
    await bare.keep("Ada: City: Wels", day=9)
    done = await bare.consolidate()
    [one] = await bare.observed()
    assert one.text == "Ada: City: Wels (latest of 3 statements, 2031-03-09; before that: Linz, Graz)"
    assert (one.proof_count, done.result["observations_updated"], done.result["llm_calls"]) == (3, 1, 0)
    assert set((await bare.facts()).values()) == {"done"}


async def test_without_a_model_what_is_said_in_two_documents_is_a_repeat(world: World) -> None:
    bare = world.with_(None)
    await bare.keep("The spare key is with the florist", day=1, document_id="a")
    await bare.keep("The spare key is with the florist.", day=4, document_id="b")
    await bare.consolidate()
    assert await bare.texts() == ["The spare key is with the florist (said 2 times, last on 2031-03-04)"]
    await bare.keep("The spare key is with the florist", day=9, document_id="c")
    await bare.consolidate()
    assert await bare.texts() == ["The spare key is with the florist (said 3 times, last on 2031-03-09)"]


async def test_without_a_model_a_line_that_is_said_again_is_the_latest_again(world: World) -> None:
    bare = world.with_(None)
    for day, city in ((1, "Graz"), (5, "Linz"), (9, "Graz")):
        await bare.keep(f"Ana: city: {city}", day=day)
        await bare.consolidate()
    [one] = await bare.texts()
    assert one == "Ana: city: Graz (latest of 3 statements, 2031-03-09; before that: Linz)"
