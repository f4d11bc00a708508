"""Recall with a reranker behind a real endpoint: its part in the order, and every way in which it can be missing."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from recall_world import Unit, World

from memorybank.llm.reranking import LitellmReranker
from memorybank.model import Bank
from memorybank.recall.query import MinScores
from memorybank.recall.run import RERANKER, RecallResult
from memorybank.recall.stage import Recall
from memorybank.testing.scripted_llm import ScriptedLLM

#: The blend likes the first, which says the rare words; the scripted reranker the second, which holds all of them.
FACTS = ["kiln kiln kiln kiln", "how hot the kiln was is known", "Tea is in the kitchen."]
QUESTION = "how hot was the kiln"


def with_reranker(world: World, endpoint: ScriptedLLM, **own: Any) -> World:
    """Return the world with a recall that asks the endpoint."""
    settings = world.recall.settings
    changed = settings.reranker.model_copy(update={"timeout_seconds": 20.0, **own})
    model = LitellmReranker("infinity/scripted", endpoint.base_url, "none", 30.0)
    settings = settings.model_copy(update={"reranker": changed})
    return replace(world, recall=Recall(world.database, world.recall.embedder, settings, model))


async def ask(world: World, bank: Bank, audience: int, **more: Any) -> RecallResult:
    return await world.ask(bank, audience, QUESTION, trace=True, **more)


async def told(world: World, facts: list[str | Unit]) -> tuple[Bank, int]:
    bank, audience = await world.bank()
    for fact in facts:
        await world.document(bank, audience, [fact])
    return bank, audience


async def test_the_reranker_has_its_part_in_the_order_and_the_answer_says_so(
    world: World, endpoint: ScriptedLLM
) -> None:
    where = await told(world, [Unit(text, context="pottery") for text in FACTS])
    before = await ask(world, *where)
    assert RERANKER not in before.stages and before.trace and before.trace["reranked"] == []
    after = await ask(with_reranker(world, endpoint, weight=1.0), *where)
    assert after.hits[0].text == FACTS[1] and RERANKER in after.stages
    assert [hit.scores.reranker for hit in after.hits] == pytest.approx([1.0, 0.2, 0.2])
    finals = [hit.scores.final for hit in after.hits]
    assert finals == sorted(finals, reverse=True) and finals[0] == pytest.approx(1.0)
    (request,) = endpoint.requests
    assert request["query"] == QUESTION and "pottery: how hot the kiln was is known" in request["documents"]
    assert after.trace is not None and len(after.trace["rrf_merged"]) == 3
    best = after.trace["reranked"][0]
    assert (best["text"], best["rerank_rank"], best["rerank_score"]) == (FACTS[1], 1, 1.0)
    assert best["rank_change"] == best["rrf_rank"] - 1
    assert "rerank" in [phase["phase_name"] for phase in after.trace["summary"]["phase_metrics"]]


async def test_only_the_best_are_read_and_the_rest_stays_behind_them(
    world: World, endpoint: ScriptedLLM
) -> None:
    where = await told(world, [*FACTS, *(f"kiln number {number}" for number in range(20))])
    few = with_reranker(world, endpoint, candidates_low=4, candidates_mid=7)
    for budget, count in (("low", 4), ("mid", 7)):
        hits = (await ask(few, *where, budget=budget)).hits
        looked_at = [hit.scores.reranker is not None for hit in hits]
        assert looked_at == [True] * count + [False] * (23 - count)
        assert len(endpoint.requests[-1]["documents"]) == count


async def test_a_least_score_of_the_reranker_holds_only_where_it_ran(
    world: World, endpoint: ScriptedLLM
) -> None:
    where = await told(world, [*FACTS, *(f"kiln number {number}" for number in range(5))])
    least = MinScores(reranker=0.5)
    assert len((await ask(world, *where, min_scores=least)).hits) == 8
    few = with_reranker(world, endpoint, candidates_mid=4)
    assert [hit.text for hit in (await ask(few, *where, min_scores=least)).hits] == [FACTS[1]]


@pytest.mark.parametrize("kind", ["server_error", "rate_limited", "unauthorized"])
async def test_an_endpoint_that_fails_leaves_the_order_as_it_was(
    world: World, endpoint: ScriptedLLM, kind: str
) -> None:
    where = await told(world, list(FACTS))
    before = await ask(world, *where)
    endpoint.fail(kind, endpoint="rerank", times=None)
    after = await ask(with_reranker(world, endpoint), *where)
    assert after.hits == before.hits and RERANKER not in after.stages
    assert after.left_out[RERANKER] and after.trace
    assert after.trace["summary"]["left_out"] == after.left_out and after.trace["reranked"] == []


async def test_an_endpoint_that_is_too_slow_leaves_the_order_as_it_was(
    world: World, endpoint: ScriptedLLM
) -> None:
    where = await told(world, list(FACTS))
    before = await ask(world, *where)
    endpoint.hold()
    after = await ask(with_reranker(world, endpoint, timeout_seconds=0.3), *where)
    assert after.hits == before.hits and "0.3 seconds" in after.left_out[RERANKER]


async def test_no_connection_is_held_while_the_reranker_reads(world: World, endpoint: ScriptedLLM) -> None:
    where = await told(world, list(FACTS))
    endpoint.hold()
    slow = with_reranker(world, endpoint, timeout_seconds=20.0)
    size = world.database.statistics()["pool_max"]
    recalls = [ask(slow, *where) for _ in range(size + 2)]
    asked = asyncio.gather(*recalls)
    async with asyncio.timeout(10):
        while endpoint.stats()["waiting"] < size + 2:  # noqa: ASYNC110  (the endpoint is no part of this loop)
            await asyncio.sleep(0.01)
    await asyncio.wait_for(world.database.ping(), 5)
    endpoint.release()
    assert all(RERANKER in result.stages for result in await asked)


async def test_a_bank_may_have_it_switched_off(world: World, endpoint: ScriptedLLM) -> None:
    where = await told(world, list(FACTS))
    config = world.config.model_copy(update={"enable_reranking": False})
    result = await ask(with_reranker(world, endpoint), *where, config=config)
    assert RERANKER not in result.stages and result.left_out == {} and endpoint.requests == []


async def test_an_empty_bank_is_not_reranked(world: World, endpoint: ScriptedLLM) -> None:
    bank, audience = await world.bank()
    assert (await ask(with_reranker(world, endpoint), bank, audience)).hits == () and endpoint.requests == []


async def test_the_fusion_of_ranks_and_diversity_are_options(world: World) -> None:
    where = await told(world, [*FACTS, "how hot the kiln was is known well"])

    def changed(**own: Any) -> World:
        recall = world.recall.settings.recall.model_copy(update=own)
        settings = world.recall.settings.model_copy(update={"recall": recall})
        return replace(world, recall=Recall(world.database, world.recall.embedder, settings))

    fused = await ask(changed(fusion="rrf"), *where)
    assert fused.trace is not None
    best = fused.trace["rrf_merged"][0]
    expected = sum(1 / (60 + rank) for rank in best["source_ranks"].values())
    assert best["rrf_score"] == pytest.approx(expected)
    plain = [hit.text for hit in (await ask(world, *where)).hits]
    spread = [hit.text for hit in (await ask(changed(diversity=0.7), *where)).hits]
    assert spread[0] == plain[0] and sorted(spread) == sorted(plain) and spread != plain
