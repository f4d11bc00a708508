"""litellm itself against the scripted endpoint, in every way in which an endpoint goes wrong."""

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import numpy as np
import pytest

from memorybank import errors, templates
from memorybank.llm import litellm_client
from memorybank.llm.client import AnswerFormat, ChatRequest
from memorybank.llm.embedding import embed
from memorybank.llm.embedding_api import LitellmEmbedder
from memorybank.llm.ledger import MemoryLedger
from memorybank.llm.litellm_client import LitellmModel
from memorybank.llm.retry import Budget, OutOfRoom, OverLong, Unclosed
from memorybank.llm.structured import structured, written
from memorybank.settings import defaults
from memorybank.testing.embedder import HashingEmbedder
from memorybank.testing.scripted_checker import BROKEN
from memorybank.testing.scripted_faults import KINDS
from memorybank.testing.scripted_llm import EMBEDDING_WORDS, ScriptedLLM

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "what": {"type": "string", "maxLength": 2000},
                    "entities": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    },
    "required": ["facts"],
}
TEXT = "Ravi: I moved the nightly backup to 03:00.\nInes: I prefer aisle seats."
SAID = TEXT.splitlines()


def model_at(endpoint: ScriptedLLM, **settings: Any) -> LitellmModel:
    here = {"model": "openai/scripted", "base_url": endpoint.base_url, "api_key": "none"}
    limits = {"timeout_seconds": 0.5, "temperature": 0.1}
    configured = defaults().llm.model_copy(update=here | limits | settings)
    return LitellmModel({"retain": configured, "reflect": configured, "consolidation": configured})


def request(text: str = TEXT) -> ChatRequest:
    fenced = templates.fence("content", text, templates.fresh_nonce())
    return ChatRequest("retain", "Extract facts.", fenced, "extracted_facts", SCHEMA, max_output_tokens=1000)


def whats(value: Any) -> list[str]:
    return [fact["what"] for fact in value["facts"]]


async def arrived(endpoint: ScriptedLLM, calls: int) -> None:
    """Wait until so many calls have reached the endpoint, which lives in another thread."""
    async with asyncio.timeout(10):
        while endpoint.calls < calls:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@dataclass
class Outcome:
    """What came of one structured call."""

    facts: list[str] | None = None
    error: errors.ModelError | None = None
    waits: list[float] = field(default_factory=list)
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    known: AnswerFormat = AnswerFormat.JSON_SCHEMA


async def outcome(endpoint: ScriptedLLM, model: LitellmModel | None = None, text: str = TEXT) -> Outcome:
    model, found = model or model_at(endpoint), Outcome()

    async def pause(seconds: float) -> None:
        found.waits.append(seconds)

    try:
        found.facts = await structured(model, request(text), whats, Budget(pause=pause), found.ledger)
    except errors.ModelError as error:
        found.error = error
    found.known = model.profile("retain").answer_format
    return found


async def test_what_is_sent_is_what_was_asked(endpoint: ScriptedLLM) -> None:
    model = model_at(endpoint, extra_body={"seed": 7})
    found = await outcome(endpoint, model)
    assert found.facts == SAID
    (sent,) = endpoint.requests
    assert sent["model"] == "scripted" and sent["temperature"] == 0.1 and sent["max_tokens"] == 1000
    assert sent["seed"] == 7
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    described = sent["response_format"]["json_schema"]
    assert described["name"] == "extracted_facts" and "maxLength" not in str(described)
    (attempt,) = found.ledger.calls
    stats = endpoint.stats()["total"]
    assert (attempt.usage.input_tokens, attempt.usage.output_tokens) == (
        stats["prompt_tokens"],
        stats["completion_tokens"],
    )


#: Read at once: one call, nothing lost.
READ = (
    "fenced", "thinking", "unopened_thinking", "bare_list", "bare_items", "other_name", "wrapped",
    "doubly_encoded", "trailing_commas", "python", "bad_escapes", "fenced_code",
)  # fmt: skip
#: What such a reply puts before each fact.
ODD = {"bad_escapes": "\\d\\x1b ", "fenced_code": "```sh\nmake``` "}
#: Mended by a second, different call.
MENDED = ("prose", "empty", "schema_echo", "unclosed", "thought_only", "no_choices")
#: The same call again, after a wait.
PASSING = ("server_error", "overloaded", "not_json", "drop", "hang")


