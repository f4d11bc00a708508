"""Mental models: make, read, change, refresh, clear and delete them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Query

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.memory import MemoryBank
from memorybank.mental_models import trigger
from memorybank.retain import intake
from memorybank.sections import rendered
from memorybank.serve.actions import mental_model_views as views
from memorybank.serve.calls import BANK, Rule, call
from memorybank.serve.http.schemas.knowledge import CreatePageRequest, UpdateNodeRequest
from memorybank.serve.http.schemas.mental_models import (
    AsyncOperationSubmitResponse,
    CreateMentalModelRequest,
    CreateMentalModelResponse,
    MentalModelDryRunRefreshResult,
    MentalModelHistory,
    MentalModelHistoryEntry,
    MentalModelListResponse,
    MentalModelQuery,
    MentalModelResponse,
    MentalModelsQuery,
    MentalModelTrigger,
    RefreshMentalModelRequest,
    UpdateMentalModelRequest,
)
from memorybank.serve.http.schemas.wire import Deleted
from memorybank.storage import mental_models
from memorybank.storage.mental_models import Changes, Model, NewModel
from memorybank.storage.queries import Connection

MODELS = BANK + "/mental-models"
MODEL = MODELS + "/{mental_model_id}"
#: A call without a body asks for nothing special.
AS_IT_IS = RefreshMentalModelRequest()


@call("GET", MODELS)
async def list_mental_models(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[MentalModelsQuery, Query()]
) -> MentalModelListResponse:
    """List mental models, the newest first."""
    async with memory.reading(bank_id) as (connection, bank):
        managed = False if asked.exclude_knowledge_pages else None
        models, total = await mental_models.list_(
            connection, bank.id, viewer, asked.wanted, asked.page, managed
        )
        sources = await mental_models.sources(connection, viewer, models)
    items = [views.model(bank_id, one, sources[one.number], asked.detail) for one in models]
    return MentalModelListResponse(items=items, total=total, limit=asked.limit, offset=asked.offset)


@call("POST", MODELS, rule=Rule.USES)
async def create_mental_model(
    memory: MemoryBank, bank_id: str, body: CreateMentalModelRequest
) -> CreateMentalModelResponse:
    """Make a mental model and queue its first build; the bank appears on first use."""
    stored = trigger.checked(given(body.trigger))
    new = new_model(trigger.id_of(body.id, body.name), body, stored, max_tokens=body.max_tokens)
    async with memory.making(bank_id) as (connection, bank, audience):
        await mental_models.add(connection, bank.id, audience, new)
        model = await mental_models.get(connection, bank.id, Viewer(audiences=(audience,)), new.id)
        operation = await mental_models.ask(connection, model)
    return CreateMentalModelResponse(mental_model_id=new.id, operation_id=str(operation))


def new_model(
    id_: str, body: CreateMentalModelRequest | CreatePageRequest, stored: dict[str, Any], **more: Any
) -> NewModel:
    """Return a model with a checked trigger as it is asked for."""
    cron = stored.get("refresh_cron")
    return NewModel(
        id=id_,
        name=trigger.worded(body.name, "name", trigger.MAX_NAME_CHARS),
        source_query=trigger.worded(body.source_query, "source_query", trigger.MAX_QUERY_CHARS),
        tags=_tags(body.tags or ()),
        trigger=stored,
        cron_due_at=trigger.next_time(cron, clock.now()) if cron else None,
        **more,
    )


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(intake.labels(tags, ("body", "tags")))))


def given(asked: MentalModelTrigger) -> dict[str, object]:
    """Return the fields of a trigger that we know."""
    return asked.model_dump(include=set(MentalModelTrigger.model_fields))


@asynccontextmanager
async def _changing(
    memory: MemoryBank, viewer: Viewer, bank_id: str, id_: str
) -> AsyncIterator[tuple[Connection, Model]]:
    async with memory.changing(bank_id) as (connection, bank):
        yield connection, await mental_models.get(connection, bank.id, viewer, id_)


@call("GET", MODEL)
async def get_mental_model(
    memory: MemoryBank,
    viewer: Viewer,
    bank_id: str,
    mental_model_id: str,
    asked: Annotated[MentalModelQuery, Query()],
) -> MentalModelResponse:
    """Return one mental model."""
    async with memory.reading(bank_id) as (connection, bank):
        model = await mental_models.get(connection, bank.id, viewer, mental_model_id)
        sources = await mental_models.sources(connection, viewer, [model])
    return views.model(bank_id, model, sources[model.number], asked.detail)


@call("PATCH", MODEL)
async def update_mental_model(
    memory: MemoryBank, viewer: Viewer, bank_id: str, mental_model_id: str, body: UpdateMentalModelRequest
) -> MentalModelResponse:
    """Ask something else of a mental model; its content stays until it is refreshed."""
    changes = changes_of(body)
    async with _changing(memory, viewer, bank_id, mental_model_id) as (connection, model):
        await mental_models.update(connection, model, changes)
        model = await mental_models.get(connection, model.bank, viewer, mental_model_id)
        sources = await mental_models.sources(connection, viewer, [model])
    return views.model(bank_id, model, sources[model.number], "full")


def changes_of(body: UpdateMentalModelRequest | UpdateNodeRequest) -> Changes:
    """Return what a request asks otherwise, checked."""
    stored = None if body.trigger is None else trigger.checked(given(body.trigger))
    cron = (stored or {}).get("refresh_cron")
    query, limit = body.source_query, trigger.MAX_QUERY_CHARS
    return Changes(
        name=None if body.name is None else trigger.worded(body.name, "name", trigger.MAX_NAME_CHARS),
        source_query=None if query is None else trigger.worded(query, "source_query", limit),
        tags=None if body.tags is None else _tags(body.tags),
        max_tokens=body.max_tokens,
        trigger=stored,
        cron_due_at=trigger.next_time(cron, clock.now()) if cron else None,
    )


@call("DELETE", MODEL)
async def delete_mental_model(
    memory: MemoryBank, viewer: Viewer, bank_id: str, mental_model_id: str
) -> Deleted:
    """Delete a mental model with its history."""
    async with _changing(memory, viewer, bank_id, mental_model_id) as (connection, model):
        await mental_models.delete(connection, model)
    return Deleted()


@call("GET", MODEL + "/history")
async def get_mental_model_history(
    memory: MemoryBank, viewer: Viewer, bank_id: str, mental_model_id: str
) -> MentalModelHistory:
    """List what a mental model said before, the newest first."""
    async with memory.reading(bank_id) as (connection, bank):
        model = await mental_models.get(connection, bank.id, viewer, mental_model_id)
        rows = await mental_models.history(connection, viewer, model.number)
    return MentalModelHistory(
        [
            MentalModelHistoryEntry(
                previous_content=rendered(row["document"]),
                changed_at=row["replaced_at"].isoformat(),
                reason=row["reason"],
            )
            for row in rows
        ]
    )


@call("POST", MODEL + "/refresh")
async def refresh_mental_model(
    memory: MemoryBank,
    viewer: Viewer,
    bank_id: str,
    mental_model_id: str,
    body: RefreshMentalModelRequest = AS_IT_IS,
) -> AsyncOperationSubmitResponse:
    """Queue a refresh; one that waits already is it."""
    async with _changing(memory, viewer, bank_id, mental_model_id) as (connection, model):
        operation = await mental_models.ask(connection, model, anew=body.mode == "full")
    return AsyncOperationSubmitResponse(operation_id=str(operation), status="queued")


@call("POST", MODEL + "/dry-run-refresh", reads=True)
async def dry_run_refresh_mental_model(
    memory: MemoryBank, viewer: Viewer, bank_id: str, mental_model_id: str
) -> MentalModelDryRunRefreshResult:
    """Show what a refresh would do, and store nothing."""
    return views.dry_run(await memory.preview_refresh(bank_id, mental_model_id, viewer))


@call("POST", MODEL + "/clear")
async def clear_mental_model(
    memory: MemoryBank, viewer: Viewer, bank_id: str, mental_model_id: str
) -> MentalModelResponse:
    """Empty a mental model; what it said stays in its history."""
    async with _changing(memory, viewer, bank_id, mental_model_id) as (connection, model):
        await mental_models.clear(connection, model)
        model = await mental_models.get(connection, model.bank, viewer, mental_model_id)
    return views.model(bank_id, model, [], "full")
