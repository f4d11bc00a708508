"""What extraction is asked and what it answers: the seam that all modes stand behind."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from memorybank.llm.ledger import Ledger
from memorybank.model import Fact
from memorybank.retain import facts
from memorybank.settings import BankConfig


@dataclass(frozen=True)
class ChunkWork:
    """A chunk and all that its extraction needs. `number` counts from 1; `ledger` is told of every attempt."""

    text: str
    config: BankConfig
    anchor: datetime | None = None
    number: int = 1
    total: int = 1
    context: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    narrator: str = ""
    ledger: Ledger | None = None


@dataclass(frozen=True)
class Extraction:
    """The facts of a chunk, and how many were dropped by reason."""

    facts: tuple[Fact, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)

    def followed_by(self, other: "Extraction") -> "Extraction":
        """Return both as one: facts in order, causes kept."""
        shift = len(self.facts)
        moved = tuple(
            replace(fact, causes=tuple(cause + shift for cause in fact.causes)) for fact in other.facts
        )
        return Extraction(
            (*self.facts, *moved)[: facts.MAX_FACTS], Counter(self.dropped) + Counter(other.dropped)
        )


class Extractor(Protocol):
    """Turns a chunk into facts. Raises a ModelError when it cannot; its kind says what can be done."""

    async def extract(self, chunk: ChunkWork) -> Extraction:
        """Return the facts of a chunk."""
        ...
