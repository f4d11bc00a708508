"""MemoryBank: all that memorybank does, in one place. Read this file first.

    async with MemoryBank.opened(load()) as memory:
        await memory.retain("team", [RetainItem("Ana moved the release to Friday.", timestamp=now())])
        result = await memory.recall("team", RecallQuery("When is the release?"), Viewer.operator())

Each method is a few lines: it finds the bank, and hands over to the room that does the work.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

from memorybank import paths, rounds
from memorybank.assembly import Parts, assembled
from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.liveness import Worker
from memorybank.model import Bank, RetainItem, TokenUsage
from memorybank.operations import Kind
from memorybank.recall.query import RecallQuery
from memorybank.recall.stage import RecallResult
from memorybank.reflect.stage import Reflection, ReflectQuery
from memorybank.retain.stage import Submitted
from memorybank.settings import BankConfig, Settings, resolve_bank, stage_model
from memorybank.storage import banks, operations, workers
from memorybank.storage.migrate import migrate
from memorybank.storage.pool import Database
from memorybank.storage.server import Server

#: Seconds between two looks at an operation that another process works on.
POLL_SECONDS = 0.05


class MemoryBank:
    """Long-term memory over one database; make one per process with `opened`."""

    def __init__(self, settings: Settings, database: Database, worker: Worker, parts: Parts) -> None:
        self.settings = settings
        self.database = database
        self._worker = worker
        self._retain = parts.retain
        self._recall = parts.recall
        self._reflect = parts.reflect
        self._handlers: Mapping[Kind, rounds.Handler] = {Kind.RETAIN: parts.retain.work}

    @classmethod
    @asynccontextmanager
    async def opened(cls, settings: Settings, home: Path | None = None) -> AsyncIterator["MemoryBank"]:
        """Find or start the database, bring its schema up to date, and give a MemoryBank for this event loop."""
        server = Server(settings.database, home or paths.home())
        await migrate(await server.conninfo())
        database = Database(server.conninfo, settings.database)
        await database.open()
        worker = Worker(database, settings.worker)
        try:
            async with assembled(settings, database) as parts:
                yield cls(settings, database, worker, parts)
        finally:
            await worker.stop()
            await database.close()
            await server.stop()

    @property
    def engine(self) -> str:
        """The language model that reads and answers, or `extractive`."""
        model = stage_model(self.settings, "retain")
        return "extractive" if model.extractive else model.model

    # --- retain, recall, reflect ---

    async def submit(
        self, bank_id: str, items: Sequence[RetainItem], *, operation_id: UUID | None = None
    ) -> Submitted:
        """Queue items for the workers and return the operation to ask about."""
        bank, audience = await self._writable(bank_id)
        return await self._retain.submit(bank, audience, items, operation_id=operation_id, interactive=False)

    async def retain(self, bank_id: str, items: Sequence[RetainItem]) -> TokenUsage:
        """Keep items now and return what the models used; raises MemoryBankError when one could not be kept.

        The work is an operation like any other: should this process die, a worker ends it.
        """
        bank, audience = await self._writable(bank_id)
        submitted = await self._retain.submit(bank, audience, items, operation_id=None, interactive=True)
        await asyncio.gather(*(self._finish(child) for child in submitted.children))
        return await self._outcome(bank, submitted.operation_ids)

    async def recall(self, bank_id: str, query: RecallQuery, viewer: Viewer) -> RecallResult:
        """Find what is remembered; a bank that is not there remembers nothing."""
        query.check(self.settings.recall)
        try:
            bank = await self.bank(bank_id)
        except NotFound:
            return RecallResult()
        return await self._recall(bank, self.config_of(bank), query, viewer)

    async def reflect(self, bank_id: str, query: ReflectQuery, viewer: Viewer) -> Reflection:
        """Answer from what is remembered."""
        query.check(self.settings.recall)
        bank = await self.bank(bank_id)
        return await self._reflect(bank, self.config_of(bank), query, viewer)

    # --- background work ---

    async def work(self, operation_id: UUID) -> None:
        """Do one round of an operation (called by the workers)."""
        await rounds.run(self.database, self._handlers, operation_id, self._worker, self.settings.worker)

    async def living_workers(self) -> int:
        """Return how many processes hold a worker's lock."""
        async with self.database.connection() as connection:
            return await workers.living(connection)

    async def _finish(self, operation_id: UUID) -> None:
        """Work on an operation until it has ended, here or in a worker that was quicker."""
        while True:
            await self.work(operation_id)
            async with self.database.connection() as connection:
                if (await operations.status(connection, operation_id)).terminal:
                    return
            await asyncio.sleep(POLL_SECONDS)

    # --- banks ---

    async def bank(self, bank_id: str) -> Bank:
        """Return a bank; raises NotFound."""
        async with self.database.connection() as connection:
            return await banks.get(connection, bank_id)

    def config_of(self, bank: Bank) -> BankConfig:
        """Return a bank's configuration: its overrides over the installation's defaults."""
        return resolve_bank(self.settings.bank, bank.config)
