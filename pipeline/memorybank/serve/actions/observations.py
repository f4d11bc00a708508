"""Observations: their consolidation, their scopes, what they said before, and taking them back."""

from uuid import UUID

from memorybank.audience import Viewer
from memorybank.memory import MemoryBank
from memorybank.serve.actions.translate import uuid_of
from memorybank.serve.calls import BANK, Rule, call
from memorybank.serve.http.schemas.observations import (
    ClearMemoryObservationsResponse,
    ConsolidationRequest,
    ConsolidationResponse,
    HistoryEntry,
    HistoryFact,
    ObservationHistory,
    ObservationScope,
    ObservationScopesResponse,
    RecoverConsolidationResponse,
)
from memorybank.serve.http.schemas.wire import DeleteResponse, stamp
from memorybank.storage import clearing, consolidations, listings, observations
from memorybank.storage.queries import Row
from memorybank.text import normalize

#: A call without a body asks for everything.
EVERYTHING = ConsolidationRequest()


@call("POST", BANK + "/consolidate", rule=Rule.USES)
async def trigger_consolidation(
    memory: MemoryBank, bank_id: str, body: ConsolidationRequest = EVERYTHING
) -> ConsolidationResponse:
    """Queue a run of consolidation, over all facts that wait or those of some scopes; one that waits already is it."""
    asked = body.observation_scopes
    scopes = None if asked is None else [tuple(sorted({normalize(tag) for tag in tags})) for tags in asked]
    async with memory.changing(bank_id) as (connection, bank):
        queued = await consolidations.ask(connection, bank.id, scopes)
    return ConsolidationResponse(operation_id=str(queued.operation_id), deduplicated=queued.deduplicated)


@call("POST", BANK + "/consolidation/recover", rule=Rule.USES)
async def recover_consolidation(
    memory: MemoryBank, viewer: Viewer, bank_id: str
) -> RecoverConsolidationResponse:
    """Try facts again for which no answer could be had."""
    async with memory.changing(bank_id) as (connection, bank):
        recovered = await clearing.recover(connection, bank.id, viewer)
        if recovered:
            await consolidations.queue(connection, bank.id)
    return RecoverConsolidationResponse(retried_count=recovered)


@call("GET", BANK + "/observations/scopes")
async def list_observation_scopes(
    memory: MemoryBank, viewer: Viewer, bank_id: str
) -> ObservationScopesResponse:
    """List the scopes that have observations, the fullest first."""
    async with memory.reading(bank_id) as (connection, bank):
        found = await observations.scopes(connection, bank.id, viewer)
    return ObservationScopesResponse(
        scopes=[ObservationScope(tags=list(tags), count=count) for tags, count in found.items()]
    )


@call("DELETE", BANK + "/observations")
async def clear_observations(memory: MemoryBank, viewer: Viewer, bank_id: str) -> DeleteResponse:
    """Delete all observations of a bank; its facts stay and are consolidated anew."""
    return DeleteResponse(success=True, deleted_count=await memory.clear(bank_id, "observation", viewer))


@call("DELETE", BANK + "/memories/{memory_id}/observations")
async def clear_memory_observations(
    memory: MemoryBank, viewer: Viewer, bank_id: str, memory_id: str
) -> ClearMemoryObservationsResponse:
    """Delete the observations that stand on a memory; it stays and is consolidated anew."""
    deleted = await memory.clear_observations_of(bank_id, uuid_of(memory_id, "memory_id"), viewer)
    return ClearMemoryObservationsResponse(deleted_count=deleted)


@call("GET", BANK + "/memories/{memory_id}/history")
async def get_observation_history(
    memory: MemoryBank, viewer: Viewer, bank_id: str, memory_id: str
) -> ObservationHistory:
    """List what an observation said before, the newest first; a fact has no such history."""
    unit = uuid_of(memory_id, "memory_id")
    async with memory.reading(bank_id) as (connection, bank):
        await listings.get_memory(connection, bank.id, viewer, unit)
        versions = await observations.versions(connection, unit, viewer)
        sources = await observations.sources(connection, unit, viewer)
    return ObservationHistory([_entry(version, sources) for version in versions])


def _entry(version: Row, sources: list[Row]) -> HistoryEntry:
    """Return a change: what was said before it, and on what the observation stood after it."""
    number: int = version["version"]
    standing = [source for source in sources if source["version"] <= number]
    new: list[UUID] = [source["id"] for source in standing if source["version"] == number]
    return HistoryEntry(
        previous_text=version["text"],
        previous_tags=version["tags"],
        previous_occurred_start=stamp(version["occurred_start"]),
        previous_occurred_end=stamp(version["occurred_end"]),
        previous_mentioned_at=stamp(version["mentioned_at"]),
        changed_at=version["changed_at"].isoformat(),
        reason=version["reason"] or None,
        new_source_memory_ids=[str(id_) for id_ in new],
        source_facts=[HistoryFact(**cited(one), is_new=one["id"] in new) for one in standing],
    )


def cited(source: Row) -> dict[str, str]:
    """Return what is told of every fact that an observation stands on."""
    told = {name: source[name] for name in ("text", "context")}
    return {"id": str(source["id"]), "type": source["fact_type"], **told}
