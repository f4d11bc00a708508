"""Mental models: what is asked of each, what it says now and said before, and the refreshes that wait.

A refresh is queued in two ways: somebody asks, or the model is marked as wanted (it lost a source, facts of its scope
were consolidated, its hour has come) and the sweep finds it. So no trigger is lost, and none comes twice.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import BadRequest, NotFound
from memorybank.ids import new_id
from memorybank.sections import Document, Statement, assembled, cited
from memorybank.storage import mentions, operations
from memorybank.storage.knowledge import one_of_a_name
from memorybank.storage.listings import Page, TagFilter
from memorybank.storage.queries import Connection, Row, execute, fetch_all, fetch_one, fetch_row

#: Earlier versions that are kept of a model, as the wire has it.
VERSIONS = 50
#: Refreshes of one model go one after the other. No document has such an id: a control character is in none.
SERIAL_KEY = "\x1fmental model "
#: Seconds between a failed refresh and the next one, doubled with each that failed, and how many are tried: then
#: somebody must ask, or something change.
PAUSE_SECONDS, TRIED = 60.0, 5
#: Models that one sweep looks after; the next comes in seconds.
SWEPT = 100
#: Every model of a bank.
ALL = TagFilter()


@dataclass(frozen=True)
class NewModel:
    """A model to be made."""

    id: str
    name: str
    source_query: str
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Mapping[str, Any]
    cron_due_at: datetime | None = None
    is_managed: bool = False
    folder: int | None = None


@dataclass(frozen=True)
class Changes:
    """What is asked otherwise of a model; None leaves a field as it is."""

    name: str | None = None
    source_query: str | None = None
    tags: tuple[str, ...] | None = None
    max_tokens: int | None = None
    trigger: Mapping[str, Any] | None = None
    cron_due_at: datetime | None = None


@dataclass(frozen=True)
class Model:
    """A model as it stands. `version` 0: never built. `read_at`: when that was read, by the server's clock."""

    number: int
    bank: int
    audience_id: int
    id: str
    name: str
    source_query: str
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Mapping[str, Any]
    is_managed: bool
    folder: int | None
    version: int
    built_query: str | None
    seen_at: datetime | None
    refreshed_at: datetime | None
    full_refreshed_at: datetime | None
    failed_at: datetime | None
    rebuild: bool
    created_at: datetime
    read_at: datetime
    is_stale: bool
    response: Mapping[str, Any]
    document: Document


@dataclass(frozen=True)
class Shown:
    """A memory that a refresh looks at, in the state `revision`."""

    id: UUID
    text: str
    fact_type: str
    context: str
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    revision: int
    updated_at: datetime


@dataclass(frozen=True)
class Version:
    """What a refresh made of a model as it was read; `response`: what comes beside the document."""

    document: Document
    reason: str
    full: bool
    seen_at: datetime | None
    response: Mapping[str, Any] = field(default_factory=dict)


async def add(connection: Connection, bank: int, audience: int, new: NewModel) -> int:
    """Make a model and return its number; raises BadRequest where the id is taken, Conflict where a page's name is."""
    values = {**vars(new), "tags": list(new.tags), "trigger": Jsonb(dict(new.trigger))}
    parameters = {"bank": bank, "audience_id": audience, "now": clock.now(), **values}
    async with one_of_a_name(new.name):
        row = await fetch_one(connection, "mental_models.add", parameters)
    if row is None:
        raise BadRequest(f"Mental model '{new.id}' exists already", loc=("body", "id"), value=new.id)
    return int(row["number"])


async def list_(
    connection: Connection,
    bank: int,
    viewer: Viewer,
    tags: TagFilter,
    page: Page,
    managed: bool | None = None,
) -> tuple[list[Model], int]:
    """Return models, the newest first, and how many there are in all; `managed`: those alone that are, or are not."""
    asked = {"bank": bank, "id": None, "number": None, **_asked(viewer, tags, page), "managed": managed}
    total = await fetch_row(connection, "mental_models.count", asked)
    return [_model(row) for row in await fetch_all(connection, "mental_models.get", asked)], total["total"]


async def get(connection: Connection, bank: int, viewer: Viewer, id_: str) -> Model:
    """Return one model; raises NotFound."""
    asked = {"bank": bank, "id": id_, "number": None, **_asked(viewer, ALL, Page(1))}
    row = await fetch_one(connection, "mental_models.get", asked)
    if row is None:
        raise NotFound(f"Mental model '{id_}' not found")
    return _model(row)


