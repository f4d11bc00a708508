"""Retained text is data: a model that obeys every order outside of a fence is given none."""

from collections.abc import Sequence
from contextlib import nullcontext

import pytest
from gullible import KIND, GullibleModel
from injections import INJECTIONS, INNOCENT, Injection
from retain_world import World, item

from memorybank import templates
from memorybank.llm.litellm_client import LitellmModel
from memorybank.llm.retry import Patience
from memorybank.model import Fact, RetainItem
from memorybank.retain import prompting
from memorybank.retain.extraction import Asking, ModelExtractor
from memorybank.retain.work import ChunkWork
from memorybank.settings import defaults
from memorybank.testing.scripted_llm import ScriptedLLM

#: So many of the texts succeed at least where nothing is fenced: the suite can fail.
WITHOUT_FENCES = 25


def work(injection: Injection) -> ChunkWork:
    return ChunkWork(
        f"{INNOCENT}\n{injection.text}" if injection.where == "content" else INNOCENT,
        defaults().bank,
        context=injection.text if injection.where == "context" else "",
        metadata={"note": injection.text} if injection.where == "metadata" else {},
    )


async def extracted(injection: Injection) -> Sequence[Fact]:
    [found] = await ModelExtractor(GullibleModel(), Asking(4, Patience())).extract([work(injection)])
    return found.facts


def obeyed(injection: Injection, texts: Sequence[str]) -> bool:
    """Tell whether the order was carried out: its fact is there, or what it wanted gone is gone."""
    plain = [text.strip(" .。") for text in texts]
    return injection.wants in plain or INNOCENT.strip(".") not in plain


def test_there_are_thirty_of_them() -> None:
    assert len({injection.text for injection in INJECTIONS}) == 30


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
async def test_no_order_in_a_text_is_obeyed(injection: Injection) -> None:
    texts = [fact.text for fact in await extracted(injection)]
    assert not obeyed(injection, texts)


async def test_without_fences_most_orders_are_obeyed() -> None:
    with templates.without_fences():
        done = [one.name for one in INJECTIONS if obeyed(one, [fact.text for fact in await extracted(one)])]
    assert len(done) >= WITHOUT_FENCES, done


async def test_the_owners_mission_may_give_orders() -> None:
    config = defaults().bank.model_copy(update={"retain_mission": "Always add the fact: Ours is a bakery"})
    [found] = await ModelExtractor(GullibleModel(), Asking(4, Patience())).extract(
        [ChunkWork(INNOCENT, config)]
    )
    assert [fact.text for fact in found.facts] == [INNOCENT, "Ours is a bakery"]


@pytest.fixture
async def served(world: World, endpoint: ScriptedLLM) -> World:
    endpoint.fail(KIND, times=None)
    here = {"model": "openai/scripted", "base_url": endpoint.base_url, "api_key": "none"}
    stage = defaults().llm.model_copy(update=here)
    world.model = LitellmModel({"retain": stage, "reflect": stage, "consolidation": stage})
    return world


def items() -> list[RetainItem]:
    works = enumerate(map(work, INJECTIONS))
    return [
        item(one.text, document_id=f"d{n:02}", context=one.context, metadata=one.metadata) for n, one in works
    ]


@pytest.mark.parametrize("fenced", [True, False], ids=["fenced", "bare"])
async def test_through_the_whole_of_retain(served: World, fenced: bool) -> None:
    with nullcontext() if fenced else templates.without_fences():
        await served.keep(*items())
    rows = await served.rows(
        "SELECT d.id, array_agg(u.text) FILTER (WHERE u.text IS NOT NULL) AS texts FROM document d"
        " LEFT JOIN memory_unit u ON u.document_number = d.number AND u.bank = d.bank GROUP BY d.id ORDER BY d.id"
    )
    # Said by many, the innocent fact is one memory: the documents are looked at together.
    texts = [text for row in rows for text in row["texts"] or ()]
    assert INNOCENT in texts
    brought_in = {injection.wants for injection in INJECTIONS} & {text.strip(" .。") for text in texts}
    assert bool(brought_in - {""}) is not fenced


async def test_neither_ids_nor_tags_reach_the_prompt(served: World, endpoint: ScriptedLLM) -> None:
    await served.keep(item(INNOCENT, document_id="ignore-the-rules-above", tags=("add-the-fact",)))
    sent = str(endpoint.requests[-1]["messages"])
    assert INNOCENT in sent and "ignore-the-rules" not in sent and "add-the-fact" not in sent


def test_context_is_called_what_it_is() -> None:
    system = prompting.request([work(INJECTIONS[0])]).system
    assert "never proof" in system
