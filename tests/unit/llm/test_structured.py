"""The loop over attempts, with a model in memory."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memorybank import clock, errors
from memorybank.llm.client import (
    TOOLS_AGAIN,
    AnswerFormat,
    ChatReply,
    ChatRequest,
    ModelProfile,
    ToolCall,
)
from memorybank.llm.ledger import MemoryLedger
from memorybank.llm.retry import Budget, OutOfRoom, Tried
from memorybank.llm.structured import structured, written
from memorybank.model import TokenUsage

SCHEMA = {"type": "object", "properties": {"facts": {"type": "array", "items": {"properties": {"what": {}}}}}}
REQUEST = ChatRequest("retain", "Rules.", "Data.", "extracted_facts", SCHEMA, max_output_tokens=100)
GOOD = '{"facts":[{"what":"a"}]}'


def said(content: str, finish: str = "stop", **more: Any) -> ChatReply:
    return ChatReply(content, more.pop("reasoning", ""), finish, TokenUsage(10, 5, cost=0.25), "fake", **more)


@dataclass
class Fake:
    """Answers in order: replies are returned, errors raised."""

    script: list[ChatReply | errors.ModelError]
    asked: list[ChatRequest] = field(default_factory=list)
    known: ModelProfile = field(default_factory=lambda: ModelProfile("fake"))

    def profile(self, stage: str) -> ModelProfile:
        return self.known

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        outcome = self.script.pop(0)
        if isinstance(outcome, errors.ModelError):
            raise outcome
        return outcome


@dataclass
class Waits:
    seconds: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def facts(value: Any) -> list[str]:
    return [fact["what"] for fact in value["facts"]]


async def ask(
    script: Sequence[ChatReply | errors.ModelError], attempts: int = 4
) -> tuple[Fake, MemoryLedger, Waits, list[str] | errors.ModelError]:
    fake, ledger, waits = Fake(list(script)), MemoryLedger(), Waits()
    try:
        found = await structured(fake, REQUEST, facts, Budget(attempts, pause=waits), ledger)
        return fake, ledger, waits, found
    except errors.ModelError as error:
        return fake, ledger, waits, error


async def test_one_good_reply_is_one_call() -> None:
    fake, ledger, _, found = await ask([said(GOOD)])
    assert found == ["a"] and len(fake.asked) == 1
    assert [(a.status, a.error, a.attempt) for a in ledger.calls] == [("ok", None, 1)]
    assert ledger.usage == TokenUsage(10, 5, cost=0.25)


async def test_a_repair_turn_shows_the_bad_reply_and_the_reason() -> None:
    fake, _, _, found = await ask([said("Not at all."), said(GOOD)])
    assert found == ["a"]
    assert [turn["role"] for turn in fake.asked[1].messages] == ["assistant", "user"]
    assert fake.asked[1].messages[0]["content"] == "Not at all."
    assert "holds no JSON" in fake.asked[1].messages[1]["content"]


async def test_what_validation_refuses_is_repaired_too() -> None:
    def picky(value: Any) -> str:
        if value["facts"] == [{"what": "a"}]:
            raise errors.ModelMalformed("every fact lacks its entities")
        return "fine"

    fake = Fake([said(GOOD), said('{"facts":[{"what":"b"}]}')])
    assert await structured(fake, REQUEST, picky, Budget()) == "fine"
    assert "lacks its entities" in fake.asked[1].messages[-1]["content"]


async def test_no_two_requests_are_the_same_and_the_budget_ends_them() -> None:
    fake, ledger, _, error = await ask([said(f"bad {number}") for number in range(9)])
    assert isinstance(error, errors.ModelMalformed)
    assert len(fake.asked) == 4 == len({(r.answer_format, r.messages).__repr__() for r in fake.asked})
    assert [r.answer_format.name for r in fake.asked] == ["JSON_SCHEMA"] * 2 + ["PROMPT"] * 2
    assert {a.error for a in ledger.calls} == {"model_malformed"}
    assert ledger.usage.cost == 1.0


async def test_a_plainer_format_is_remembered_once_it_works() -> None:
    refusal = errors.ModelFormatUnsupported("no json_schema")
    fake, *_ = await ask([refusal, refusal, said(GOOD)])
    assert fake.known.answer_format is AnswerFormat.PROMPT
    fake.script = [said(GOOD)]
    await structured(fake, REQUEST, facts, Budget())
    assert fake.asked[-1].answer_format is AnswerFormat.PROMPT


async def test_a_plain_answer_may_be_chance_but_not_twice() -> None:
    fake, *_ = await ask([said("bad"), said("bad"), said(GOOD)])
    for known in (AnswerFormat.JSON_SCHEMA, AnswerFormat.PROMPT):
        assert fake.known.answer_format is known
        fake.script = [said("bad"), said("bad"), said(GOOD)]
        await structured(fake, REQUEST, facts, Budget())


def test_a_length_that_was_cut_is_approached_from_its_half_and_slowly_forgotten() -> None:
    known = ModelProfile("fake")
    assert known.longest == math.inf
    known.cut(3000, least=500)
    known.cut(8000, least=500)
    assert known.longest == 1500
    for _ in range(4):
        known.fitted(int(known.longest))
    assert known.longest == pytest.approx(2700, rel=0.01)
    known.cut(2600, least=500)
    lengths = []
    for _ in range(90):
        known.fitted(int(known.longest))
        lengths.append(known.longest)
    assert lengths == sorted(lengths) and lengths[20] < 3300 < 12_000 < lengths[-1]


def test_a_short_text_that_is_cut_says_nothing_of_longer_ones() -> None:
    known = ModelProfile("fake")
    known.cut(600, least=500)
    assert known.longest == 500


def test_one_dense_text_among_many_says_nothing_of_them() -> None:
    known = ModelProfile("fake")
    for _ in range(3):
        known.fitted(2500)
        known.cut(2000, least=500)
        assert known.longest == math.inf
    known.cut(2000, least=500)
    assert known.longest == 1000


async def test_a_format_that_did_not_help_is_not_remembered() -> None:
    fake, *_ = await ask([said("bad")] * 4)
    assert fake.known.answer_format is AnswerFormat.JSON_SCHEMA


async def test_waits_are_the_providers() -> None:
    _, ledger, waits, found = await ask([errors.ModelRateLimited("wait", retry_after=3.0), said(GOOD)])
    assert found == ["a"] and waits.seconds == [3.0]
    assert [a.error for a in ledger.calls] == ["model_rate_limited", None]


async def test_a_long_wait_is_handed_to_the_operation() -> None:
    fake, _, waits, error = await ask([errors.ModelRateLimited("wait", retry_after=900.0)])
    assert isinstance(error, errors.ModelRateLimited) and error.retry_after == 900.0
    assert len(fake.asked) == 1 and waits.seconds == []


@pytest.mark.parametrize("content", [GOOD[:10], GOOD])
async def test_a_cut_answer_is_paid_once_and_divided_by_the_caller(content: str) -> None:
    fake, ledger = Fake([said(content, "length")]), MemoryLedger()
    with pytest.raises(errors.ModelTruncated):
        await structured(fake, REQUEST, facts, Budget(), ledger, Tried(divisible=True))
    assert len(fake.asked) == 1 and ledger.calls[0].usage.output_tokens == 5


async def test_a_cut_answer_about_what_cannot_be_divided_is_asked_for_once_more_and_shorter() -> None:
    fake, _, _, error = await ask([said(GOOD[:10], "length")] * 2)
    assert type(error) is errors.ModelTruncated
    assert [len(request.messages) for request in fake.asked] == [0, 1]
    assert "shorter" in fake.asked[1].messages[0]["content"]


async def test_thinking_that_ate_the_budget_gets_twice_the_room_then_fails_loudly() -> None:
    thought = said("", "length", reasoning='{"facts":[{"what":"draft"}]}')
    fake, _, _, error = await ask([thought, thought])
    assert isinstance(error, OutOfRoom)
    assert [request.max_output_tokens for request in fake.asked] == [100, 200]


@pytest.mark.parametrize("reply", [said("", refusal="I cannot."), said("", "content_filter")])
async def test_a_refusal_is_final(reply: ChatReply) -> None:
    fake, _, _, error = await ask([reply])
    assert isinstance(error, errors.ModelRefused) and len(fake.asked) == 1


async def test_one_budget_holds_over_several_calls() -> None:
    budget, fake = Budget(attempts=3), Fake([said(GOOD)] * 3)
    for _ in range(3):
        await structured(fake, REQUEST, facts, budget)
    with pytest.raises(errors.ModelUnavailable):
        await structured(fake, REQUEST, facts, budget)
    assert len(fake.asked) == 3


async def test_a_ledger_passes_attempts_on() -> None:
    outer = MemoryLedger()
    await structured(Fake([said(GOOD)]), REQUEST, facts, Budget(), MemoryLedger(then=outer))
    assert len(outer.calls) == 1


TEXT = ChatRequest("reflect", "Rules.", "Question.")


async def test_written_text_comes_without_its_thinking() -> None:
    reply = await written(Fake([said("<think>hm</think> It is blue. [1]")]), TEXT, Budget())
    assert reply.content == "It is blue. [1]"


async def test_an_empty_text_is_asked_for_again() -> None:
    fake = Fake([said(""), said("Blue.")])
    assert (await written(fake, TEXT, Budget())).content == "Blue."
    assert len(fake.asked) == 2 and len(fake.asked[1].messages) == 1


async def test_a_tool_call_needs_no_text() -> None:
    call = ToolCall("1", "recall", "{}")
    reply = await written(Fake([said("", "tool_calls", tool_calls=(call,))]), TEXT, Budget())
    assert reply.tool_calls == (call,)


def test_tools_that_were_refused_are_tried_again_after_a_while() -> None:
    known, at = ModelProfile("fake"), datetime(2026, 3, 4, tzinfo=UTC)
    assert known.takes_tools
    with clock.fixed(at):
        known.refuses_tools()
    for later, takes in ((timedelta(0), False), (TOOLS_AGAIN / 2, False), (TOOLS_AGAIN, True)):
        with clock.fixed(at + later):
            assert known.takes_tools is takes
