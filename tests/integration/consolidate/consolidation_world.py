"""A bank with facts, runs of consolidation, and ways to look at what came of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memorybank import clock, rounds
from memorybank.audience import Viewer
from memorybank.consolidate.stage import Consolidate
from memorybank.liveness import Worker
from memorybank.llm.retry import Patience
from memorybank.model import Bank, RetainItem
from memorybank.operations import Kind, Status
from memorybank.retain.extraction import Asking
from memorybank.retain.extractors import extractor_for
from memorybank.retain.stage import Retain
from memorybank.settings import Settings
from memorybank.storage import banks, consolidations, operations
from memorybank.storage.operations import OperationRecord
from memorybank.storage.pool import Database
from memorybank.testing.embedder import HashingEmbedder
from memorybank.testing.scripted_model import ScriptedModel

DAY = datetime(2031, 3, 1, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Observed:
    """An observation as it is stored, with the texts of the facts that it stands on."""

    text: str
    proof_count: int
    tags: tuple[str, ...]
    sources: frozenset[str]


@dataclass
class World:
    """`model` decides; None: the extractive engine. Facts are one a line, whoever decides."""

    database: Database
    settings: Settings
    bank: Bank
    audience: int
    model: Any = field(default_factory=ScriptedModel)
    embedder: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(64))

    @property
    def stage(self) -> Consolidate:
        return Consolidate(self.database, self.embedder, self.model, self.settings)

    async def configure(self, **config: Any) -> None:
        async with self.database.connection() as connection:
            self.bank = await banks.set_config(connection, self.bank, config, clock.now())

    async def keep(self, *lines: str, day: int = 1, **about: Any) -> None:
        """Retain lines as facts that were said on a day of March 2031."""
        extract = ScriptedModel()
        retain = Retain(
            self.database,
            self.embedder,
            lambda config: extractor_for(config, extract, Asking(1, Patience(longest=0.0))),
            self.settings,
        )
        item = RetainItem("\n".join(lines), DAY.replace(day=day), **about)
        submitted = await retain.submit(self.bank, self.audience, [item], interactive=True)
        for child in submitted.children:
            assert await self.work(child, {Kind.RETAIN: retain.work}) is Status.COMPLETED

    async def work(self, operation: UUID, handlers: Any = None) -> Status | None:
        """Do one round."""
        worker = Worker(self.database, self.settings.worker)
        handlers = handlers or {Kind.CONSOLIDATION: self.stage.work}
        return await rounds.run(self.database, handlers, operation, worker, self.settings.worker)

    async def queue(self, *scopes: Sequence[str]) -> UUID:
        async with self.database.transaction() as connection:
            asked = [tuple(scope) for scope in scopes] or None
            queued = await consolidations.queue(connection, self.bank.id, asked)
        assert queued is not None
        return queued.operation_id

    async def consolidate(self, *scopes: Sequence[str], rounds_: int = 50) -> OperationRecord:
        """Run consolidation to its end and return the operation."""
        operation = await self.queue(*scopes)
        for _ in range(rounds_):
            await self.work(operation)
            record = await self.operation(operation)
            if record.status.terminal or record.retry_at is not None:
                return record
        raise AssertionError(f"no end after {rounds_} rounds: {record}")

    async def operation(self, operation: UUID) -> OperationRecord:
        async with self.database.connection() as connection:
            found = await operations.get(connection, self.bank.id, operation, Viewer.operator())
        assert found is not None
        return found

    async def observed(self) -> list[Observed]:
        """Return the observations in the order in which they were made."""
        rows = await self.rows(
            "SELECT u.text, u.proof_count, u.tags, array_agg(f.text) AS sources FROM memory_unit u"
            " JOIN observation_source s ON s.observation = u.id JOIN memory_unit f ON f.id = s.source"
            " WHERE u.fact_type = 'observation' GROUP BY u.id ORDER BY u.created_at, u.id"
        )
        return [
            Observed(row["text"], row["proof_count"], tuple(row["tags"]), frozenset(row["sources"]))
            for row in rows
        ]

    async def texts(self) -> list[str]:
        return [one.text for one in await self.observed()]

    async def facts(self) -> dict[str, str]:
        """Return how each fact stands with consolidation, by its text."""
        rows = await self.rows(
            "SELECT u.text, consolidation_state(u) AS state FROM memory_unit u"
            " WHERE u.fact_type <> 'observation' ORDER BY u.created_at, u.id"
        )
        return {row["text"]: row["state"] for row in rows}

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(sql, values)).fetchall()

    def with_(self, decide: Callable[[str], Any] | None) -> "World":
        """Return the world with another model; None: the extractive engine."""
        return replace(self, model=decide and ScriptedModel(decide=decide))