async def by_number(connection: Connection, bank: int, number: int) -> Model | None:
    """Return the model with this inner number, for who works on it."""
    asked = {"bank": bank, "id": None, "number": number, **_asked(Viewer.operator(), ALL, Page(1))}
    row = await fetch_one(connection, "mental_models.get", asked)
    return None if row is None else _model(row)


def _asked(viewer: Viewer, tags: TagFilter, page: Page) -> Mapping[str, Any]:
    return {"managed": None, **viewer.parameters(), **tags.parameters(), **page.parameters()}


def _model(row: Row) -> Model:
    row = dict(row)
    document = _document(row.pop("statements"))
    return Model(**row | {"tags": tuple(row["tags"]), "document": document})


def _document(statements: Iterable[Sequence[Any]]) -> Document:
    return assembled(
        (section, Statement(text, tuple(map(UUID, units)))) for section, text, units in statements
    )


async def sources(connection: Connection, viewer: Viewer, models: Sequence[Model]) -> dict[int, list[Row]]:
    """Return the memories that models cite now, by the number of the model."""
    parameters = {"models": [model.number for model in models], **viewer.parameters()}
    found: dict[int, list[Row]] = {model.number: [] for model in models}
    for row in await fetch_all(connection, "mental_models.sources", parameters):
        found[row["model"]].append(row)
    return found


async def history(connection: Connection, viewer: Viewer, model: int) -> list[Row]:
    """Return what a model said before, the newest first; `document` is what is left of it."""
    rows = await fetch_all(connection, "mental_models.history", {"model": model, **viewer.parameters()})
    return [row | {"document": _document(row["statements"])} for row in rows]


async def update(connection: Connection, model: Model, changes: Changes) -> None:
    """Ask something else of a model; raises Conflict where the name of a page is taken."""
    trigger = None if changes.trigger is None else Jsonb(dict(changes.trigger))
    looked = ("fact_types", "tags_match", "tag_groups")
    elsewhere = changes.tags not in (None, model.tags) or (
        changes.trigger is not None
        and any(changes.trigger.get(name) != model.trigger.get(name) for name in looked)
    )
    values = {
        **vars(changes),
        "trigger": trigger,
        "tags": None if changes.tags is None else list(changes.tags),
    }
    parameters = {**values, "elsewhere": elsewhere, "number": model.number, "now": clock.now()}
    async with one_of_a_name(changes.name or model.name):
        await execute(connection, "mental_models.update", parameters)


async def delete(connection: Connection, model: Model) -> None:
    """Delete a model with its history; a refresh that waits finds nothing to do."""
    await execute(connection, "mental_models.delete", {"number": model.number})


async def clear(connection: Connection, model: Model) -> None:
    """Let a model say nothing; what it said stays in its history."""
    held = await fetch_one(connection, "mental_models.hold", _as_read(model))
    if held is None:
        raise NotFound(f"Mental model '{model.id}' not found")
    version = model.version + bool(model.document)
    parameters = {"number": model.number, "version": version, "now": clock.now()}
    if model.document:
        await _replace(connection, parameters, Version((), "cleared", full=True, seen_at=None))
    await execute(connection, "mental_models.clear", parameters)


async def ask(connection: Connection, model: Model, *, anew: bool = False) -> UUID:
    """Let a refresh wait, or return the one that does; `anew`: it shall not lean on what the model says now."""
    await operations.hold_bank(connection, [model.bank])
    if anew:
        await execute(connection, "mental_models.ask", {"number": model.number})
    queued = await queue(connection, model.bank, model.number)
    if queued is None:
        raise NotFound(f"Mental model '{model.id}' not found")
    return queued


async def queue(connection: Connection, bank: int, number: int) -> UUID | None:
    """Do the same without waiting for a bank that is being changed: None, for the sweep comes back to it."""
    parameters = {
        "operation": new_id(),
        "bank": bank,
        "number": number,
        "serial": SERIAL_KEY,
        "now": clock.now(),
    }
    waiting = await fetch_one(connection, "mental_models.waiting", parameters)
    if waiting is None and (made := await fetch_one(connection, "mental_models.queue", parameters)):
        await operations.ring(connection)
        return UUID(str(made["id"]))
    waiting = waiting or await fetch_one(connection, "mental_models.waiting", parameters)
    return None if waiting is None else UUID(str(waiting["id"]))


