"""What extraction is asked and what it answers: the seam that all modes stand behind."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from memorybank.errors import ModelError, ModelMalformed, ModelRefused, ModelTruncated
from memorybank.llm.ledger import Ledger
from memorybank.model import Fact
from memorybank.retain import facts
from memorybank.settings import BankConfig

#: What a chunk can be lost to. Any other error of a model the next chunk would meet too: its turn has not come.
LOST = (ModelMalformed, ModelTruncated, ModelRefused)


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
    """The facts of a chunk, how many were dropped by reason, and the error where nothing could be had of it."""

    facts: tuple[Fact, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    error: ModelError | None = None

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
    """Turns chunks into facts."""

    async def extract(self, works: Sequence[ChunkWork]) -> Sequence[Extraction]:
        """Return what became of each chunk, in order; several of them may share a call.

        They are of one bank, and equal in all that their facts take from the item but its date and document. What a
        model cannot do is the `error` of that chunk; nothing of it is raised.
        """
        ...
