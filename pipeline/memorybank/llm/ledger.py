"""The record of every attempt at a model, failed ones too: what it cost, how long it took, how it ended."""

from dataclasses import dataclass, field
from typing import Protocol

from memorybank.model import LlmCall, TokenUsage
from memorybank.storage import llm_calls
from memorybank.storage.llm_calls import Caller
from memorybank.storage.pool import Database


class Ledger(Protocol):
    """Where calls go."""

    async def record(self, call: LlmCall) -> None:
        """Keep one call; told right after it ended."""
        ...


@dataclass
class MemoryLedger:
    """Keeps calls in memory and passes each on to `then`: for counting what one piece of work spent."""

    then: Ledger | None = None
    calls: list[LlmCall] = field(default_factory=list)

    async def record(self, call: LlmCall) -> None:
        """Keep one call."""
        self.calls.append(call)
        if self.then is not None:
            await self.then.record(call)

    @property
    def usage(self) -> TokenUsage:
        """Return the sum over all calls."""
        return sum((call.usage for call in self.calls), TokenUsage())


@dataclass(frozen=True)
class StoredLedger:
    """Stores calls on behalf of a bank, an audience and an operation, each when it ended: a crash loses no spending."""

    database: Database
    caller: Caller

    async def record(self, call: LlmCall) -> None:
        """Store one call; raises DatabaseUnavailable."""
        await self.database.ask(llm_calls.add, self.caller, call)