async def sweep(
    connection: Connection, interval: float, after: Callable[[str, datetime], datetime | None]
) -> int:
    """Queue a refresh of the models that are wanted, and return of how many.

    `interval`: least seconds between two refreshes, where neither bank nor model says; `after` gives the next time of
    a cron expression.
    """
    now = clock.now()
    for row in await fetch_all(connection, "mental_models.due", {"now": now, "limit": SWEPT}):
        due = {"number": row["number"], "next": after(row["cron"] or "", now)}
        await execute(connection, "mental_models.set_due", due)
    parameters = {"failures": TRIED, "pause": PAUSE_SECONDS, "interval": interval, "limit": SWEPT}
    wanted = await fetch_all(connection, "mental_models.wanted", parameters)
    made = [await queue(connection, row["bank"], row["number"]) for row in wanted]
    return sum(one is not None for one in made)


async def seen(connection: Connection, model: Model) -> datetime | None:
    """Return until when nothing is news to who reads from now on; None where its scope is empty."""
    row = await fetch_one(connection, "mental_models.seen", {"number": model.number})
    return None if row is None else row["at"]


async def shown(connection: Connection, model: Model, ids: Sequence[UUID]) -> list[Shown]:
    """Return memories of the model's audience as they are now, in this order; those that are gone are left out."""
    parameters = {"ids": list(ids), "bank": model.bank, "audience_id": model.audience_id}
    return [Shown(**row) for row in await fetch_all(connection, "mental_models.shown", parameters)]


async def live(connection: Connection, model: Model, read: Iterable[Shown]) -> set[UUID]:
    """Hold the memories that are as they were read; first in `Round.writing()`: from here on nobody deletes any."""
    await mentions.beside(connection, model.bank, model.audience_id, [])
    states = {one.id: one.revision for one in read}
    parameters = {"ids": list(states), "revisions": list(states.values())}
    where = {"bank": model.bank, "audience_id": model.audience_id}
    rows = await fetch_all(connection, "mental_models.live", {**parameters, **where})
    return {row["id"] for row in rows}


async def unchanged(connection: Connection, model: Model) -> bool:
    """Hold a model and return whether it is as it was read; after `live`."""
    row = await fetch_one(connection, "mental_models.hold", _as_read(model))
    return row is not None and bool(row["same"])


def _as_read(model: Model) -> Mapping[str, Any]:
    return {
        "number": model.number,
        "version": model.version,
        "source_query": model.source_query,
        "tags": list(model.tags),
    }


async def write(connection: Connection, model: Model, made: Version, *, says_new: bool) -> None:
    """Store what a refresh made, in the transaction of `live` and `unchanged`; `says_new`: it is another document."""
    parameters = {"number": model.number, "version": model.version + says_new, "now": clock.now()}
    if says_new:
        await _replace(connection, parameters, made)
        await _say(connection, model, made.document, parameters)
    else:
        await execute(
            connection, "mental_models.answer", {**parameters, "response": Jsonb(dict(made.response))}
        )
    settled = {"full": made.full, "seen_at": made.seen_at, "read_at": model.read_at}
    await execute(connection, "mental_models.settle", {**parameters, **settled})


async def _replace(connection: Connection, parameters: Mapping[str, Any], made: Version) -> None:
    about = {"response": Jsonb(dict(made.response)), "reason": made.reason}
    await execute(connection, "mental_models.replace", {**parameters, **about})
    await execute(connection, "mental_models.trim", {**parameters, "kept": VERSIONS})


async def _say(
    connection: Connection, model: Model, document: Document, parameters: Mapping[str, Any]
) -> None:
    rows = [(section.name, one) for section in document for one in section.statements]
    said = {
        "places": list(range(len(rows))),
        "sections": [name for name, _ in rows],
        "texts": [one.text for _, one in rows],
    }
    await execute(connection, "mental_models.say", {**parameters, **said})
    pairs = [(place, unit) for place, (_, one) in enumerate(rows) for unit in one.sources]
    stands = {"places": [place for place, _ in pairs], "units": [unit for _, unit in pairs]}
    if cited(document):
        await execute(
            connection, "mental_models.cite", {**parameters, **stands, "audience_id": model.audience_id}
        )


async def fail(connection: Connection, number: int) -> None:
    """Say that a refresh failed, in a transaction that holds its lease."""
    await execute(connection, "mental_models.fail", {"number": number})
