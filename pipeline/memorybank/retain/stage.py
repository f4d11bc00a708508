"""Retain: content in, facts, names and links stored. `submit` queues the work, `work` does a round of it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from memorybank import clock
from memorybank.errors import BadRequest, Conflict
from memorybank.ids import new_id
from memorybank.llm.embedding import Embedder, RemoteEmbedder
from memorybank.model import Bank, RetainItem, TokenUsage
from memorybank.operations import PRIORITY_BACKGROUND, PRIORITY_INTERACTIVE, Kind, Outcome
from memorybank.retain import intake, payload, staging
from memorybank.retain.intake import Accepted
from memorybank.retain.job import Job
from memorybank.retain.payload import REPROCESS, Batch, DocumentPart, Staged
from memorybank.retain.work import Extractor
from memorybank.rounds import Round
from memorybank.settings import BankConfig, Settings, resolve_bank, strategy_named
from memorybank.storage import banks, chunks, models, operations, retains, vector_index
from memorybank.storage.documents import Held
from memorybank.storage.operations import NewOperation
from memorybank.storage.pool import Database
from memorybank.text import count_tokens

#: A request with more characters is checked, cut and counted in a thread: it would hold up the event loop.
LONG_REQUEST_CHARS = 100_000

T = TypeVar("T")


@dataclass(frozen=True)
class Submitted:
    """A request that a bank took: its operation, one for each strategy, and the children that do the work."""

    bank: int
    operation_id: UUID
    operation_ids: tuple[UUID, ...]
    children: tuple[UUID, ...]
    items_count: int
    replayed: bool = False


@dataclass(frozen=True)
class Retained:
    """A request that was worked on: how many of its items were kept, and what the models used."""

    items_count: int
    usage: TokenUsage


@dataclass(frozen=True)
class Request:
    """What is queued: a bank's items, checked. `operation_id` is the client's key, where it gave one.

    `interactive`: the caller runs the operations himself, now.
    """

    bank: Bank
    audience_id: int
    accepted: Accepted
    operation_id: UUID | None
    interactive: bool

    @property
    def priority(self) -> int:
        """How soon it is worked on."""
        return PRIORITY_INTERACTIVE if self.interactive else PRIORITY_BACKGROUND


@dataclass(frozen=True)
class Retain:
    """The stage. `extractor_for` gives what draws facts under a bank's configuration."""

    database: Database
    embedder: Embedder | RemoteEmbedder
    extractor_for: Callable[[BankConfig], Extractor]
    settings: Settings

    async def submit(
        self,
        bank: Bank,
        audience_id: int,
        items: Sequence[RetainItem],
        *,
        operation_id: UUID | None = None,
        interactive: bool = False,
    ) -> Submitted:
        """Check items and queue their work; `interactive`: the caller runs the children himself, now.

        `operation_id` is the client's key: the same one again gives the same answer and no new work.
        Raises InvalidInput or BadRequest, naming item and field, Blocked where the bank's memory defense lets no item
        through, and Conflict for an operation_id of another bank or kind.
        """
        accepted = await aside(items, intake.accept, items, self.limits(bank))
        wanted = None if interactive else operation_id
        if not interactive:
            intake.refuse_repeated_documents(accepted.items)
        groups = intake.by_strategy(accepted.items)
        if wanted and len(groups) > 1:
            raise BadRequest("operation_id cannot be used with items of several strategies")
        replay = await self._replay(bank, wanted) if wanted else None
        return replay or await self._queue(Request(bank, audience_id, accepted, wanted, interactive), groups)

    async def again(self, bank: Bank, document: Held) -> Submitted:
        """Queue a document to be read again as it is stored; raises BadRequest where its text is not kept.

        Its old facts stay until the new ones are there.
        """
        if document.original_text is None:
            raise BadRequest(f"document '{document.id}' cannot be read again: its text is not stored")
        part = DocumentPart(document.id, (), REPROCESS)
        batch = Batch(clock.now(), document.retain_params.get("strategy"), (part,))
        child = intake.Child(batch, await asyncio.to_thread(count_tokens, document.original_text))
        request = Request(bank, document.audience_id, Accepted(()), None, interactive=False)
        parent, *children = family(request, [child], new_id())
        async with self.database.transaction() as connection:
            await operations.submit(connection, [parent, *children])
        return Submitted(bank.id, parent.id, (parent.id,), tuple(child.id for child in children), child.items)

    def limits(self, bank: Bank) -> intake.Limits:
        """Return what items of a bank must keep to."""
        return intake.Limits(self.settings.retain, lambda name: self.config_of(bank, name))

    async def work(self, round_: Round) -> Outcome:
        """Do a round of one operation: the handler of `Kind.RETAIN`."""
        job = await self._begin(round_)
        await job.extract()
        left = await self.database.ask(chunks.counts, round_.claim.lease.operation_id)
        if left.pending:
            return Outcome(more=True)
        await self._queue_index(round_)
        kept = 0
        if job.staged.replaced:
            async with round_.writing() as connection:
                kept = await staging.retire(connection, round_.claim)
        return await job.end(left, kept)

    async def _queue_index(self, round_: Round) -> None:
        """Have a bank that has grown past exact search given an index of its own."""
        claim, own = round_.claim, self.embedder
        async with self.database.transaction() as connection:
            model = await models.embedding_model(connection, own.model, own.dimensions)
            exact = self.settings.recall.exact_units
            await vector_index.queue(connection, claim.bank, claim.audience_id, model, exact)

    def config_of(self, bank: Bank, strategy: str | None) -> BankConfig:
        """Return what holds for a bank under a strategy."""
        own = resolve_bank(self.settings.bank, bank.config)
        return resolve_bank(self.settings.bank, bank.config, strategy_named(own, strategy))

    async def _replay(self, bank: Bank, operation_id: UUID) -> Submitted | None:
        """Return the answer to a request that was taken before; raises Conflict where the id means something else."""
        known = await self.database.ask(retains.submission, operation_id)
        if known is None:
            return None
        if known.bank != bank.id or known.kind != Kind.BATCH_RETAIN:
            raise Conflict(f"operation_id {operation_id} is in use for something else")
        return Submitted(
            bank.id, operation_id, (operation_id,), known.children, known.items_count, replayed=True
        )

    async def _queue(self, request: Request, groups: dict[str | None, list[RetainItem]]) -> Submitted:
        """Queue a parent with its children for each strategy."""
        wanted = request.operation_id
        made: list[NewOperation] = []
        for strategy, items in groups.items():
            tokens = self.settings.retain.batch_tokens
            parts = await aside(items, intake.children, strategy, items, clock.now(), tokens)
            made += family(request, parts, wanted or new_id())
        try:
            async with self.database.transaction() as connection:
                await operations.submit(connection, made)
        except Conflict:
            # The same request came twice at once, and the other one was first.
            replay = await self._replay(request.bank, wanted) if wanted else None
            if replay is None:
                raise
            return replay
        parents = tuple(operation.id for operation in made if operation.is_parent)
        children = tuple(operation.id for operation in made if not operation.is_parent)
        return Submitted(request.bank.id, parents[0], parents, children, len(request.accepted.items))

    async def _begin(self, round_: Round) -> Job:
        """Return the operation with its content in documents and chunks."""
        claim = round_.claim
        async with self.database.connection() as connection:
            bank = await banks.by_number(connection, claim.bank)
            carried = await retains.carried(connection, claim.lease.operation_id)
        told: Batch | Staged = payload.from_json(claim.payload)
        config = self.config_of(bank, told.strategy)
        counts = dict(carried.counts)
        if isinstance(told, Batch):
            async with round_.writing() as connection:
                told = await staging.stage(connection, claim, told, config)
                await round_.report(connection, "staging", 0, told.chunks)
        elif carried.again:
            async with round_.writing() as connection:
                await chunks.retry_failed(connection, claim.lease.operation_id)
            counts["chunks_failed"] = 0
        return Job(
            self.database,
            self.embedder,
            self.extractor_for(config),
            self.settings,
            round_,
            bank,
            config,
            told,
            counts,
        )


