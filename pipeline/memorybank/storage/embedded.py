"""The embedded PostgreSQL: one server per home, shared by every process of the installation.

The process that finds no server starts it and owns it: a thread of it is the server's parent, waits for it,
and starts it again when it dies. When the owner ends, in whatever way, the server ends (the kernel tells it,
see launcher.py), and the next process that asks becomes the owner. Nothing committed is lost by any of this:
PostgreSQL recovers from its log.
"""

import atexit
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from memorybank.errors import DatabaseUnavailable
from memorybank.storage.embedded_cluster import Cluster, free_port, new_password, port_is_free
from memorybank.storage.embedded_state import (
    Process,
    ServerState,
    find_process,
    read_postmaster,
    read_state,
    write_state,
)

#: Seconds to wait for a server of another process that is neither ready nor gone (it shuts down, or its last
#: connections end).
TAKE_OVER_SECONDS = 60.0
#: Seconds a starting server may take: after a crash it first replays its log.
READY_SECONDS = 300.0
#: Seconds for a fast shutdown (it writes a checkpoint); then it is told to end at once and to recover at the
#: next start.
STOP_SECONDS = 60.0
#: Seconds between two looks.
POLL_SECONDS = 0.01
#: A server that lives shorter than this many seconds after a start died of something a restart does not cure:
#: from the second time on we pause, one second more each time, up to as many seconds as this.
HEALTHY_SECONDS = 10.0
#: Attempts to start, where another program took the port between our look and PostgreSQL's.
PORT_ATTEMPTS = 5
#: Seconds to log in once, the proof that the state file's password is the server's.
LOGIN_SECONDS = 10
#: Seconds for an immediate shutdown; after them the server is killed.
ABORT_SECONDS = 10.0

ROLE = DATABASE = "memorybank"

_logger = logging.getLogger(__name__)


class EmbeddedServer:
    """The embedded server of one home (MEMORYBANK_HOME). Thread-safe; every method blocks."""

    def __init__(self, home: Path) -> None:
        self._cluster = Cluster(home)
        self._keeper: _Keeper | None = None
        self._mutex = threading.Lock()

    def ensure(self) -> str:
        """Return the conninfo of a running server: the one that runs, else a new one owned by this process.

        The role is `memorybank`, no superuser; its database has the extension `vector`. Call it again when
        the connection is lost. Raises DatabaseUnavailable.
        """
        if sys.platform != "linux":
            raise DatabaseUnavailable(
                "the embedded database needs Linux: set database.url to a PostgreSQL of yours"
            )
        with self._mutex:
            claimed = _claim(self._cluster)
            return self._own(claimed) if isinstance(claimed, int) else _conninfo(claimed)

    def conninfo(self) -> str:
        """Return how to reach the server as the state file says now (the port may change with a restart).

        It does not look whether the server runs. Raises DatabaseUnavailable where none was ever started.
        """
        state = read_state(self._cluster.state)
        if state is None:
            raise DatabaseUnavailable(f"no embedded database was started in {self._cluster.home} yet")
        return _conninfo(state)

    def stop(self) -> None:
        """Shut the server down if this process owns it, and wait until it is gone; else do nothing."""
        with self._mutex:
            # After a fork the thread is the parent's only, and so is the server.
            if self._keeper is not None and self._keeper.is_alive():
                self._keeper.stop()
            self._keeper = None
            atexit.unregister(self.stop)

    @property
    def owner(self) -> bool:
        """Whether the announced server is a child of this process (after a fork: of the parent only)."""
        state = read_state(self._cluster.state)
        keeper = self._keeper
        return keeper is not None and keeper.is_alive() and state is not None and keeper.runs(state.server)

    def _own(self, lock: int) -> str:
        """Start the server in a thread that lives as long as it; raises DatabaseUnavailable."""
        if self._keeper is not None:
            # We hold the lock, so its server is dead; it must not start another one after us.
            self._keeper.retire()
        self._keeper = _Keeper(self._cluster, lock)
        atexit.register(self.stop)
        self._keeper.start()
        return _conninfo(self._keeper.started.result())


