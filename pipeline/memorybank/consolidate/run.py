"""One round of consolidation: facts of a bank, batch by batch, each written as it is decided.

Batches of one lane follow each other, lanes go side by side. A batch that fails is halved down to the fact that is at
fault, which is marked. But where nothing is answered the model is at fault: the round ends with its error and marks
nothing, so that a bad hour of a model costs no fact, and no fact stops the others.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.consolidate.batching import WINDOW, Lane, batches, first, halves
from memorybank.consolidate.deciding import Decider, Verdict
from memorybank.consolidate.decision import USELESS, without_twins
from memorybank.consolidate.scopes import scopes_of
from memorybank.errors import ModelError, ModelMalformed, ModelRefused, ModelTruncated, ModelUnavailable
from memorybank.llm.embedding import Embedder, RemoteEmbedder
from memorybank.llm.passages import passage_vectors
from memorybank.operations import Outcome
from memorybank.rounds import Round
from memorybank.settings import BankConfig, Settings
from memorybank.storage import llm_calls, observations, observing, retains
from memorybank.storage.observations import Pending, Scope, Shelf, Wait
from memorybank.storage.observing import Batch, Decided
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection

#: What a batch can fail by, where others may not. Any other error of a model the next one would meet too.
OWN = (ModelMalformed, ModelTruncated, ModelRefused, ModelUnavailable)
#: Texts whose vectors are as near as this may say the same (cosine).
NEAR = 0.97
#: Failures in a row by which the model counts as broken, or as away: before it has answered anything in the round, when
#: it was asked about two batches and a fact of each; and later, when more facts can hardly be too much for it at once.
SILENT_AT_FIRST, SILENT = 4, 8
#: Failures in a row that one fact accounts for: with its neighbour, and alone.
SILENT_FOR_ONE = 2
#: What counts in the progress have before the reason: of skipped actions, of facts without an answer.
SKIPPED, FAILED = "skipped_", "failed_"


@dataclass(frozen=True)
class Part:
    """Facts that are decided on together; `whole`: no part of a batch that failed.

    `failed_at`: how many answers there had been when it failed for the first time.
    """

    facts: tuple[Pending, ...]
    whole: bool = True
    failed_at: int | None = None


@dataclass
class Line:
    """What is still to be decided in a lane."""

    lane: Lane
    waiting: deque[Part]


@dataclass(frozen=True)
class Stuck:
    """A fact without an answer; `alone`: no part of a batch; `proven`: others were answered between its failures."""

    lane: Lane
    fact: Pending
    error: ModelError
    alone: bool
    proven: bool


@dataclass
class Run:
    """A round over a bank. `counts` adds up over all rounds of the operation; they are stored as its progress.

    `wanted`: the scopes that were asked for, None for all; `model`: the number of the embedding model. `answers`:
    batches that were answered; `silent`: failures since then that may be the model's fault.
    """

    database: Database
    embedder: Embedder | RemoteEmbedder
    decider: Decider
    settings: Settings
    round: Round
    config: BankConfig
    wanted: Sequence[Scope] | None
    model: int
    counts: Counter[str]
    answers: int = 0
    silent: int = 0
    stuck: list[Stuck] = field(default_factory=list)
    stopped: ModelError | None = None
    total: int = 0

    async def consolidate(self) -> bool:
        """Decide on facts that wait; returns whether more do. Raises what stops a round."""
        before = self.processed
        cap = self.config.consolidation_max_memories_per_round or WINDOW
        most = max(WINDOW, cap)
        wait = Wait(self.config.consolidation_llm_batch_size, self.settings.consolidation.max_wait_seconds)
        facts = await self.database.ask(observations.pending, self.round.claim.bank, most, wait, self.wanted)
        cut = batches(facts, self.wanted, min(self.decider.batch, cap))
        self.total = before + sum(len(inside) for _, inside in cut)
        by_lane: dict[Lane, Line] = {}
        for lane, inside in first(cut, cap):
            by_lane.setdefault(lane, Line(lane, deque())).waiting.append(Part(inside))
        lines = deque(by_lane.values())
        # One at a time until there is an answer: a broken model is asked less, and a good one knows the prompt then.
        await self._work(lines, first=True)
        async with asyncio.TaskGroup() as group:
            for _ in range(self.config.consolidation_llm_parallelism):
                group.create_task(self._work(lines))
        await self._end_failures()
        if self.stopped:
            raise self.stopped
        waits = len(facts) == most or self.processed < self.total
        return bool(lines) or (waits and self.processed > before)

    async def _work(self, lines: deque[Line], *, first: bool = False) -> None:
        """Take lines in turn until none is left or the round ends; `first`: until something is answered."""
        while lines and not self.stopped and not self.round.over() and not (first and self.answers):
            line = lines.popleft()
            part = line.waiting.popleft()
            await self._decide(line, part)
            if line.waiting and first and part.whole and len(part.facts) > 1:
                lines.appendleft(line)
            elif line.waiting:
                lines.append(line)

    async def _decide(self, line: Line, part: Part) -> None:
        """Decide on one batch and write what was decided; one that fails is halved, at the end of its line."""
        shelf = self._shelf(line.lane)
        try:
            verdict = await self.decider.decide(shelf, part.facts, whole=part.whole)
        except OWN as error:
            self._failed(line, part, error)
        except ModelError as error:
            self.stopped = self.stopped or error
        else:
            self.answers, self.silent = self.answers + 1, 0
            await self._write(shelf, part.facts, verdict)

    def _shelf(self, lane: Lane) -> Shelf:
        return Shelf(self.round.claim.bank, lane.audience, lane.scope, self.model)

    def _failed(self, line: Line, part: Part, error: ModelError) -> None:
        """Divide a batch, or stop where the model seems to be at fault.

        Before there was any answer one fact of the batch is asked about first, in each run another one. A fact gets a
        second chance at the end of its line: the model may have been away.
        """
        if not self.answers or isinstance(error, ModelUnavailable):
            self.silent += 1
        if self.silent >= (SILENT if self.answers else SILENT_AT_FIRST):
            self.stopped = self.stopped or error
        elif len(part.facts) > 1:
            self._divide(line, list(part.facts))
        elif part.failed_at is None and not isinstance(error, ModelRefused):
            line.waiting.append(replace(part, failed_at=self.answers))
        else:
            proven = self.answers > (part.failed_at or 0)
            self.stuck.append(Stuck(line.lane, part.facts[0], error, part.whole, proven))

    def _divide(self, line: Line, facts: list[Pending]) -> None:
        self.counts["batches_halved"] += 1
        if not self.answers:
            one = facts.pop((self.round.claim.lease.operation_id.int + self.silent) % len(facts))
            line.waiting.appendleft(Part((one,), whole=False))
        line.waiting.extend(Part(half, whole=False) for half in halves(facts))

    async def _end_failures(self) -> None:
        """Mark the facts that no answer could be had for; where it may be the model's fault, stop instead."""
        for one in self.stuck:
            if self._may_be_the_model(one):
                self.stopped = self.stopped or one.error
                continue
            async with self.round.writing() as connection:
                marked = await observing.mark_failed(
                    connection, self._shelf(one.lane), [one.fact], clock.now()
                )
                self.counts["facts_failed"] += len(marked)
                self.counts[f"{FAILED}{one.error.code}"] += len(marked)
                await self._report(connection)

    def _may_be_the_model(self, one: Stuck) -> bool:
        """Whether a fact may be stuck by the model's fault."""
        if isinstance(one.error, ModelUnavailable):
            return not one.proven and (one.alone or self.silent > SILENT_FOR_ONE)
        return not self.answers and self.stopped is not None

    async def _write(self, shelf: Shelf, facts: Sequence[Pending], verdict: Verdict) -> None:
        """Write what was decided on facts, in one transaction with the marks that they are done."""
        decision = verdict.decision
        said = [one.text for one in decision.creates] + [one.text for one in decision.changes if one.text]
        home, prefix = (shelf.bank, shelf.model), self.settings.embeddings.passage_prefix
        vectors = await passage_vectors(self.database, self.embedder, home, said, prefix)
        near = [vectors[create.text] for create in decision.creates]
        if near:
            twins = await self.database.ask(observations.twins, shelf, np.stack(near), NEAR)
            decision = without_twins(decision, twins)
        decided = Decided(decision.creates, decision.changes, vectors)
        passes = {fact.id: len(scopes_of(fact.tags, fact.scopes)) for fact in facts}
        batch = Batch(shelf, tuple(facts), passes, verdict.older)
        async with self.round.writing() as connection:
            operation = self.round.claim.lease.operation_id
            applied = await observing.apply(connection, operation, batch, decided, clock.now())
            self.counts["facts"] += len(applied.done)
            self.counts["created"] += applied.created
            self.counts["updated"] += applied.updated
            self.counts["deleted"] += applied.deleted
            for reason, count in (*decision.skipped.items(), *applied.skipped.items()):
                self.counts[f"{SKIPPED}{reason}"] += count
            await self._report(connection)

    @property
    def processed(self) -> int:
        """Return for how many facts an answer was had or given up, over all rounds; a fact counts in each scope."""
        return self.counts["facts"] + self.counts["facts_failed"]

    async def _report(self, connection: Connection) -> None:
        await self.round.report(connection, "consolidation", self.processed, self.total, **self.counts)

    async def end(self) -> Outcome:
        """Return the outcome where nothing waits any more; raises ModelError where no fact got an answer."""
        result = await self._result()
        said = list(self._losses())
        if not said:
            return Outcome(result=result)
        message = "; ".join(said)
        if self.counts["facts_failed"] and not self.counts["facts"]:
            async with self.round.writing() as connection:
                await retains.set_result(connection, self.round.claim.lease.operation_id, result)
            raise ModelError(message)
        return Outcome(result=result, error_message=message)

    def _losses(self) -> Iterator[str]:
        """Say what was lost: facts without an answer, and actions that could not be taken."""
        if failed := self.counts["facts_failed"]:
            yield f"{failed} of {self.processed} facts could not be consolidated ({_listed(self._named(FAILED))})"
        useless = Counter({reason: self.counts[f"{SKIPPED}{reason}"] for reason in USELESS})
        if count := useless.total():
            yield f"{count} actions of the model could not be taken ({_listed(+useless)})"

    def _named(self, prefix: str) -> Counter[str]:
        """Return the counts under a prefix, without it."""
        found = {name: count for name, count in self.counts.items() if count and name.startswith(prefix)}
        return Counter({name.removeprefix(prefix): count for name, count in found.items()})

    async def _result(self) -> dict[str, Any]:
        """Return what the operation did, by number: the wire's names where it has one."""
        claim = self.round.claim
        async with self.database.connection() as connection:
            # Its calls are of the audiences whose facts they were about.
            calls, used = await llm_calls.spent(connection, claim.lease.operation_id, Viewer.operator())
        return {
            "observations_created": self.counts["created"],
            "observations_updated": self.counts["updated"],
            "observations_deleted": self.counts["deleted"],
            "facts_consolidated": self.counts["facts"],
            "facts_failed": self.counts["facts_failed"],
            "failed_by_reason": self._named(FAILED),
            "skipped_by_reason": self._named(SKIPPED),
            "batches_halved": self.counts["batches_halved"],
            "llm_calls": calls,
            "usage": used.counts(),
            "cost": used.cost,
        }


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
