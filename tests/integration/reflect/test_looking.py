"""What the tools find in a real bank, under one scope: facts, texts, observations, mental models, what is behind."""

from typing import Any

import pytest
from model_world import World
from reflect_world import Model, calls, done, lines, results, search

from memorybank import clock
from memorybank.assembly import RecallForReflect
from memorybank.audience import Viewer
from memorybank.recall.stage import Recall
from memorybank.reflect.query import Reflection, ReflectQuery, Scope
from memorybank.reflect.stage import Reflect
from memorybank.settings import Settings
from memorybank.storage import banks
from memorybank.storage.pool import Database
from memorybank.text import count_tokens

OPERATOR = Viewer.operator()
ADA, BO = "Ada keeps bees in Graz.", "Bo plays the cello in Linz."


@pytest.fixture
async def world(database: Database, settings: Settings) -> World:
    async with database.connection() as connection:
        bank = await banks.ensure(connection, "team", clock.now())
        return World(database, settings, bank, await banks.default_audience(connection, bank.id))


async def ask(
    world: World,
    model: Model,
    query: str | ReflectQuery = "What does Ada keep?",
    viewer: Viewer = OPERATOR,
    **config: Any,
) -> Reflection:
    recall = RecallForReflect(Recall(world.database, world.embedder, world.settings))
    reflect = Reflect(recall, world.stage.find_for, model, world.database, world.settings)
    asked = query if isinstance(query, ReflectQuery) else ReflectQuery(query)
    return await reflect(world.bank, world.settings.bank.model_copy(update=config), asked, viewer)


def shown(model: Model, request: int = 0) -> str:
    """All results of tools in a request."""
    return "\n".join(results(model.requests[request]))


def texts(said: str) -> set[str]:
    return {line["text"] for line in lines(said) if "id" in line and "text" in line}


async def test_all_that_is_known_stands_before_the_model_once(world: World) -> None:
    await world.keep(ADA, BO, day=1, document_id="walk", tags=("a",))
    await world.consolidate()
    await world.make()
    await world.refresh()
    model = Model([done("Bees [1].")])
    answer = await ask(world, model)
    assert [step.tool for step in answer.steps] == ["search_mental_models", "search_observations", "recall"]
    said = shown(model)
    [page] = [line for line in lines(said) if "model" in line]
    assert (page["model"], page["freshness"]) == ("Page", "up_to_date") and ADA in str(page["statements"])
    assert texts(said) == {ADA, BO} and len([line for line in lines(said) if "id" in line]) == 3
    assert "Freshness" not in said
    assert [(one.id, one.name) for one in answer.models] == [("page", "Page")] and answer.facts == ()
    assert ADA in answer.models[0].text


@pytest.mark.parametrize(
    ("more", "word", "said"),
    [(0, "up_to_date", None), (1, "slightly_stale", "a few facts"), (10, "stale", "stale, many facts")],
)
async def test_freshness_goes_by_the_facts_that_wait_and_nothing_vouches_for_the_rest(
    world: World, more: int, word: str, said: str | None
) -> None:
    await world.keep(ADA)
    await world.consolidate()
    for at in range(more):
        await world.keep(f"Cleo has bought jar number {at}.", day=2 + at, document_id=f"d{at}")
    model = Model([done("Bees [1].")])
    answer = await ask(world, model)
    assert [step.output["freshness"] for step in answer.steps if "freshness" in step.output] == [word]
    assert word not in shown(model) or word == "stale"
    assert (f"Freshness: {said} told since" in shown(model)) is bool(said)


async def test_texts_around_facts_come_with_them_unless_the_bank_wants_none(world: World) -> None:
    await world.keep(ADA, BO, document_id="walk")
    model = Model([done("Bees [1].")])
    await ask(world, model)
    [chunk] = [line for line in lines(shown(model)) if "of" in line]
    assert chunk["text"] == f"{ADA}\n{BO}" and chunk["of"] in (1, 2)
    model = Model([done("Bees [1].")])
    await ask(world, model, recall_include_chunks=False)
    assert not [line for line in lines(shown(model)) if "of" in line]


async def test_behind_an_observation_stand_its_facts_and_what_it_said_before(world: World) -> None:
    await world.keep("Ada lives in Hask.", day=1, document_id="first")
    await world.consolidate()
    await world.keep("Ada lives in Graz now.", day=9, document_id="second")

    def move(user: str) -> dict[str, Any]:
        facts = [row["id"] for row in lines(user.split("<observations")[0])]
        said = {"action": "update", "observation": 1, "text": "Ada lives in Graz, before that in Hask."}
        return {"actions": [said | {"facts": facts}]}

    await world.consolidate(move)
    query = ReflectQuery("Where does Ada live?", exclude_mental_models=True)
    model = Model([calls(("expand", {"reason": "r", "memory_ids": [1]})), done("Graz [1].")])
    await ask(world, model, query, recall_max_tokens=1, recall_include_chunks=False)
    first, behind = shown(model), results(model.requests[1])[-1]
    assert texts(first) >= {"Ada lives in Graz, before that in Hask."}
    before = [line for line in lines(behind) if "said_before" in line]
    assert [(line["of"], line["said_before"], line["said"]) for line in before] == [
        (1, "Ada lives in Hask.", "2031-03-01")
    ]


