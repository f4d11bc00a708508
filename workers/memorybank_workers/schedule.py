"""What a worker process does by the clock, on the event loop of its work."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from memorybank.errors import MemoryBankError

_log = logging.getLogger(__name__)


async def repeat(name: str, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
    """Do some work every so many seconds until cancelled; an error of memorybank costs one turn."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except MemoryBankError as error:
            _log.warning("%s failed, next try in %g seconds: %s", name, seconds, error.message)
