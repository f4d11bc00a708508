"""The first step of an operation: its content becomes documents and pending chunks, in one transaction.

After it the operation's payload holds no content any more, so it is done exactly once.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from memorybank import clock
from memorybank.ids import new_id
from memorybank.model import RetainItem
from memorybank.operations import Claim
from memorybank.retain import delta
from memorybank.retain.chunking import ChunkSize, chunk, json_turns
from memorybank.retain.payload import APPEND, REPLACE, REPROCESS, Batch, DocumentPart, Staged, to_json
from memorybank.settings import BankConfig
from memorybank.storage import chunks, documents, history, mentions, retains
from memorybank.storage.chunks import REPLACED, About, Stored
from memorybank.storage.history import Act, Event
from memorybank.storage.queries import Connection
from memorybank.storage.units import MAX_ORDINAL
from memorybank.timeline import iso

#: What stands between the items of a document, and between its text and what is appended.
BETWEEN = "\n\n"
#: Why a document is left out although nothing is wrong: a later request was faster, or it was deleted meanwhile.
STALE, FORGOTTEN = "stale", "forgotten"
#: Why a document is left out that was asked for what needs its text.
TEXT_NOT_KEPT = "text_not_kept"
#: What the history of a document says of an operation.
ACTS = {REPLACE: Act.RETAIN, APPEND: Act.APPEND, REPROCESS: Act.REPROCESS}


@dataclass
class _Tally:
    """What staging did so far."""

    chunks: int = 0
    unchanged: int = 0
    replaced: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def skip(self, reason: str, message: str) -> None:
        self.skipped[reason] += 1
        if reason not in (STALE, FORGOTTEN):
            self.errors.append(message)


@dataclass(frozen=True)
class Staging:
    """The work on one operation's content."""

    connection: Connection
    claim: Claim
    batch: Batch
    config: BankConfig
    now: datetime

    @property
    def operation(self) -> UUID:
        """The operation whose chunks these are."""
        return self.claim.lease.operation_id


async def stage(connection: Connection, claim: Claim, batch: Batch, config: BankConfig) -> Staged:
    """Store the batch as documents and pending chunks, and take it out of the payload; inside `Round.writing()`."""
    work = Staging(connection, claim, batch, config, clock.now())
    tally = _Tally()
    replaced = [part.id for part in batch.documents if part.update_mode != APPEND]
    await mentions.alone_for(connection, claim.bank, claim.audience_id, replaced)
    asked = [part.id for part in batch.documents]
    held = await documents.lock(connection, claim.bank, claim.audience_id, asked)
    wanted = await retains.awaited(connection, work.operation)
    for part in sorted(batch.documents, key=lambda part: part.id):
        if part.id in wanted:
            await _stage_document(work, part, held.get(part.id), tally)
        else:
            tally.skip(FORGOTTEN, "")
    staged = Staged(
        strategy=batch.strategy,
        documents=tuple(part.id for part in batch.documents),
        chunks=tally.chunks,
        unchanged=tally.unchanged,
        replaced=tally.replaced,
        skipped=dict(tally.skipped),
        errors=tuple(tally.errors),
    )
    await retains.set_payload(connection, work.operation, to_json(staged))
    return staged


async def _stage_document(
    work: Staging, part: DocumentPart, held: documents.Held | None, tally: _Tally
) -> None:
    refused = _refusal(work, part, held)
    if refused:
        tally.skip(*refused)
        return
    part = _retagged(work, part, held)
    old = await chunks.of_document(work.connection, held.number) if held else []
    change = _change(part, held, old, work.config)
    if change.highest > MAX_ORDINAL:
        tally.skip("too_many_chunks", f"document {part.id}: it would have more than {MAX_ORDINAL} chunks")
        return
    number = await _put(work, part, held)
    await _apply(work, number, change)
    await history.record(work.connection, number, Event(ACTS[part.update_mode], work.operation), work.now)
    tally.chunks += len(change.new) + len(change.retried)
    tally.unchanged += change.unchanged
    tally.replaced += len(change.replaced)


def _change(
    part: DocumentPart, held: documents.Held | None, old: Sequence[Stored], config: BankConfig
) -> delta.Delta:
    """Return what becomes of a document's chunks."""
    if part.update_mode == REPROCESS:
        again = _told(held, [stored for stored in old if stored.state != REPLACED])
        return delta.again(old, [piece for text, about in again for piece in _pieces(text, about, config)])
    known = [stored.text for stored in old if stored.text is not None and stored.state != REPLACED]
    if part.update_mode == APPEND:
        known = []
    pieces = [piece for item in part.items for piece in _pieces(item.content, _about(item), config, known)]
    return delta.appended(old, pieces) if part.update_mode == APPEND else delta.compare(old, pieces)


def _retagged(work: Staging, part: DocumentPart, held: documents.Held | None) -> DocumentPart:
    """Return what a document is to be; with its own tags where it got others after the request: the later one wins."""
    if held is None or held.retagged_at is None or held.retagged_at < work.batch.submitted_at:
        return part
    return replace(part, items=tuple(replace(item, tags=held.tags) for item in part.items))


