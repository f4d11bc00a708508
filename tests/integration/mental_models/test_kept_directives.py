"""Pages keep the directives of their bank: a refresh that breaks one is mended once, else the old content stands."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from model_world import OPERATOR, World

from memorybank.llm.client import ChatRequest
from memorybank.mental_models.draft import Ending
from memorybank.operations import Status
from memorybank.serve.actions import mental_model_views as views
from memorybank.testing.scripted_answers import blocks, document

FACTS = ["Ada leads Project Heron", "Ada lives in Graz"]
SHAPE = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}


def page(*texts: str) -> Any:
    """A page that says this, each on the first fact."""
    return {"sections": [{"name": "Work", "statements": [{"text": text, "facts": [1]} for text in texts]}]}


def in_order(*answers: Any) -> Callable[[str], Any]:
    left = list(answers)
    return lambda user: left.pop(0)


def kindly(user: str) -> Any:
    """Judge the draft by itself: who says "fool" is not kind."""
    bad = "fool" in " ".join(blocks("draft", user))
    ids = [json.loads(line)["id"] for line in user.splitlines() if line.startswith('{"id"')]
    return {"verdicts": [{"id": id_, "ok": not bad, "words": ["fool"] * bad} for id_ in ids]}


async def built(world: World, **asked: Any) -> World:
    """A model that was built before there were directives."""
    await world.keep(*FACTS)
    await world.make(**asked)
    await world.refresh()
    assert "Project Heron" in await world.says()
    return world


async def test_a_page_that_keeps_them_is_written_and_code_asks_no_model(world: World) -> None:
    await world.keep("Ada lives in Graz")
    await world.direct("Never mention Project Heron.")
    await world.make()
    done = await world.refresh()
    assert (done.status, done.result["outcome"], done.result["llm_calls"]) == (
        Status.COMPLETED, "content_written", 1)  # fmt: skip
    asked: ChatRequest = world.model.requests[0]
    assert '{"id": 1, "name": "rule", "directive": "Never mention Project Heron."}' in asked.user


async def test_a_page_that_breaks_one_is_mended(world: World) -> None:
    await world.keep(*FACTS)
    await world.direct("Never mention Project Heron.")
    await world.make()
    mending = world.with_(in_order(page("Ada leads Project Heron."), page("Ada leads a project.")))
    done = await mending.refresh()
    assert (done.result["outcome"], done.result["llm_calls"]) == ("content_written", 2)
    assert await world.says() == "## Work\n\n- Ada leads a project."
    said, wish = mending.model.requests[1].messages
    assert json.loads(said["content"]) == page("Ada leads Project Heron.")
    assert "Never mention Project Heron." in wish["content"]


async def test_what_still_breaks_one_leaves_the_old_content(world: World) -> None:
    await built(world)
    before = await world.get()
    rule = await world.direct("Be kind.")
    bad = world.with_(lambda user: page("Ada is a fool."), judge=kindly)
    done = await bad.refresh()
    assert (done.status, done.result["outcome"]) == (Status.FAILED, "refresh_failed_error")
    assert done.result["violations"] == [{"directive_id": str(rule.id), "rule": "model"}]
    assert [call.schema_name for call in bad.model.requests] == [
        "mental_model_document", "directive_verdict", "mental_model_document", "directive_verdict"]  # fmt: skip
    assert str(rule.id) in str(done.error_message)
    after = await world.get()
    assert (after.document, after.version, after.response) == (before.document, 1, before.response)
    assert after.failed_at is not None
    assert "fool" not in str(done) and "kind" not in str(done.error_message)


async def test_a_page_that_nobody_judges_is_not_written(world: World) -> None:
    await built(world)
    await world.direct("Be kind.")
    await world.keep("Ada repairs clocks", day=2)
    done = await world.refresh()
    assert (done.status, done.result["violations"][0]["rule"]) == (Status.FAILED, "no_verdict")
    assert "clocks" not in await world.says()


async def test_a_repair_that_fails_leaves_the_old_content(world: World) -> None:
    await built(world)
    await world.direct("Never mention Project Heron.")
    done = await world.with_(in_order(page("Project Heron."), *["no page"] * 4)).refresh()
    assert (done.status, done.result["violations"][0]["rule"]) == (Status.FAILED, "forbidden_words")


async def test_a_delta_over_a_page_that_breaks_one_writes_it_anew(world: World) -> None:
    await built(world, mode="delta")
    await world.direct("Never mention Project Heron.")
    await world.keep("Ada repairs clocks", day=2)
    appended = {"operations": [{"op": "append", "section": "What is known", "statements": [
        {"text": "Ada repairs clocks.", "facts": [3]}]}]}  # fmt: skip
    mending = world.with_(in_order(appended, page("Ada leads a project.", "Ada repairs clocks.")))
    done = await mending.refresh()
    assert (done.result["outcome"], done.result["effective_mode"]) == ("content_written", "full")
    assert "Heron" not in await world.says() and "clocks" in await world.says()
    assert "Heron" not in str((await world.get()).response)


@pytest.mark.parametrize("key", ["note", "heron"])
async def test_the_structured_output_is_checked_too(world: World, key: str) -> None:
    await world.keep("Ada lives in Graz")
    await world.direct("Never say 'ok' or 'heron'.")
    await world.make(response_schema={**SHAPE, "properties": {key: {"type": "string"}}, "required": [key]})
    done = await world.refresh()
    assert (done.status, done.result["violations"][0]["rule"]) == (Status.FAILED, "forbidden_words")
    model = await world.get()
    assert (model.version, dict(model.response)) == (0, {})


@pytest.mark.parametrize(
    ("page_tags", "rule_tags", "is_active", "status"),
    [
        ((), (), True, Status.FAILED),
        ((), ("a",), True, Status.COMPLETED),
        (("a",), (), True, Status.FAILED),
        (("a", "b"), ("b", "c"), True, Status.FAILED),
        (("a",), ("b",), True, Status.COMPLETED),
        ((), (), False, Status.COMPLETED),
    ],
)
async def test_scope(
    world: World, page_tags: tuple[str, ...], rule_tags: tuple[str, ...], is_active: bool, status: Status
) -> None:
    await world.keep("Ada lives in Graz", tags=page_tags)
    await world.direct("Never mention Ada.", *rule_tags, is_active=is_active)
    await world.make(tags=page_tags)
    assert (await world.with_(document).refresh()).status is status


async def test_a_dry_run_says_so_and_shows_nothing_of_the_page(world: World) -> None:
    await built(world, mode="delta", keep_trace=True)
    rule = await world.direct("Be kind.")
    await world.keep("Ada repairs clocks", day=2)
    unkind = {"operations": [{"op": "append", "section": "What is known", "statements": [
        {"text": "Ada is a fool.", "facts": [3]}]}]}  # fmt: skip
    bad = world.with_(in_order(unkind, page("A fool.")), judge=kindly)
    draft = await bad.stage.preview(world.bank.id, OPERATOR, "page")
    shown = views.dry_run(draft)
    assert (draft.ending, shown.would_persist, shown.candidate_content) == (Ending.ERROR, False, "")
    assert str(rule.id) in shown.warnings[-1] and "model" in shown.warnings[-1]
    assert "fool" not in shown.model_dump_json() and "Be kind" not in shown.model_dump_json()


async def test_without_a_model_what_code_finds_broken_is_left_out_and_the_rest_fails_closed(
    world: World,
) -> None:
    world.model = None
    await world.keep(*FACTS)
    await world.direct("Never mention Project Heron.")
    await world.make()
    done = await world.refresh()
    assert (done.status, done.result["llm_calls"]) == (Status.COMPLETED, 0)
    assert "Heron" not in await world.says() and "Graz" in await world.says()
    for content, rule in (("Be kind.", "no_verdict"), ("Use at most 5 words.", "length")):
        await world.direct(content)
        withheld = await world.refresh()
        assert (withheld.status, withheld.result["violations"][0]["rule"]) == (Status.FAILED, rule)
    assert "Graz" in await world.says()
