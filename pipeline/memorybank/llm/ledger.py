"""The record of every attempt at a model, failed ones too: what it cost, how long it took, how it ended."""

from dataclasses import dataclass, field
from typing import Protocol

from memorybank.model import LlmCall, TokenUsage


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