@pytest.mark.parametrize("kind", READ)
async def test_odd_but_usable_replies_cost_one_call(endpoint: ScriptedLLM, kind: str) -> None:
    endpoint.fail(kind, times=None)
    found = await outcome(endpoint)
    assert found.facts is not None and endpoint.calls == 1
    assert found.facts == [ODD.get(kind, "") + line for line in SAID]


@pytest.mark.parametrize("kind", MENDED)
async def test_unusable_replies_are_mended_by_another_call(endpoint: ScriptedLLM, kind: str) -> None:
    endpoint.fail(kind)
    found = await outcome(endpoint)
    assert found.facts == SAID and endpoint.calls == 2
    assert endpoint.requests[0] != endpoint.requests[1]
    assert [attempt.status for attempt in found.ledger.calls] == ["error", "ok"]


@pytest.mark.parametrize("kind", PASSING)
async def test_an_endpoint_that_is_down_is_asked_again(endpoint: ScriptedLLM, kind: str) -> None:
    endpoint.fail(kind)
    found = await outcome(endpoint)
    assert found.facts == SAID and endpoint.calls == 2 and len(found.waits) == 1
    assert found.ledger.calls[0].error == "model_unavailable"


async def test_a_hanging_endpoint_is_left_at_the_time_limit(endpoint: ScriptedLLM) -> None:
    endpoint.fail("hang", times=None)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with pytest.raises(errors.ModelUnavailable):
        await structured(model_at(endpoint), request(), whats, Budget(attempts=1))
    assert loop.time() - begun < 1.4


#: For ever: the error that is raised, and the calls made. Never more than the budget of four.
LASTING = {
    "rate_limited": (errors.ModelRateLimited, 4),
    "server_error": (errors.ModelUnavailable, 4),
    "prose": (errors.ModelMalformed, 4),
    "empty": (errors.ModelMalformed, 4),
    "schema_echo": (errors.ModelMalformed, 4),
    "thought_only": (OutOfRoom, 2),
    "unclosed": (Unclosed, 3),
    "length": (errors.ModelTruncated, 2),
    "input_too_long": (OverLong, 1),
    "refusal": (errors.ModelRefused, 1),
    "filtered": (errors.ModelRefused, 1),
    "policy": (errors.ModelRefused, 1),
    "unauthorized": (errors.ModelMisconfigured, 1),
    "unknown_model": (errors.ModelMisconfigured, 1),
}


@pytest.mark.parametrize(("kind", "ends"), LASTING.items(), ids=LASTING)
async def test_lasting_faults_end_within_the_budget(
    endpoint: ScriptedLLM, kind: str, ends: tuple[type[errors.ModelError], int]
) -> None:
    endpoint.fail(kind, times=None)
    found = await outcome(endpoint)
    assert type(found.error) is ends[0] and endpoint.calls == ends[1]
    assert [attempt.status for attempt in found.ledger.calls] == ["error"] * ends[1]
    assert SAID[0] not in found.error.message


#: The format that works in the end, and the calls until then.
LADDER = {
    "no_json_schema": (AnswerFormat.JSON_OBJECT, 2),
    "no_json_object": (AnswerFormat.PROMPT, 3),
    "no_keywords": (AnswerFormat.JSON_SCHEMA, 1),
}


@pytest.mark.parametrize(("kind", "ends"), LADDER.items(), ids=LADDER)
async def test_the_format_that_works_is_found_and_remembered(
    endpoint: ScriptedLLM, kind: str, ends: tuple[AnswerFormat, int]
) -> None:
    endpoint.fail(kind, times=None)
    model = model_at(endpoint)
    found = await outcome(endpoint, model)
    assert found.facts == SAID and (found.known, endpoint.calls) == ends
    assert (await outcome(endpoint, model)).facts == SAID
    assert endpoint.calls == ends[1] + 1