class _Keeper(threading.Thread):
    """The parent of the postmaster; PDEATHSIG follows the THREAD that starts a child, so it stays with it."""

    def __init__(self, cluster: Cluster, lock: int) -> None:
        super().__init__(name="memorybank-postgres", daemon=True)
        self.started: Future[ServerState] = Future()
        self._cluster = cluster
        self._lock = lock
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()

    def run(self) -> None:
        """Start the server and, each time it dies, start it again; end when stopped or another took over."""
        try:
            self.started.set_result(self._start(self._lock))
        except (DatabaseUnavailable, OSError) as error:
            self.started.set_exception(_typed(error))
        finally:
            # Whoever waits for the start must not wait for ever, even for an error nobody thought of.
            if not self.started.done():
                self.started.set_exception(
                    DatabaseUnavailable("the start of the embedded PostgreSQL broke off")
                )
        quick_deaths = 0
        while self._process is not None:
            since = time.monotonic()
            code = self._process.wait()
            if self._stopping.is_set():
                return
            _logger.warning("the embedded PostgreSQL ended with code %s; starting it again", code)
            quick_deaths = quick_deaths + 1 if time.monotonic() - since < HEALTHY_SECONDS else 0
            self._stopping.wait(min(max(quick_deaths - 1, 0), HEALTHY_SECONDS))
            self._restart()

    def runs(self, server: Process) -> bool:
        """Whether this is the server it started last, still alive."""
        process = self._process
        return process is not None and process.pid == server.pid and server.lives()

    def retire(self) -> None:
        """Start no further server."""
        self._stopping.set()

    def stop(self) -> None:
        """End the server: fast shutdown, then immediate shutdown, then without asking."""
        self._stopping.set()
        for sign, seconds in (
            (signal.SIGINT, STOP_SECONDS),
            (signal.SIGQUIT, ABORT_SECONDS),
            (signal.SIGKILL, None),
        ):
            process = self._process
            if process is not None:
                process.send_signal(sign)
            self.join(seconds)
            if not self.is_alive():
                return

    def _restart(self) -> None:
        """Start the server again unless somebody else did, or we are stopped, or it cannot be."""
        self._process = None
        try:
            claimed = _claim(self._cluster, self._stopping)
            if isinstance(claimed, int):
                self._start(claimed)
        except (DatabaseUnavailable, OSError) as error:
            if not self._stopping.is_set():
                _logger.error("the embedded PostgreSQL does not start again: %s", error)

    def _start(self, lock: int) -> ServerState:
        """Bring the server up and write the state file; the lock is then left to the server's processes."""
        announced = False
        try:
            self._vacate()
            state = self._bring_up(lock, read_state(self._cluster.state))
            write_state(self._cluster.state, state)
            announced = True
            return state
        finally:
            if not announced:
                self._end_process()
            os.close(lock)

    def _bring_up(self, lock: int, before: ServerState | None) -> ServerState:
        """Make the cluster if there is none, start the server, and prove that the owner can log in."""
        cluster = self._cluster
        password, port = (before.password, before.port) if before else (new_password(), None)
        if not cluster.exists():
            cluster.create(lock, password)
        elif before is None:
            cluster.set_password(lock, password)
        state = self._launch(lock, port, password)
        if not _can_log_in(state):
            # The data or the state file came from elsewhere: the password is ours to set.
            self._end_process()
            cluster.set_password(lock, password)
            state = self._launch(lock, state.port, password)
            if not _can_log_in(state):
                raise DatabaseUnavailable(f"role {ROLE} cannot enter its database; see {cluster.log}")
        return state

    def _vacate(self) -> None:
        deadline = time.monotonic() + TAKE_OVER_SECONDS
        while not self._cluster.vacate():
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(
                    f"a PostgreSQL that is not ours runs in {self._cluster.data}: stop it first"
                )
            time.sleep(POLL_SECONDS)

    def _launch(self, lock: int, preferred: int | None, password: str) -> ServerState:
        """Start the postmaster and wait until it takes connections; raises DatabaseUnavailable."""
        for _ in range(PORT_ATTEMPTS):
            port = free_port(preferred)
            log_size = self._cluster.log.stat().st_size if self._cluster.log.exists() else 0
            self._process = self._cluster.start(lock, port)
            server, owner = find_process(self._process.pid), find_process(os.getpid())
            if self._wait_ready(self._process) and server is not None and owner is not None:
                return ServerState(server, owner, port, password)
            self._end_process()
            if port_is_free(port):
                break
        last = self._cluster.log_tail(log_size)
        raise DatabaseUnavailable(f"the embedded PostgreSQL does not start, see {self._cluster.log}: {last}")

    def _wait_ready(self, process: "subprocess.Popen[bytes]") -> bool:
        """Wait for `ready` in postmaster.pid; False where the server ended, shall end, or takes too long."""
        deadline = time.monotonic() + READY_SECONDS
        while process.poll() is None and not self._stopping.is_set() and time.monotonic() < deadline:
            found = read_postmaster(self._cluster.data)
            if found is not None and (found.pid, found.status) == (process.pid, "ready"):
                return True
            time.sleep(POLL_SECONDS)
        return False

    def _end_process(self) -> None:
        """End a server that was not announced to anybody."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.wait()


def _claim(cluster: Cluster, given_up: threading.Event | None = None) -> ServerState | int:
    """Wait until a server is ready (return it) or none is left (return the lock: the caller starts one).

    Raises DatabaseUnavailable where neither comes to be in time, or once the wait is given up.
    """
    begun = time.monotonic()
    while given_up is None or not given_up.is_set():
        state = _running(cluster)
        if state is not None:
            return state
        lock = cluster.try_lock()
        if lock is not None:
            return lock
        found = read_postmaster(cluster.data)
        patience = READY_SECONDS if found is not None and found.status == "starting" else TAKE_OVER_SECONDS
        if time.monotonic() - begun > patience:
            raise DatabaseUnavailable(
                f"{cluster.data} is in use by a server that this process cannot see or that does not end"
                f" ({found or 'no postmaster.pid'}): another container on the same volume?"
            )
        time.sleep(POLL_SECONDS)
    raise DatabaseUnavailable("the embedded PostgreSQL is being stopped")


def _running(cluster: Cluster) -> ServerState | None:
    """Return the server of the state file if it takes connections and will go on to."""
    state = read_state(cluster.state)
    if state is None or not state.server.lives():
        return None
    found = read_postmaster(cluster.data)
    if found is None or (found.pid, found.status) != (state.server.pid, "ready"):
        return None
    if not state.owner.lives():
        _end_orphan(state.server)
        return None
    return state


def _end_orphan(server: Process) -> None:
    """Make sure that a server whose owner died ends: the kernel told it to, saying it again does no harm."""
    try:
        os.kill(server.pid, signal.SIGINT)
    except (ProcessLookupError, PermissionError):
        return


def _can_log_in(state: ServerState) -> bool:
    try:
        psycopg.connect(_conninfo(state), connect_timeout=LOGIN_SECONDS).close()
    except psycopg.OperationalError as error:
        _logger.warning("the owner cannot log in to the embedded PostgreSQL: %s", error)
        return False
    return True


def _conninfo(state: ServerState) -> str:
    return make_conninfo(
        host="127.0.0.1",
        port=state.port,
        user=ROLE,
        password=state.password,
        dbname=DATABASE,
        # On loopback encryption only costs; and the environment (PGSSLMODE) shall not decide.
        sslmode="disable",
        gssencmode="disable",
    )


def _typed(error: Exception) -> DatabaseUnavailable:
    """Return the error as one of ours, with what the system said."""
    if isinstance(error, DatabaseUnavailable):
        return error
    return DatabaseUnavailable(f"the embedded PostgreSQL cannot be started: {error}")
