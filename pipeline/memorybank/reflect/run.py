"""One reflect on its way: what is asked, what was shown, what was done, and what it may still spend. No I/O."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from memorybank import clock, templates
from memorybank.audience import Viewer
from memorybank.llm.client import ChatRequest
from memorybank.llm.ledger import MemoryLedger
from memorybank.llm.retry import Budget, Patience
from memorybank.model import Bank, LlmCall
from memorybank.reflect.notebook import Note, Notebook
from memorybank.reflect.query import Asked, ReflectQuery, Step, Watch
from memorybank.settings import BankConfig, Settings, stage_model
from memorybank.storage.directives import Directive
from memorybank.text import count_tokens

#: Share of the iterations that each budget has.
SHARES = {"low": 0.5, "mid": 1.0, "high": 2.0}


@dataclass
class Spending(MemoryLedger):
    """The ledger of one reflect, which holds it to its limits. `scope`: what the next attempts are for.

    `expected`: tokens of their prompt by our own count, for a provider that does not say what a call took.
    """

    settings: Settings = field(kw_only=True)
    scope: str = ""
    expected: int = 0
    asked: list[Asked] = field(default_factory=list)
    tokens: int = 0

    async def record(self, call: LlmCall) -> None:
        """Keep one attempt."""
        self.asked.append(Asked(self.scope, round(call.duration_ms)))
        self.tokens += max(call.usage.total_tokens, self.expected)
        await super().record(call)

    def about(self, scope: str, expected: int = 0) -> None:
        """Say what the next attempts are for."""
        self.scope, self.expected = scope, expected

    def affords(self, tokens: int, calls: int) -> bool:
        """Return whether so many tokens and calls more are within the limits."""
        own = self.settings.reflect
        return self.tokens + tokens <= own.max_total_tokens and len(self.calls) + calls <= own.max_calls

    def budget(self, attempts: int | None = None) -> Budget:
        """Return the attempts of one call: none where the limits are reached, which the call then says."""
        own, model = self.settings.reflect, stage_model(self.settings, "reflect")
        left = own.max_calls - len(self.calls) if self.affords(self.expected, 1) else 0
        patience = Patience(model.backoff_seconds, model.backoff_cap_seconds)
        return Budget(max(0, min(attempts or own.attempts, left)), patience)


@dataclass
class Run:
    """One question on its way."""

    bank: Bank
    config: BankConfig
    query: ReflectQuery
    viewer: Viewer
    spending: Spending
    directives: Sequence[Directive] = ()
    watch: Watch | None = None
    notebook: Notebook = field(default_factory=Notebook)
    nonce: str = field(default_factory=templates.fresh_nonce)
    today: date = field(default_factory=lambda: clock.now().date())
    steps: list[Step] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """The settings of the server."""
        return self.spending.settings

    @cached_property
    def iterations(self) -> int:
        """Calls of the model in the loop, the one that only answers included."""
        return max(1, int(self.settings.reflect.max_iterations * SHARES[self.query.budget]))

    def done(self, step: Step) -> None:
        """Take note of a step, and tell of it at once."""
        self.steps.append(step)
        if self.watch is not None:
            self.watch(step)

    def notes(self, numbers: Sequence[int]) -> list[Note]:
        """Return what was shown under these numbers, each once; numbers of nothing are dropped."""
        found = (self.notebook.note(number) for number in dict.fromkeys(numbers))
        return [note for note in found if note is not None]


def size(request: ChatRequest) -> int:
    """Return the tokens of a prompt as it is sent, roughly: providers count with tokenizers of their own."""
    parts = [request.system, request.user, json.dumps(request.messages, ensure_ascii=False)]
    parts += [json.dumps(part) for part in (request.tools, request.schema) if part]
    return sum(map(count_tokens, parts))
