"""Between the wire's words and the engine's."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memorybank import clock
from memorybank.errors import BadRequest, CustomerData, InvalidInput
from memorybank.model import EntityInput, Hit, RetainItem, TokenUsage, UnitStatus
from memorybank.recall.beside import EntityState
from memorybank.recall.query import Include, MinScores, RecallQuery, Window
from memorybank.recall.run import RecallResult
from memorybank.retain.editing import Edit
from memorybank.serve.http.schemas import recall as wire
from memorybank.serve.http.schemas import wire as shared
from memorybank.serve.http.schemas.memories import (
    UNSET,
    AboutItem,
    MemoryItem,
    RetainRequest,
    UpdateMemoryRequest,
)
from memorybank.serve.http.schemas.preview import DryRunExtractRequest
from memorybank.serve.http.schemas.wire import stamp
from memorybank.tags import TagGroup, parse_groups
from memorybank.timeline import parse_stamp

#: The contract's words for a memory's state, and ours.
STATES = {"valid": UnitStatus.ACTIVE, "invalidated": UnitStatus.INVALIDATED}
#: What of a fact may be corrected, by its field.
WORDS, TIMES = {"text", "context", "fact_type"}, {"occurred_start", "occurred_end", "mentioned_at"}


def retain_items(body: RetainRequest) -> list[RetainItem]:
    """Return the items of a request, the request's tags added to each; raises CustomerData, and nothing is kept."""
    check_level(body.data_level, ("body", "data_level"))
    for index, item in enumerate(body.items):
        check_level(item.data_level, ("body", "items", index, "data_level"))
    return [_retain_item(item, body.document_tags or ()) for item in body.items]


def check_level(level: str | None, loc: tuple[str | int, ...]) -> None:
    """Raise CustomerData for what is marked as a customer's, whatever else it is."""
    if level is not None:
        raise CustomerData("data of customers is not remembered", loc=loc)


def edit(body: UpdateMemoryRequest) -> Edit:
    """Return what is wanted of a fact; raises InvalidInput where nothing is."""
    said = body.model_dump(include=WORDS, exclude_none=True)
    times = body.model_dump(include=TIMES, exclude_none=True)
    if not said and not times and body.entities is None and body.state is None:
        raise InvalidInput("say what is to be changed: a field of the fact, or its state", loc=("body",))
    return Edit(
        said | {name: None if at == UNSET else at for name, at in times.items()},
        None if body.entities is None else tuple(map(EntityInput, body.entities)),
        body.resolve_entities,
        STATES[body.state] if body.state else None,
        body.reason,
    )


def dry_run_item(body: DryRunExtractRequest) -> RetainItem:
    """Return the item that is tried out."""
    when, assumed = _item_time(body.timestamp)
    return RetainItem(body.content, when, assumed, body.context or "", strategy=body.strategy)


def _item_time(given: datetime | str | None) -> tuple[datetime | None, bool]:
    """Return the date of an item, and whether it is only assumed to be now."""
    timestamp = None if given == UNSET else (given or clock.now())
    assert timestamp is None or isinstance(timestamp, datetime)
    return timestamp, given is None


def about_item(said: AboutItem, document_tags: Sequence[str] = ()) -> RetainItem:
    """Return what is said of a piece of content, as an item without any."""
    when, assumed = _item_time(said.timestamp)
    return RetainItem(
        content="",
        timestamp=when,
        timestamp_assumed=assumed,
        context=said.context or "",
        metadata={key: value for key, value in (said.metadata or {}).items() if value is not None},
        document_id=said.document_id,
        tags=tuple(dict.fromkeys([*(said.tags or ()), *document_tags])),
        strategy=said.strategy,
    )


def _retain_item(item: MemoryItem, document_tags: Sequence[str]) -> RetainItem:
    return replace(
        about_item(item, document_tags),
        content=item.content,
        entities=tuple(_entity(entity.text, entity.type) for entity in item.entities or ()),
        resolve_entities=item.resolve_entities,
        observation_scopes=_scopes(item.observation_scopes),
        update_mode=item.update_mode or "replace",
    )


def _entity(text: str, kind: str | None) -> EntityInput:
    return EntityInput(text, kind) if kind else EntityInput(text)


def _scopes(scopes: str | list[list[str]] | None) -> str | tuple[tuple[str, ...], ...] | None:
    return tuple(tuple(scope) for scope in scopes) if isinstance(scopes, list) else scopes


