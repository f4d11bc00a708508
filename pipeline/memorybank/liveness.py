"""A process that runs operations, as the others see it: its id, its heartbeat, the leases it holds.

The heartbeat is a thread with a connection of its own, so that a blocked event loop loses no lease. A round
that runs over its hard cap is no longer renewed: a loop that never comes back must not hold its work for
ever.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import UUID, uuid4

from memorybank.errors import DatabaseUnavailable
from memorybank.ids import new_id
from memorybank.operations import Lease
from memorybank.settings import WorkerSettings
from memorybank.storage.pool import Database
from memorybank.storage.workers import Pulse

#: Seconds between two tries to reach a server that went away: well below `worker.dead_seconds`.
RECONNECT_SECONDS = 0.5

_log = logging.getLogger(__name__)


@dataclass
class Hold:
    """One lease in this process. `until`: monotonic seconds after which the heartbeat lets it run out.

    `good_until`: monotonic seconds until which it surely holds, as far as this process knows.
    """

    lease: Lease
    until: float
    good_until: float
    cancel_requested: bool = False

    def in_doubt(self) -> bool:
        """Whether it may have run out: we stood still, or the database does not answer."""
        return time.monotonic() >= self.good_until


class Worker:
    """The identity and the heartbeat of one process, shared by everything in it that runs operations."""

    def __init__(self, database: Database, settings: WorkerSettings) -> None:
        self.id = new_id()
        self.draining = False
        self._settings = settings
        self._pulse = Pulse(database.conninfo, self.id, settings.lease_seconds)
        self._holds: dict[UUID, Hold] = {}
        #: Leases whose round is over; if that could not be settled, the next beat ends them.
        self._loose: set[UUID] = set()
        self._guard = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name="memorybank-heartbeat", daemon=True)

    async def start(self) -> None:
        """Register and begin to beat; raises DatabaseUnavailable."""
        await asyncio.to_thread(self._pulse.beat, [])
        self._thread.start()

    def drain(self) -> None:
        """Claim nothing more, and let running rounds end at their next look at `over()`."""
        self.draining = True

    async def stop(self) -> None:
        """End the heartbeat and unregister; whatever is still held is free for others."""
        self.drain()
        self._stopping.set()
        if self._thread.ident is not None:
            await asyncio.to_thread(self._thread.join)
        with suppress(DatabaseUnavailable):  # then it is found dead
            await asyncio.to_thread(self._pulse.end)

    @contextmanager
    def holding(self, operation_id: UUID) -> Iterator[Hold]:
        """Keep a new lease alive inside the block, and end it after, if the block has not."""
        token, now = uuid4(), time.monotonic()
        hold = Hold(
            Lease(operation_id, token),
            until=now + self._settings.round_cap_seconds,
            good_until=now + self._settings.lease_seconds,
        )
        with self._guard:
            self._holds[token] = hold
        try:
            yield hold
        finally:
            with self._guard:
                del self._holds[token]
                self._loose.add(token)

    def _beat_on(self) -> None:
        pause = self._settings.heartbeat_seconds
        while not self._stopping.wait(pause):
            pause = self._beat()

    def _beat(self) -> float:
        """Beat once and return the seconds until the next."""
        began = time.monotonic()
        with self._guard:
            holds = {token: hold for token, hold in self._holds.items() if hold.until > began}
            loose = set(self._loose)
        try:
            beats = self._pulse.beat(list(holds), list(loose))
        except (DatabaseUnavailable, OSError) as error:
            _log.warning("no heartbeat: %s", error)
            return min(RECONNECT_SECONDS, self._settings.heartbeat_seconds)
        with self._guard:
            self._loose -= loose
        for beat in beats:
            if beat.token in holds:
                holds[beat.token].cancel_requested = beat.cancel_requested
                holds[beat.token].good_until = began + self._settings.lease_seconds
        return self._settings.heartbeat_seconds
