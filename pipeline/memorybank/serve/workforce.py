"""The workers of this installation as a child process, kept running."""

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import Process
from types import TracebackType
from typing import Self

import structlog

from memorybank.settings import Settings

#: The program of the workers; the option makes it end with us, even where we are killed.
PROGRAM = (sys.executable, "-m", "memorybank_workers")
WITH_PARENT = "--with-parent"
#: Seconds a worker gets beyond its own grace before it is killed: it closes what it has open.
MARGIN_SECONDS = 7.0
#: Seconds before a worker that died is started again; doubled while it dies young, up to the second figure.
RESTART_SECONDS, RESTART_CAP_SECONDS = 0.5, 30.0
#: A worker that lived so many seconds did not die of its start.
HEALTHY_SECONDS = 20.0

_log = structlog.get_logger(__name__)


class Workforce:
    """One worker process inside the block: started again when it dies, drained at the end."""

    def __init__(self, settings: Settings) -> None:
        self._grace = settings.worker.grace_seconds + MARGIN_SECONDS
        self._process: Process | None = None
        self._keeping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._keeping = asyncio.create_task(self._keep())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._keeping is not None
        self._keeping.cancel()
        await asyncio.gather(self._keeping, return_exceptions=True)
        await self._drain()

    async def _keep(self) -> None:
        pause = RESTART_SECONDS
        while True:
            began = time.monotonic()
            self._process = await _start()
            code = await self._process.wait()
            pause = RESTART_SECONDS if time.monotonic() - began > HEALTHY_SECONDS else pause
            _log.warning("the worker process ended; starting it again", code=code, in_seconds=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, RESTART_CAP_SECONDS)

    async def _drain(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), self._grace)
        except TimeoutError:
            _log.warning("the worker process did not drain; killing it", after_seconds=self._grace)
            process.kill()
            await process.wait()


async def _start() -> Process:
    # A session of its own: Ctrl-C in a terminal reaches us alone, and we end the API before the workers.
    return await asyncio.create_subprocess_exec(
        *PROGRAM, WITH_PARENT, str(os.getpid()), start_new_session=True
    )
