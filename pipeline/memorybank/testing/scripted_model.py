"""A language model for tests of retain: answers by a function of the chunk, or raises what it is told to."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memorybank.llm.client import ChatReply, ChatRequest, ModelProfile, Stage
from memorybank.model import TokenUsage

Answer = Callable[[str], Any]


def content_of(request: ChatRequest) -> str:
    """The text between the content fences of a request."""
    return request.user.split("<content", 1)[1].split(">\n", 1)[1].rsplit("\n</content>", 1)[0]


def one_fact_a_line(content: str) -> Any:
    return {"facts": [{"what": line, "entities": []} for line in content.split("\n") if line.strip()]}


@dataclass
class ScriptedModel:
    """`answer` gets the content and returns what is sent as JSON, text as it is, or an exception to raise."""

    answer: Answer = one_fact_a_line
    requests: list[ChatRequest] = field(default_factory=list)

    def profile(self, stage: Stage) -> ModelProfile:
        return ModelProfile("scripted")

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        said = self.answer(content_of(request))
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        return ChatReply(text, "", "stop", TokenUsage(10, 5, 0, 0, 0.001), "scripted")
