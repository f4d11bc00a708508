"""One call to a language model until it has answered usably: the only loop over attempts at one.

`structured` returns validated JSON, `written` returns text. Both judge every reply the same way, follow
`retry`'s policy, spend one budget and put every attempt into the ledger.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from memorybank import clock, errors
from memorybank.llm import parsing, retry
from memorybank.llm.client import AnswerFormat, ChatReply, ChatRequest, LanguageModel, ModelProfile
from memorybank.llm.ledger import Ledger
from memorybank.llm.retry import Budget, Change, OutOfRoom, Tried
from memorybank.llm.shape import portable
from memorybank.model import LlmCall, TokenUsage

Result = TypeVar("Result")

#: Characters of a bad reply that a repair turn quotes back: enough to be mended, and its cost is bounded.
QUOTED_REPLY = 12_000
#: Finish reasons that mean a policy stopped the answer.
_REFUSALS = frozenset({"content_filter", "refusal", "safety"})
_BRIEFLY = "Answer at once, without thinking it over in writing."
_SHORTER = "Your answer was cut at the output limit. Answer again, shorter: each item once, in few words."


async def structured(
    model: LanguageModel,
    request: ChatRequest,
    validate: Callable[[Any], Result],
    budget: Budget,
    ledger: Ledger | None = None,
    tried: Tried | None = None,
) -> Result:
    """Ask until a reply parses and `validate` takes it; return what it made of it.

    `tried` is what happened to this work in earlier calls.

    `validate` gets the JSON value in the outer shape of `request.schema`; it raises ModelMalformed, with a
    reason that quotes no content, when nothing in it is usable.
    Raises the error of the last attempt when the policy gives up or the budget is spent. ModelTruncated, and
    ModelMalformed where `tried` says that the work is divisible, mean: ask for less.
    """

    def read(reply: ChatReply) -> Result:
        return validate(parsing.parse(reply.content, request.schema))

    return await _Call(model, request, read, budget, ledger, tried or Tried()).run()


async def written(
    model: LanguageModel, request: ChatRequest, budget: Budget, ledger: Ledger | None = None
) -> ChatReply:
    """Ask until there is text, or a tool call, and return the reply without thinking text.

    Raises as `structured` does.
    """

    def read(reply: ChatReply) -> ChatReply:
        text = parsing.clean(parsing.without_thinking(reply.content).strip())
        if not text and not reply.tool_calls:
            raise errors.ModelMalformed("the reply is empty")
        return replace(reply, content=text)

    return await _Call(model, request, read, budget, ledger).run()


def judge(reply: ChatReply) -> None:
    """Raise ModelRefused, OutOfRoom or ModelTruncated when the reply cannot be a whole answer."""
    if reply.refusal or reply.finish_reason in _REFUSALS:
        raise errors.ModelRefused("the model refused to answer")
    blank = not parsing.without_thinking(reply.content).strip() and not reply.tool_calls
    thought = bool(reply.reasoning.strip() or reply.content.strip())
    if blank and thought:
        raise OutOfRoom("the model thought and did not answer")
    if reply.finish_reason == "length":
        raise errors.ModelTruncated("the answer was cut at the output limit")


@dataclass
class _Call(Generic[Result]):
    """The state of one call over its attempts."""

    model: LanguageModel
    request: ChatRequest
    read: Callable[[ChatReply], Result]
    budget: Budget
    ledger: Ledger | None
    tried: Tried = field(default_factory=Tried)

    async def run(self) -> Result:
        """Attempt, and change the request by the policy, until it is answered or given up."""
        profile = self.model.profile(self.request.stage)
        asked = replace(self.request, answer_format=max(self.request.answer_format, profile.answer_format))
        began = asked.answer_format
        if not self.budget.left:
            raise errors.ModelUnavailable("no attempt is left in the budget of this work")
        while True:
            reply, result, error = await self._attempt(asked, profile)
            if error is None:
                profile.answered(asked.answer_format, began, refused=bool(self.tried.refused))
                return cast(Result, result)
            step = self._next(error, asked)
            if step is None:
                raise error
            await (self.budget.pause or asyncio.sleep)(step.wait)
            asked = changed(self.request, asked, step.change, reply, error)

    async def _attempt(
        self, asked: ChatRequest, profile: ModelProfile
    ) -> tuple[ChatReply | None, Result | None, errors.ModelError | None]:
        """Ask once and record it; return the reply, what was read from it, and what went wrong."""
        self.budget.spent += 1
        begun, at = time.perf_counter(), clock.now()
        reply, result, failure = None, None, None
        try:
            reply = await self.model.complete(asked)
            judge(reply)
            result = self.read(reply)
        except errors.ModelError as error:
            failure = error
        if self.ledger is not None:
            call = LlmCall(
                stage=asked.stage,
                model=reply.model if reply else profile.model,
                attempt=self.budget.spent,
                status="error" if failure else "ok",
                error=failure.code if failure else None,
                usage=reply.usage if reply else TokenUsage(),
                duration_ms=(time.perf_counter() - begun) * 1000,
                created_at=at,
            )
            await self.ledger.record(call)
        return reply, result, failure

    def _next(self, error: errors.ModelError, asked: ChatRequest) -> retry.Step | None:
        """Return the policy's step, None when the budget is spent too; count the failure by its kind."""
        tried = replace(self.tried, answer_format=asked.answer_format, structured=asked.schema is not None)
        step = retry.next_step(error, tried, self.budget.patience, random.random())
        self.tried = retry.counted(tried, error)
        return step if self.budget.left else None


def changed(
    first: ChatRequest, asked: ChatRequest, change: Change, reply: ChatReply | None, error: errors.ModelError
) -> ChatRequest:
    """Return the next request: `first` is the stage's own, `asked` the one that failed."""
    plain = replace(first, answer_format=asked.answer_format, max_output_tokens=asked.max_output_tokens)
    match change:
        case Change.SAME:
            return asked
        case Change.PLAINER:
            return replace(plain, answer_format=asked.answer_format.plainer())
        case Change.PLAIN:
            return replace(plain, answer_format=AnswerFormat.PROMPT)
        case Change.SHORTER:
            return plain.following(_user(_SHORTER))
        case Change.ROOMIER:
            room = asked.max_output_tokens
            return replace(plain, max_output_tokens=room and room * 2).following(_user(_BRIEFLY))
        case Change.REPAIR:
            return plain.following(*_repair(reply, error, asked.schema is not None))


def _repair(reply: ChatReply | None, error: errors.ModelError, wants_json: bool) -> list[dict[str, Any]]:
    """Return the turns that show the model its reply and say what is wrong with it."""
    said = reply.content[:QUOTED_REPLY] if reply else ""
    want = "Answer again with the JSON object alone." if wants_json else "Answer again."
    turns = [{"role": "assistant", "content": said}] if said.strip() else []
    return [*turns, _user(f"That answer cannot be used: {error.message}. {want}")]


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def asked_for(request: ChatRequest) -> tuple[str, dict[str, Any] | None]:
    """Return the system text and `response_format` that ask for the schema in the request's answer format."""
    if request.schema is None:
        return request.system, None
    schema, name = portable(request.schema), request.schema_name or "answer"
    if request.answer_format is AnswerFormat.JSON_SCHEMA:
        return request.system, {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}
    written_out = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    system = (
        f"{request.system}\n\nAnswer with one JSON object and nothing else: no fence, no remark. "
        f"It follows the JSON schema `{name}`:\n{written_out}"
    )
    json_object = request.answer_format is AnswerFormat.JSON_OBJECT
    return system, {"type": "json_object"} if json_object else None