async def test_an_endpoint_that_ignores_the_schema_is_asked_in_words(endpoint: ScriptedLLM) -> None:
    endpoint.fail("ignores_schema", times=None)
    model = model_at(endpoint)
    for calls in (3, 6, 7):
        found = await outcome(endpoint, model)
        assert found.facts == SAID and endpoint.calls == calls
    assert found.known is AnswerFormat.PROMPT
    assert "`extracted_facts`" in endpoint.requests[2]["messages"][0]["content"]


async def test_no_facts_is_an_answer(endpoint: ScriptedLLM) -> None:
    endpoint.fail("no_facts")
    found = await outcome(endpoint)
    assert found.facts == [] and endpoint.calls == 1


async def test_a_rate_limit_says_how_long(endpoint: ScriptedLLM) -> None:
    endpoint.fail("rate_limited", seconds=1.5)
    found = await outcome(endpoint)
    assert found.facts == SAID and found.waits == [1.5]


async def test_more_room_is_given_to_one_that_only_thought(endpoint: ScriptedLLM) -> None:
    endpoint.fail("thought_only")
    await outcome(endpoint)
    assert [sent["max_tokens"] for sent in endpoint.requests] == [1000, 2000]


async def test_every_fault_of_the_scripted_endpoint_is_tested() -> None:
    tested = {*READ, *MENDED, *PASSING, *LASTING, *LADDER, "no_facts", "says", "ignores_schema"}
    # What becomes of single facts is for retain to say: tests/integration/retain.
    of_retain = {"other_fields", "partly_malformed", "unreadable_item"}
    # Of verdicts for tests/acceptance/test_directives_hold.py. Of tools here.
    assert tested | of_retain | BROKEN.keys() | {"no_tools", "calls", "newest_words"} == KINDS


async def test_the_reason_of_a_refused_request_is_told_but_content_is_not(endpoint: ScriptedLLM) -> None:
    endpoint.fail("unauthorized")
    found = await outcome(endpoint)
    assert found.error is not None and "Incorrect API key" in found.error.message
    endpoint.fail("unauthorized")
    found = await outcome(endpoint, text="Note: Incorrect API key provided is what the log said.")
    assert found.error is not None and "Incorrect API key" not in found.error.message


async def test_concurrency_is_held_per_stage(endpoint: ScriptedLLM) -> None:
    model = model_at(endpoint, max_concurrent=2, timeout_seconds=30.0)
    endpoint.hold()
    calls = [asyncio.create_task(outcome(endpoint, model)) for _ in range(5)]
    await arrived(endpoint, 2)
    await asyncio.sleep(0.1)
    assert endpoint.calls == 2 == endpoint.stats()["waiting"]
    endpoint.release()
    assert [found.facts for found in await asyncio.gather(*calls)] == [SAID] * 5


