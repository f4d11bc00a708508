"""Our middleware: opens the workplace in the loop that works, catches what work raises, closes in time.

Order matters. dramatiq's AsyncIO stands before it: it starts the loop, and stops it after we have closed. A
pool that was opened in another loop works until its first dropped connection, and then never again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Protocol, TypeVar
from uuid import UUID

from dramatiq import Broker, Middleware, Worker
from dramatiq.asyncio import get_event_loop_thread
from dramatiq.middleware import MiddlewareError

from memorybank.errors import DatabaseUnavailable
from memorybank.settings import WorkerSettings
from memorybank.storage.pool import Database
from memorybank.storage.workers import sweep
from memorybank_workers.broker import PostgresBroker
from memorybank_workers.schedule import repeat

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Workplace(Protocol):
    """What a worker process works with; `memorybank.memory.MemoryBank` is one."""

    @property
    def database(self) -> Database:
        """The open database."""

    async def work(self, operation_id: UUID) -> object:
        """Do one round of an operation."""

    async def catch_up(self) -> object:
        """Queue work that nobody queued."""

    def drain(self) -> None:
        """Claim nothing more, and end running rounds soon."""


#: Opens a workplace in the running loop; it is closed by leaving the block.
Factory = Callable[[], AbstractAsyncContextManager[Workplace]]


class WorkplaceMiddleware(Middleware):
    """Holds the workplace of this process and the rounds that run in it."""

    def __init__(self, factory: Factory, settings: WorkerSettings) -> None:
        self._factory = factory
        self._settings = settings
        self._place: Workplace | None = None
        self._home: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._rounds: set[asyncio.Task[None]] = set()
        self._cancelling = False

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Open the workplace; raises MiddlewareError, the only error that is not swallowed here."""
        try:
            place = _in_loop(self._open())
        except Exception as error:
            raise MiddlewareError(f"cannot start to work: {error}") from error
        if isinstance(broker, PostgresBroker):
            broker.conninfo = place.database.conninfo

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Close the workplace, while its loop still runs."""
        _in_loop(self._close())

    async def work(self, operation_id: UUID) -> None:
        """Do one round. The one place that catches everything: the row knows what comes next."""
        task = asyncio.current_task()
        assert task is not None and self._place is not None
        self._rounds.add(task)
        try:
            await self._place.work(operation_id)
        except asyncio.CancelledError:
            if not self._cancelling:
                raise
        except DatabaseUnavailable as error:
            _log.warning("operation %s is left to the sweeper: %s", operation_id, error.message)
        except Exception:  # noqa: BLE001 - see above
            _log.exception("operation %s: the round failed", operation_id)
        finally:
            self._rounds.discard(task)

    def drain(self) -> None:
        """Ask running rounds to end soon."""
        if self._place is not None:
            self._place.drain()

    def busy(self) -> bool:
        """Whether a round runs."""
        return bool(self._rounds)

    def open(self) -> bool:
        """Whether the workplace is there and the schedule runs."""
        return self._home is not None and not self._home.done()

    def cancel(self) -> None:
        """Cancel the rounds that still run: each gives its operation back."""
        self._cancelling = True
        _in_loop(self._cancel_all())

    async def _open(self) -> Workplace:
        opened: asyncio.Future[Workplace] = asyncio.get_running_loop().create_future()
        self._home = asyncio.create_task(self._live(opened))
        await asyncio.wait((opened, self._home), return_when=asyncio.FIRST_COMPLETED)
        if self._home.done():
            await self._home  # raises what went wrong
        self._place = await opened
        return self._place

    async def _live(self, opened: asyncio.Future[Workplace]) -> None:
        """Hold the workplace open: one task enters and leaves the block, as its task groups need it."""
        own = self._settings
        async with self._factory() as place:
            opened.set_result(place)
            sweeping = partial(sweep, place.database, own.dead_seconds, own.max_attempts)
            chores: dict[str, Callable[[], Awaitable[object]]] = {
                "sweep": sweeping,
                "catching up": place.catch_up,
            }
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(repeat(name, own.sweep_seconds, chore))
                    for name, chore in chores.items()
                ]
                await self._leave.wait()
                for task in tasks:
                    task.cancel()

    async def _close(self) -> None:
        self._leave.set()
        if self._home is not None and self.open():
            await self._home

    async def _cancel_all(self) -> None:
        for task in self._rounds:
            task.cancel()


def _in_loop(work: Awaitable[T]) -> T:
    thread = get_event_loop_thread()
    if thread is None:
        raise MiddlewareError("the event loop does not run: AsyncIO must stand before this middleware")
    return thread.run_coroutine(work)