async def aside(items: Sequence[RetainItem], work: Callable[..., T], *arguments: Any) -> T:
    """Return what work on items gives; in a thread where they are long."""
    if sum(len(item.content) for item in items) > LONG_REQUEST_CHARS:
        return await asyncio.to_thread(work, *arguments)
    return work(*arguments)


def family(request: Request, parts: Sequence[intake.Child], parent: UUID) -> list[NewOperation]:
    """Return a parent operation and its children, the parent first."""
    head = NewOperation(
        id=parent,
        bank=request.bank.id,
        audience_id=request.audience_id,
        kind=Kind.BATCH_RETAIN,
        is_parent=True,
        priority=request.priority,
        items_count=sum(part.items for part in parts),
        result=_parent_result(parts) | left_out(request.accepted),
    )
    children = [
        NewOperation(
            id=new_id(),
            bank=request.bank.id,
            audience_id=request.audience_id,
            kind=Kind.RETAIN,
            payload=payload.to_json(part.batch),
            parent=parent,
            priority=request.priority,
            serial_keys=part.document_ids,
            items_count=part.items,
            result=_child_result(part, parent, index, len(parts)),
            rung=request.interactive,
        )
        for index, part in enumerate(parts, 1)
    ]
    return [head, *children]


def left_out(accepted: Accepted) -> dict[str, Any]:
    """Return what of a request was left out, and why: items that are blocked, and recalled blocks."""
    violations = [vars(one) for one in accepted.violations]
    found = {"violations": violations, "recalled_blocks": accepted.recalled_blocks}
    return {name: value for name, value in found.items() if value}


def _parent_result(parts: Sequence[intake.Child]) -> dict[str, Any]:
    """Return what a parent says of its submission: the wire's `result_metadata`."""
    ids = [document for part in parts for document in part.document_ids]
    return {
        "items_count": sum(part.items for part in parts),
        "total_tokens": sum(part.tokens for part in parts),
        "num_sub_batches": len(parts),
        "is_parent": True,
        **_only_document(ids),
    }


def _child_result(part: intake.Child, parent: UUID, index: int, count: int) -> dict[str, Any]:
    """Return what a child says of its submission."""
    return {
        "items_count": part.items,
        "parent_operation_id": str(parent),
        "sub_batch_index": index,
        "total_sub_batches": count,
        "total_tokens": part.tokens,
        **_only_document(part.document_ids),
    }


def _only_document(ids: Sequence[str]) -> dict[str, str]:
    return {"document_id": ids[0]} if len(ids) == 1 else {}