async def test_a_held_call_can_be_cancelled(endpoint: ScriptedLLM) -> None:
    endpoint.hold()
    call = asyncio.create_task(outcome(endpoint, model_at(endpoint, timeout_seconds=30.0)))
    await arrived(endpoint, 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_text_and_tools_come_through(endpoint: ScriptedLLM) -> None:
    facts = templates.fence("facts", '{"id": 3, "text": "Ada keeps bees"}', "n")
    plain = ChatRequest("reflect", "Answer.", f"{facts}\nQuestion: What does Ada keep?")
    reply = await written(model_at(endpoint), plain, Budget())
    assert reply.content == "Ada keeps bees [3]" and reply.finish_reason == "stop"
    tool = {"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}
    reply = await written(model_at(endpoint), replace(plain, tools=(tool,)), Budget())
    assert [call.name for call in reply.tool_calls] == ["recall"]
    endpoint.fail("calls", text='[["recall", {"query": "bees"}], ["recall", {}]]')
    reply = await written(model_at(endpoint), replace(plain, tools=(tool,)), Budget())
    assert [call.arguments for call in reply.tool_calls] == ['{"query": "bees"}', "{}"]


async def test_an_endpoint_or_provider_without_tools_is_told_apart(
    endpoint: ScriptedLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = {"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}
    asked = ChatRequest("reflect", "Answer.", "Who?", tools=(tool,))
    endpoint.fail("no_tools", times=None)
    with pytest.raises(errors.ModelFormatUnsupported):
        await written(model_at(endpoint), asked, Budget())
    assert endpoint.calls == 1
    monkeypatch.setattr(
        litellm_client.library(), "get_supported_openai_params", lambda model: ["temperature"]
    )
    with pytest.raises(errors.ModelFormatUnsupported):
        await written(model_at(endpoint), asked, Budget())
    assert endpoint.calls == 1


async def test_a_provider_without_response_format_is_asked_in_words(
    endpoint: ScriptedLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        litellm_client.library(), "get_supported_openai_params", lambda model: ["temperature"]
    )
    found = await outcome(endpoint)
    assert found.facts == SAID and found.known is AnswerFormat.PROMPT
    assert "response_format" not in endpoint.requests[0]


async def test_the_key_and_the_content_stay_out_of_logs(
    endpoint: ScriptedLLM, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.fail("server_error")
    with caplog.at_level(logging.INFO):
        await outcome(endpoint, model_at(endpoint, api_key="sk-very-secret"))
    printed = caplog.text + "".join(capsys.readouterr())
    assert "sk-very-secret" not in printed and SAID[0] not in printed
    assert "sk-very-secret" not in repr(model_at(endpoint, api_key="sk-very-secret"))


async def test_embeddings_of_an_endpoint(endpoint: ScriptedLLM) -> None:
    embedder = LitellmEmbedder("openai/scripted", base_url=endpoint.base_url, api_key="none")
    texts = [f"text number {number}" for number in range(70)]
    rows = await embed(embedder, texts)
    assert embedder.dimensions == 384
    assert np.allclose(rows, HashingEmbedder().encode(texts), atol=1e-6)
    assert [len(sent["input"]) for sent in endpoint.requests] == [1, 32, 32, 6]


async def test_a_text_that_is_too_long_for_an_endpoint_is_cut_in_half(endpoint: ScriptedLLM) -> None:
    long = "word " * int(EMBEDDING_WORDS * 1.5)
    embedder = LitellmEmbedder("openai/scripted", 384, endpoint.base_url, "none")
    rows = await embed(embedder, [long, "short"])
    assert endpoint.calls == 2 and rows.shape == (2, 384)
    assert endpoint.requests[1]["input"] == [long[: len(long) // 2], "short"]


async def test_another_width_than_configured_is_told(endpoint: ScriptedLLM) -> None:
    embedder = LitellmEmbedder("openai/scripted", 1536, endpoint.base_url, "none")
    with pytest.raises(errors.ModelMisconfigured, match="384 dimensions, 1536"):
        await embedder.probe()


async def test_an_unreachable_endpoint_is_unavailable() -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    embedder = LitellmEmbedder("openai/scripted", 384, "http://127.0.0.1:9/v1", "none", pause=pause)
    with pytest.raises(errors.ModelUnavailable):
        await embedder.fetch(["a"])
    assert waits == [0.5, 1.0, 2.0]


async def test_each_attempt_at_embedding_is_one_request(endpoint: ScriptedLLM) -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    endpoint.fail("overloaded", endpoint="embeddings")
    endpoint.fail("rate_limited", endpoint="embeddings", seconds=3)
    embedder = LitellmEmbedder("openai/scripted", 384, endpoint.base_url, "none", pause=pause)
    assert (await embedder.fetch(["a"])).shape == (1, 384)
    assert waits == [0.5, 3.0] and endpoint.calls == 3


async def test_the_endpoint_tells_over_http_what_it_was_asked(endpoint: ScriptedLLM) -> None:
    async with httpx.AsyncClient(base_url=endpoint.address) as client:
        endpoint.fail("no_facts")
        assert (await outcome(endpoint)).facts == []
        stats = (await client.get("/stats")).json()
        assert stats["by_kind"]["extracted_facts"]["calls"] == 1 and stats["received"] == 1
        endpoint.reset()
        assert (await client.get("/stats")).json()["total"]["calls"] == 0
        assert (await client.get("/v1/models")).json()["data"][0]["id"] == "scripted"
        assert (await client.post("/nonsense")).status_code == 404
