"""What comes beside the hits: the entities they mention, the chunks they were drawn from, what observations stand on.

Pure.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memorybank.model import Bank, Hit, chunk_id
from memorybank.recall.budget import text_tokens
from memorybank.storage.found import FoundChunk
from memorybank.text import cut_to_tokens


@dataclass(frozen=True)
class EntityState:
    """An entity that a hit mentions."""

    id: UUID
    name: str


@dataclass(frozen=True)
class ChunkText:
    """A text that hits were drawn from; `truncated` when its budget cut it."""

    id: str
    text: str
    index: int
    truncated: bool = False


def entities(hits: Sequence[Hit], max_tokens: int) -> tuple[EntityState, ...]:
    """Return each entity once, those of the best hits first, as many as fit the budget by name."""
    chosen: dict[UUID, EntityState] = {}
    left = max_tokens
    for id_, name in (named for hit in hits for named in hit.entities.items()):
        if id_ in chosen:
            continue
        left -= text_tokens(name)
        if left < 0:
            break
        chosen[id_] = EntityState(id_, name)
    return tuple(chosen.values())


def chunks(
    bank: Bank, ranked: Iterable[UUID], found: Mapping[UUID, FoundChunk], max_tokens: int
) -> dict[str, ChunkText]:
    """Return chunks by public id in the order of the hits, the last one cut where the budget ends."""
    chosen: dict[str, ChunkText] = {}
    left = max_tokens
    for chunk in (found[identity] for identity in dict.fromkeys(ranked) if identity in found):
        if left <= 0:
            break
        cost = text_tokens(chunk.text)
        text = chunk.text if cost <= left else cut_to_tokens(chunk.text, left)
        public = chunk_id(bank.bank_id, chunk.document_id, chunk.ordinal, chunk.id, chunk.is_placed)
        chosen[public] = ChunkText(public, text, chunk.ordinal, truncated=cost > left)
        left -= cost
    return chosen


def source_facts(
    observations: Iterable[Sequence[UUID]], facts: Mapping[UUID, Hit], total: int, each: int
) -> tuple[dict[str, Hit], bool]:
    """Return facts by id in the order of the observations that stand on them, and whether some had to be left out.

    `total` tokens of text for all, `each` for one observation; a negative number is no limit. `facts` were read.
    """
    chosen: dict[str, Hit] = {}
    left = math.inf if total < 0 else total
    truncated = False
    for sources in observations:
        room = math.inf if each < 0 else each
        for source in (source for source in sources if str(source) not in chosen):
            fact = facts.get(source)
            cost = text_tokens(fact.text) if fact else math.inf
            if fact is None or cost > min(left, room):
                truncated = True
                continue
            chosen[str(source)] = fact
            left, room = left - cost, room - cost
    return chosen, truncated
