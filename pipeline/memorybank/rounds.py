"""One round of one operation: claim, work, settle. The same in a worker process and in the API's.

What a handler raises decides what becomes of the operation: errors of memorybank by their kind; anything
else counts as a failed attempt and is raised on.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from uuid import UUID

from memorybank import clock
from memorybank.errors import (
    DatabaseUnavailable,
    LeaseLost,
    MemoryBankError,
    ModelRateLimited,
    ModelUnavailable,
    TimedOut,
)
from memorybank.liveness import Hold, Worker
from memorybank.operations import Claim, Ending, Kind, Outcome, Progress, RoundEnd, Status
from memorybank.settings import WorkerSettings
from memorybank.storage import operations
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection

#: Seconds to wait for a provider that asks to wait without saying how long; and the most we believe it.
RATE_LIMIT_SECONDS = 30.0
RATE_LIMIT_CAP_SECONDS = 3600.0
#: Seconds to wait after the database went away: mostly it is back in one or two. Grows by the factor with each
#: attempt, up to `worker.retry_seconds`.
DATABASE_SECONDS, DATABASE_FACTOR = 1.0, 4.0

_log = logging.getLogger(__name__)


class Round:
    """What a handler gets: its claim, when to stop, and the only ways to write."""

    def __init__(self, claim: Claim, database: Database, worker: Worker, hold: Hold, deadline: float) -> None:
        self.claim = claim
        #: `time.monotonic()` at which the round should end.
        self.deadline = deadline
        self._database = database
        self._worker = worker
        self._hold = hold
        self._one_writer = asyncio.Lock()

    def over(self) -> bool:
        """Whether to end now with `Outcome(more=True)`: time is up, the process drains, a cancel was seen, or the lease
        is in doubt: then what a further call costs might be lost.

        To be asked between two calls; writes what is done first.
        """
        asked = self._worker.draining or self._hold.cancel_requested
        return asked or self._hold.in_doubt() or time.monotonic() >= self.deadline

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Connection]:
        """Open a transaction under the lease, one at a time; after LeaseLost nothing was written."""
        # Its transactions would wait for each other at the row: here they do so without a connection.
        async with (
            self._one_writer,
            operations.writing(self._database, self.claim.lease) as (connection, row),
        ):
            self._hold.cancel_requested = row.cancel_requested
            yield connection

    async def report(
        self, connection: Connection, stage: str, processed: int, total: int | None, **detail: int
    ) -> None:
        """Say how far the operation is, inside `writing()`; `processed` counts over all its rounds."""
        made = Progress(stage, clock.now(), processed, total, detail)
        await operations.progress(connection, self.claim.lease, made)


Handler = Callable[[Round], Awaitable[Outcome]]


@dataclass(frozen=True)
class _Attempt:
    """One claim, which ends in its row however its round ends."""

    database: Database
    claim: Claim
    settings: WorkerSettings

    async def settle(self, end: RoundEnd) -> Status:
        """Write how the round ended; raises LeaseLost."""
        return await operations.finish(self.database, self.claim, end, self.settings.max_attempts)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Record what nobody foresaw, and let it pass on; a lost lease is no error: others work on it now.

        Where the database is away, the heartbeat ends the lease as soon as it is back.
        """
        if isinstance(error, LeaseLost):
            _log.warning("round ended: %s", error.message)
            return True
        if isinstance(error, asyncio.CancelledError):
            await asyncio.shield(self._settle_quietly(RoundEnd(Ending.MORE)))
        elif isinstance(error, Exception) and not isinstance(error, DatabaseUnavailable):
            # Its text may quote content: that is for the log.
            message = f"internal error: {type(error).__name__} (the log of the process has more)"
            await self._settle_quietly(_trouble(message, self.settings))
        return False

    async def _settle_quietly(self, end: RoundEnd) -> None:
        """Settle while another error is on its way up; where that cannot be written, the lease runs out."""
        try:
            await self.settle(end)
        except (LeaseLost, DatabaseUnavailable) as error:
            _log.warning("operation %s not settled: %s", self.claim.lease.operation_id, error.message)


async def run(
    database: Database,
    handlers: Mapping[Kind, Handler],
    operation_id: UUID,
    worker: Worker,
    settings: WorkerSettings,
) -> Status | None:
    """Do one round of an operation and return its status after it; None: not ours to do, or no longer.

    Raises what the handler raised beyond the errors of memorybank, after the failed attempt was recorded.
    """
    if worker.draining:
        return None
    with worker.holding(operation_id) as hold:
        async with database.transaction() as connection:
            claim = await operations.claim(connection, hold.lease, worker.id, settings.lease_seconds)
        if claim is None:
            return None
        async with _Attempt(database, claim, settings) as attempt:
            round_ = Round(claim, database, worker, hold, time.monotonic() + settings.round_seconds)
            return await attempt.settle(await _work(round_, handlers[claim.kind], settings))
    return None


async def _work(round_: Round, handler: Handler, settings: WorkerSettings) -> RoundEnd:
    """Run the handler and say how the round ended; raises LeaseLost and what is no error of memorybank."""
    cap = settings.round_cap_seconds
    try:
        async with asyncio.timeout(cap) as limit:
            outcome = await handler(round_)
    except TimeoutError:
        if not limit.expired():
            raise
        return _trouble(f"a round was cut off after {cap:g} seconds", settings)
    except (MemoryBankError, ExceptionGroup) as error:
        return _end_of(error, settings, round_.claim.attempts)
    ending = Ending.MORE if outcome.more else Ending.DONE
    return RoundEnd(ending, outcome.error_message, outcome.delay, outcome.result)


def _end_of(
    error: MemoryBankError | ExceptionGroup[Exception], settings: WorkerSettings, attempts: int
) -> RoundEnd:
    """Return what an error of memorybank means for the operation; raises LeaseLost, and any other error."""
    cause = _cause(error)
    if isinstance(cause, ModelRateLimited):
        asked = RATE_LIMIT_SECONDS if cause.retry_after is None else cause.retry_after
        return RoundEnd(Ending.WAIT, cause.message, min(max(asked, 0.0), RATE_LIMIT_CAP_SECONDS))
    if isinstance(cause, DatabaseUnavailable):
        pause = DATABASE_SECONDS * DATABASE_FACTOR ** (attempts - 1)
        return RoundEnd(Ending.TROUBLE, cause.message, min(pause, settings.retry_seconds))
    if isinstance(cause, ModelUnavailable | TimedOut):
        return _trouble(cause.message, settings)
    if isinstance(cause, MemoryBankError) and not isinstance(cause, LeaseLost):
        return RoundEnd(Ending.HOPELESS, cause.message)
    raise cause


def _cause(error: Exception) -> Exception:
    """Return the error of a task group that decides: a lost lease, else an unforeseen one, else the first."""
    if not isinstance(error, ExceptionGroup):
        return error
    causes = [_cause(inner) for inner in error.exceptions]
    lost = [cause for cause in causes if isinstance(cause, LeaseLost)]
    unforeseen = [cause for cause in causes if not isinstance(cause, MemoryBankError)]
    return (lost + unforeseen + causes)[0]


def _trouble(message: str, settings: WorkerSettings) -> RoundEnd:
    return RoundEnd(Ending.TROUBLE, message, settings.retry_seconds)
