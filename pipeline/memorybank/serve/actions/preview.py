"""Extraction tried out."""

from memorybank.errors import NotFound
from memorybank.memory import MemoryBank
from memorybank.model import Fact
from memorybank.retain.preview import Wish
from memorybank.serve.actions.translate import dry_run_item, usage
from memorybank.serve.calls import BANK, Rule, call
from memorybank.serve.http.schemas.preview import (
    DryRunExtractionResult,
    DryRunExtractRequest,
    ExtractedFact,
    ExtractionChunk,
)
from memorybank.serve.http.schemas.wire import stamp
from memorybank.settings import bank_fields


@call("POST", BANK + "/memories/dry-run-extract", command="preview", rule=Rule.USES)
async def dry_run_extract_memories(
    memory: MemoryBank, bank_id: str, body: DryRunExtractRequest
) -> DryRunExtractionResult:
    """Show what retaining a text would find; nothing is stored."""
    if not memory.settings.server.dry_run_extract:
        raise NotFound("trying out extraction is switched off (server.dry_run_extract)")
    tried = body.model_dump(include=set(bank_fields()), exclude_none=True)
    found = await memory.preview(bank_id, Wish(dry_run_item(body), tried, body.agent_name or ""))
    return DryRunExtractionResult(
        facts=[_fact(fact, index) for index, piece in enumerate(found.pieces) for fact in piece.facts],
        chunks=[ExtractionChunk(text=piece.text, fact_count=len(piece.facts)) for piece in found.pieces],
        usage=usage(found.usage),
    )


def _fact(fact: Fact, index: int) -> ExtractedFact:
    return ExtractedFact(
        text=fact.text,
        fact_type=fact.fact_type,
        occurred_start=stamp(fact.occurred_start),
        occurred_end=stamp(fact.occurred_end),
        entities=[entity.text for entity in fact.entities],
        chunk_index=index,
    )