def _told(held: documents.Held | None, old: Sequence[Stored]) -> list[tuple[str, About]]:
    """Return what a stored document was told: its texts, each with what its chunks took from their item."""
    runs = [(about, list(run)) for about, run in itertools.groupby(old, lambda stored: stored.about)]
    if held and held.original_text is not None and len(runs) == 1:
        return [(held.original_text, runs[0][0])]
    return [(joined([stored.text or "" for stored in run]), about) for about, run in runs]


async def _put(work: Staging, part: DocumentPart, held: documents.Held | None) -> int:
    """Write the document and return its number; one that is read again stays as it is."""
    if part.update_mode == REPROCESS and held:
        return held.number
    document = _document(work, part, held if part.update_mode == APPEND else None)
    return await documents.put(work.connection, work.claim.bank, work.claim.audience_id, document, work.now)


def _refusal(work: Staging, part: DocumentPart, held: documents.Held | None) -> tuple[str, str] | None:
    """Return why a document cannot be written as asked: a reason to count and a message, or None."""
    again = part.update_mode == REPROCESS
    if held is None:
        return ("gone", f"document {part.id}: it was deleted meanwhile") if again else None
    if part.update_mode == APPEND or again:
        if held.original_text is None:
            return TEXT_NOT_KEPT, f"document {part.id}: its text was not kept"
        return None
    if held.submitted_at > work.batch.submitted_at:
        return STALE, f"document {part.id}: a later request has replaced it already"
    return None


def _pieces(text: str, about: About, config: BankConfig, known: Sequence[str] = ()) -> list[delta.Piece]:
    """Return the chunks of one item; items never share a chunk, for each has its own date, context and tags."""
    size = ChunkSize.of(config.retain_chunk_size, config.retain_structured_chunk_size)
    return [delta.Piece(piece, about) for piece in chunk(text, size, known)]


def _about(item: RetainItem) -> About:
    return About(
        context=item.context,
        mentioned_at=item.timestamp,
        mentioned_at_assumed=item.timestamp_assumed,
        tags=item.tags,
        metadata=item.metadata,
        observation_scopes=_scopes(item),
        entities=tuple((entity.text, entity.type) for entity in item.entities),
        resolve_entities=item.resolve_entities,
        strategy=item.strategy,
    )


def _scopes(item: RetainItem) -> str | list[list[str]] | None:
    scopes = item.observation_scopes
    return scopes if isinstance(scopes, str | None) else [list(scope) for scope in scopes]


def _document(work: Staging, part: DocumentPart, held: documents.Held | None) -> documents.NewDocument:
    """Return the document as it shall be; `held` is what it is appended to."""
    first = part.items[0]
    texts = [item.content for item in part.items]
    if held is not None and held.original_text is not None:
        texts = [held.original_text, *texts]
    text = joined(texts)
    tags = dict.fromkeys([*(held.tags if held else ()), *(tag for item in part.items for tag in item.tags)])
    return documents.NewDocument(
        id=part.id,
        original_text=text if work.config.store_document_text else None,
        text_length=len(text),
        content_hash=sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        submitted_at=max(work.batch.submitted_at, held.submitted_at) if held else work.batch.submitted_at,
        retain_params=held.retain_params if held else _params(first),
        metadata=first.metadata,
        tags=tuple(tags),
        observation_scopes=_scopes(first),
    )


def _params(first: RetainItem) -> dict[str, Any]:
    """Return what a document remembers of how it was sent: the wire's `retain_params`."""
    params = {
        "context": first.context or None,
        "event_date": iso(first.timestamp) if first.timestamp else None,
        "event_date_assumed": first.timestamp_assumed or None,
        "metadata": dict(first.metadata) or None,
        "observation_scopes": _scopes(first),
        "strategy": first.strategy,
    }
    return {key: value for key, value in params.items() if value is not None}


def joined(texts: Sequence[str]) -> str:
    """Return texts as one; JSON arrays become one array."""
    turns = [json_turns(text) for text in texts]
    if len(texts) > 1 and all(turns):
        return f"[{','.join(turn for part in turns for turn in part or ())}]"
    return BETWEEN.join(texts)


async def _apply(work: Staging, number: int, change: delta.Delta) -> None:
    """Bring the stored chunks of a document to what they shall be."""
    connection = work.connection
    await chunks.delete(connection, work.claim.bank, change.gone)
    await chunks.replace(connection, work.operation, change.replaced)
    await chunks.move(connection, change.moved)
    for chunk_id, about in change.described.items():
        await chunks.describe(connection, chunk_id, about, work.now)
    await chunks.adopt(connection, work.operation, change.retried)
    await chunks.keep_texts(connection, number, change.untold, keep=work.config.store_document_text)
    made = [
        chunks.NewChunk(new_id(), number, ordinal, piece.text, piece.content_hash, piece.about)
        for ordinal, piece in change.new.items()
    ]
    await chunks.add(connection, work.claim.bank, work.claim.audience_id, work.operation, made, work.now)


async def retire(connection: Connection, claim: Claim) -> int:
    """Delete the chunks that an operation has replaced by extracted ones; inside `Round.writing()`.

    Returns how many stay, with their facts.
    """
    await mentions.alone(connection, claim.bank)
    removed, kept = await chunks.retire(connection, claim.bank, claim.lease.operation_id)
    await history.count(connection, claim.lease.operation_id, "removed", removed)
    return kept
