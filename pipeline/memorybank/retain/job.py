"""One operation being worked on: its chunks extracted side by side, stored in groups as they finish."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memorybank.audience import Viewer
from memorybank.errors import Conflict, ModelError
from memorybank.llm.embedding import Embedder, RemoteEmbedder
from memorybank.llm.ledger import StoredLedger
from memorybank.llm.passages import passage_vectors
from memorybank.model import Bank
from memorybank.operations import ERROR_SAMPLE, Outcome
from memorybank.retain import sharing, writing
from memorybank.retain.payload import Staged
from memorybank.retain.work import LOST, ChunkWork, Extraction, Extractor
from memorybank.retain.writing import Done, Group
from memorybank.rounds import Round
from memorybank.settings import BankConfig, Settings
from memorybank.storage import chunks, consolidations, llm_calls, models, retains
from memorybank.storage.chunks import Counts, Pending
from memorybank.storage.llm_calls import Caller
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection

#: Calls of an operation that may be under way, from asking to storing, for each that may be with the model: so many
#: more are asked while others are stored. What is not stored yet is lost in a crash, and holds up a cancel and an end.
UNDER_WAY = 2
#: Reasons to drop a fact that are losses; a piece of a chunk that was lost has the code of its error.
LOSSES, MODEL_CODES = frozenset(("malformed", "too_many")), "model_"
#: The reason of entries that state nothing: so a model may say that there is nothing to keep.
STATES_NOTHING = "empty"
#: What reasons mean for who sent the text.
MEANINGS = {
    "degenerate": "the same over and over, or data that is no language",
    "prompt_example": "copied by the model from its instructions, another model may do better",
}


@dataclass(frozen=True)
class Lost:
    """A chunk of which nothing could be had; `why` quotes no content."""

    chunk: Pending
    why: str
    dropped: Mapping[str, int]


@dataclass
class Job:
    """An operation whose content is staged. `counts` adds up over all its rounds; they are stored as its progress."""

    database: Database
    embedder: Embedder | RemoteEmbedder
    extractor: Extractor
    settings: Settings
    round: Round
    bank: Bank
    config: BankConfig
    staged: Staged
    counts: dict[str, int]
    stopped: ModelError | None = None
    _gate: asyncio.Semaphore = field(init=False)
    _room: asyncio.Semaphore = field(init=False)
    _model: int | None = None

    def __post_init__(self) -> None:
        """Set how many calls are with the model at once, and how many answers may wait to be stored."""
        self._gate = asyncio.Semaphore(self.settings.retain.extraction_concurrency)
        self._room = asyncio.Semaphore(UNDER_WAY * self.settings.retain.extraction_concurrency)

    async def extract(self) -> None:
        """Extract and store chunks until none is left or the round is over; raises what stops a round."""
        operation, size = self.round.claim.lease.operation_id, self.config.retain_chunk_batch_size
        full = True
        while full and not self.round.over():
            waiting = await self.database.ask(chunks.pending, operation, size)
            await self._extract_batch(waiting)
            if self.stopped:
                raise self.stopped
            full = len(waiting) == size

    async def _extract_batch(self, waiting: Sequence[Pending]) -> None:
        """Extract chunks side by side, small ones together; whatever has finished meanwhile is stored together.

        An error that nobody foresaw is raised when all other chunks are stored: it costs its own chunk only.
        """
        together = sharing.groups(waiting, self.config.retain_chunk_size)
        tasks = {asyncio.create_task(self._extract_group(group)): group for group in together}
        broken: list[BaseException] = []
        try:
            while tasks:
                ready, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                finished: list[Done | Lost] = []
                for task in ready:
                    group = tasks.pop(task)
                    if (error := task.exception()) is None:
                        finished += task.result()
                    elif len(group) > 1:
                        tasks |= {
                            asyncio.create_task(self._extract_group([chunk])): [chunk] for chunk in group
                        }
                    else:
                        broken.append(error)
                await self._store(sorted(finished, key=lambda one: (one.chunk.document, one.chunk.ordinal)))
                for _ in ready:
                    self._room.release()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if broken:
            raise broken[0]

    async def _extract_group(self, group: Sequence[Pending]) -> list[Done | Lost]:
        """Return what became of chunks but of those that are left for a later round. Who stores it makes room again."""
        await self._room.acquire()
        async with self._gate:
            if self.stopped or self.round.over():
                return []
            found = await self.extractor.extract([self._work(chunk) for chunk in group])
        became = map(self._became, group, found)
        return [one for one in became if one is not None]

    def _became(self, chunk: Pending, extraction: Extraction) -> Done | Lost | None:
        """Return what became of a chunk; None where its turn has not come."""
        error = extraction.error
        if error is None:
            if why := unusable(extraction):
                return Lost(chunk, why, extraction.dropped)
            return writing.prepared(chunk, extraction, self.config.entities_allow_free_form)
        if isinstance(error, LOST):
            return Lost(chunk, error.code, extraction.dropped)
        self.stopped = self.stopped or error
        return None

    def _work(self, chunk: Pending) -> ChunkWork:
        about, claim = chunk.about, self.round.claim
        return ChunkWork(
            text=chunk.text,
            config=self.config,
            anchor=about.mentioned_at,
            number=chunk.ordinal + 1,
            total=chunk.total,
            context=about.context,
            metadata=about.metadata,
            narrator=self.bank.narrator,
            ledger=StoredLedger(
                self.database, Caller(claim.bank, claim.audience_id, claim.lease.operation_id)
            ),
        )

    async def _store(self, ready: Sequence[Done | Lost]) -> None:
        """Store finished chunks and say how far the operation is, in one transaction."""
        if not ready:
            return
        done = [one for one in ready if isinstance(one, Done)]
        lost = {one.chunk.id: one for one in ready if isinstance(one, Lost)}
        in_part = {one.chunk.id: text for one in done if (text := losses(one.extraction.dropped))}
        group = await self._with_vectors(done)
        keep_text = self.config.store_document_text
        counts = Counter(self.counts)
        async with self.round.writing() as connection:
            if group.done:
                replaces = self.staged.replaced > 0
                claim = self.round.claim
                counts.update(
                    await writing.write(connection, claim, group, keep_text=keep_text, replaces=replaces)
                )
            operation = self.round.claim.lease.operation_id
            await chunks.note(connection, operation, in_part)
            reasons = {chunk: one.why for chunk, one in lost.items()}
            for chunk in await chunks.fail(connection, operation, reasons, keep_text=keep_text):
                counts.update({"chunks_failed": 1, **writing.lost(lost[chunk].dropped)})
            processed = counts["chunks_extracted"] + counts["chunks_failed"]
            await self.round.report(connection, "extraction", processed, self.staged.chunks, **counts)
            if processed >= self.staged.chunks:
                await consolidations.queue_backlog(connection, self.bank.id, self.config)
        self.counts = dict(counts)

    async def _with_vectors(self, done: Sequence[Done]) -> Group:
        """Return chunks with the vectors of their facts; texts that the bank has embedded before are not embedded."""
        texts = [fact.text for one in done for fact in one.facts]
        model = await self.database.ask(self._model_number)
        home, prefix = (self.bank.id, model), self.settings.embeddings.passage_prefix
        known = await passage_vectors(self.database, self.embedder, home, texts, prefix)
        rows = [known[text] for text in texts]
        return Group(
            done, np.stack(rows) if rows else np.empty((0, self.embedder.dimensions), np.float32), model
        )

    async def _model_number(self, connection: Connection) -> int:
        if self._model is None:
            self._model = await models.embedding_model(
                connection, self.embedder.model, self.embedder.dimensions
            )
        return self._model

    async def end(self, left: Counts, kept: int) -> Outcome:
        """Return the outcome of an operation without pending chunks; raises when all of it was lost.

        `kept`: the chunks that it was to replace and that stay.
        """
        errors = [*self.staged.errors, *left.errors]
        result = await self._result(left, errors)
        if not errors:
            return Outcome(result=result)
        said = self._said(len(errors), left.failed + len(self.staged.errors))
        stays = f"; {kept} parts that were to be replaced stay with their facts" if kept else ""
        message = f"{said}{stays}; {errors[0]}"
        if not self.counts.get("chunks_extracted") and not self.staged.unchanged:
            async with self.round.writing() as connection:
                await retains.set_result(connection, self.round.claim.lease.operation_id, result)
            raise ModelError(message) if left.failed else Conflict(message)
        return Outcome(result=result, error_message=message)

    def _said(self, errors: int, wholly: int) -> str:
        """Say how many of the chunks and left out documents were lost, wholly or in part."""
        parts = self.staged.chunks + len(self.staged.errors)
        said = [f"{wholly} of {parts} parts were lost"] if wholly else []
        said += [f"{errors - wholly} of {parts} parts lost some of their facts"] if errors > wholly else []
        return "; ".join(said)

    async def _result(self, left: Counts, errors: Sequence[str]) -> dict[str, Any]:
        """Return what the operation did, by number: the wire's names where it has one."""
        claim = self.round.claim
        kept = self.counts.get("facts", 0) + self.counts.get("mentions", 0)
        calls, used = await self.database.ask(
            llm_calls.spent, claim.lease.operation_id, Viewer((claim.audience_id,))
        )
        dropped = {
            name.removeprefix(writing.DROPPED): count
            for name, count in self.counts.items()
            if name.startswith(writing.DROPPED)
        }
        return {
            "unit_ids_count": kept,
            "extraction_errors_count": len(errors),
            "extraction_errors_sample": list(errors[:ERROR_SAMPLE]),
            "dropped_by_reason": dropped,
            "facts_kept": kept,
            "facts_known_before": self.counts.get("mentions", 0),
            "facts_dropped": sum(dropped.values()) - dropped.get(writing.TAGS_OVER, 0),
            "links": self.counts.get("links", 0),
            "chunks_in": self.staged.chunks,
            "chunks_out": self.counts.get("chunks_extracted", 0),
            "chunks_failed": left.failed,
            "chunks_unchanged": self.staged.unchanged,
            "documents_skipped": dict(self.staged.skipped),
            "llm_calls": calls,
            "usage": used.counts(),
            "cost": used.cost,
        }


def unusable(found: Extraction) -> str:
    """Return why nothing is left of a chunk that gave something; empty where facts are, or nothing was stated."""
    reasons = [] if found.facts else sorted(found.dropped.keys() - {STATES_NOTHING})
    said = (f"{reason} ({MEANINGS[reason]})" if reason in MEANINGS else reason for reason in reasons)
    return f"nothing of it could be kept: {', '.join(said)}" if reasons else ""


def losses(dropped: Mapping[str, int]) -> str:
    """Return what of the dropped was lost, as text: what could not be read or asked for, not repeats and the like."""
    lost = {
        reason: count
        for reason, count in dropped.items()
        if reason in LOSSES or reason.startswith(MODEL_CODES)
    }
    return ", ".join(f"{count} {reason}" for reason, count in sorted(lost.items()))
