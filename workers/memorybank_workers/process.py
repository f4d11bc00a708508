"""One worker process: starts dramatiq's worker, waits for a signal, drains.

We build dramatiq's `Worker` ourselves, one in a process, without its forks. Retries, TimeLimit and AgeLimit
are left out: the operation row decides about attempts and time.
"""

import logging
import os
import signal
import threading
import time
from types import FrameType

from dramatiq import Worker
from dramatiq.middleware import AsyncIO, MiddlewareError

from memorybank.settings import WorkerSettings
from memorybank_workers.actors import declare
from memorybank_workers.broker import PostgresBroker
from memorybank_workers.middleware import Factory, WorkplaceMiddleware

#: Milliseconds after which an idle thread of dramatiq looks whether to stop; also how late we see a due time.
IDLE_MILLISECONDS = 500
#: Seconds that cancelled rounds get to give their work back.
CANCEL_SECONDS = 5.0
#: Seconds between two looks at the threads and, while draining, at the rounds.
LOOK_SECONDS = 1.0
DRAIN_LOOK_SECONDS = 0.05

_log = logging.getLogger(__name__)


def run(factory: Factory, settings: WorkerSettings, parent: int | None = None) -> int:
    """Work until SIGTERM or SIGINT, then drain; returns the exit code. A second signal ends it at once.

    `parent`: the process that started this one; when it is gone, in whatever way, this one gives its work back.
    """
    broker, place = PostgresBroker(settings), WorkplaceMiddleware(factory, settings)
    broker.add_middleware(AsyncIO())
    broker.add_middleware(place)
    declare(broker, place.work)
    worker = Worker(broker, worker_threads=settings.concurrency, worker_timeout=IDLE_MILLISECONDS)
    worker.queue_prefetch = settings.concurrency
    try:
        worker.start()
    except MiddlewareError as error:
        _log.critical("%s", error)
        broker.emit_after(
            "worker_shutdown", worker
        )  # the loop's thread is no daemon: it would keep us for ever
        return 1
    # Whoever started us with a parent hears of the parent.
    level = logging.INFO if parent is None else logging.DEBUG
    _log.log(level, "the worker is ready: %d operations at once", settings.concurrency)
    healthy = _wait_for_the_end(worker, place, parent)
    # Without its parent it is the rest of a crash: whoever starts next should not have to wait for it.
    _drain(broker, place, 0 if _orphaned(parent) else settings.grace_seconds)
    worker.stop(timeout=int(CANCEL_SECONDS * 1000))
    return 0 if healthy else 1


def _wait_for_the_end(worker: Worker, place: WorkplaceMiddleware, parent: int | None) -> bool:
    """Wait for a signal, or the parent's end; False where a part of us died: a supervisor should restart us."""
    stop = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
    while not stop.wait(LOOK_SECONDS) and not _orphaned(parent):
        threads = (*worker.workers, *worker.consumers.values())
        if not (place.open() and all(thread.is_alive() for thread in threads)):
            _log.critical("a thread of the worker, or its schedule, died")
            return False
    return True


def _orphaned(parent: int | None) -> bool:
    return parent not in (None, os.getppid())


def _drain(broker: PostgresBroker, place: WorkplaceMiddleware, grace_seconds: float) -> None:
    """Take no more work, let rounds end by themselves for a while, then cancel them."""
    broker.drain()
    place.drain()
    _wait_while_busy(place, grace_seconds)
    if place.busy():
        place.cancel()
        _wait_while_busy(place, CANCEL_SECONDS)


def _wait_while_busy(place: WorkplaceMiddleware, seconds: float) -> None:
    end = time.monotonic() + seconds
    while place.busy() and time.monotonic() < end:
        time.sleep(DRAIN_LOOK_SECONDS)
