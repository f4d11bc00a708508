"""Hits: from ranked units to what the caller sees. Pure."""

from collections.abc import Sequence
from typing import Any

from memorybank.model import Bank, FactType, Hit, Scores, chunk_id
from memorybank.recall.query import MinScores
from memorybank.storage.found import FoundSource, FoundUnit
from memorybank.text import fold

#: By a table, which is faster than asking the enumeration for each hit.
_FACT_TYPES = {str(fact_type): fact_type for fact_type in FactType}
#: The least scores of whoever asks for none.
ANY = MinScores()


def make(bank: Bank, unit: FoundUnit, scores: Scores, sources: Sequence[FoundSource] = ()) -> Hit:
    """Return the hit of a unit; `sources`: the facts that an observation stands on."""
    chunk = None
    if unit.document_id is not None and unit.chunk_ordinal is not None:
        chunk = chunk_id(bank.bank_id, unit.document_id, unit.chunk_ordinal, unit.chunk, unit.is_placed)
    return Hit(
        id=unit.id,
        text=unit.text,
        fact_type=_FACT_TYPES[unit.fact_type],
        scores=scores,
        entities=unit.entities,
        context=unit.context,
        occurred_start=unit.occurred_start,
        occurred_end=unit.occurred_end,
        mentioned_at=unit.mentioned_at,
        document_id=unit.document_id,
        chunk_id=chunk,
        metadata=unit.metadata,
        tags=unit.tags,
        source_fact_ids=tuple(source.id for source in sources),
    )


def good_enough(scores: Scores, least: MinScores) -> bool:
    """Return whether a hit reaches every least score that is asked for."""
    pairs = (
        (least.final, scores.final),
        (least.semantic, -1.0 if scores.semantic is None else scores.semantic),
        (least.keyword, 0.0 if scores.keyword is None else scores.keyword),
        (least.reranker, -1.0 if scores.reranker is None else scores.reranker),
    )
    return all(floor is None or value >= floor for floor, value in pairs)


class Distinct:
    """Lets each memory through once: the same text, of the same time, kept twice is one memory.

    The same text of two different times is two memories: somebody was on a team, left, and came back; "I ran today" of
    two days are two runs. When it was said counts only where somebody has told it. An observation in the words of the
    one fact that it stands on is that fact, whenever it was said again.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[Any, ...]] = set()

    def __call__(self, unit: FoundUnit, sources: Sequence[FoundSource] = ()) -> bool:
        """Return whether no like of this unit has come before; `sources`: the facts that it stands on."""
        text = fold(unit.text)
        if "  " in text or "\n" in text:
            text = " ".join(text.split())
        said_at = None if unit.mentioned_at_assumed else unit.mentioned_at
        like = (text, unit.occurred_start, unit.occurred_end, said_at)
        same = (text, sources[0].id if len(sources) == 1 else unit.id)
        new = like not in self._seen and same not in self._seen
        self._seen.add(like)
        self._seen.add(same)
        return new
