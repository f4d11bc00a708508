"""What observations make of facts that change: the newest holds, what held before is kept, opposites stay apart."""

from typing import Any

from careful_model import careful
from consolidation_world import World

from memorybank.operations import Status


async def test_d1_a_contradiction_keeps_what_held_before(world: World) -> None:
    told = world.with_(careful)
    await told.keep("Ada loves oysters", day=1)
    await told.consolidate()
    assert await told.texts() == ["Ada likes oysters since 2031-03-01"]
    await told.keep("Ada can't stand oysters", day=9)
    done = await told.consolidate()
    [one] = await told.observed()
    assert one.text == "Ada does not like oysters since 2031-03-09; before that Ada likes oysters"
    assert one.sources == {"Ada loves oysters", "Ada can't stand oysters"}
    assert (done.result["observations_updated"], done.result["observations_deleted"]) == (1, 0)
    [version] = await told.rows("SELECT text FROM observation_version")
    assert version["text"] == "Ada likes oysters since 2031-03-01"


async def test_d6_a_dislike_that_turns_is_turned(world: World) -> None:
    told = world.with_(careful)
    await told.keep("Ada doesn't like jazz", day=1)
    await told.keep("Ada likes jazz", day=9)
    await told.consolidate()
    assert await told.texts() == ["Ada likes jazz since 2031-03-09; before that Ada does not like jazz"]


async def test_what_turned_can_turn_back_with_the_same_words(world: World) -> None:
    """The last is no new fact, but the first one said again."""
    told = world.with_(careful)
    for day, said in ((1, "Ada likes jazz"), (5, "Ada doesn't like jazz"), (9, "Ada likes jazz")):
        await told.keep(said, day=day)
        await told.consolidate()
    [one] = await told.observed()
    assert one.text == "Ada likes jazz since 2031-03-09; before that Ada does not like jazz"
    assert one.proof_count == 2
    [row] = await told.rows("SELECT mentioned_at FROM memory_unit WHERE fact_type = 'observation'")
    assert row["mentioned_at"].day == 9


async def test_d4_five_old_facts_do_not_outvote_a_newer_one(world: World) -> None:
    told = world.with_(careful)
    for day, street in enumerate(("north", "south", "east", "west", "old"), 1):
        await told.keep(f"Theo lives in Graz, in the {street} street", day=day)
    await told.consolidate()
    await told.keep("Theo has moved to Linz", day=20)
    await told.consolidate()
    [one] = await told.observed()
    assert one.text == "Theo lives in Linz since 2031-03-20; before that Theo lives in Graz"
    assert one.proof_count == 6


async def test_an_old_fact_that_comes_late_belongs_to_the_past(world: World) -> None:
    told = world.with_(careful)
    await told.keep("Theo has moved to Linz", day=20)
    await told.consolidate()
    await told.keep("Theo lives in Graz", day=2)
    await told.consolidate()
    assert await told.texts() == ["Theo lives in Linz since 2031-03-20; before that Theo lives in Graz"]


async def test_c7_wordings_of_one_thing_are_one_and_its_opposite_another(world: World) -> None:
    """A model that goes by shared words takes the opposite for a restatement: the stage does not let it."""
    await world.keep("Ada says that she likes the colour teal very much", day=1)
    await world.consolidate()
    await world.keep(
        "Ada says that she likes the colour teal so very much",
        "Ada says that she really likes the colour teal very much",
        "Ada says that she likes the colour teal very, very much",
        "Ada says that she no longer likes the colour teal very much",
        day=2,
    )
    done = await world.consolidate()
    assert {one.text: one.proof_count for one in await world.observed()} == {
        "Ada says that she likes the colour teal very much": 4,
        "Ada says that she no longer likes the colour teal very much": 1,
    }
    assert (done.result["observations_created"], done.result["observations_updated"]) == (1, 1)


async def test_d2_an_observation_that_does_not_exist_is_skipped_and_the_rest_is_done(world: World) -> None:
    def decide(user: str) -> Any:
        return {
            "actions": [
                {"action": "update", "observation": 99, "facts": [1], "text": "Ada sails"},
                {"action": "create", "facts": [2], "text": "Ben sings"},
            ]
        }

    told = world.with_(decide)
    await told.keep("Ada sails", "Ben sings")
    done = await told.consolidate()
    assert await told.texts() == ["Ben sings"]
    assert done.status is Status.COMPLETED
    assert done.result["skipped_by_reason"] == {"unknown_observation": 1}
    assert done.error_message == "1 actions of the model could not be taken (1 unknown_observation)"
    assert set((await told.facts()).values()) == {"done"}


async def test_l3_shared_makes_one_observation_of_facts_with_different_tags(world: World) -> None:
    """The example of the documentation: tags that a classifier gave do not split what is sent as shared."""
    said = "Ada rows on the {} lake behind the old mill in the north each Sunday morning"
    await world.keep(said.format("cold"), day=1, tags=("mood:glad",), observation_scopes="shared")
    await world.consolidate()
    await world.keep(said.format("very cold"), day=8, tags=("mood:calm",), observation_scopes="shared")
    await world.consolidate()
    [one] = await world.observed()
    assert (one.text, one.proof_count, one.tags) == (said.format("cold"), 2, ())


async def test_l3_without_shared_each_set_of_tags_has_its_own(world: World) -> None:
    await world.keep("Ada rows on Sundays", tags=("mood:glad",))
    await world.keep("Ada rows on Sundays", day=2, tags=("mood:calm",))
    await world.consolidate()
    assert sorted(one.tags for one in await world.observed()) == [("mood:calm",), ("mood:glad",)]
