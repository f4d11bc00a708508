"""What changed in a document: chunks compared by the hash of their text. Pure.

An unchanged chunk keeps its facts and ids, even where its place moved. Equal chunks are matched in order. The date of
the request is not compared: a growing transcript is sent again and again, and what was said keeps its date.
"""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from memorybank.retain.indexing import text_hash
from memorybank.storage.chunks import About, Stored


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
    text. `moved`: new ordinals. `described`: chunks whose tags, metadata, scopes or context changed. `gone`: chunks to
    delete. `unchanged` counts the chunks whose facts stay.
    """

    new: Mapping[int, Piece] = field(default_factory=dict)
    retried: Mapping[UUID, str] = field(default_factory=dict)
    moved: Mapping[UUID, int] = field(default_factory=dict)
    described: Mapping[UUID, About] = field(default_factory=dict)
    gone: tuple[UUID, ...] = ()
    unchanged: int = 0


def compare(old: Sequence[Stored], pieces: Sequence[Piece]) -> Delta:
    """Return how to make `pieces`, in their order, out of the stored chunks of a document."""
    free: dict[bytes, deque[Stored]] = defaultdict(deque)
    for stored in sorted(old, key=lambda chunk: chunk.ordinal):
        free[stored.content_hash].append(stored)
    new: dict[int, Piece] = {}
    kept: dict[int, tuple[Stored, Piece]] = {}
    for ordinal, piece in enumerate(pieces):
        if free[piece.content_hash]:
            kept[ordinal] = (free[piece.content_hash].popleft(), piece)
        else:
            new[ordinal] = piece
    gone = [stored.id for rest in free.values() for stored in rest]
    return Delta(
        new=new,
        retried={stored.id: piece.text for stored, piece in kept.values() if stored.state != "extracted"},
        moved={stored.id: ordinal for ordinal, (stored, _) in kept.items() if stored.ordinal != ordinal},
        described={
            stored.id: piece.about for stored, piece in kept.values() if _differs(stored, piece.about)
        },
        gone=tuple(gone),
        unchanged=sum(stored.state == "extracted" for stored, _ in kept.values()),
    )


def appended(old: Sequence[Stored], pieces: Sequence[Piece]) -> Delta:
    """Return how to put `pieces` behind the stored chunks, which stay as they are.

    They are not packed again with the last chunk: what was said earlier keeps its date and is not paid for twice.
    """
    first = max((chunk.ordinal for chunk in old), default=-1) + 1
    extracted = sum(stored.state == "extracted" for stored in old)
    return Delta(new=dict(enumerate(pieces, first)), unchanged=extracted)


def _differs(stored: Stored, about: About) -> bool:
    before = (set(stored.tags), dict(stored.metadata), stored.observation_scopes, stored.context)
    return before != (set(about.tags), dict(about.metadata), about.observation_scopes, about.context)
