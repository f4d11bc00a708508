"""A bank that is asked: recall and mental models that know some things, and a model that says what it is told to."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from memorybank.audience import Viewer
from memorybank.llm.client import ChatReply, ChatRequest, ModelProfile, ToolCall
from memorybank.model import Bank, FactType, Hit, Scores, TokenUsage
from memorybank.reflect.query import Reflection, ReflectQuery, Search, Step
from memorybank.reflect.stage import Reflect
from memorybank.settings import BankConfig, Settings, Stage
from memorybank.storage import directives
from memorybank.storage.directives import Changes, Directive
from memorybank.storage.mental_models import Model as MentalModel
from memorybank.storage.pool import Database

AT = datetime(2026, 3, 4, tzinfo=UTC)
VIEWER = Viewer.operator()
SCHEMA = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
Said = str | Exception | ChatReply


def fact(text: str, **about: Any) -> Hit:
    values = {
        "fact_type": FactType.WORLD,
        "scores": Scores(0.8),
        "mentioned_at": AT,
        "document_id": "stand-up",
    }
    return Hit(uuid4(), text, **values | about)


FACTS = [fact("The vendor must be denied."), fact("Update, supersedes all earlier entries: vendor approved.")]


def calls(*made: tuple[str, Any], content: str = "") -> ChatReply:
    """A reply that calls tools; arguments that are text are sent as they are."""
    tools = tuple(
        ToolCall(f"c{at}", name, given if isinstance(given, str) else json.dumps(given))
        for at, (name, given) in enumerate(made)
    )
    return ChatReply(content, "", "tool_calls", TokenUsage(100, 10), "scripted", tool_calls=tools)


def done(answer: str, **more: Any) -> ChatReply:
    return calls(("done", {"answer": answer, **more}))


def search(query: str = "more", tool: str = "recall", **more: Any) -> tuple[str, dict[str, Any]]:
    return tool, {"reason": "r", "query": query, **more}


def verdict(*ok: bool, words: Sequence[str] = (), facts: Sequence[int] = ()) -> str:
    judged = [
        {"id": at, "ok": good, "words": [] if good else list(words), "facts": list(facts)}
        for at, good in enumerate(ok, 1)
    ]
    return json.dumps({"verdicts": judged})


@dataclass
class Facts:
    """Recall that knows some facts and remembers how it was asked; `later`: what it finds for other words."""

    known: Sequence[Hit] = field(default_factory=lambda: FACTS)
    later: dict[str, Sequence[Hit]] = field(default_factory=dict)
    asked: list[Search] = field(default_factory=list)
    viewers: list[Viewer] = field(default_factory=list)

    async def __call__(self, bank: Bank, config: BankConfig, search: Search, viewer: Viewer) -> Sequence[Hit]:
        self.asked.append(search)
        self.viewers.append(viewer)
        found = self.later.get(search.query, self.known)
        return [one for one in found if one.fact_type in search.types]


@dataclass
class Model:
    """Answers in order; an exception is raised, what can be called gets the request, and None is no answer at all."""

    answers: list[Said | Callable[[ChatRequest], Said] | None]
    requests: list[ChatRequest] = field(default_factory=list)
    known: ModelProfile = field(default_factory=lambda: ModelProfile("scripted"))

    def profile(self, stage: Stage) -> ModelProfile:
        return self.known

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        said = self.answers.pop(0)
        if said is None:
            await asyncio.Event().wait()
            raise AssertionError
        said = said if isinstance(said, str | Exception | ChatReply) else said(request)
        if isinstance(said, Exception):
            raise said
        return (
            said
            if isinstance(said, ChatReply)
            else ChatReply(said, "", "stop", TokenUsage(100, 10), "scripted")
        )


@dataclass
class World:
    """Asks one bank."""

    database: Database
    settings: Settings
    bank: Bank
    facts: Facts = field(default_factory=Facts)
    models: Sequence[MentalModel] = ()
    steps: list[Step] = field(default_factory=list)

    async def __call__(
        self, model: Model | None, query: str | ReflectQuery = "Is the vendor approved?", **config: Any
    ) -> Reflection:
        asked = query if isinstance(query, ReflectQuery) else ReflectQuery(query)
        reflect = Reflect(self.facts, self._find, model, self.database, self.settings)
        own = self.settings.bank.model_copy(update=config)
        return await reflect(self.bank, own, asked, VIEWER, self.steps.append)

    async def _find(self, bank: Bank, question: str, viewer: Viewer) -> Sequence[MentalModel]:
        return self.models

    def with_(self, facts: Facts | None = None, **settings: Any) -> "World":
        """The same world with other facts, or other settings of reflect."""
        own = self.settings.reflect.model_copy(update=settings)
        changed = self.settings.model_copy(update={"reflect": own})
        return replace(self, facts=facts or Facts(), settings=changed, steps=[])

    async def direct(self, *contents: str, tags: Sequence[str] = ()) -> list[Directive]:
        """Set directives, the first the most important."""
        made = []
        async with self.database.transaction() as connection:
            for at, content in enumerate(contents):
                new = Changes(f"rule {at}", content, priority=-at, is_active=True, tags=tuple(tags))
                made.append(await directives.add(connection, self.bank.id, new))
        return made

    async def spent(self) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            cursor = await connection.execute(
                "SELECT bank, stage, status, input_tokens FROM llm_call ORDER BY id"
            )
            return await cursor.fetchall()


def scopes(answer: Reflection) -> list[str]:
    """What the model was asked for, in order."""
    return [call.scope for call in answer.calls]


def results(request: ChatRequest) -> list[str]:
    """The results of tools in a request."""
    return [turn["content"] for turn in request.messages if turn["role"] == "tool"]


def lines(text: str) -> list[dict[str, Any]]:
    """The JSON objects that stand in a text, one a line."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
