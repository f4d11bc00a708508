"""Extraction without a model: the built-in engine's findings as facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memorybank.llm.extractive import Finding, extract
from memorybank.model import EntityInput, Fact, FactType
from memorybank.retain import facts
from memorybank.retain.work import ChunkWork, Extraction
from memorybank.text import guards
from memorybank.timeline import dated


@dataclass(frozen=True)
class SentenceExtractor:
    """Every mode with a model, when none is set: sentences as facts, names as entities, dates resolved."""

    async def extract(self, works: Sequence[ChunkWork]) -> Sequence[Extraction]:
        """Return the statements of each chunk."""
        return [_statements(work) for work in works]


def _statements(work: ChunkWork) -> Extraction:
    lost: list[str] = []
    found = extract(work.text, work.anchor, context=work.context, lost=lost)
    kept, dropped = facts.once(_fact(finding, work.anchor) for finding in found)
    if lost:
        dropped = {**dropped, "degenerate": dropped.get("degenerate", 0) + len(lost)}
    return Extraction(kept, dropped)


def _fact(finding: Finding, anchor: datetime | None) -> Fact:
    start, end = finding.occurred.bounds if finding.occurred else (None, None)
    return Fact(
        text=guards.cut(dated(finding.text, finding.mentioned or anchor)),
        fact_type=FactType(finding.fact_type),
        occurred_start=start,
        occurred_end=end,
        mentioned_at=finding.mentioned,
        entities=tuple(
            EntityInput(name, "PERSON") if name == finding.speaker else EntityInput(name)
            for name in finding.entities
        ),
    )
