"""Gives a bank that has grown too large for exact search an index of its own: the handler of `Kind.VECTOR_INDEX`."""

from dataclasses import dataclass

from memorybank.errors import LeaseLost
from memorybank.operations import Outcome
from memorybank.rounds import Round
from memorybank.storage import vector_index
from memorybank.storage.pool import Database

#: Seconds to wait for another build.
WAIT_SECONDS = 5.0


@dataclass(frozen=True)
class Promotion:
    """The work; until it is done recall searches exactly."""

    database: Database

    async def work(self, round_: Round) -> Outcome:
        """Build the index, or find it built by a round that was cut off, and let recall use it."""
        bank, model = round_.claim.bank, int(round_.claim.payload["model"])
        units = await vector_index.build(self.database, bank, model)
        if units is None:
            return Outcome(more=True, delay=WAIT_SECONDS)
        try:
            async with round_.writing() as connection:
                await vector_index.adopt(connection, bank, model)
        except LeaseLost:  # perhaps the bank was deleted meanwhile
            await vector_index.prune(self.database)
            raise
        return Outcome(result={"vectors": units})
