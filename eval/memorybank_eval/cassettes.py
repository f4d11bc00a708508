"""Answers of a model, kept and played again: what was asked is told by a key, so a changed prompt is noticed."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memorybank.errors import MemoryBankError
from memorybank.llm.client import ChatReply, ChatRequest, LanguageModel, ModelProfile, ToolCall
from memorybank.llm.structured import asked_for
from memorybank.model import TokenUsage
from memorybank.settings import Stage

#: The fence of every recorded call: a fresh one would change each key.
NONCE = "7d20c4b9e15a"
#: Letters of a key.
KEY_LENGTH = 16
#: What a provider calls a call of a tool is another word each time.
_CALL_ID = re.compile(r'"(?:tool_call_)?id": "[^"]*"')


@dataclass(frozen=True)
class Answer:
    """What a model said, as it said it; the tools that it called as (name, arguments)."""

    content: str
    finish_reason: str = "stop"
    calls: tuple[tuple[str, str], ...] = ()


def key_of(model: str, request: ChatRequest) -> str:
    """Return what is equal for calls that ask the same of the same model; under `templates.fixed_nonce(NONCE)`."""
    system, response_format = asked_for(request)
    asked: list[Any] = [model, system, request.user, list(request.messages), response_format]
    asked += [request.tools] if request.tools else []
    told = _CALL_ID.sub("", json.dumps(asked, ensure_ascii=False))
    return hashlib.sha256(told.encode()).hexdigest()[:KEY_LENGTH]


@dataclass
class Recorder:
    """A model that keeps what another one answers: a `LanguageModel` with a profile of its own, as when played."""

    inner: LanguageModel
    model: str
    answers: dict[str, Answer] = field(default_factory=dict)
    known: ModelProfile = field(init=False)

    def __post_init__(self) -> None:
        """Begin without knowledge of the model."""
        self.known = ModelProfile(self.model)

    def profile(self, stage: Stage) -> ModelProfile:
        """Return what was learned in this recording."""
        return self.known

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask the other model."""
        reply = await self.inner.complete(request)
        calls = tuple((call.name, call.arguments) for call in reply.tool_calls)
        self.answers[key_of(self.model, request)] = Answer(reply.content, reply.finish_reason, calls)
        return reply


def save(path: Path, recorder: Recorder) -> None:
    """Write what was recorded."""
    said = {
        key: {name: value for name, value in asdict(answer).items() if name != "calls" or value}
        for key, answer in recorder.answers.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    written = json.dumps({"model": recorder.model, "answers": said}, ensure_ascii=False, indent=1)
    path.write_text(written + "\n", encoding="utf-8")


def _answer(calls: Sequence[Sequence[str]] = (), **said: str) -> Answer:
    return Answer(**said, calls=tuple((name, arguments) for name, arguments in calls))


@dataclass
class Player:
    """A model that answers from a recording. A `LanguageModel`; `path` is named when it has no answer."""

    model: str
    answers: Mapping[str, Answer]
    path: Path
    known: ModelProfile = field(init=False)

    def __post_init__(self) -> None:
        """Begin without knowledge of the model, as the recording did."""
        self.known = ModelProfile(self.model)

    @classmethod
    def load(cls, path: Path) -> "Player":
        """Return the model of a file that `save` wrote."""
        raw = json.loads(path.read_text(encoding="utf-8"))
        return cls(raw["model"], {key: _answer(**said) for key, said in raw["answers"].items()}, path)

    def profile(self, stage: Stage) -> ModelProfile:
        """Return what was learned while this was played."""
        return self.known

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer as recorded; raises MemoryBankError where this was never asked."""
        answer = self.answers.get(key_of(self.model, request))
        if answer is None:
            raise MemoryBankError(
                f"{self.path.name} holds no answer to this prompt: prompt, schema or sample have changed since. Record "
                f"anew: python -m memorybank_eval prompts run --stage {request.stage} --dataset SAMPLES.toml "
                f"--base-url URL --out FACTS.json --record {self.path.parent}; then grade again, checks anew"
            )
        calls = tuple(ToolCall(f"played_{at}", *call) for at, call in enumerate(answer.calls))
        return ChatReply(answer.content, "", answer.finish_reason, TokenUsage(), self.model, tool_calls=calls)
