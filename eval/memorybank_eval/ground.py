"""A real database of the harness's own, without a server, and banks with facts as an extraction would give them."""

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from memorybank import clock, rounds
from memorybank.audience import Viewer
from memorybank.errors import MemoryBankError
from memorybank.liveness import Worker
from memorybank.llm.embedding import Embedder
from memorybank.model import Bank, Fact, RetainItem
from memorybank.operations import Kind, Status
from memorybank.retain.stage import Retain
from memorybank.retain.work import ChunkWork, Extraction
from memorybank.settings import Settings
from memorybank.storage import banks, models, operations
from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.migrate import migrate
from memorybank.storage.pool import Database
from memorybank.storage.queries import Row


@asynccontextmanager
async def fresh_database(settings: Settings) -> AsyncIterator[Database]:
    """Open an empty database on a server of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="memorybank-eval-") as home:
        server = EmbeddedServer(Path(home))
        try:
            conninfo = server.ensure()
            await migrate(conninfo)

            async def where() -> str:
                return conninfo

            database = Database(where, settings.database)
            await database.open()
            try:
                yield database
            finally:
                await database.close()
        finally:
            server.stop()


@dataclass(frozen=True)
class Given:
    """Extracts what is given: each line of a document that is the text of a fact is that fact. An `Extractor`."""

    facts: Mapping[str, Fact]

    async def extract(self, chunks: Sequence[ChunkWork]) -> list[Extraction]:
        """Return the facts of the lines."""
        return [
            Extraction(tuple(self.facts[line] for line in chunk.text.splitlines() if line in self.facts))
            for chunk in chunks
        ]


@dataclass(frozen=True)
class Ground:
    """A bank, what embeds for it, and its default audience."""

    database: Database
    settings: Settings
    embedder: Embedder
    bank: Bank
    audience: int

    @classmethod
    async def laid(cls, database: Database, settings: Settings, embedder: Embedder, bank_id: str) -> Self:
        """Return a new bank."""
        async with database.transaction() as connection:
            bank = await banks.ensure(connection, bank_id, clock.now())
            audience = await banks.default_audience(connection, bank.id)
            await models.embedding_model(connection, embedder.model, embedder.dimensions)
        return cls(database, settings, embedder, bank, audience)

    async def keep(self, items: Sequence[RetainItem], facts: Mapping[str, Fact]) -> None:
        """Retain items as one request; `facts` by their lines."""
        retain = Retain(self.database, self.embedder, lambda _: Given(facts), self.settings)
        submitted = await retain.submit(self.bank, self.audience, items, interactive=True)
        for child in submitted.children:
            await self.work(child, {Kind.RETAIN: retain.work})

    async def work(self, operation: UUID, handlers: Mapping[Kind, rounds.Handler]) -> dict[str, Any]:
        """Do an operation to its end and return its result; raises MemoryBankError where it does not complete."""
        worker = Worker(self.database, self.settings.worker)
        status: Status | None = Status.PENDING
        while status is Status.PENDING:
            status = await rounds.run(self.database, handlers, operation, worker, self.settings.worker)
        async with self.database.connection() as connection:
            done = await operations.get(connection, self.bank.id, operation, Viewer.operator())
        if done is None or status is not Status.COMPLETED:
            raise MemoryBankError(f"bank {self.bank.bank_id}: {done and (done.error_message or done.status)}")
        return dict(done.result or {})

    async def rows(self, sql: str, **parameters: Any) -> list[Row]:
        """Return the rows of a statement about the bank."""
        async with self.database.connection() as connection:
            return await (await connection.execute(sql, {"bank": self.bank.id, **parameters})).fetchall()
