"""The broker "postgres": the operation row is the queue. Nothing is enqueued, a consumer waits at the bell.

One queue for all kinds, so that the most urgent row is first, whatever its kind. No more is rung for than can
begin at once: what waits, waits in the table, where every process sees it.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from dramatiq import Broker, Consumer, Message, MessageProxy

from memorybank.errors import DatabaseUnavailable
from memorybank.settings import WorkerSettings
from memorybank.storage.pool import Conninfo
from memorybank.storage.workers import Doorbell, Rung

QUEUE = "operations"
#: Seconds to wait before a server that went away is asked again.
RECONNECT_SECONDS = 0.5

_log = logging.getLogger(__name__)


class Slots:
    """How many more operations this process may begin; they outlive a consumer."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._changed = threading.Condition()

    def free(self, seconds: float) -> int:
        """Wait at most so long for a free slot, and return how many there are."""
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0, seconds)
            return self._free

    def take(self, count: int) -> None:
        """Use slots."""
        with self._changed:
            self._free -= count

    def give(self) -> None:
        """Free one slot."""
        with self._changed:
            self._free += 1
            self._changed.notify()


class PostgresBroker(Broker):
    """Our own broker over the operation table; `conninfo` is set by whoever opens the database."""

    conninfo: Conninfo

    def __init__(self, settings: WorkerSettings) -> None:
        super().__init__(middleware=[])
        self._settings = settings
        self._slots = Slots(settings.concurrency)
        self._draining = threading.Event()

    def declare_queue(self, queue_name: str) -> None:
        """Know a queue."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues[queue_name] = None
            self.emit_after("declare_queue", queue_name)

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Do nothing: whoever submits an operation writes its row, and rings, in one transaction."""
        return message

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 500) -> "DoorbellConsumer":
        """Return a consumer that waits `timeout` milliseconds at most."""
        bell = Doorbell(self.conninfo)
        kinds = sorted(self.get_declared_actors())
        return DoorbellConsumer(bell, kinds, self._slots, self._draining, self._settings, timeout / 1000)

    def drain(self) -> None:
        """Take no more work."""
        self._draining.set()


class DoorbellConsumer(Consumer):
    """Takes what is due, one message an operation; survives the loss of its connection."""

    def __init__(
        self,
        bell: Doorbell,
        kinds: Sequence[str],
        slots: Slots,
        draining: threading.Event,
        settings: WorkerSettings,
        seconds: float,
    ) -> None:
        self._bell = bell
        self._kinds = kinds
        self._slots = slots
        self._draining = draining
        self._rering_seconds = settings.rering_seconds
        self._seconds = seconds
        self._rung: deque[Rung] = deque()

    def __next__(self) -> MessageProxy | None:
        """Return the next message, or None after a while without one."""
        if not self._rung:
            self._look()
        return _message(self._rung.popleft()) if self._rung else None

    def ack(self, message: MessageProxy) -> None:
        """Free the slot; what became of the operation stands in its row."""
        self._slots.give()

    def nack(self, message: MessageProxy) -> None:
        """Free the slot; what became of the operation stands in its row."""
        self._slots.give()

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Leave to others at once what was taken here and not begun."""
        self._give_back([UUID(message.args[0]) for message in messages])

    def close(self) -> None:
        """Leave the rest to others and close the connection."""
        self._give_back([rung.operation_id for rung in self._rung])
        self._rung.clear()
        self._bell.close()

    def _look(self) -> None:
        """Ring for as many operations as can begin now; where none is due, wait until somebody rings."""
        free = self._slots.free(self._seconds)
        if self._draining.is_set():
            time.sleep(self._seconds)
        elif free:
            try:
                self._rung.extend(self._bell.ring(self._kinds, free, self._rering_seconds))
                self._slots.take(len(self._rung))
                if not self._rung:
                    self._bell.wait(self._seconds)
            except (DatabaseUnavailable, OSError) as error:
                _log.warning("no doorbell: %s", error)
                time.sleep(RECONNECT_SECONDS)

    def _give_back(self, ids: Sequence[UUID]) -> None:
        for _ in ids:
            self._slots.give()
        try:
            if ids:
                self._bell.give_back(ids)
        except (DatabaseUnavailable, OSError) as error:
            _log.warning("work is left for the re-ring: %s", error)


def _message(rung: Rung) -> MessageProxy:
    return MessageProxy(Message(QUEUE, rung.kind, (str(rung.operation_id),), {}, {}))
