"""The loop: what a model looks up until it answers.

The first searches need no model: they are made before it is asked, all at once, and stand in the conversation as calls
of its own with their results. So most questions cost one call. A model without tools writes its calls as JSON; one
that never calls any has the evidence before it all the same, and its text is the answer.
"""

import asyncio
import json
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from memorybank import templates
from memorybank.errors import ModelFormatUnsupported, ModelMalformed, ModelTruncated
from memorybank.llm.client import ChatRequest, LanguageModel, Message
from memorybank.llm.structured import structured, written
from memorybank.model import FactType
from memorybank.reflect import prompting, tools
from memorybank.reflect.citations import Answer
from memorybank.reflect.notebook import Page
from memorybank.reflect.query import TOLD
from memorybank.reflect.run import Run, size
from memorybank.reflect.searching import Looked, Searcher
from memorybank.reflect.tools import DONE, Call
from memorybank.text import cut_to_tokens

T = TypeVar("T")

#: Tokens of observations in the first look; a search of the model's own may ask for more.
FIRST_OBSERVATION_TOKENS = 2_048
#: Calls that one step may make: more are a loop.
MOST_CALLS = 8
#: Attempts at one step: what cannot be used twice is left, and the last call asks for plain text.
STEP_ATTEMPTS = 2
#: Calls kept back for what follows the loop: the answer itself, and what checks or shapes it.
KEPT_BACK = 2
#: Tokens of an argument as it stands in the conversation.
SENT_TOKENS = 100
REASON = "the first look"


@dataclass
class Loop:
    """One loop. `answer` is what the model gave, with its numbers; None where it must be asked for it.

    `evidence`: what was found, for a model without tools; None for one that takes them. A conversation is of one kind.
    """

    run: Run
    searcher: Searcher
    model: LanguageModel
    names: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    evidence: Page | None = None

    @property
    def native(self) -> bool:
        """Whether the model takes tools, as far as is known."""
        return self.evidence is None

    async def answer(self) -> Answer | None:
        """Look up and ask until there is an answer; None where the limits end it, or nothing was found."""
        await self._look_first()
        if not self.run.notebook.notes:
            return None
        for iteration in range(1, self.run.iterations):
            request = prompting.step(self.run, self.names, tuple(self.messages), self.evidence)
            tokens = size(request)
            if not self._affords(tokens):
                return None
            self.run.spending.about(f"agent_{iteration}", tokens)
            try:
                text, calls = await self._ask(request)
            except ModelFormatUnsupported:
                if not self.native:
                    raise
                self.model.profile("reflect").refuses_tools()
                self._do_without_tools()
                continue
            except (ModelMalformed, ModelTruncated):
                return None
            if (ended := _ended(calls)) is not None:
                return ended
            if not calls:
                return Answer(text)
            await self._use(text, calls, iteration)
        return None

    async def _look_first(self) -> None:
        """Make the searches that any question needs; what nothing is found by is not offered either."""
        asked = {"reason": REASON, "query": self.run.query.query}
        first = self._first()
        # Some providers take ids of nine letters and digits alone.
        calls = [Call(f"first{at:04d}", name, asked | first[name]) for at, name in enumerate(first)]
        looked = await together([self.searcher.look(call, first=True) for call in calls])
        found = [one for one in looked if one.facts or one.models]
        told = [(one.call, self.searcher.told(one, 0)) for one in looked]
        kept = {one.call.tool for one in found}
        self.names = [name for name in first if name in kept] + ["expand", DONE]
        if not self.model.profile("reflect").takes_tools:
            self._do_without_tools()
        elif kept:
            self._note("", [(call, text) for call, text in told if call.tool in kept])

    def _first(self) -> dict[str, dict[str, int]]:
        """Return the searches that come into question, with what they are given beside the question."""
        query, types = self.run.query, self.run.query.scope.types
        most = tools.OBSERVATION_TOKENS if query.budget == "high" else FIRST_OBSERVATION_TOKENS
        wanted: dict[str, tuple[object, dict[str, int]]] = {
            "search_mental_models": (not query.exclude_mental_models, {}),
            "search_observations": (types(FactType.OBSERVATION), {"max_tokens": most}),
            "recall": (types(*TOLD), {}),
        }
        return {name: given for name, (comes, given) in wanted.items() if comes}

    def _do_without_tools(self) -> None:
        """Go on in words, from all that was found so far."""
        self.evidence = self.run.notebook.within(self.run.settings.reflect.max_context_tokens)
        self.messages.clear()

    def _affords(self, tokens: int) -> bool:
        """Return whether one step more leaves room, in the context and in what may be spent, for the answer."""
        fits = tokens <= self.run.settings.reflect.max_context_tokens
        return fits and self.run.spending.affords(2 * tokens, 1 + KEPT_BACK)

    async def _ask(self, request: ChatRequest) -> tuple[str, list[Call]]:
        """Return what the model says and the calls it makes."""
        spending = self.run.spending
        budget = spending.budget(STEP_ATTEMPTS)
        if self.native:
            reply = await written(self.model, request, budget, spending)
            made = reply.tool_calls or tools.written_out(reply.content, self.names)
            return templates.unescaped(reply.content), [tools.read(call, self.names) for call in made]
        calls = await structured(
            self.model, request, lambda value: tools.read_step(value, self.names), budget, spending
        )
        return "", calls

    async def _use(self, text: str, calls: Sequence[Call], iteration: int) -> None:
        """Do the calls of one step at the same time, and number what they found in their order."""
        allowed = [
            call if at < MOST_CALLS else Call(call.id, call.tool, {}, "too many calls in one step")
            for at, call in enumerate(calls)
        ]
        looked: list[Looked] = await together([self.searcher.look(call) for call in allowed])
        self._note(text, [(one.call, self.searcher.told(one, iteration)) for one in looked])

    def _note(self, text: str, results: Sequence[tuple[Call, str]]) -> None:
        """Put a step with its results into the conversation."""
        if self.native:
            made = [_as_sent(call) for call, _ in results]
            told = [{"role": "tool", "tool_call_id": call.id, "content": result} for call, result in results]
            self.messages += [{"role": "assistant", "content": text or None, "tool_calls": made}, *told]
            return
        calls = json.dumps(
            {"calls": [{"tool": call.tool, **call.arguments} for call, _ in results]}, ensure_ascii=False
        )
        answers = "\n\n".join(f"Result of {call.tool}:\n{result}" for call, result in results)
        self.messages += [{"role": "assistant", "content": calls}, {"role": "user", "content": answers}]


def _ended(calls: Sequence[Call]) -> Answer | None:
    """Return the answer of a good call of `done`."""
    for call in calls:
        if call.tool == DONE and not call.problem:
            listed = call.numbers("memory_ids", "observation_ids", "mental_model_ids")
            return Answer(templates.unescaped(call.text("answer")), tuple(listed))
    return None


def _as_sent(call: Call) -> dict[str, object]:
    # The question of the first searches stands there already, and may be long.
    given = {name: _short(value) for name, value in call.arguments.items()}
    arguments = json.dumps(given, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def _short(value: Any) -> Any:
    return cut_to_tokens(value, SENT_TOKENS) if isinstance(value, str) else value


async def together(work: Sequence[Awaitable[T]]) -> list[T]:
    """Do all at the same time and return their results in order; raises the first error, and leaves nothing running."""
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_awaited(one)) for one in work]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in running]


async def _awaited(one: Awaitable[T]) -> T:
    return await one
