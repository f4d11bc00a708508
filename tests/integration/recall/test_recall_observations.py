"""Observations in recall: what they stand on comes with them, in their place, or beside them, within its budgets."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from recall_world import Unit, World

from memorybank.audience import Viewer
from memorybank.model import Bank
from memorybank.recall.query import Include, MinScores, RecallQuery
from memorybank.recall.stage import Recall
from memorybank.settings import Settings
from memorybank.storage import models
from memorybank.text import count_tokens

OPERATOR = Viewer.operator()
FACTS = ["Ana rides a red bicycle.", "Ana rides to work.", "Tea is in the kitchen."]
SUMMARY = "Ana rides a bicycle to work."

Told = tuple[World, Bank, int, list[UUID], UUID]


@pytest.fixture
async def told(world: World) -> Told:
    """Three facts, and an observation on the first two."""
    bank, audience = await world.bank()
    facts = await world.document(bank, audience, [Unit(FACTS[0], entities=["Ana"]), *FACTS[1:]])
    return world, bank, audience, facts, await world.observe(bank, audience, SUMMARY, facts[:2])


async def test_an_observation_says_what_it_stands_on(told: Told) -> None:
    world, bank, audience, facts, observation = told
    hits = {hit.id: hit for hit in (await world.ask(bank, audience, "Ana rides")).hits}
    assert set(hits[observation].source_fact_ids) == set(facts[:2])
    assert all(hits[fact].source_fact_ids == () for fact in facts)


async def test_facts_give_way_to_an_observation_where_that_is_asked_for(told: Told) -> None:
    world, bank, audience, _, _ = told
    question = "Who rides a red bicycle?"
    assert set(await world.texts(bank, audience, question)) == {SUMMARY, *FACTS}
    preferred = await world.texts(bank, audience, question, prefer_observations=True)
    assert preferred == [SUMMARY, FACTS[2]]


@pytest.mark.parametrize("more", [{"types": ("world",)}, {"min_scores": MinScores(keyword=99.0)}])
async def test_an_observation_that_is_not_returned_hides_nothing(told: Told, more: dict[str, object]) -> None:
    world, bank, audience, _, _ = told
    found = await world.ask(bank, audience, "Ana rides", prefer_observations=True, **more)
    expected = set(FACTS) if "types" in more else set()
    assert {hit.text for hit in found.hits} == expected


async def test_an_observation_without_room_hides_nothing(world: World) -> None:
    bank, audience = await world.bank()
    facts = await world.document(bank, audience, FACTS)
    long = "Ana rides a red bicycle, " + "and much more is said of it here, " * 20
    await world.observe(bank, audience, long, facts[:1])
    room = count_tokens(FACTS[0])
    texts = await world.texts(bank, audience, FACTS[0], prefer_observations=True, max_tokens=room)
    assert texts == [FACTS[0]]
    whole = await world.texts(bank, audience, FACTS[0], prefer_observations=True)
    assert FACTS[0] not in whole and long.strip() in [text.strip() for text in whole]


async def test_source_facts_come_beside_within_their_budgets(told: Told) -> None:
    world, bank, audience, facts, _ = told
    one = max(count_tokens(text) for text in FACTS[:2])
    for budgets, expected, truncated in (
        ((4096, -1), {*FACTS[:2]}, False),
        ((-1, -1), {*FACTS[:2]}, False),
        ((one, -1), {FACTS[1]}, True),
        ((4096, one), {FACTS[1]}, True),
        ((0, -1), set(), True),
    ):
        include = Include(
            source_facts_max_tokens=budgets[0], source_facts_max_tokens_per_observation=budgets[1]
        )
        result = await world.ask(bank, audience, "Ana rides", include=include)
        assert result.source_facts is not None
        assert {fact.text for fact in result.source_facts.values()} == expected
        assert result.source_facts_truncated is truncated
        assert result.source_facts.keys() <= {str(fact) for fact in facts}
    assert result.hits and (await world.ask(bank, audience, "Ana rides")).source_facts is None
    whole = await world.ask(bank, audience, "Ana rides", include=Include(source_facts_max_tokens=4096))
    assert whole.source_facts and list(whole.source_facts[str(facts[0])].entities.values()) == ["Ana"]


async def test_an_observation_brings_the_chunks_of_its_sources(told: Told) -> None:
    world, bank, audience, _, _ = told
    include = Include(chunks_max_tokens=1000)
    chunks = (await world.ask(bank, audience, "Ana", include=include, types=("observation",))).chunks
    assert chunks is not None
    assert [chunk.text for chunk in chunks.values()] == [
        f"Chunk of: {text}" for text in (SUMMARY, FACTS[1], FACTS[0])
    ]


async def test_only_sources_that_the_viewer_may_see_are_told(told: Told) -> None:
    world, bank, audience, facts, observation = told
    private = await world.audience(bank.id, "dm", uuid4())
    (secret,) = await world.document(bank, private, ["Ana stole the bicycle."])
    async with world.database.connection() as connection:
        await connection.execute(
            "INSERT INTO observation_source VALUES (%s, %s, %s, %s)", [observation, secret, bank.id, private]
        )
    result = await world.ask(bank, audience, "Ana", include=Include(source_facts_max_tokens=4096))
    (hit,) = (hit for hit in result.hits if hit.id == observation)
    assert set(hit.source_fact_ids) == set(facts[:2]) and "stole" not in repr(result)


@pytest.mark.parametrize("exact", [3, 25_000])
async def test_a_bank_of_nothing_but_observations_is_a_bank(
    world: World, settings: Settings, exact: int
) -> None:
    bank, audience = await world.bank()
    texts = [SUMMARY, *(f"Bo rides horse {number}." for number in range(8))]
    for text in texts:
        await world.observe(bank, audience, text, [])
    own = settings.model_copy(update={"recall": settings.recall.model_copy(update={"exact_units": exact})})
    recall = Recall(world.database, world.recall.embedder, own)
    async with world.database.transaction() as connection:
        embedder = world.recall.embedder
        model = await models.embedding_model(connection, embedder.model, embedder.dimensions)
    found = await recall(
        replace(bank, indexed_model=model),
        world.config,
        RecallQuery("Who rides to work?", trace=True),
        OPERATOR,
    )
    assert found.hits[0].text == SUMMARY and {hit.text for hit in found.hits} == set(texts)
    assert found.trace is not None
    steps = {phase["phase_name"] for phase in found.trace["summary"]["phase_metrics"]}
    assert ("narrow" in steps) is (exact < len(texts))
