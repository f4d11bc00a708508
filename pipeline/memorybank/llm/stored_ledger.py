"""The ledger in the database: each attempt is stored as soon as it ended, so that a crash loses no spending."""

from dataclasses import dataclass

from memorybank.llm.ledger import Attempt
from memorybank.storage import llm_calls
from memorybank.storage.llm_calls import Call, Caller
from memorybank.storage.pool import Database


@dataclass(frozen=True)
class StoredLedger:
    """Stores attempts on behalf of a bank, an audience and an operation."""

    database: Database
    caller: Caller

    async def record(self, attempt: Attempt) -> None:
        """Store one attempt; raises DatabaseUnavailable."""
        usage = attempt.usage
        call = Call(
            stage=attempt.stage,
            model=attempt.model,
            attempt=attempt.attempt,
            status=attempt.status,
            error=attempt.error,
            tokens=(usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.thoughts_tokens),
            cost=usage.cost,
            duration_ms=attempt.duration_ms,
            created_at=attempt.created_at,
        )
        async with self.database.connection() as connection:
            await llm_calls.add(connection, self.caller, [call])
