"""A bank, the stage and ways to look at what was stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memorybank import clock, rounds
from memorybank.audience import Viewer
from memorybank.liveness import Worker
from memorybank.llm.retry import Patience
from memorybank.model import Bank, EntityInput, RetainItem, UnitStatus
from memorybank.operations import Kind, Status
from memorybank.retain.curating import Curate
from memorybank.retain.editing import Edit
from memorybank.retain.extraction import Asking
from memorybank.retain.extractors import extractor_for
from memorybank.retain.stage import Retain, Submitted
from memorybank.settings import Settings, resolve_bank
from memorybank.storage import banks, documents, listings, operations
from memorybank.storage.operations import OperationRecord
from memorybank.storage.pool import Database
from memorybank.testing.embedder import HashingEmbedder

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass
class World:
    """`model` None: the extractive engine. `config`: the bank's overrides."""

    database: Database
    settings: Settings
    bank: Bank
    audience: int
    model: Any = None
    embedder: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(64))

    @property
    def retain(self) -> Retain:
        asking = Asking(self.settings.retain.attempts, Patience(longest=0.0))
        return Retain(
            self.database,
            self.embedder,
            lambda config: extractor_for(config, self.model, asking),
            self.settings,
        )

    async def configure(self, **config: Any) -> None:
        async with self.database.connection() as connection:
            self.bank = await banks.set_config(connection, self.bank, config, clock.now())

    async def submit(self, *items: RetainItem, **options: Any) -> Submitted:
        return await self.retain.submit(self.bank, self.audience, items, **options)

    async def work(self, operation: UUID) -> Status | None:
        """Do one round."""
        worker = Worker(self.database, self.settings.worker)
        handlers = {Kind.RETAIN: self.retain.work}
        return await rounds.run(self.database, handlers, operation, worker, self.settings.worker)

    async def keep(self, *items: RetainItem, **options: Any) -> OperationRecord:
        """Submit, do a round of each child, and return the parent."""
        submitted = await self.submit(*items, interactive=True, **options)
        for child in submitted.children:
            await self.work(child)
        return await self.operation(submitted.operation_id)

    async def found(self, document_id: str) -> documents.Held:
        async with self.database.connection() as connection:
            found = await documents.find(connection, self.bank.id, document_id, Viewer.operator())
        assert found is not None
        return found

    async def reprocess(self, document_id: str) -> OperationRecord:
        """Read a document again, in one round, and return the operation."""
        submitted = await self.retain.again(self.bank, await self.found(document_id))
        for child in submitted.children:
            await self.work(child)
        return await self.operation(submitted.operation_id)

    async def edit(
        self,
        fact: UUID,
        *,
        names: Sequence[str] | None = None,
        exact: bool = False,
        status: UnitStatus | None = None,
        reason: str | None = None,
        viewer: Viewer | None = None,
        **fields: Any,
    ) -> None:
        """Change a fact as a person does."""
        given = None if names is None else tuple(map(EntityInput, names))
        curate = Curate(self.database, self.embedder, self.settings)
        config = resolve_bank(self.settings.bank, self.bank.config)
        edit = Edit(fields, given, not exact, status, reason)
        await curate(self.bank, config, fact, edit, viewer or Viewer.operator())

    async def history(self, document_id: str) -> list[tuple[str, int, int]]:
        """What was done to a document, the oldest first: the act, facts added and removed."""
        held = await self.found(document_id)
        async with self.database.connection() as connection:
            found = await listings.list_history(connection, Viewer.operator(), held.number, listings.Page())
        assert found.total == len(found.rows)
        return [(row["kind"], row["facts_added"], row["facts_removed"]) for row in reversed(found.rows)]

    async def operation(self, operation: UUID) -> OperationRecord:
        async with self.database.connection() as connection:
            found = await operations.get(connection, self.bank.id, operation, Viewer.operator())
        assert found is not None
        return found

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(sql, values)).fetchall()

    async def texts(self) -> list[str]:
        return [
            row["text"] for row in await self.rows("SELECT text FROM memory_unit ORDER BY document, position")
        ]

    async def count(self, table: str) -> int:
        return int((await self.rows(f"SELECT count(*) AS n FROM {table}"))[0]["n"])  # noqa: S608

    async def entity_names(self) -> list[str]:
        return [row["name"] for row in await self.rows("SELECT name FROM entity ORDER BY key")]

    async def consistent(self) -> None:
        """Every active unit has its vector and, where it has words, its postings; and nothing else has."""
        [row] = await self.rows(
            "SELECT count(*) AS units, count(e.position) AS vectors,"
            " count(*) FILTER (WHERE u.position / 1024 <> c.ordinal) AS misplaced FROM memory_unit u"
            " JOIN chunk c ON c.id = u.chunk LEFT JOIN embedding e"
            " ON e.bank = u.bank AND e.document = u.document_number AND e.position = u.position"
        )
        assert row["units"] == row["vectors"] == await self.count("embedding")
        assert row["misplaced"] == 0
        orphans = await self.rows(
            "SELECT 1 FROM posting p LEFT JOIN memory_unit u"
            " ON u.bank = p.bank AND u.document_number = p.document AND u.position = p.position WHERE u.id IS NULL"
        )
        assert orphans == []


def item(content: str, **fields: Any) -> RetainItem:
    return RetainItem(content, fields.pop("timestamp", AT), **fields)


def lines(*texts: str) -> str:
    return "\n".join(texts)


def reasons(results: Sequence[dict[str, Any]]) -> list[str]:
    return [str(result["error_message"]) for result in results]


async def forget(world: World, document: str) -> None:
    """Delete a document."""
    async with world.database.transaction() as connection:
        assert await documents.delete(connection, world.bank.id, document, Viewer.operator()) is not None
