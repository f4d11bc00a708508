"""A bank with facts and mental models, refreshes of them, and ways to look at what came of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memorybank import rounds
from memorybank.assembly import RecallForMentalModels
from memorybank.audience import Viewer
from memorybank.consolidate.stage import Consolidate
from memorybank.liveness import Worker
from memorybank.llm.retry import Patience
from memorybank.mental_models import trigger
from memorybank.mental_models.stage import MentalModels
from memorybank.model import Bank, RetainItem
from memorybank.operations import Kind, Status
from memorybank.recall.stage import Recall
from memorybank.retain.extraction import Asking
from memorybank.retain.extractors import extractor_for
from memorybank.retain.stage import Retain
from memorybank.sections import rendered
from memorybank.settings import Settings
from memorybank.storage import consolidations, directives, documents, mental_models, operations
from memorybank.storage.directives import Directive
from memorybank.storage.mental_models import Changes, Model, NewModel
from memorybank.storage.operations import OperationRecord
from memorybank.storage.pool import Database
from memorybank.testing.embedder import HashingEmbedder
from memorybank.testing.scripted_model import ScriptedModel, by_words

DAY = datetime(2031, 3, 1, 9, tzinfo=UTC)
OPERATOR = Viewer.operator()


@dataclass
class World:
    """`model` writes; None: the extractive engine. Facts are one a line, whoever writes."""

    database: Database
    settings: Settings
    bank: Bank
    audience: int
    model: Any = field(default_factory=ScriptedModel)
    embedder: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(64))

    @property
    def stage(self) -> MentalModels:
        recall = Recall(self.database, self.embedder, self.settings)
        return MentalModels(
            RecallForMentalModels(recall), self.model, self.embedder, self.database, self.settings
        )

    def with_(self, write: Any, **more: Any) -> "World":
        """Return the world with a model that writes this."""
        return replace(self, model=ScriptedModel(write=write, **more))

    async def direct(self, content: str, *tags: str, is_active: bool = True) -> Directive:
        """Give the bank a directive."""
        new = directives.Changes("rule", content, 0, is_active, tags)
        async with self.database.transaction() as connection:
            return await directives.add(connection, self.bank.id, new)

    async def keep(self, *lines: str, day: int = 1, audience: int | None = None, **about: Any) -> None:
        """Retain lines as facts that were said on a day of March 2031."""
        retain = Retain(
            self.database,
            self.embedder,
            lambda config: extractor_for(config, ScriptedModel(), Asking(1, Patience(longest=0.0))),
            self.settings,
        )
        item = RetainItem("\n".join(lines), DAY.replace(day=day), **about)
        submitted = await retain.submit(self.bank, audience or self.audience, [item], interactive=True)
        for child in submitted.children:
            assert await self.work(child, {Kind.RETAIN: retain.work}) is Status.COMPLETED

    async def consolidate(self, decide: Any = by_words) -> None:
        """Run consolidation to its end."""
        stage = Consolidate(self.database, self.embedder, ScriptedModel(decide=decide), self.settings)
        async with self.database.transaction() as connection:
            queued = await consolidations.queue(connection, self.bank.id)
        assert queued is not None
        while not (await self.operation(queued.operation_id)).status.terminal:
            await self.work(queued.operation_id, {Kind.CONSOLIDATION: stage.work})

    async def forget(self, document: str) -> None:
        async with self.database.transaction() as connection:
            await documents.delete(connection, self.bank.id, document, OPERATOR)

    async def make(
        self, id_: str = "page", query: str = "What of Ada?", tags: Sequence[str] = (), **asked: Any
    ) -> Model:
        """Make a model; nobody builds it yet."""
        max_tokens = asked.pop("max_tokens", 2048)
        new = NewModel(id_, id_.title(), query, tuple(tags), max_tokens, trigger.checked(asked))
        async with self.database.transaction() as connection:
            await mental_models.add(connection, self.bank.id, self.audience, new)
        return await self.get(id_)

    async def get(self, id_: str = "page", viewer: Viewer = OPERATOR) -> Model:
        async with self.database.connection() as connection:
            return await mental_models.get(connection, self.bank.id, viewer, id_)

    async def says(self, id_: str = "page") -> str:
        return rendered((await self.get(id_)).document)

    async def change(self, id_: str = "page", **changes: Any) -> None:
        async with self.database.transaction() as connection:
            model = await mental_models.get(connection, self.bank.id, OPERATOR, id_)
            await mental_models.update(connection, model, Changes(**changes))

    async def ask(self, id_: str = "page", *, anew: bool = False) -> UUID:
        async with self.database.transaction() as connection:
            model = await mental_models.get(connection, self.bank.id, OPERATOR, id_)
            return await mental_models.ask(connection, model, anew=anew)

    async def refresh(self, id_: str = "page", *, anew: bool = False) -> OperationRecord:
        """Refresh a model in one round and return the operation."""
        operation = await self.ask(id_, anew=anew)
        await self.work(operation)
        return await self.operation(operation)

    async def sweep(self) -> int:
        """Queue what is wanted, as the workers do every two seconds."""
        async with self.database.transaction() as connection:
            return await mental_models.sweep(connection, 0, trigger.next_time)

    async def work(self, operation: UUID, handlers: Any = None) -> Status | None:
        """Do one round."""
        worker = Worker(self.database, self.settings.worker)
        handlers = handlers or {Kind.REFRESH_MENTAL_MODEL: self.stage.work}
        return await rounds.run(self.database, handlers, operation, worker, self.settings.worker)

    async def waiting(self) -> list[UUID]:
        """Return the refreshes that wait."""
        found = await self.rows(
            "SELECT id FROM operation WHERE kind = 'refresh_mental_model' AND status = 'pending' ORDER BY id"
        )
        return [row["id"] for row in found]

    async def operation(self, operation: UUID) -> OperationRecord:
        async with self.database.connection() as connection:
            found = await operations.get(connection, self.bank.id, operation, OPERATOR)
        assert found is not None
        return found

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(sql.encode(), values)).fetchall()

    async def run(self, sql: str, *values: Any) -> None:
        async with self.database.transaction() as connection:
            await connection.execute(sql.encode(), values)

    async def history(self, id_: str = "page") -> list[str]:
        model = await self.get(id_)
        async with self.database.connection() as connection:
            rows = await mental_models.history(connection, OPERATOR, model.number)
        return [rendered(row["document"]) for row in rows]
