"""What is erased goes out of mental models in the same transaction: content, history, and all that stood beside it."""

from typing import Any

import pytest
from model_world import World

from memorybank.operations import Status
from memorybank.storage import banks, mentions
from memorybank.testing.scripted_answers import rows

SECRET = "Ada hides the key under the fern"
PLAIN = "Ada keeps bees in the north garden"
SHAPE = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}


def two_sections(user: str) -> Any:
    """A section for each fact."""
    return {
        "sections": [
            {"name": f"Matter {row['id']}", "statements": [{"text": row["text"], "facts": [row["id"]]}]}
            for row in rows("facts", user)
        ]
    }


@pytest.fixture
async def told(world: World) -> World:
    """A model with two versions, built of two documents."""
    made = world.with_(two_sections)
    await made.keep(SECRET, document_id="secret")
    await made.make(mode="full", response_schema=SHAPE, keep_trace=True)
    await made.refresh()
    await made.keep(PLAIN, document_id="plain")
    await made.refresh()
    assert SECRET in await made.says() and SECRET in str(await made.history())
    assert {"structured_output", "trace"} <= (await made.get()).response.keys()
    return made


async def everything(world: World) -> str:
    """Return all that the tables of models and operations hold."""
    tables = ("mental_model", "mental_model_version", "mental_model_statement", "operation")
    return str([await world.rows(f"SELECT * FROM {table}") for table in tables])  # noqa: S608


async def edit(world: World, change: str) -> None:
    """Change the fact as curation does."""
    async with world.database.transaction() as connection:
        await mentions.alone(connection, world.bank.id)
        await connection.execute(f"UPDATE memory_unit SET {change} WHERE text = %s".encode(), [SECRET])  # noqa: S608


@pytest.mark.parametrize(
    "change",
    [None, "text = 'Ada hides nothing'", "status = 'invalidated'", "tags = '{x}'", "context = 'elsewhere'"],
)
async def test_a_section_goes_with_what_it_stands_on(told: World, change: str | None) -> None:
    if change is None:
        await told.forget("secret")
    else:
        await edit(told, change)
    model = await told.get()
    assert [one.text for section in model.document for one in section.statements] == [PLAIN]
    assert (model.is_stale, model.rebuild, model.version) == (True, True, 2)
    assert not {"structured_output", "trace"} & model.response.keys()
    assert "fern" not in await everything(told)
    assert await told.sweep() == 1
    [operation] = await told.waiting()
    assert await told.work(operation) is Status.COMPLETED
    done = await told.operation(operation)
    assert done.result["effective_mode"] == "full"
    healed = await told.get()
    assert (healed.rebuild, healed.is_stale) == (False, False)
    assert await told.sweep() == 0, "once is enough"


async def test_what_loses_its_last_section_says_nothing(told: World) -> None:
    await told.forget("secret")
    await told.forget("plain")
    assert (await told.get()).document == ()
    assert await told.sweep() == 1
    [operation] = await told.waiting()
    await told.work(operation)
    assert (await told.operation(operation)).result["outcome"] == "content_preserved_no_new_facts"
    assert await told.sweep() == 0


async def test_a_model_built_of_observations_stands_on_the_facts_behind_them(world: World) -> None:
    made = world.with_(two_sections)
    await made.keep(SECRET, document_id="secret")
    await made.keep(PLAIN, document_id="plain")
    await made.consolidate()
    await made.make(fact_types=["observation"])
    await made.refresh()
    kinds = await made.rows(
        "SELECT cited, count(*) AS n FROM mental_model_source GROUP BY cited ORDER BY cited"
    )
    assert [(row["cited"], row["n"]) for row in kinds] == [(False, 2), (True, 2)]
    await made.forget("secret")
    assert "fern" not in await everything(made) and PLAIN in await made.says()


async def test_observations_that_are_merged_hand_their_statements_on(world: World) -> None:
    made = world.with_(two_sections)
    await made.keep(PLAIN, "Ada tends bees in a garden north of here", document_id="plain")
    await made.consolidate()
    await made.make(fact_types=["observation"])
    await made.refresh()
    before = await made.says()
    assert before.count("- ") == 2
    await made.keep("Ada keeps bees in the north garden still", document_id="again", day=3)

    def merge(user: str) -> Any:
        [fact], [kept, *others] = rows("new_facts", user), rows("observations", user)
        ids = [one["id"] for one in others]
        action = {"action": "merge", "observation": kept["id"], "others": ids, "facts": [fact["id"]]}
        return {"actions": [action | {"text": PLAIN}]}

    await made.consolidate(merge)
    [left] = await made.rows("SELECT id FROM memory_unit WHERE fact_type = 'observation'")
    model = await made.get()
    assert (await made.says(), model.rebuild) == (before, False)
    cited = {id_ for section in model.document for one in section.statements for id_ in one.sources}
    assert cited == {left["id"]}


@pytest.mark.parametrize("how", ["forgotten", "edited"])
async def test_what_is_erased_while_it_is_thought_over_is_not_written(world: World, how: str) -> None:
    await world.keep(SECRET, document_id="secret")
    await world.keep(PLAIN, document_id="plain")
    await world.make()
    operation = await world.ask()
    times = iter(range(10))
    complete = world.model.complete

    async def answered(request: Any) -> Any:
        reply = await complete(request)
        if next(times) == 0:
            await (
                world.forget("secret") if how == "forgotten" else edit(world, "text = 'Ada hides nothing'")
            )
        return reply

    world.model.complete = answered
    assert await world.work(operation) is Status.PENDING
    assert "fern" not in await everything(world)
    assert await world.work(operation) is Status.COMPLETED
    said = await world.says()
    assert PLAIN in said and ("nothing" in said) == (how == "edited")
    assert "fern" not in await everything(world)


async def test_a_deleted_bank_takes_its_models_along(told: World) -> None:
    async with told.database.transaction() as connection:
        await banks.delete(connection, "team")
    for table in ("mental_model", "mental_model_version", "mental_model_statement", "mental_model_source"):
        assert await told.rows(f"SELECT * FROM {table}") == []  # noqa: S608
