"""What changed in a document: chunks compared by the hash of their text. Pure.

An unchanged chunk keeps its facts and ids, even where its place moved; other tags, metadata, scopes and context reach
its facts without a call. Equal chunks are matched in order. What else its item says is not compared while the text
changes: a growing transcript is sent again and again, and what was said keeps its date. But where the text is the same
as a whole and is to be read differently, that is the purpose of the request, and it is read again: another strategy,
other entities, or a date where none was stated before.

What goes keeps its facts until the new chunks have theirs: a document read again, a text that is no longer told, and a
chunk that lost some of its facts, which is read again when it is sent again.
"""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from uuid import UUID

from memorybank.indexing import text_hash
from memorybank.storage.chunks import EXTRACTED, REPLACED, About, Stored


@dataclass(frozen=True)
class Piece:
    """A chunk as it shall be: its text and what it takes from its item."""

    text: str
    about: About

    @cached_property
    def content_hash(self) -> bytes:
        """The hash that tells whether a stored chunk is the same."""
        return text_hash(self.text)


@dataclass(frozen=True)
class Delta:
    """What staging has to do.

    `new`: pieces to extract, by ordinal. `retried`: chunks that an earlier operation left unextracted, with their
    text; `untold`: others whose text was not kept, with theirs. `moved`: new ordinals. `described`: chunks whose tags,
    metadata, scopes or context changed. `gone`: chunks without facts, to delete now. `replaced`: chunks to delete when
    the new ones are extracted. `unchanged` counts the chunks whose facts stay.
    """

    new: Mapping[int, Piece] = field(default_factory=dict)
    retried: Mapping[UUID, str] = field(default_factory=dict)
    untold: Mapping[UUID, str] = field(default_factory=dict)
    moved: Mapping[UUID, int] = field(default_factory=dict)
    described: Mapping[UUID, About] = field(default_factory=dict)
    gone: tuple[UUID, ...] = ()
    replaced: tuple[UUID, ...] = ()
    unchanged: int = 0

    @property
    def highest(self) -> int:
        """The highest ordinal that it gives."""
        return max((*self.new, *self.moved.values()), default=0)


def compare(old: Sequence[Stored], pieces: Sequence[Piece]) -> Delta:
    """Return how to make `pieces`, in their order, out of the stored chunks of a document."""
    free: dict[bytes, deque[Stored]] = defaultdict(deque)
    for stored in sorted(old, key=lambda chunk: chunk.ordinal):
        if stored.state != REPLACED:
            free[stored.content_hash].append(stored)
    new: dict[int, Piece] = {}
    kept: dict[int, tuple[Stored, Piece]] = {}
    for ordinal, piece in enumerate(pieces):
        if free[piece.content_hash]:
            kept[ordinal] = (free[piece.content_hash].popleft(), piece)
        else:
            new[ordinal] = piece
    untold = [stored for rest in free.values() for stored in rest]
    pairs = list(kept.values())
    if (
        not new
        and not untold
        and any(_reads_differently(stored.about, piece.about) for stored, piece in pairs)
    ):
        return again(old, pieces)
    in_part = {ordinal: pair for ordinal, pair in kept.items() if pair[0].has_facts and not pair[0].is_whole}
    new |= {ordinal: Piece(piece.text, _told(stored, piece)) for ordinal, (stored, piece) in in_part.items()}
    places = {stored.id: ordinal for ordinal, (stored, _) in kept.items() if ordinal not in in_part}
    going = [stored for stored in old if stored.id not in places]
    replaced = [stored for stored in going if stored.has_facts]
    whole = [(stored, piece) for stored, piece in pairs if stored.is_whole]
    return Delta(
        new=new,
        retried={stored.id: piece.text for stored, piece in pairs if not stored.has_facts},
        untold={stored.id: piece.text for stored, piece in whole if stored.text is None},
        moved=_moved(old, places | _behind(replaced, len(pieces))),
        described={stored.id: piece.about for stored, piece in pairs if _differs(stored.about, piece.about)},
        gone=tuple(stored.id for stored in going if not stored.has_facts),
        replaced=tuple(stored.id for stored in replaced),
        unchanged=len(whole),
    )


def again(old: Sequence[Stored], pieces: Sequence[Piece]) -> Delta:
    """Return how to extract all `pieces` anew: chunks that have facts keep them for now, behind the others."""
    replaced = [stored for stored in old if stored.has_facts]
    return Delta(
        new=dict(enumerate(pieces)),
        moved=_moved(old, _behind(replaced, len(pieces))),
        gone=tuple(stored.id for stored in old if stored not in replaced),
        replaced=tuple(stored.id for stored in replaced),
    )


def appended(old: Sequence[Stored], pieces: Sequence[Piece]) -> Delta:
    """Return how to put `pieces` behind the stored chunks, which stay as they are.

    They are not packed again with the last chunk: what was said earlier keeps its date and is not paid for twice.
    """
    first = max((chunk.ordinal for chunk in old), default=-1) + 1
    extracted = sum(stored.state == EXTRACTED for stored in old)
    return Delta(new=dict(enumerate(pieces, first)), unchanged=extracted)


def _behind(replaced: Sequence[Stored], count: int) -> dict[UUID, int]:
    return {stored.id: ordinal for ordinal, stored in enumerate(replaced, count)}


def _moved(old: Sequence[Stored], places: Mapping[UUID, int]) -> dict[UUID, int]:
    ordinals = {stored.id: stored.ordinal for stored in old}
    return {chunk: ordinal for chunk, ordinal in places.items() if ordinals[chunk] != ordinal}


def _reads_differently(before: About, about: About) -> bool:
    dated = before.mentioned_at_assumed and not about.mentioned_at_assumed
    return dated or _asked(before) != _asked(about)


def _asked(about: About) -> tuple[object, ...]:
    return about.strategy, set(about.entities), bool(about.entities) and about.resolve_entities


def _told(stored: Stored, piece: Piece) -> About:
    """Return what a chunk takes from its item when that is sent again: what was said keeps its date."""
    about = piece.about
    return replace(
        stored.about,
        tags=about.tags,
        metadata=about.metadata,
        observation_scopes=about.observation_scopes,
        context=about.context,
    )


def _differs(before: About, about: About) -> bool:
    return _described(before) != _described(about)


def _described(about: About) -> tuple[object, ...]:
    return set(about.tags), dict(about.metadata), about.observation_scopes, about.context
