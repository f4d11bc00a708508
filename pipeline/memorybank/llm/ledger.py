"""The record of every attempt at a model, failed ones too: what it cost, how long it took, how it ended."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from memorybank.model import TokenUsage


@dataclass(frozen=True)
class Attempt:
    """One call. `error` is the code of a typed error; the texts of prompt and answer are not kept here."""

    stage: str
    model: str
    attempt: int
    status: Literal["ok", "error"]
    error: str | None
    usage: TokenUsage
    duration_ms: float
    created_at: datetime


class Ledger(Protocol):
    """Where attempts go."""

    async def record(self, attempt: Attempt) -> None:
        """Keep one attempt; called right after it ended."""
        ...


@dataclass
class MemoryLedger:
    """Keeps attempts in memory and passes each on to `then`: for counting what one operation spent."""

    then: Ledger | None = None
    attempts: list[Attempt] = field(default_factory=list)

    async def record(self, attempt: Attempt) -> None:
        """Keep one attempt."""
        self.attempts.append(attempt)
        if self.then is not None:
            await self.then.record(attempt)

    @property
    def usage(self) -> TokenUsage:
        """Return the sum over all attempts."""
        return sum((attempt.usage for attempt in self.attempts), TokenUsage())