async def test_the_document_around_a_fact_is_shown_on_demand(world: World) -> None:
    long = "\n".join(f"Line {at} says that the kiln number {at} is warm and dry today." for at in range(200))
    await world.keep(ADA, long, document_id="long")
    asked = [
        ("expand", {"reason": "r", "memory_ids": ["[1]"], "depth": depth}) for depth in ("chunk", "document")
    ]
    model = Model([calls(*asked), done("Bees [1].")])
    await ask(world, model, recall_include_chunks=False)
    chunk, document = results(model.requests[1])[-2:]
    assert ADA in chunk and "kiln number 199" not in chunk
    assert ADA not in document and "kiln number 150" in document  # the first chunk was shown already


SCOPES = [
    (Scope(tags=("a",), tags_match="any_strict"), {ADA}),
    (Scope(tags=("a",)), {ADA}),
    (Scope(tags=("b",), tags_match="all_strict"), {BO}),
    (Scope(tags=("c",), tags_match="any_strict"), set()),
    (Scope(fact_types=("world",)), {ADA, BO}),
]


@pytest.mark.parametrize(("scope", "passing"), SCOPES)
async def test_every_search_stands_under_the_scope(world: World, scope: Scope, passing: set[str]) -> None:
    await world.keep(ADA, document_id="a", tags=("a",))
    await world.keep(BO, document_id="b", tags=("b",))
    await world.consolidate()
    await world.make("both", query="What do Ada and Bo do?")
    await world.refresh("both")
    looking = calls(
        *(search("Ada Bo", tool) for tool in ("search_mental_models", "search_observations", "recall")),
        ("expand", {"reason": "r", "memory_ids": [1, 2, 3, 4, 5], "depth": "document"}),
    )
    model = Model([looking, done("So [1].")])
    answer = await ask(world, model, ReflectQuery("What do Ada and Bo do?", scope=scope))
    said = "\n".join(shown(model, at) for at in range(len(model.requests)))
    assert {one for one in (ADA, BO) if one in said} == passing
    assert bool(passing) == bool(answer.facts or answer.models)


async def test_a_viewer_sees_what_is_theirs_alone(world: World) -> None:
    async with world.database.transaction() as connection:
        other = await banks.ensure(connection, "other", clock.now())
        foreign = await banks.default_audience(connection, other.id)
    await world.keep(ADA, document_id="a")
    await world.consolidate()
    await world.make()
    await world.refresh()
    model = Model([done("Bees [1].")])
    answer = await ask(world, model, viewer=Viewer((foreign,)))
    assert model.requests == [] and answer.facts == () and "know" in answer.text


@pytest.mark.parametrize(
    "query",
    [
        ReflectQuery("What of Ada?", exclude_mental_models=True),
        ReflectQuery("What of Ada?", exclude_mental_model_ids=("page",)),
    ],
)
async def test_excluded_mental_models_are_not_shown(world: World, query: ReflectQuery) -> None:
    await world.keep(ADA)
    await world.make()
    await world.refresh()
    model = Model([done("Bees [1].")])
    await ask(world, model, query)
    assert "statements" not in shown(model)
    assert "search_mental_models" not in {tool["function"]["name"] for tool in model.requests[0].tools}


async def test_what_was_deleted_withheld_or_never_built_is_not_shown(world: World) -> None:
    await world.keep(ADA, document_id="a")
    await world.keep(BO, document_id="b")
    await world.consolidate()
    await world.make("empty")
    await world.make()
    await world.refresh()
    await world.forget("a")
    model = Model([done("Nothing of Ada is known.")])
    await ask(world, model)
    assert ADA not in shown(model) and "Empty" not in shown(model)


async def test_source_facts_of_observations_come_where_the_bank_wants_them(world: World) -> None:
    await world.keep("Ada lives in Hask.", document_id="a")

    def other_words(user: str) -> dict[str, Any]:
        return {"actions": [{"action": "create", "text": "Hask is the home of Ada.", "facts": [1]}]}

    await world.consolidate(other_words)
    query = ReflectQuery("Where does Ada live?", scope=Scope(("observation", "world")))
    model = Model([done("Hask [1].")])
    await ask(world, model, query, reflect_source_facts_max_tokens=500)
    observations, facts = results(model.requests[0])
    assert texts(observations) == {"Hask is the home of Ada.", "Ada lives in Hask."}
    assert lines(facts) == [] and "Shown before: [2]." in facts


async def test_results_are_within_their_tokens_as_they_are_sent(world: World) -> None:
    told = [
        f'Note {at}: Ada said "kiln \\ {at}" and left <b>{at}</b>, as she does every day.'
        for at in range(150)
    ]
    await world.keep(*told, document_id="notes", context="what was noted in the workshop of Ada and Bo")
    await world.consolidate(
        lambda user: {
            "actions": [
                {"action": "create", "text": f"Of Ada it is known: {row['text']}", "facts": [row["id"]]}
                for row in lines(user.split("<observations")[0])
            ]
        }
    )
    asked = [
        search("kiln", max_tokens=700, max_chunk_tokens=0),
        search("workshop", "search_observations", max_tokens=1200),
        search("every day", max_tokens=100, max_chunk_tokens=300),
    ]
    model = Model([calls(*asked), done("So [1].")])
    await ask(world, model)
    first, then = results(model.requests[0]), results(model.requests[1])
    limits = (2048, 2048 + 1000, *(700, 1200, 100 + 300))
    for result, limit in zip((*first, *then[len(first) :]), limits, strict=True):
        assert count_tokens(result) <= 1.1 * limit + 60
    assert count_tokens(first[1]) > 1500