def usage(spent: TokenUsage) -> shared.TokenUsage:
    """Return tokens as the wire has them."""
    return shared.TokenUsage(
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        total_tokens=spent.total_tokens,
        cached_tokens=spent.cached_tokens,
        thoughts_tokens=spent.thoughts_tokens,
    )


def recall_query(body: wire.RecallRequest) -> RecallQuery:
    """Return a recall as the engine takes it; raises BadRequest for a time that is none."""
    window, floors = body.temporal_window, body.min_scores
    return RecallQuery(
        query=body.query,
        types=None if body.types is None else tuple(body.types),
        prefer_observations=bool(body.prefer_observations),
        budget=body.budget,
        max_tokens=body.max_tokens,
        trace=body.trace,
        query_timestamp=_time(body.query_timestamp),
        include=_include(body.include),
        tags=None if body.tags is None else tuple(body.tags),
        tags_match=body.tags_match,
        tag_groups=tag_groups(body.tag_groups),
        min_scores=MinScores(**floors.model_dump(include=set(wire.MinScores.model_fields)))
        if floors
        else MinScores(),
        temporal_window=Window(window.start, window.end) if window else None,
    )


def tag_groups(groups: list[dict[str, Any]] | None) -> TagGroup | None:
    """Return the groups of a request as one condition."""
    return parse_groups(groups) if groups else None


def uuid_of(value: str, name: str) -> UUID:
    """Return an id of ours; raises BadRequest, which names it, for what cannot be one."""
    try:
        return UUID(value)
    except ValueError as error:
        raise BadRequest(f"{name} must be a UUID") from error


def _time(value: str | None) -> datetime | None:
    if not value:
        return None
    try:
        return parse_stamp(value)
    except ValueError as error:
        raise BadRequest(f"query_timestamp {value!r} is not an ISO-8601 time") from error


def _include(options: wire.IncludeOptions) -> Include:
    facts = options.source_facts
    return Include(
        entities_max_tokens=options.entities.max_tokens if options.entities else None,
        chunks_max_tokens=options.chunks.max_tokens if options.chunks else None,
        source_facts_max_tokens=facts.max_tokens if facts else None,
        source_facts_max_tokens_per_observation=facts.max_tokens_per_observation if facts else -1,
    )


def recall_response(found: RecallResult) -> wire.RecallResponse:
    """Return what a recall found as the wire has it."""
    entities, chunks, facts = found.entities, found.chunks, found.source_facts
    return wire.RecallResponse(
        results=[recall_result(hit) for hit in found.hits],
        trace=dict(found.trace) if found.trace is not None else None,
        entities=None if entities is None else _entities(entities),
        chunks=None
        if chunks is None
        else {
            id_: wire.ChunkData(
                id=chunk.id, text=chunk.text, chunk_index=chunk.index, truncated=chunk.truncated
            )
            for id_, chunk in chunks.items()
        },
        source_facts=None
        if facts is None
        else {id_: recall_result(fact, scored=False) for id_, fact in facts.items()},
        source_facts_truncated=found.source_facts_truncated,
        stages=list(found.stages),
        left_out=dict(found.left_out) or None,
    )


def _entities(found: Sequence[EntityState]) -> dict[str, wire.EntityStateResponse]:
    """Return entities by name; of several of one name the best hits' has it, the others stand by their ids."""
    by_key: dict[str, wire.EntityStateResponse] = {}
    for one in found:
        state = wire.EntityStateResponse(entity_id=str(one.id), canonical_name=one.name, observations=[])
        by_key[str(one.id) if one.name in by_key else one.name] = state
    return by_key


def recall_result(hit: Hit, *, scored: bool = True) -> wire.RecallResult:
    """Return one hit as the wire has it; what only comes beside the hits is not `scored`."""
    return wire.RecallResult(
        id=str(hit.id),
        text=hit.text,
        type=hit.fact_type,
        entities=list(dict.fromkeys(hit.entities.values())),
        context=hit.context or None,
        occurred_start=stamp(hit.occurred_start),
        occurred_end=stamp(hit.occurred_end),
        mentioned_at=stamp(hit.mentioned_at),
        document_id=hit.document_id,
        metadata=dict(hit.metadata),
        chunk_id=hit.chunk_id,
        tags=list(hit.tags),
        source_fact_ids=[str(id_) for id_ in hit.source_fact_ids] or None,
        scores=wire.RecallScores(**vars(hit.scores)) if scored else None,
    )
