"""What a refresh asks for: memories under its question. Assembly says who finds them. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.mental_models.trigger import Scope
from memorybank.model import Bank, Budget
from memorybank.settings import BankConfig


@dataclass(frozen=True)
class Asked:
    """One search: at most `max_tokens` of memories, and of the texts around them `chunks_max_tokens` (None: none)."""

    query: str
    budget: Budget
    max_tokens: int
    chunks_max_tokens: int | None
    scope: Scope


class FindEvidence(Protocol):
    """Finds memories for a question; a question that is too long is cut, not refused."""

    async def __call__(
        self, bank: Bank, config: BankConfig, asked: Asked, viewer: Viewer
    ) -> tuple[Sequence[UUID], Sequence[str]]:
        """Return ids of memories, the best first, and texts of chunks."""
        ...
