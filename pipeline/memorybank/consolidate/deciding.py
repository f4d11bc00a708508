"""Who decides on a batch: a model that is shown what is near, or counting where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from uuid import UUID

from memorybank.consolidate import extractive, prompting
from memorybank.consolidate.decision import Board, Decision, decide
from memorybank.consolidate.scopes import limit_of, scopes_of
from memorybank.llm.client import LanguageModel
from memorybank.llm.ledger import StoredLedger
from memorybank.llm.retry import Budget, Patience, Tried
from memorybank.llm.structured import structured
from memorybank.settings import BankConfig, Settings, stage_model
from memorybank.storage import observations
from memorybank.storage.llm_calls import Caller
from memorybank.storage.observations import Pending, Shelf
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection

#: Observations shown to a model for each fact, the nearest to it; at least so many in all. Of 200 restatements and 100
#: changes planted among 2,000 facts the right observation is among 3 in 100 % and 95 %, among 6 in 100 % and 98 %.
SHOWN_EACH, SHOWN_LEAST = 6, 12


@dataclass(frozen=True)
class Verdict:
    """What becomes of facts; `older`: facts looked at before that are cited too."""

    decision: Decision
    older: tuple[Pending, ...] = ()


class Decider(Protocol):
    """Decides what facts of one shelf become."""

    @property
    def batch(self) -> int:
        """Return how many facts it is given at most."""
        ...

    async def decide(self, shelf: Shelf, facts: Sequence[Pending], *, whole: bool) -> Verdict:
        """Return what becomes of facts. `whole`: they are no part of a batch that failed.

        Raises the ModelError of the last attempt.
        """
        ...


@dataclass(frozen=True)
class ByModel:
    """One call for each batch. No connection is held while it lasts."""

    model: LanguageModel
    database: Database
    settings: Settings
    config: BankConfig
    operation: UUID

    @property
    def batch(self) -> int:
        """Return what the bank wants."""
        return self.config.consolidation_llm_batch_size

    async def decide(self, shelf: Shelf, facts: Sequence[Pending], *, whole: bool) -> Verdict:
        """Ask the model."""
        board = await self._board(shelf, facts)
        own = stage_model(self.settings, "consolidation")
        budget = Budget(
            self.settings.consolidation.attempts, Patience(own.backoff_seconds, own.backoff_cap_seconds)
        )
        # Part of what failed was asked about before: to divide it again comes before any repair.
        tried = Tried(malformed=int(not whole), divisible=len(facts) > 1)
        request = prompting.request(board, self.config, own.max_output_tokens)
        read = partial(decide, board=board)
        ledger = StoredLedger(self.database, Caller(shelf.bank, shelf.audience, self.operation))
        return Verdict(await structured(self.model, request, read, budget, ledger, tried))

    async def _board(self, shelf: Shelf, facts: Sequence[Pending]) -> Board:
        """Return the facts with what is known near them."""
        async with self.database.connection() as connection:
            ids = [fact.id for fact in facts]
            most = max(SHOWN_LEAST, SHOWN_EACH * len(ids))
            shown = await observations.candidates(connection, shelf, ids, most)
            room = await _room(connection, shelf, self.config)
        return Board(facts, shown, room, bool(self.config.llm_output_language), prompting.system())


@dataclass(frozen=True)
class ByCounting:
    """The extractive engine."""

    database: Database
    config: BankConfig

    @property
    def batch(self) -> int:
        """Return as many as are looked at together."""
        return extractive.BATCH

    async def decide(self, shelf: Shelf, facts: Sequence[Pending], *, whole: bool) -> Verdict:
        """Count what is said again."""
        ids = [fact.id for fact in facts]
        async with self.database.connection() as connection:
            alike = await observations.alike(connection, shelf, ids, extractive.openings(facts))
            older = tuple(one for one in alike if shelf.scope in scopes_of(one.tags, one.scopes))
            cited = [*ids, *(one.id for one in older)]
            shown = await observations.standing_on(connection, shelf, cited)
            room = await _room(connection, shelf, self.config)
        return Verdict(extractive.decide(facts, older, shown).within(room), older)


async def _room(connection: Connection, shelf: Shelf, config: BankConfig) -> int | None:
    """Return how many observations a scope can still take, None for any number."""
    limit = limit_of(shelf.scope, config)
    return None if limit is None else limit - await observations.count(connection, shelf)
