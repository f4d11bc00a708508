"""Refreshes: the first is whole, a delta keeps what is still true, a failure leaves what stands."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from model_world import World

from memorybank.errors import BadRequest, ModelMisconfigured, ModelUnavailable
from memorybank.llm.client import ChatRequest
from memorybank.operations import Status
from memorybank.storage import mental_models
from memorybank.testing.embedder import HashingEmbedder
from memorybank.testing.scripted_answers import rows
from memorybank.text import count_tokens

FACTS = [f"Ada keeps item {n} in hall {n * 7}" for n in range(1, 11)]


def lines(content: str) -> list[str]:
    return [line.removeprefix("- ") for line in content.splitlines() if line.startswith("- ")]


def op(name: str, section: str, *statements: tuple[str, list[int]], facts: list[int] | None = None) -> Any:
    said = [{"text": text, "facts": ids} for text, ids in statements]
    return {"op": name, "section": section, "statements": said, "facts": facts or []}


async def test_a_model_that_was_never_built_has_no_content_and_is_stale(world: World) -> None:
    await world.keep(*FACTS)
    model = await world.make()
    assert (model.version, model.document, model.is_stale, model.refreshed_at) == (0, (), True, None)


async def test_the_first_build_is_whole_also_where_all_facts_are_older(world: World) -> None:
    await world.keep(*FACTS)
    await world.make(mode="delta")
    done = await world.refresh()
    assert (done.status, done.result["outcome"]) == (Status.COMPLETED, "content_written")
    assert (done.result["effective_mode"], done.result["mode_fallback_reason"]) == (
        "full",
        "no_baseline_content",
    )
    assert sorted(lines(await world.says())) == sorted(FACTS)
    model = await world.get()
    [newest] = await world.rows("SELECT max(updated_at) AS at FROM memory_unit")
    assert (model.version, model.is_stale, model.seen_at) == (1, False, newest["at"])
    assert all(one.sources for section in model.document for one in section.statements)


async def test_a_delta_asks_about_news_and_keeps_the_rest(world: World) -> None:
    await world.keep(*FACTS)
    await world.make(mode="delta")
    await world.refresh()
    await world.keep("Ada keeps item 11 in hall 77", day=2)
    assert (await world.get()).is_stale
    done = await world.refresh()
    assert (done.result["outcome"], done.result["effective_mode"]) == ("content_written", "delta")
    assert sorted(lines(await world.says())) == sorted([*FACTS, "Ada keeps item 11 in hall 77"])
    asked: ChatRequest = world.model.requests[-1]
    assert [row["text"] for row in rows("new_facts", asked.user)] == ["Ada keeps item 11 in hall 77"]
    assert len(rows("facts", asked.user)) == 10
    assert not (await world.get()).is_stale
    assert [sorted(lines(said)) for said in await world.history()] == [sorted(FACTS)]


async def test_without_news_nothing_is_asked(world: World) -> None:
    await world.keep(*FACTS)
    await world.make(mode="delta")
    await world.refresh()
    before, calls = await world.get(), len(world.model.requests)
    done = await world.refresh()
    assert done.result["outcome"] == "content_preserved_no_new_facts"
    assert len(world.model.requests) == calls
    after = await world.get()
    assert (after.document, after.version) == (before.document, 1)


async def test_an_empty_scope_asks_nobody(world: World) -> None:
    await world.make()
    done = await world.refresh()
    assert (done.status, done.result["outcome"]) == (Status.COMPLETED, "content_preserved_no_new_facts")
    assert (world.model.requests, await world.says()) == ([], "")


async def test_the_same_answer_makes_no_version(world: World) -> None:
    await world.keep(*FACTS)
    await world.make()
    await world.refresh()
    done = await world.refresh()
    assert done.result["outcome"] == "content_unchanged"
    assert ((await world.get()).version, await world.history()) == (1, [])


FAILURES: list[tuple[str, Any, str, str]] = [
    ("delta", ModelMisconfigured("no such model"), "refresh_failed_delta_not_applied", "delta_ops_failed"),
    ("delta", "I would rather tell a story.", "refresh_failed_delta_not_applied", "delta_ops_failed"),
    ("delta", {"operations": [op("remove", "Nowhere", facts=[11])]}, "refresh_failed_delta_not_applied",
     "delta_ops_all_skipped"),
    ("delta", {"operations": [op("drop table", "What is known")]}, "refresh_failed_delta_not_applied",
     "delta_ops_all_skipped"),
    ("delta", {"operations": [op("remove", "What is known", facts=list(range(1, 12)))]},
     "refresh_failed_delta_not_applied", "delta_not_applied"),
    ("full", ModelMisconfigured("no such model"), "refresh_failed_error", "no_answer"),
    ("full", "I would rather tell a story.", "refresh_failed_error", "no_answer"),
    ("full", {"sections": []}, "refresh_failed_empty_candidate", "empty_candidate"),
    ("full", {"sections": [{"name": "All", "statements": [{"text": "Ada left.", "facts": [99]}]}]},
     "refresh_failed_empty_candidate", "empty_candidate"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "answer", "outcome", "reason"), FAILURES)
async def test_a_failed_refresh_leaves_what_stands(
    world: World, mode: str, answer: Any, outcome: str, reason: str
) -> None:
    await world.keep(*FACTS)
    await world.make(mode=mode)
    await world.refresh()
    await world.keep("Ada keeps item 11 in hall 77", day=2)
    before = await world.get()
    bad = world.with_(lambda user: answer)
    done = await bad.refresh()
    assert (done.status, done.result["outcome"], done.result["failure_reason"]) == (
        Status.FAILED,
        outcome,
        reason,
    )
    assert done.error_message
    after = await world.get()
    assert (after.document, after.version, after.is_stale) == (before.document, 1, True)
    assert after.failed_at is not None
    assert len(bad.model.requests) <= world.settings.reflect.attempts
    # It is tried again by itself, later with each failure.
    assert await world.sweep() == 0
    await world.run("UPDATE mental_model SET failed_at = now() - interval '3 minutes'")
    assert await world.sweep() == 1
    [operation] = await world.waiting()
    assert await world.work(operation) is Status.COMPLETED
    healed = await world.get()
    assert (len(lines(await world.says())), healed.is_stale, healed.failed_at) == (11, False, None)
    await world.run("UPDATE mental_model SET failed_at = now() - interval '3 minutes'")
    assert await world.sweep() == 0


async def test_a_provider_that_is_away_is_waited_for(world: World) -> None:
    await world.keep(*FACTS)
    await world.make()
    answers: list[Any] = [ModelUnavailable("away")] * 2
    attempts = world.settings.reflect.model_copy(update={"attempts": 1})
    world.settings = world.settings.model_copy(update={"reflect": attempts})
    away = world.with_(lambda user: answers.pop())
    done = await away.refresh()
    assert (done.status, done.error_message) == (Status.PENDING, "away")
    assert await world.sweep() == 0, "its operation goes on"


async def test_failures_end(world: World) -> None:
    await world.keep(*FACTS)
    await world.make()
    bad = world.with_(lambda user: {"sections": []})
    for _ in range(mental_models.TRIED):
        assert (await bad.refresh()).status is Status.FAILED
    await world.run("UPDATE mental_model SET failed_at = now() - interval '3 days'")
    assert await world.sweep() == 0


async def test_what_fails_before_the_model_is_asked_is_a_failure_too(world: World) -> None:
    """Else the sweep would ask for it again every two seconds."""

    class Broken(HashingEmbedder):
        def encode(self, texts: Sequence[str]) -> np.ndarray:
            raise ModelMisconfigured("wrong key of the embedder")

    await world.keep(*FACTS)
    await world.make(refresh_after_consolidation=True)
    world.embedder = Broken(64)
    done = await world.refresh()
    assert (done.status, done.error_message) == (Status.FAILED, "wrong key of the embedder")
    assert (await world.get()).failed_at is not None
    assert await world.sweep() == 0


@pytest.mark.parametrize("mode", ["full", "delta"])
async def test_a_question_without_a_word_has_no_evidence(world: World, mode: str) -> None:
    await world.keep(*FACTS)
    await world.make(query="💥", mode=mode, refresh_after_consolidation=True)
    done = await world.refresh()
    assert (done.status, done.result["outcome"]) == (Status.COMPLETED, "content_preserved_no_new_facts")
    assert await world.sweep() == 0


async def test_a_citation_that_was_not_shown_is_dropped_and_counted(world: World) -> None:
    await world.keep(*FACTS[:2])
    await world.make()
    answer = {
        "sections": [
            {"name": "# Halls:", "statements": [{"text": "Ada keeps two items.", "facts": [1, 2, 40]}]},
            {"name": "halls", "statements": [{"text": "- Ada keeps one more.", "facts": ["2"]}]},
            {"name": "Guesses", "statements": [{"text": "Ada is glad.", "facts": []}]},
        ]
    }
    done = await world.with_(lambda user: answer).refresh()
    assert await world.says() == "## Halls\n\n- Ada keeps two items.\n- Ada keeps one more."
    assert done.result["dropped_by_reason"] == {"citation_not_shown": 1, "statement_without_source": 1}


async def test_a_delta_changes_what_new_facts_change(world: World) -> None:
    await world.keep("Ada lives in Graz", "Ada repairs clocks")
    await world.make(mode="delta")
    await world.refresh()
    await world.keep("Ada has moved to Linz", day=9)

    def change(user: str) -> Any:
        ids = {row["text"]: row["id"] for tag in ("facts", "new_facts") for row in rows(tag, user)}
        told = "Ada lives in Linz since 2031-03-09, before that in Graz"
        return {
            "operations": [
                op(
                    "replace",
                    "What is known",
                    (told, [ids["Ada lives in Graz"], ids["Ada has moved to Linz"]]),
                ),
                op("replace", "What is know", (told, [1])),
            ]
        }

    done = await world.with_(change).refresh()
    assert sorted(lines(await world.says())) == [
        "Ada lives in Linz since 2031-03-09, before that in Graz",
        "Ada repairs clocks",
    ]
    assert done.result["operations_skipped_by_reason"] == {"unknown_section": 1}


async def test_a_page_that_would_grow_too_long_is_written_anew(world: World) -> None:
    await world.keep(*FACTS)
    await world.make(mode="delta", max_tokens=256)
    await world.refresh()
    await world.keep(*(f"Ada found coin {n} of silver under the stair of the mill" for n in range(30)), day=3)
    done = await world.refresh()
    assert (done.result["effective_mode"], done.result["mode_fallback_reason"]) == (
        "full",
        "delta_ops_failed",
    )
    assert done.result["dropped_by_reason"]["statement_beyond_max_tokens"] > 0
    assert 200 < count_tokens(await world.says()) <= 256


async def test_another_question_builds_anew(world: World) -> None:
    await world.keep(*FACTS)
    await world.make(mode="delta")
    await world.refresh()
    await world.change(source_query="What does Ada keep?")
    assert (await world.get()).is_stale
    done = await world.refresh()
    assert (done.result["effective_mode"], done.result["mode_fallback_reason"]) == (
        "full",
        "source_query_changed",
    )
    assert not (await world.get()).is_stale


async def test_an_answer_in_the_shape_asked_for(world: World) -> None:
    shape = {"type": "object", "properties": {"halls": {"type": "array"}}, "required": ["halls"]}
    await world.keep(*FACTS)
    await world.make(response_schema=shape)
    await world.refresh()
    assert (await world.get()).response["structured_output"] == {"halls": []}
    wrong = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}, "required": ["n"]}
    await world.change(trigger={"response_schema": wrong})
    await world.keep("Ada keeps item 11 in hall 77", day=2)
    done = await world.refresh()
    assert (done.status, done.result["outcome"]) == (Status.FAILED, "refresh_failed_structured_output")
    assert "n does not fit the schema (minimum)" in str(done.error_message)
    assert len(lines(await world.says())) == 10


async def test_without_a_model_the_nearest_are_quoted_and_it_says_so(world: World) -> None:
    world.model = None
    await world.keep(*FACTS)
    await world.make(mode="delta")
    done = await world.refresh()
    said = await world.says()
    assert "nothing is reasoned" in said and "(said 2031-03-01)" in said
    assert (done.status, done.result["llm_calls"]) == (Status.COMPLETED, 0)


async def test_an_id_is_there_once(world: World) -> None:
    await world.make("one")
    with pytest.raises(BadRequest, match="exists already"):
        await world.make("one")


async def test_fifty_versions_are_kept(world: World) -> None:
    await world.keep(*FACTS[:1])
    await world.make()
    count = iter(range(1000))
    talking = world.with_(
        lambda user: {
            "sections": [{"name": "S", "statements": [{"text": f"No {next(count)}", "facts": [1]}]}]
        }
    )
    for _ in range(53):
        await talking.refresh()
    told = await world.history()
    assert (len(told), told[0], told[-1]) == (50, "## S\n\n- No 51", "## S\n\n- No 2")
