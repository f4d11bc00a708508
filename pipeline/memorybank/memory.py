"""MemoryBank: all that memorybank does, in one place. Read this file first.

    async with MemoryBank.opened(load()) as memory:
        await memory.retain("team", [RetainItem("Ana moved the release to Friday.", timestamp=now())])
        result = await memory.recall("team", RecallQuery("When is the release?"), Viewer.operator())

Each method is a few lines: it finds the bank, and hands over to the room that does the work.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import numpy as np

from memorybank import clock, paths, rounds
from memorybank.assembly import Parts, assembled
from memorybank.audience import Audience, AudienceKind, Principal, Viewer
from memorybank.curate import scopes
from memorybank.curate.facts import Shelf
from memorybank.errors import BadRequest, Conflict, InvalidInput, NotFound
from memorybank.liveness import Worker
from memorybank.mental_models import trigger
from memorybank.mental_models.draft import Draft
from memorybank.model import Bank, FileUpload, RetainItem, TokenUsage
from memorybank.operations import Kind, Status
from memorybank.recall.large.promotion import Promotion
from memorybank.recall.query import RecallQuery
from memorybank.recall.run import RecallResult
from memorybank.reflect.query import Reflection, ReflectQuery, Watch
from memorybank.retain import intake
from memorybank.retain.editing import Edit
from memorybank.retain.preview import Preview, Wish, preview
from memorybank.retain.screening import Screen
from memorybank.retain.stage import Retained, Submitted
from memorybank.retain.staging import TEXT_NOT_KEPT
from memorybank.settings import BankConfig, Settings, check_updates, resolve_bank, stage_model
from memorybank.storage import (
    audiences,
    banks,
    clearing,
    consolidations,
    documents,
    forget,
    llm_calls,
    mental_models,
    operations,
    server,
    vector_index,
)
from memorybank.storage.forget import Erasure
from memorybank.storage.llm_calls import Caller
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.text import normalize

#: Seconds between two looks at an operation that another process works on.
POLL_SECONDS = 0.05
#: Longest name of a bank, in characters.
MAX_BANK_NAME_CHARS = 512
#: The number of a bank that is not there: PostgreSQL counts from 1.
NO_BANK = 0

T = TypeVar("T")


class MemoryBank:
    """Long-term memory over one database; make one per process with `opened`."""

    def __init__(self, settings: Settings, database: Database, worker: Worker, parts: Parts) -> None:
        self.settings = settings
        self.database = database
        self._worker = worker
        self._retain = parts.retain
        self._files = parts.files
        self._curate = parts.curate
        self._stating = parts.stating
        #: Workspace facts and keys with values, on a `shelf`, and Band's memories, across banks: asked as a Principal.
        self.facts, self.entries, self.band = parts.facts, parts.entries, parts.band
        self._recall = parts.recall
        self._reflect = parts.reflect
        self._mental_models = parts.mental_models
        self._handlers: Mapping[Kind, rounds.Handler] = {
            Kind.RETAIN: parts.retain.work,
            Kind.FILE_CONVERT_RETAIN: parts.files.work,
            Kind.CONSOLIDATION: parts.consolidate.work,
            Kind.REFRESH_MENTAL_MODEL: parts.mental_models.work,
            Kind.VECTOR_INDEX: Promotion(database).work,
        }

    @classmethod
    @asynccontextmanager
    async def opened(cls, settings: Settings, home: Path | None = None) -> AsyncIterator["MemoryBank"]:
        """Find or start the database, bring its schema up to date, and give a MemoryBank for this event loop."""
        async with AsyncExitStack() as closing:
            found = server.opened(settings.database, home or paths.home())
            database = await closing.enter_async_context(found)
            worker = Worker(database, settings.worker)
            await worker.start()
            closing.push_async_callback(worker.stop)
            yield cls(
                settings, database, worker, await closing.enter_async_context(assembled(settings, database))
            )

    @property
    def engine(self) -> str:
        """The language model that reads and answers, or `extractive`."""
        model = stage_model(self.settings, "retain")
        return "extractive" if model.extractive else model.model

    # --- retain, recall, reflect ---

    async def submit(
        self,
        bank_id: str,
        items: Sequence[RetainItem],
        *,
        operation_id: UUID | None = None,
        audience: Audience | None = None,
    ) -> Submitted:
        """Queue items, for an audience or the bank's own, and return the operation to ask about."""
        write = partial(self._retain.submit, items=items, operation_id=operation_id)
        return await self._in_bank(bank_id, write, audience)

    async def retain(
        self, bank_id: str, items: Sequence[RetainItem], audience: Audience | None = None
    ) -> Retained:
        """Keep items now and return how many, and what the models used.

        Raises Conflict when they were not kept, and BadRequest where a text would be appended to one that is not kept.
        The work is an operation like any other: should this process die, a worker ends it.
        """
        now = partial(self._retain.submit, items=items, interactive=True)
        submitted = await self._in_bank(bank_id, now, audience)
        # Every child is waited for, also behind one that failed: nothing of a request goes on unseen.
        ends = await asyncio.gather(
            *(self._finish(submitted.bank, child) for child in submitted.children), return_exceptions=True
        )
        spent = TokenUsage()
        for end in ends:
            if isinstance(end, BaseException):
                raise end
            spent += end
        return Retained(submitted.items_count, spent)

    async def submit_files(
        self, bank_id: str, files: Sequence[FileUpload], audience: Audience | None = None
    ) -> tuple[UUID, ...]:
        """Queue the reading and keeping of files, for an audience; returns an operation for each."""
        return await self._in_bank(bank_id, partial(self._files.submit, files=files), audience)

    async def preview(self, bank_id: str, wish: Wish) -> Preview:
        """Return what retaining an item would find, and store nothing; a bank that is not there has no overrides."""
        bank = await self._bank_or_empty(bank_id)
        caller = Caller()
        if bank.id != NO_BANK:
            async with self.database.connection() as connection:
                caller = Caller(bank.id, await banks.default_audience(connection, bank.id))
        return await preview(self._retain, bank, caller, wish)

    async def recall(self, bank_id: str, query: RecallQuery, viewer: Viewer) -> RecallResult:
        """Find what is remembered; a bank that is not there remembers nothing."""
        bank = await self.database.patiently(partial(self._bank_or_empty, bank_id))
        return await self._recall(bank, self.config_of(bank), query, viewer)

    async def reflect(
        self, bank_id: str, query: ReflectQuery, viewer: Viewer, watch: Watch | None = None
    ) -> Reflection:
        """Answer from what is remembered, telling `watch` of each step; a bank that is not there knows nothing."""
        bank = await self._bank_or_empty(bank_id)
        return await self._reflect(bank, self.config_of(bank), query, viewer, watch)

    async def preview_refresh(self, bank_id: str, model_id: str, viewer: Viewer) -> Draft:
        """Return what a refresh of a mental model would do, and store nothing; raises NotFound."""
        return await self._mental_models.preview((await self.bank(bank_id)).id, viewer, model_id)

    async def question_vector(self, asked: str) -> tuple[int, np.ndarray]:
        """Return the number of the embedding model and the vector (d,) of a question."""
        return await self._mental_models.question(asked)

    # --- background work ---

    async def work(self, operation_id: UUID) -> None:
        """Do one round of an operation (called by the workers)."""
        await rounds.run(self.database, self._handlers, operation_id, self._worker, self.settings.worker)

    def drain(self) -> None:
        """Claim nothing more, and end running rounds soon."""
        self._worker.drain()

    async def catch_up(self) -> int:
        """Queue what nobody queued, in all banks: consolidation, vector indexes, refreshes; return how many."""
        runs, wait = await self._stating.queue_indexes(), self.settings.consolidation.max_wait_seconds
        async with self.database.transaction() as connection:
            runs += await consolidations.sweep(connection, self.settings.bank, wait)
        async with self.database.transaction() as connection:
            interval = self.settings.bank.mental_model_min_refresh_interval_seconds
            return runs + await mental_models.sweep(connection, interval, trigger.next_time)

    async def _finish(self, bank: int, operation_id: UUID) -> TokenUsage:
        """Work on an operation until it has ended, here or in a worker that was quicker; return what its models used.

        Raises Conflict where it did not complete, or goes on without us; BadRequest where it asked for the impossible.
        """
        while True:
            await self.work(operation_id)
            async with self.database.connection() as connection:
                record = await operations.get(connection, bank, operation_id, Viewer.operator())
                if record is not None and record.status is Status.COMPLETED:
                    return (await llm_calls.spent(connection, operation_id, Viewer.operator()))[1]
            if record is None:
                raise Conflict(f"operation {operation_id} is gone: it or its bank was deleted meanwhile")
            if record.status.terminal:
                message = f"operation {operation_id} is {record.status}: {record.error_message}"
                skipped = record.result.get("documents_skipped", {})
                raise BadRequest(message) if TEXT_NOT_KEPT in skipped else Conflict(message)
            if self._worker.draining or record.retry_at is not None:
                why = record.error_message or "this server ends"
                raise Conflict(f"operation {operation_id} goes on in the background: {why}")
            await asyncio.sleep(POLL_SECONDS)

    # --- banks ---

    async def bank(self, bank_id: str) -> Bank:
        """Return a bank; raises NotFound."""
        async with self.database.connection() as connection:
            return await banks.get(connection, banks.stored_id(bank_id))

    def config_of(self, bank: Bank) -> BankConfig:
        """Return a bank's configuration: its overrides over the installation's defaults."""
        return resolve_bank(self.settings.bank, bank.config)

    async def save_bank(
        self, bank_id: str, name: str | None, updates: Mapping[str, Any], *, create: bool
    ) -> Bank:
        """Set a bank's name and overrides (null clears one): all of them, or with one bad key none."""
        limit = stage_model(self.settings, "retain").max_output_tokens
        async with self.database.transaction() as connection:
            if create:
                await banks.ensure(connection, banks.stored_id(bank_id), clock.now())
            bank = await banks.lock(connection, banks.stored_id(bank_id))
            if updates:
                config = check_updates(updates, bank.config, self.settings.bank, chunk_limit=limit)
                bank = await banks.set_config(connection, bank, config, clock.now())
            if name is not None:
                bank = await banks.set_name(connection, bank, _bank_name(name, bank.bank_id), clock.now())
        return bank

    async def reset_config(self, bank_id: str) -> Bank | None:
        """Clear every override; None for a bank that is not there."""
        async with self.database.transaction() as connection:
            try:
                bank = await banks.lock(connection, banks.stored_id(bank_id))
            except NotFound:
                return None
            return await banks.set_config(connection, bank, {}, clock.now())

    async def delete_bank(self, bank_id: str) -> int:
        """Delete a bank with all it holds and return how many units, entities and documents that were."""
        async with self.database.transaction() as connection:
            deleted = await banks.delete(connection, banks.stored_id(bank_id))
        if deleted.indexed:
            await vector_index.prune(self.database)
        return deleted.total

    async def clear(self, bank_id: str, fact_type: str | None, viewer: Viewer) -> int:
        """Forget all memories of a bank, or of one type; its profile and configuration stay."""
        async with self.revising(bank_id) as (connection, bank):
            return await forget.clear(connection, bank.id, fact_type, viewer, clock.now())

    async def edit(self, bank_id: str, memory: UUID, edit: Edit, viewer: Viewer) -> None:
        """Correct a fact, take it out of recall, or restore it; raises NotFound, BadRequest and InvalidInput."""
        bank = await self.bank(bank_id)
        await self._curate(bank, self.config_of(bank), memory, edit, viewer)

    async def forget(self, bank_id: str, memory: UUID, viewer: Viewer) -> Erasure:
        """Forget a memory with all that stands on it, and return what went; raises NotFound."""
        return await self._stating.forget(*await self.shelf(bank_id), memory, viewer)

    async def clear_observations_of(self, bank_id: str, memory: UUID, viewer: Viewer) -> int:
        """Delete what was learned from a memory, which stays, and return how many that were; raises NotFound."""
        async with self.revising(bank_id) as (connection, bank):
            return await clearing.clear(connection, bank.id, viewer, clock.now(), memory)

    # --- documents ---

    async def delete_document(self, bank_id: str, document_id: str, viewer: Viewer) -> int:
        """Forget a document with all that came from it and return how many units that were; raises NotFound."""
        async with self.revising(bank_id) as (connection, bank):
            deleted = await documents.delete(connection, bank.id, normalize(document_id), viewer)
        if deleted is None:
            raise NotFound(f"Document '{document_id}' not found")
        return deleted

    async def reprocess_document(self, bank_id: str, document_id: str, viewer: Viewer) -> Submitted:
        """Queue the extraction anew of a document; raises NotFound, and BadRequest where its text is not kept."""
        async with self.reading(bank_id) as (connection, bank):
            document = await documents.find(connection, bank.id, normalize(document_id), viewer)
        if document is None:
            raise NotFound(f"Document '{document_id}' not found")
        return await self._retain.again(bank, document)

    async def retag_document(
        self, bank_id: str, document_id: str, tags: Sequence[str], viewer: Viewer
    ) -> None:
        """Replace the tags of a document and of all its facts; raises NotFound, and InvalidInput for a wrong tag."""
        cleaned, stored = intake.labels(tags, ("body", "tags")), normalize(document_id)
        async with self.revising(bank_id) as (connection, bank):
            screen = Screen.of(self.config_of(bank).memory_defense, self.settings.retain.mask_secrets)
            masked = tuple(dict.fromkeys(map(screen.text, cleaned)))
            if not await documents.set_tags(connection, bank.id, stored, masked, viewer, clock.now()):
                raise NotFound(f"Document '{document_id}' not found")

    # --- the way to the rows, for lists ---

    @asynccontextmanager
    async def reading(self, bank_id: str) -> AsyncIterator[tuple[Connection, Bank]]:
        """Give a connection that sees one moment, and the bank; raises NotFound."""
        async with self.database.snapshot() as connection:
            yield connection, await banks.get(connection, banks.stored_id(bank_id))

    @asynccontextmanager
    async def changing(self, bank_id: str) -> AsyncIterator[tuple[Connection, Bank]]:
        """Give a connection in a transaction, and the bank; raises NotFound."""
        async with self.database.transaction() as connection:
            yield connection, await banks.get(connection, banks.stored_id(bank_id))

    @asynccontextmanager
    async def making(self, bank_id: str) -> AsyncIterator[tuple[Connection, Bank, int]]:
        """Give a connection in a transaction, the bank, made on first use, and the audience of what is new in it."""
        async with self.database.transaction() as connection:
            bank = await banks.ensure(connection, banks.stored_id(bank_id), clock.now())
            yield connection, bank, await banks.default_audience(connection, bank.id)

    @asynccontextmanager
    async def revising(self, bank_id: str) -> AsyncIterator[tuple[Connection, Bank]]:
        """Do the same for a change of what is remembered: where facts wait after it, their consolidation is queued."""
        async with self.changing(bank_id) as (connection, bank):
            yield connection, bank
            await consolidations.queue_backlog(connection, bank.id, self.config_of(bank))

    # --- who asks, and where ---

    async def viewer_at(self, principal: Principal, bank_id: str, place: str) -> Viewer:
        """Return what somebody may see at a place; raises NotFound for one where they are not."""
        async with self.database.connection() as connection:
            return await audiences.resolve(connection, principal, banks.stored_id(bank_id), place)

    async def audience_at(
        self, principal: Principal, bank_id: str, place: str | None, wanted: AudienceKind | None
    ) -> Audience:
        """Return for whom somebody retains; raises NotFound, and what `scopes.retained` does."""
        if place is None:
            return scopes.retained(principal, None, wanted)
        await self.viewer_at(principal, bank_id, place)
        async with self.database.connection() as connection:
            return scopes.retained(principal, await audiences.spoken_in(connection, principal, place), wanted)

    async def shelf(self, bank_id: str, *, made: bool = False) -> Shelf:
        """Return where facts are kept; `made`: the bank is made on first use, else one that is not there is empty."""
        bank = (await self._writable(bank_id))[0] if made else await self._bank_or_empty(bank_id)
        return bank, self.config_of(bank)

    async def _in_bank(
        self, bank_id: str, write: Callable[[Bank, int], Awaitable[T]], audience: Audience | None = None
    ) -> T:
        """Write to a bank; one that is deleted between being found and being written to is made anew."""
        try:
            return await write(*await self._writable(bank_id, audience))
        except NotFound:
            return await write(*await self._writable(bank_id, audience))

    async def _writable(self, bank_id: str, wanted: Audience | None = None) -> tuple[Bank, int]:
        """Return a bank, made on first use, and the number of an audience, by default that of the bank."""
        async with self.making(bank_id) as (connection, bank, audience):
            if wanted is not None:
                audience = await audiences.ensure(connection, bank.id, wanted)
            return bank, audience

    async def _bank_or_empty(self, bank_id: str) -> Bank:
        """Return a bank, or one that holds nothing: reading does not make a bank."""
        try:
            return await self.bank(bank_id)
        except NotFound:
            return Bank(NO_BANK, bank_id, bank_id, {}, clock.now(), clock.now())


def _bank_name(name: str, bank_id: str) -> str:
    """Return a bank's name as it may be stored, a blank one as the id; raises InvalidInput for one that is too long."""
    stored = " ".join(normalize(name).split())
    if len(stored) > MAX_BANK_NAME_CHARS:
        raise InvalidInput(f"at most {MAX_BANK_NAME_CHARS} characters", loc=("body", "name"), value=name)
    return stored or bank_id
