"""Writes what consolidation decided: one transaction for a batch, with the marks that its facts are done.

What was decided on facts that are no longer as they were read is not written, for its text may say what they said:
they wait on, and are decided on anew. So a crash, a retry or an edit meanwhile changes nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

from memorybank.ids import new_id
from memorybank.model import FactType
from memorybank.storage import history, mentions, units
from memorybank.storage.found import OBSERVED
from memorybank.storage.observations import Pending, Shelf
from memorybank.storage.queries import Connection, execute, fetch_all
from memorybank.storage.units import indexed

#: Earlier states that are kept of an observation, as the wire has it.
VERSIONS = 50
#: Why an action is not taken: a fact, or an observation that it is about, is not as it was read.
FACT_CHANGED, OBSERVATION_GONE = "fact_changed", "observation_gone"


@dataclass(frozen=True)
class Create:
    """An observation to be made of facts of the batch."""

    text: str
    facts: tuple[UUID, ...]
    reason: str = ""


@dataclass(frozen=True)
class Change:
    """An observation that facts of the batch join, mostly with another text (None: the same); `gone`: those that it
    takes in with their facts.
    """

    observation: UUID
    text: str | None
    facts: tuple[UUID, ...]
    reason: str = ""
    gone: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class Batch:
    """What was decided on: facts as they were read, and in how many scopes each is consolidated in all.

    `older`: facts that are cited too, and that no longer wait.
    """

    shelf: Shelf
    facts: tuple[Pending, ...]
    passes: Mapping[UUID, int]
    older: tuple[Pending, ...] = ()


@dataclass(frozen=True)
class Decided:
    """What is to be done; `vectors`: (d,) of each text."""

    creates: Sequence[Create] = ()
    changes: Sequence[Change] = ()
    vectors: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Applied:
    """What was done; facts that are not in `done` have changed meanwhile and wait, `skipped` actions stood on such."""

    created: int = 0
    updated: int = 0
    deleted: int = 0
    done: frozenset[UUID] = frozenset()
    skipped: Mapping[str, int] = field(default_factory=dict)


async def apply(
    connection: Connection, operation: UUID, batch: Batch, decided: Decided, now: datetime
) -> Applied:
    """Write a decision and mark the facts of its batch; inside `Round.writing()`."""
    work = _Writing(connection, batch.shelf, now, decided.vectors)
    live = await work.live(batch.facts, batch.older)
    standing = await work.standing(decided.changes)
    creates = [(one, _refused(one.facts, live)) for one in decided.creates]
    changes = [
        (one, _refused(one.facts, live) if standing.issuperset(_about(one)) else OBSERVATION_GONE)
        for one in decided.changes
    ]
    taken = [one for one, why in changes if not why]
    await work.change(taken)
    created = await work.create([one for one, why in creates if not why])
    left = [(one.facts, why) for one, why in creates] + [(one.facts, why) for one, why in changes]
    done = live.intersection(fact.id for fact in batch.facts).difference(
        *(facts for facts, why in left if why)
    )
    await work.mark(operation, done, batch.passes)
    return Applied(
        created=created,
        updated=len(taken),
        deleted=sum(len(one.gone) for one in taken),
        done=frozenset(done),
        skipped=Counter(why for _, why in left if why),
    )


async def mark_failed(
    connection: Connection, shelf: Shelf, facts: Sequence[Pending], now: datetime
) -> frozenset[UUID]:
    """Mark facts for which no answer could be had, where they are as they were read; inside `Round.writing()`."""
    work = _Writing(connection, shelf, now)
    live = await work.live(facts)
    await execute(connection, "observing.fail", {"ids": list(live), "now": now})
    return frozenset(live)


def _refused(facts: Sequence[UUID], live: set[UUID]) -> str | None:
    """Return why what is said of these facts is not written, or None."""
    return None if live.issuperset(facts) else FACT_CHANGED


def _about(change: Change) -> tuple[UUID, ...]:
    """Return the observations that a change is about."""
    return (change.observation, *change.gone)


@dataclass(frozen=True)
class _Writing:
    """One transaction on one shelf."""

    connection: Connection
    shelf: Shelf
    now: datetime
    vectors: Mapping[str, np.ndarray] = field(default_factory=dict)

    async def live(self, facts: Sequence[Pending], older: Sequence[Pending] = ()) -> set[UUID]:
        """Lock the facts that still wait, or are older, as they were read.

        Nobody deletes facts of the bank from here on, nor says these again, which would count them.
        """
        every, bank, audience = [*facts, *older], self.shelf.bank, self.shelf.audience
        read = {
            "ids": [fact.id for fact in every],
            "revisions": [fact.revision for fact in every],
            "proofs": [fact.proof_count for fact in every],
            "waiting": [True] * len(facts) + [False] * len(older),
        }
        rows = await self._rows("statements", ids=read["ids"])
        await mentions.beside(self.connection, bank, audience, [bytes(row["statement"]) for row in rows])
        rows = await self._rows("live", **read)
        return {row["id"] for row in rows}

    async def standing(self, changes: Sequence[Change]) -> set[UUID]:
        """Lock the observations that changes are about, and return those that still stand."""
        ids = [id_ for change in changes for id_ in _about(change)]
        return {row["id"] for row in await self._rows("standing", ids=ids)} if ids else set()

    async def change(self, changes: Sequence[Change]) -> None:
        """Let observations say what they shall, on what they stand on now, and delete those that they take in."""
        if not changes:
            return
        said = {one.observation: one.text for one in changes if one.text is not None}
        if said:
            reasons = [one.reason for one in changes if one.observation in said]
            await self._do("keep_versions", ids=list(said), reasons=reasons)
            await self._do("trim_versions", ids=list(said), kept=VERSIONS)
            await self._do("say", ids=list(said), texts=list(said.values()))
            await units.unindex(self.connection, self.shelf.bank, list(said))
        pairs = [(change.observation, gone) for change in changes for gone in change.gone]
        if pairs:
            heirs, gone = zip(*pairs, strict=True)
            await self._do("take_in", heirs=list(heirs), gone=list(gone))
            await self._do("hand_models", heirs=list(heirs), gone=list(gone))
            await self._do("delete", gone=list(gone))
        await self._stand((change.observation, change.facts) for change in changes)
        await self._index(said)

    async def create(self, creates: Sequence[Create]) -> int:
        """Store new observations, and return how many."""
        if not creates:
            return 0
        made = {new_id(): create for create in creates}
        texts = [create.text for create in creates]
        await self._do("create", ids=list(made), texts=texts, position=OBSERVED)
        await self._stand((id_, create.facts) for id_, create in made.items())
        await self._index({id_: create.text for id_, create in made.items()})
        return len(made)

    async def mark(self, operation: UUID, done: set[UUID], passes: Mapping[UUID, int]) -> None:
        """Mark facts as done in this scope, and wholly where none is left; tell their documents."""
        ids = sorted(done)
        counts = [passes.get(id_, 1) for id_ in ids]
        for step in ("pass", "finish"):
            await self._do(step, ids=ids, passes=counts)
        event = history.Event(history.Act.CONSOLIDATION, operation)
        for row in await self._rows("documents", ids=ids):
            await history.record(self.connection, row["document"], event, self.now)

    async def _stand(self, cited: Iterable[tuple[UUID, Sequence[UUID]]]) -> None:
        """Let observations stand on facts too, with all that follows from that."""
        pairs = [(observation, facts) for observation, facts in cited]
        observations = [observation for observation, facts in pairs for _ in facts]
        sources = [fact for _, facts in pairs for fact in facts]
        await self._do("cite", observations=observations, sources=sources)
        for step in ("weigh", "unname", "name"):
            await self._do(step, ids=[observation for observation, _ in pairs])

    async def _index(self, said: Mapping[UUID, str]) -> None:
        """Store the search rows of observations."""
        if not said:
            return
        rows = await self._rows("addresses", ids=list(said))
        kind, texts = FactType.OBSERVATION, [said[row["id"]] for row in rows]
        found = [
            indexed(text, row["mentioned_at"], (row["document"], OBSERVED, kind))
            for row, text in zip(rows, texts, strict=True)
        ]
        place = (self.connection, self.shelf.bank, self.shelf.audience)
        await units.add_postings(*place, found)
        vectors = np.stack([self.vectors[text] for text in texts])
        await units.add_vectors(*place, self.shelf.model, found, vectors)

    async def _do(self, name: str, **parameters: Any) -> None:
        await execute(self.connection, f"observing.{name}", self._given(parameters))

    async def _rows(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        return await fetch_all(self.connection, f"observing.{name}", self._given(parameters))

    def _given(self, parameters: dict[str, Any]) -> dict[str, Any]:
        shelf = {**vars(self.shelf), "scope": list(self.shelf.scope)}
        return {**shelf, "now": self.now, **parameters}
