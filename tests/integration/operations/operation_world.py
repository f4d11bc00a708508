"""A small world for the operation tests: a bank with two audiences, short times, rows to look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from memorybank.ids import new_id
from memorybank.operations import Claim, Kind, Lease, Outcome
from memorybank.settings import WorkerSettings
from memorybank.storage import operations
from memorybank.storage.operations import NewOperation
from memorybank.storage.pool import Database

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def short_times(**changes: Any) -> WorkerSettings:
    """The shipped values, with shorter times."""
    values: dict[str, Any] = {
        "concurrency": 4,
        "max_attempts": 3,
        "retry_seconds": 0,
        "heartbeat_seconds": 0.2,
        "dead_seconds": 0.6,
        "lease_seconds": 3,
        "sweep_seconds": 0.2,
        "rering_seconds": 1,
        "round_seconds": 60,
        "round_cap_seconds": 600,
        "grace_seconds": 1,
    }
    return WorkerSettings(**(values | changes))


@dataclass(frozen=True)
class World:
    database: Database
    bank: int
    audience: int
    other_audience: int

    async def submit(self, **values: Any) -> UUID:
        """Queue one operation and return its id."""
        new = self.new(**values)
        async with self.database.transaction() as connection:
            await operations.submit(connection, [new])
        return new.id

    def new(self, **values: Any) -> NewOperation:
        fixed = {"id": new_id(), "bank": self.bank, "audience_id": self.audience, "kind": Kind.RETAIN}
        return NewOperation(**(fixed | values))

    async def batch(self, count: int, **values: Any) -> tuple[UUID, list[UUID]]:
        """Queue a batch and return its id and those of its parts."""
        parent = self.new(kind=Kind.BATCH_RETAIN, is_parent=True, result={"num_sub_batches": count})
        parts = [
            self.new(
                parent=parent.id,
                items_count=1,
                result={"sub_batch_index": i + 1, "parent_operation_id": str(parent.id), "items_count": 1},
                **values,
            )
            for i in range(count)
        ]
        async with self.database.transaction() as connection:
            await operations.submit(connection, [*parts, parent])
        return parent.id, [part.id for part in parts]

    async def claim(
        self, operation_id: UUID, worker: UUID | None = None, seconds: float = 20
    ) -> Claim | None:
        lease = Lease(operation_id, uuid4())
        async with self.database.transaction() as connection:
            return await operations.claim(connection, lease, worker or uuid4(), seconds)

    async def claimed(self, operation_id: UUID, **values: Any) -> Claim:
        claim = await self.claim(operation_id, **values)
        assert claim is not None
        return claim

    async def row(self, operation_id: UUID) -> Mapping[str, Any]:
        async with self.database.connection() as connection:
            cursor = await connection.execute("SELECT * FROM operation WHERE id = %s", [operation_id])
            row = await cursor.fetchone()
            assert row is not None
            return row

    async def status(self, operation_id: UUID) -> str:
        return str((await self.row(operation_id))["status"])

    async def run_sql(self, statement: str, *values: Any) -> None:
        async with self.database.connection() as connection:
            await connection.execute(statement.encode(), values)


async def build(database: Database, bank_id: str = "team") -> World:
    async with database.transaction() as connection:
        cursor = await connection.execute(
            "INSERT INTO bank (bank_id, name, created_at, updated_at) VALUES (%s, %s, %s, %s) RETURNING id",
            [bank_id, bank_id, AT, AT],
        )
        row = await cursor.fetchone()
        assert row is not None
        bank = row["id"]
        audiences = []
        for agent in (None, new_id()):
            kind = "bank" if agent is None else "agent"
            cursor = await connection.execute(
                "INSERT INTO audience (bank, kind, agent) VALUES (%s, %s, %s) RETURNING id",
                [bank, kind, agent],
            )
            audience = await cursor.fetchone()
            assert audience is not None
            audiences.append(audience["id"])
    return World(database, bank, *audiences)


async def done(*_: object) -> Outcome:
    """A handler that has nothing to do."""
    return Outcome(result={"facts_kept": 2})
