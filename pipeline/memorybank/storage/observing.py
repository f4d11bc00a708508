"""Writes what consolidation decided: one transaction for a batch, with the marks that its facts are done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from memorybank.storage.observations import Pending, Shelf


@dataclass(frozen=True)
class New:
    """An observation to be made of facts of the batch; `vector` (d,) is that of its text."""

    text: str
    facts: tuple[UUID, ...]
    vector: np.ndarray


@dataclass(frozen=True)
class Changed:
    """An observation that facts of the batch join, and the observations that it takes in with theirs.

    `text` and `vector` are None where it says what it said.
    """

    observation: UUID
    facts: tuple[UUID, ...]
    text: str | None = None
    vector: np.ndarray | None = None
    reason: str = ""
    gone: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class Batch:
    """What was decided on: facts as they were read, and in how many scopes each is consolidated in all."""

    shelf: Shelf
    facts: tuple[Pending, ...]
    passes: Mapping[UUID, int]


@dataclass(frozen=True)
class Decided:
    """What is to be done."""

    creates: tuple[New, ...] = ()
    changes: tuple[Changed, ...] = ()


@dataclass(frozen=True)
class Applied:
    """What was done; facts that are not in `done` have changed meanwhile and wait, `skipped` actions stood on such."""

    created: int = 0
    updated: int = 0
    deleted: int = 0
    done: frozenset[UUID] = frozenset()
    skipped: Mapping[str, int] = field(default_factory=dict)
