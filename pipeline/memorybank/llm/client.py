"""What a stage says to a language model and gets back: types only, no provider."""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any, Protocol

from memorybank import clock
from memorybank.model import TokenUsage
from memorybank.settings import Stage

Message = dict[str, Any]

#: So many answers in a row that only came in a plainer format make it the model's format: one may be chance.
PLAIN_ANSWERS = 2
#: Content that is answered whole may be this share of the shortest that was cut: any more is a gamble.
NEAR = 0.9
#: With each whole answer near the known length, the one that was cut grows by this factor once more than with the last:
#: slowly at first, so that the limit is seldom hit, but a dense text is forgotten after some 80 others.
GROWTH = 1.0005
#: Time after which a model that refused tools is given them again.
TOOLS_AGAIN = timedelta(hours=1)


class AnswerFormat(IntEnum):
    """How JSON is asked for, from the strictest to what every model understands."""

    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    PROMPT = 2

    def plainer(self) -> "AnswerFormat":
        """Return the next plainer format; PROMPT is the last."""
        return AnswerFormat(min(self + 1, AnswerFormat.PROMPT))


@dataclass(frozen=True)
class ChatRequest:
    """One call: the static system text, the user's text, then the turns that followed (repairs, tools)."""

    stage: Stage
    system: str
    user: str
    schema_name: str | None = None
    schema: dict[str, Any] | None = None
    max_output_tokens: int | None = None
    messages: tuple[Message, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    tool_choice: str | dict[str, Any] | None = None
    answer_format: AnswerFormat = AnswerFormat.JSON_SCHEMA

    def following(self, *turns: Message) -> "ChatRequest":
        """Return the same call with turns added at the end."""
        return replace(self, messages=(*self.messages, *turns))


@dataclass(frozen=True)
class ToolCall:
    """A tool the model wants called; `arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ChatReply:
    """One answer. `finish_reason`: stop, length, content_filter, tool_calls, or the provider's own word."""

    content: str
    reasoning: str
    finish_reason: str
    usage: TokenUsage
    model: str
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass
class ModelProfile:
    """What this process has learned about a model: the strictest answer format that it takes; the longest content, in
    characters, that was answered whole of late, and the shortest whose answer was cut; when it took no tools.
    """

    model: str
    answer_format: AnswerFormat = AnswerFormat.JSON_SCHEMA
    plain_answers: int = 0
    fits: float = 0
    cut_at: float = math.inf
    whole_answers: int = 0
    tools_refused_at: datetime | None = None

    @property
    def takes_tools(self) -> bool:
        """Whether the model is given tools: not for a while after it refused them."""
        refused = self.tools_refused_at
        return refused is None or clock.now() - refused >= TOOLS_AGAIN

    def refuses_tools(self) -> None:
        """Learn that the model was given tools and did not take them."""
        self.tools_refused_at = clock.now()

    @property
    def longest(self) -> float:
        """Return how long content may be that is asked about in one call: from half of what was cut up to near it."""
        return max(min(self.fits, self.cut_at), min((self.fits + self.cut_at) / 2, NEAR * self.cut_at))

    def answered(self, asked: AnswerFormat, before: AnswerFormat, *, refused: bool = False) -> None:
        """Learn from a good answer to what was first asked for in the format `before`.

        `refused`: the endpoint took no stricter format.
        """
        if asked <= self.answer_format:
            self.plain_answers = 0
        elif asked > before:
            self.plain_answers += 1
        if asked > before and (refused or self.plain_answers == PLAIN_ANSWERS):
            self.answer_format, self.plain_answers = max(asked, self.answer_format), 0

    def cut(self, characters: int, least: int) -> None:
        """Learn that the answer about so many characters was cut; below `least` the length is not at fault.

        Where as long a text was answered whole since the last cut, this one is dense: that says nothing of others.
        """
        if self.fits < characters:
            self.cut_at, self.whole_answers = min(self.cut_at, max(characters, 2 * least)), 0
        else:
            self.fits = 0

    def fitted(self, characters: int) -> None:
        """Learn that the answer about so many characters was whole."""
        if characters > self.longest / 2:
            self.whole_answers += 1
            self.cut_at *= GROWTH**self.whole_answers
        self.fits = max(self.fits, characters)


class LanguageModel(Protocol):
    """The seam to a provider. One call is one attempt: retries belong to `structured`, which counts them."""

    def profile(self, stage: Stage) -> ModelProfile:
        """Return the profile of the stage's model: one object for as long as the model is the same."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once, within a hard time limit.

        Raises ModelRateLimited, ModelUnavailable, ModelRefused, ModelTruncated (the input is too long),
        ModelMalformed, ModelFormatUnsupported or ModelMisconfigured.
        """
        ...
