"""What a search reads from the database, as arrays and frozen rows without any I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: Bits that the type of a fact has in `embedding.traits`, beside those of its text: so a search for some types only
#: reads no more than any other.
TYPE_BITS = {"world": 1 << 16, "experience": 1 << 17, "observation": 1 << 18}
#: Where an observation stands in the document number that it has to itself, and no fact does: so an address tells them
#: apart, also where nothing else of a unit was read.
OBSERVED = 2**31 - 1
#: No number at all.
NONE = np.empty(0, np.int32)


@dataclass(frozen=True)
class Addresses:
    """Addresses of units, (n,) each: document number and position in it."""

    documents: Array
    positions: Array

    def __len__(self) -> int:
        return len(self.documents)

    @classmethod
    def joined(cls, parts: Sequence["Addresses"]) -> "Addresses":
        """Return all addresses of all parts in a row."""
        return cls(
            np.concatenate([NONE, *(part.documents for part in parts)]),
            np.concatenate([NONE, *(part.positions for part in parts)]),
        )


@dataclass(frozen=True)
class Statistics:
    """The active units that the viewer may see, the sum of their lengths in terms, whether there may be a graph, the
    version of the bank's index, and how many units that holds in all.

    Two snapshots that show the same version show the same index; None: the bank never had one.
    """

    units: int
    length: int
    has_entities: bool = True
    has_links: bool = True
    version: int | None = None
    held: int = 0

    @property
    def mean_length(self) -> float:
        """Mean length of a unit; 1 for an empty bank, so that it can divide."""
        return self.length / self.units if self.units and self.length else 1.0


@dataclass(frozen=True)
class TermPostings:
    """Where one term stands, as far as the viewer may see; `frequency` counts all units of theirs."""

    frequency: int
    addresses: Addresses
    tf: Array
    lengths: Array


@dataclass(frozen=True)
class Distances:
    """Cosine distances of units to the question, who speaks in them (0: nobody), their traits and type, (n,) each."""

    addresses: Addresses
    distances: Array
    speakers: Array
    traits: Array


NO_DISTANCES = Distances(Addresses(NONE, NONE), np.empty(0, np.float32), NONE, NONE)


@dataclass(frozen=True)
class Mentions:
    """Units that mention one entity, as far as the viewer may see: the newest ones, up to a cap, and the best hits."""

    entity: UUID
    addresses: Addresses


@dataclass(frozen=True)
class Seeds:
    """The best hits so far, from which the graph is followed; `strengths` in 0 to 1, (n,)."""

    addresses: Addresses
    strengths: Array


@dataclass(frozen=True)
class Linked:
    """Links of the best hits of one kind, (n,) each: the place of the hit among the seeds, the other end, the weight.

    `causal`: one is the cause of the other.
    """

    causal: bool
    hits: Array
    addresses: Addresses
    weights: Array


@dataclass(frozen=True)
class Reached:
    """What is one hop away from the best hits; of entities that the question names only the hits that mention them."""

    seeds: Seeds
    around: tuple[Mentions, ...]
    linked: tuple[Linked, ...]


@dataclass(frozen=True)
class Dated:
    """When units happened and were mentioned, (n,) each, in seconds since 1970; NaN where unknown."""

    addresses: Addresses
    occurred_start: Array
    occurred_end: Array
    mentioned_at: Array


@dataclass(frozen=True)
class Tagged:
    """Units that hold exactly these tags."""

    tags: frozenset[str]
    addresses: Addresses


@dataclass(frozen=True)
class Sample:
    """Units of a large bank that stand for all that the viewer may see, in an order of chance.

    `sizes`: units of the document of each (n,); `share` is how much of the bank the viewer may see, 0 to 1.
    """

    distances: Distances
    sizes: Array
    share: float


@dataclass(frozen=True)
class Windows:
    """Units with their neighbours, some several times; and how many units their documents have, (d,) each."""

    distances: Distances
    documents: Array
    sizes: Array


@dataclass(frozen=True)
class Candidates:
    """The units of a large bank that may be ranked, in place of all, and what was read of them.

    `spread` is the standard deviation of BM25 over all units.
    """

    chosen: Addresses
    windows: Windows
    spread: float


@dataclass(frozen=True)
class Gathered:
    """What the first trip brought; `dated`, `later` and `tagged` None where they were not asked for.

    `sample` of a large bank, whose `distances` are of some units only; `candidates` once they are known.
    """

    statistics: Statistics
    postings: tuple[TermPostings, ...]
    distances: Distances
    named: tuple[Mentions, ...]
    dated: Dated | None
    later: Addresses | None
    tagged: tuple[Tagged, ...] | None
    sample: Sample | None = None
    candidates: Candidates | None = None


@dataclass(frozen=True)
class FoundUnit:
    """One unit with all that a hit tells of it; `entities`: names of what it mentions, by id."""

    place: int
    id: UUID
    text: str
    fact_type: str
    context: str
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    mentioned_at_assumed: bool
    tags: tuple[str, ...]
    metadata: Mapping[str, str]
    document_id: str | None
    is_placed: bool | None
    chunk: UUID | None
    chunk_ordinal: int | None
    entities: Mapping[UUID, str]


@dataclass(frozen=True)
class FoundSource:
    """A fact that an observation stands on: where it is, and the chunk that it was drawn from."""

    observation: UUID
    id: UUID
    document: int
    position: int
    chunk: UUID | None


@dataclass(frozen=True)
class FoundChunk:
    """The text a unit was drawn from."""

    id: UUID
    text: str
    ordinal: int
    document_id: str
    is_placed: bool
