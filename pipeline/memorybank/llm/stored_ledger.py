"""The ledger in the database: each call is stored as soon as it ended, so that a crash loses no spending."""

from dataclasses import dataclass

from memorybank.model import LlmCall
from memorybank.storage import llm_calls
from memorybank.storage.llm_calls import Caller
from memorybank.storage.pool import Database


@dataclass(frozen=True)
class StoredLedger:
    """Stores calls on behalf of a bank, an audience and an operation."""

    database: Database
    caller: Caller

    async def record(self, call: LlmCall) -> None:
        """Store one call; raises DatabaseUnavailable."""
        await self.database.ask(llm_calls.add, self.caller, call)
