"""Gives a bank that has grown too large for exact search an index of its own: the handler of `Kind.VECTOR_INDEX`."""

import asyncio
import time
from dataclasses import dataclass, field

from memorybank.errors import LeaseLost
from memorybank.operations import Outcome
from memorybank.rounds import Round
from memorybank.storage import vector_index
from memorybank.storage.pool import Database

#: Seconds between two looks whether a build has ended, or its round.
LOOK_SECONDS = 0.5
#: Seconds before the next round looks: at a build that goes on, of this process or of another.
WAIT_SECONDS = 5.0

Build = asyncio.Task[int | None]


@dataclass(frozen=True)
class Promotion:
    """The work; until it is done recall searches exactly.

    A build cannot be cut into rounds: it goes on between them, and ends with the process. `_builds`: by bank and model.
    """

    database: Database
    _builds: dict[tuple[int, int], Build] = field(default_factory=dict)

    async def work(self, round_: Round) -> Outcome:
        """Build the index, or find it built, and let recall use it."""
        bank, model = round_.claim.bank, int(round_.claim.payload["model"])
        units = await self._built(round_, bank, model)
        if units is None:
            return Outcome(more=True, delay=WAIT_SECONDS)
        try:
            async with round_.writing() as connection:
                await vector_index.adopt(connection, bank, model)
        except LeaseLost:  # perhaps the bank was deleted meanwhile
            await vector_index.prune(self.database)
            raise
        return Outcome(result={"vectors": units})

    async def _built(self, round_: Round, bank: int, model: int) -> int | None:
        """Return how many vectors the index was built over; None where that takes longer than the round."""
        build = self._builds.pop((bank, model), None)
        if build is None:
            build = asyncio.create_task(vector_index.build(self.database, bank, model))
        try:
            while not (build.done() or round_.over()):
                await asyncio.wait((build,), timeout=LOOK_SECONDS)
        except asyncio.CancelledError:
            build.cancel()
            raise
        if build.done():
            return await build
        if time.monotonic() >= round_.deadline:
            self._builds[bank, model] = build
        else:  # the process ends, or nobody wants it any more
            build.cancel()
            await asyncio.wait((build,))
        return None
