"""Recall against PostgreSQL: what is found, in which order, within which budget, with what beside it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from recall_world import Unit, World

from memorybank.errors import TimedOut
from memorybank.recall.query import Include, MinScores, RecallQuery
from memorybank.recall.stage import Recall
from memorybank.text import count_tokens

SMALL_TALK = ["The weather was fine again.", "Somebody left the window open.", "Tea is in the kitchen."]


def at(year: int, month: int, day: int = 1) -> datetime:
    return datetime(year, month, day, 12, tzinfo=UTC)


async def test_an_empty_bank_gives_nothing_and_no_error(world: World) -> None:
    bank, audience = await world.bank()
    result = await world.ask(bank, audience, "What did we decide?", trace=True)
    assert result.hits == () and result.entities == () and result.trace is not None


async def test_what_was_just_said_is_found_at_once(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(bank, audience, [*SMALL_TALK, "The spare key is with the florist."])
    assert (await world.texts(bank, audience, "Who has the spare key?"))[
        0
    ] == "The spare key is with the florist."


async def test_an_unusual_token_is_the_first_hit(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(
        bank, audience, [*SMALL_TALK, "Door code marker ZX-48211-Q.", "Door code marker YX-48212-P."]
    )
    assert (await world.texts(bank, audience, "ZX-48211-Q"))[0] == "Door code marker ZX-48211-Q."


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("上周我们把库存系统迁移到了东京机房", "库存系统"),
        ("鈴は青い自転車を修理に出した", "自転車"),
        ("우리 팀은 화요일마다 회고를 한다", "회고"),
        ("用 pgvector 做检索", "pgvector"),
    ],
)
async def test_the_keyword_arm_alone_finds_text_without_spaces(world: World, text: str, query: str) -> None:
    bank, audience = await world.bank()
    others = ["明日は京都で会議がある", "我们明天开会", "회의는 내일이다", "Nothing here."]
    await world.document(bank, audience, [*others, text])
    hits = (await world.ask(bank, audience, query)).hits
    assert [hit.text for hit in hits if hit.scores.keyword] == [text] and hits[0].text == text


@pytest.mark.parametrize("place", [0, 30, 59])
async def test_terms_are_left_out_by_how_common_they_are_not_by_their_place(world: World, place: int) -> None:
    common = [f"word{number}x" for number in range(59)]
    bank, audience = await world.bank()
    await world.document(bank, audience, [f"{' '.join(common)} {number}" for number in range(3)])
    await world.document(bank, audience, ["The quetzal"])
    words = [*common[:place], "quetzal", *common[place:]]
    hits = (await world.ask(bank, audience, " ".join(words))).hits
    assert [hit.text for hit in hits if hit.scores.keyword].count("The quetzal") == 1
    alone = (await world.ask(bank, audience, "quetzal")).hits
    assert alone[0].scores.keyword == next(hit.scores.keyword for hit in hits if hit.text == "The quetzal")


@pytest.mark.parametrize("letters", [3_900, 10_000])
async def test_one_long_word_is_stored_and_found_by_what_is_asked_of_it(world: World, letters: int) -> None:
    bank, audience = await world.bank()
    await world.document(bank, audience, [*SMALL_TALK, "x" * 10_000])
    hits = (await world.ask(bank, audience, RecallQuery("x" * letters).shortened(500).query)).hits
    assert [hit.text[:3] for hit in hits if hit.scores.keyword] == ["xxx"]


async def test_the_same_memory_kept_twice_is_one_hit(world: World) -> None:
    bank, audience = await world.bank()
    for _ in range(2):
        await world.document(bank, audience, ["The spare key is with the florist."])
    assert await world.texts(bank, audience, "spare key") == ["The spare key is with the florist."]


async def test_a_hit_tells_all_that_is_known(world: World) -> None:
    bank, audience = await world.bank()
    told = Unit(
        "Ana moved the release to Friday.",
        mentioned_at=at(2026, 3, 4),
        occurred=(at(2026, 3, 6), at(2026, 3, 6)),
        entities=["Ana", "release"],
        tags=["proj:x"],
        context="stand-up",
        metadata={"page": "7"},
        fact_type="experience",
    )
    (identity,) = await world.document(bank, audience, [told], "standup/2026-03-04")
    (hit,) = (await world.ask(bank, audience, "release")).hits
    assert (hit.id, hit.text, hit.context, hit.fact_type) == (identity, told.text, "stand-up", "experience")
    assert (hit.mentioned_at, (hit.occurred_start, hit.occurred_end)) == (told.mentioned_at, told.occurred)
    assert (hit.tags, hit.metadata, tuple(hit.entities.values())) == (
        ("proj:x",),
        {"page": "7"},
        ("Ana", "release"),
    )
    assert (hit.document_id, hit.chunk_id) == ("standup/2026-03-04", "team_standup/2026-03-04_0")
    assert 0 < hit.scores.final <= 1 and hit.scores.semantic and hit.scores.keyword
    assert hit.scores.reranker is None


async def test_only_active_units_are_found(world: World) -> None:
    bank, audience = await world.bank()
    old = Unit("Theo lives in Graz.", status="superseded")
    await world.document(bank, audience, [old, "Theo lives in Linz."])
    assert await world.texts(bank, audience, "Where does Theo live?") == ["Theo lives in Linz."]


async def test_types_are_kept_apart(world: World) -> None:
    bank, audience = await world.bank()
    facts = [
        Unit(f"Tea fact of type {kind}.", fact_type=kind) for kind in ("world", "experience", "observation")
    ]
    await world.document(bank, audience, facts)
    assert await world.texts(bank, audience, "tea", types=("experience", "opinion")) == [facts[1].text]
    assert await world.texts(bank, audience, "tea", types=("opinion",)) == []
    assert len(await world.texts(bank, audience, "tea", types=())) == len(facts)


async def test_neighbours_lend_context(world: World) -> None:
    bank, audience = await world.bank()
    talk = ["Dana: Where did you spend the summer holidays, Ben?", "Ben: In Lisbon, with my sister."]
    await world.document(bank, audience, [*talk, *SMALL_TALK])
    await world.document(bank, audience, [f"Note {number} on something else." for number in range(20)])
    assert "Ben: In Lisbon, with my sister." in (await world.texts(bank, audience, "summer holidays"))[:2]


async def test_the_best_hit_always_comes_and_short_ones_fill_up(world: World) -> None:
    bank, audience = await world.bank()
    long = "The kiln is fired on Monday. " + "It takes patience. " * 40
    await world.document(bank, audience, [long, "The kiln is hot.", "The kiln is old."])
    texts = await world.texts(bank, audience, "kiln fired Monday", max_tokens=30)
    assert sum(map(count_tokens, texts)) <= 30
    assert len(texts) == 1 or texts[0] != long
    (only,) = await world.texts(bank, audience, long[:80], max_tokens=5)
    assert 1 <= count_tokens(only) <= 5
    assert await world.texts(bank, audience, "kiln", max_tokens=0) == []


async def test_a_hit_that_does_not_fit_is_skipped_not_the_end(world: World) -> None:
    bank, audience = await world.bank()
    middle = "kiln kiln kiln " + "and the rest of a very long story about clay " * 20
    await world.document(bank, audience, ["kiln kiln kiln"])
    await world.document(bank, audience, [middle])
    await world.document(bank, audience, ["The old kiln."])
    assert await world.texts(bank, audience, "kiln", max_tokens=40) == ["kiln kiln kiln", "The old kiln."]


async def test_pages_go_on_until_the_budget_is_full(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(bank, audience, [f"Jar {number}" for number in range(230)])
    assert len(await world.texts(bank, audience, "jar", budget="low", max_tokens=10_000)) == 200
    hits = (await world.ask(bank, audience, "jar", budget="mid", max_tokens=10_000)).hits
    assert len(hits) == 230
    finals = [hit.scores.final for hit in hits]
    assert finals == sorted(finals, reverse=True)


async def test_scores_are_absolute_and_low_when_nothing_fits(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(
        bank,
        audience,
        [
            "The API gateway returns 429 under load.",
            "Deploys run through the canary ring.",
            "Pods restart at night.",
        ],
    )
    good = (await world.ask(bank, audience, "When does the API gateway return 429?")).hits
    bad = (await world.ask(bank, audience, "best pizza dough")).hits
    assert good[0].scores.final > 0.5 > 0.2 > bad[0].scores.final
    floor = MinScores(final=0.3)
    assert await world.texts(bank, audience, "best pizza dough", min_scores=floor) == []
    assert await world.texts(bank, audience, "API gateway 429", min_scores=floor) == [good[0].text]


async def test_least_scores_hold_for_every_hit(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(bank, audience, ["The kiln is hot.", "Clay dries slowly.", "A hot summer."])
    hits = (
        await world.ask(bank, audience, "hot kiln", min_scores=MinScores(keyword=0.1, semantic=0.05))
    ).hits
    assert hits and all(
        (hit.scores.keyword or 0) >= 0.1 and (hit.scores.semantic or 0) >= 0.05 for hit in hits
    )
    assert await world.texts(bank, audience, "hot kiln", min_scores=MinScores(reranker=0.5))


async def test_beside_the_hits_come_entities_and_chunks_within_their_budgets(world: World) -> None:
    bank, audience = await world.bank()
    names = [f"Person Number{number}" for number in range(12)]
    await world.document(
        bank, audience, [Unit(f"{name} fired the kiln.", entities=[name]) for name in names], "d"
    )
    include = Include(entities_max_tokens=20, chunks_max_tokens=30, source_facts_max_tokens=100)
    result = await world.ask(bank, audience, "Who fired the kiln?", include=include)
    assert result.entities and result.chunks and len(result.hits) == len(names)
    assert sum(count_tokens(entity.name) for entity in result.entities) <= 20
    *whole, last = result.chunks.values()
    assert last.truncated and not any(chunk.truncated for chunk in whole)
    assert sum(count_tokens(chunk.text) for chunk in result.chunks.values()) <= 30
    assert next(iter(result.chunks)) == result.hits[0].chunk_id
    assert (result.source_facts, result.source_facts_truncated) == ({}, False)
    bare = await world.ask(bank, audience, "Who fired the kiln?", include=Include(entities_max_tokens=None))
    assert bare.entities is None and bare.chunks is None and bare.source_facts is None
    # A hit names its entities all the same: the contract switches off what comes beside the hits.
    assert all(hit.text == f"{name} fired the kiln." for hit in bare.hits for name in hit.entities.values())
    assert all(hit.entities for hit in bare.hits)


async def test_a_bank_can_switch_arms_off(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(
        bank, audience, [Unit("Ana rented the hall.", mentioned_at=at(2026, 3), entities=["Ana"])]
    )
    config = world.config.model_copy(
        update={"enable_temporal_retrieval": False, "enable_graph_retrieval": False}
    )
    asked: dict[str, Any] = {"query_timestamp": at(2026, 7)}
    assert (await world.ask(bank, audience, "What did Ana rent in March?", **asked)).stages == (
        "semantic",
        "bm25",
        "temporal",
        "graph",
    )
    assert (
        await world.ask(bank, audience, "What did Ana rent in March?", config=config, **asked)
    ).stages == (
        "semantic",
        "bm25",
    )


async def test_a_unit_is_reached_over_a_shared_name(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(bank, audience, [Unit("Okafor leads the archive.", entities=["Okafor"])])
    for number in range(30):
        await world.document(
            bank, audience, [Unit(f"Shelf {number} holds maps.", entities=[f"Shelf {number}"])]
        )
    await world.document(bank, audience, [Unit("She keeps bees at weekends.", entities=["Okafor"])])
    texts = await world.texts(bank, audience, "Who leads the archive?")
    assert texts[:2] == ["Okafor leads the archive.", "She keeps bees at weekends."]


async def test_a_name_in_the_question_is_followed(world: World) -> None:
    bank, audience = await world.bank()
    for number in range(30):
        await world.document(bank, audience, [f"Shelf {number} holds maps."])
    await world.document(bank, audience, [Unit("She keeps bees at weekends.", entities=["Jude Okafor"])])
    result = await world.ask(bank, audience, "jude okafor's hobby?")
    assert result.hits[0].text == "She keeps bees at weekends." and "graph" in result.stages


async def test_a_hub_is_read_up_to_its_cap(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(
        bank, audience, [Unit(f"Ana wrote note {number}.", entities=["Ana"]) for number in range(230)]
    )
    result = await world.ask(bank, audience, "Which notes did Ana write?", max_tokens=50)
    assert result.hits


async def test_the_one_who_is_asked_about_comes_first_and_what_only_asks_last(world: World) -> None:
    bank, audience = await world.bank()
    talk = [
        "Ann: Did you like the opera?",
        "Bo: Very much.",
        "Bo: I like the opera.",
        "Ann: I like the opera.",
    ]
    await world.document(bank, audience, talk)
    assert (await world.texts(bank, audience, "What does Ann think of the opera?"))[0] == talk[3]
    assert (await world.texts(bank, audience, "How was the opera?"))[-1] == talk[0]


async def test_a_trace_tells_every_step(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(
        bank, audience, [Unit("The kiln is hot.", mentioned_at=at(2026, 3)), "Clay dries slowly."]
    )
    trace = (await world.ask(bank, audience, "How hot was the kiln in March?", trace=True)).trace
    assert trace is not None
    assert trace["query"]["query_text"] == "How hot was the kiln in March?"
    assert trace["query"]["temporal_constraint"] is not None and len(trace["query"]["query_embedding"]) == 384
    assert {arm["method_name"] for arm in trace["retrieval_results"]} == {"semantic", "bm25", "temporal"}
    keyword = next(arm for arm in trace["retrieval_results"] if arm["method_name"] == "bm25")
    named = [(entry["rank"], entry["score_name"], entry["text"]) for entry in keyword["results"]]
    assert named == [(1, "bm25_score", "The kiln is hot.")]
    assert trace["rrf_merged"][0]["source_ranks"] == {"semantic_rank": 1, "bm25_rank": 1, "temporal_rank": 1}
    phases = [phase["phase_name"] for phase in trace["summary"]["phase_metrics"]]
    assert phases == [
        "read_question",
        "find_speakers",
        "embed_question",
        "gather",
        "score",
        "follow_graph",
        "fetch",
        "pack",
        "beside",
    ]
    assert trace["summary"]["results_returned"] == len(trace["final_results"]) == 2


async def test_a_recall_over_its_time_says_so(world: World) -> None:
    bank, audience = await world.bank()
    own = world.recall.settings.recall.model_copy(update={"timeout_seconds": 1e-9})
    settings = world.recall.settings.model_copy(update={"recall": own})
    hurried = replace(world, recall=Recall(world.database, world.recall.embedder, settings))
    with pytest.raises(TimedOut):
        await hurried.ask(bank, audience, "What is hot?")
