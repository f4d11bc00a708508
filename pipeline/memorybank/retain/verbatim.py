"""The modes that keep a chunk as it stands: one fact, its text the chunk's. Pure but for the model that is asked.

`chunks` asks no model. `verbatim` asks for dates, names and labels only: those of all entries that the model gives.
Where it cannot, the text is kept without them, and the loss is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memorybank.model import EntityInput, Fact
from memorybank.retain.dates import Evidence
from memorybank.retain.work import LOST, ChunkWork, Extraction, Extractor


@dataclass(frozen=True)
class ChunksExtractor:
    """One fact a chunk; its only names are those that the caller gave."""

    async def extract(self, works: Sequence[ChunkWork]) -> Sequence[Extraction]:
        """Return each chunk as a fact."""
        return [Extraction((_whole(work),)) for work in works]


@dataclass(frozen=True)
class VerbatimExtractor:
    """One fact a chunk, with the names, labels and dates that `inner` finds in it."""

    inner: Extractor

    async def extract(self, works: Sequence[ChunkWork]) -> Sequence[Extraction]:
        """Return each chunk as a fact; with the error of `inner` where the chunk's turn has not come."""
        found = await self.inner.extract(works)
        return [_described(work, one) for work, one in zip(works, found, strict=True)]


def _described(work: ChunkWork, found: Extraction) -> Extraction:
    """Return a chunk as a fact with the names, labels and dates of the facts that were found in it."""
    if isinstance(found.error, LOST):
        return Extraction((_whole(work),), {found.error.code: 1, **found.dropped})
    if found.error:
        return found
    starts = [fact.occurred_start for fact in found.facts if fact.occurred_start]
    ends = [end for fact in found.facts if (end := fact.occurred_end or fact.occurred_start)]
    names: dict[EntityInput, None] = dict.fromkeys(name for fact in found.facts for name in fact.entities)
    fact = replace(
        _whole(work),
        occurred_start=min(starts, default=None),
        occurred_end=max(ends, default=None),
        place_name=next((fact.place_name for fact in found.facts if fact.place_name), None),
        entities=tuple(names),
        tags=tuple(dict.fromkeys(tag for fact in found.facts for tag in fact.tags)),
    )
    return Extraction((fact,), found.dropped)


def _whole(chunk: ChunkWork) -> Fact:
    """Return the text as a fact, said when its first stamped line was."""
    lines = Evidence(chunk.text, chunk.anchor).lines
    return Fact(text=chunk.text, mentioned_at=lines[0].said_at if lines else None)
