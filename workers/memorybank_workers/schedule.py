"""What a worker process does by the clock, on the event loop of its work."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from memorybank.errors import MemoryBankError

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """One thing to do every so many seconds."""

    name: str
    seconds: float
    run: Callable[[], Awaitable[object]]


async def repeat(job: Job) -> None:
    """Do a job again and again until cancelled; an error of memorybank costs one turn."""
    while True:
        await asyncio.sleep(job.seconds)
        try:
            await job.run()
        except MemoryBankError as error:
            _log.warning("%s failed, next try in %g seconds: %s", job.name, job.seconds, error.message)
