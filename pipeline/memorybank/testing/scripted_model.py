"""A language model inside the process: answers by a function of the content, or of the facts, or raises on demand.

Quicker than the scripted server, and without litellm: for tests of what a stage makes of answers and errors.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memorybank.llm.client import ChatReply, ChatRequest, ModelProfile
from memorybank.model import TokenUsage
from memorybank.settings import Stage
from memorybank.testing.scripted_answers import CONSOLIDATION, DOCUMENT, VERDICT, actions, document, minimal

Answer = Callable[[str], Any]
Decide = Callable[[str], Any]

#: What every answer costs.
USAGE = TokenUsage(10, 5, 0, 0, 0.001)


def contents_of(request: ChatRequest) -> list[str]:
    """Return the texts between the content fences of a request."""
    return [part.split(">\n", 1)[1].split("\n</content>")[0] for part in request.user.split("<content ")[1:]]


def content_of(request: ChatRequest) -> str:
    """Return the text of a request about one content."""
    [content] = contents_of(request)
    return content


def one_fact_a_line(content: str) -> Any:
    """Return each line of the content as a fact."""
    return {"facts": [{"what": line, "entities": []} for line in content.split("\n") if line.strip()]}


def by_words(user: str) -> Any:
    """Return the decision of a model that goes by shared words."""
    return {"actions": actions(user)}


def nothing_judged(user: str) -> Any:
    """Return a verdict that says nothing of any directive."""
    return {"verdicts": []}


@dataclass
class ScriptedModel:
    """`answer` gets the content and returns a value to send as JSON, a text to send, or an exception to raise.

    `decide`, `write` and `judge` do the same for consolidation, mental models and verdicts, and get what the user says.
    Any other schema gets the smallest value that fits.
    """

    answer: Answer = one_fact_a_line
    decide: Decide = by_words
    write: Decide = document
    judge: Decide = nothing_judged
    requests: list[ChatRequest] = field(default_factory=list)
    known: ModelProfile = field(default_factory=lambda: ModelProfile("scripted"))

    def profile(self, stage: Stage) -> ModelProfile:
        """Return what is known about this model."""
        return self.known

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer a request and keep it."""
        self.requests.append(request)
        if request.schema_name == CONSOLIDATION:
            said = self.decide(request.user)
        elif request.schema_name == DOCUMENT:
            said = self.write(request.user)
        elif request.schema_name == VERDICT:
            said = self.judge(request.user)
        elif request.schema and "facts" not in request.schema.get("properties", {}):
            said = minimal(request.schema, request.schema)
        else:
            said = _together([self.answer(content) for content in contents_of(request)])
        if isinstance(said, Exception):
            raise said
        return ChatReply(said if isinstance(said, str) else json.dumps(said), "", "stop", USAGE, "scripted")


def _together(answers: list[Any]) -> Any:
    """Return one answer about several contents: the facts of all with the number of theirs, else the first odd one."""
    odd = [said for said in answers if not isinstance(said, dict) or "facts" not in said]
    if odd or len(answers) == 1:
        return (odd or answers)[0]
    numbered = [
        fact | {"content": number} if isinstance(fact, dict) else fact
        for number, said in enumerate(answers, 1)
        for fact in said["facts"]
    ]
    return {"facts": numbered}
