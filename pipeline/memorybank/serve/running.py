"""Running it: the HTTP server, the workers as a child process, and both as one group."""

import asyncio
import ipaddress
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from memorybank import paths
from memorybank.errors import DatabaseUnavailable, InvalidConfig
from memorybank.memory import MemoryBank
from memorybank.serve.http.app import build
from memorybank.settings import Settings
from memorybank.storage.server import Server

#: Seconds a worker gets beyond its own grace before it is killed.
WORKER_MARGIN_SECONDS = 5.0
#: Seconds after which a worker that died is started again.
RESTART_SECONDS = 1.0
LOCAL_NAMES = ("localhost",)


def check_host(host: str) -> None:
    """Refuse an address beyond loopback: there are no keys yet, so everybody there would be the operator."""
    if host in LOCAL_NAMES:
        return
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass
    raise InvalidConfig(
        f"refusing to listen on {host!r}: without keys everybody who can reach it would be the operator."
        " Listen on 127.0.0.1 and put a proxy that asks for credentials in front of it."
    )


def bound_socket(host: str, port: int) -> socket.socket:
    """Bind the port before anything else starts: a taken one is said at once. Raises InvalidConfig."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InvalidConfig(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
        ) from error
    return listening


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it answers requests."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answering = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if not self.should_exit:
            self.answering.set()


class Api:
    """The HTTP server of this process."""

    def __init__(self, settings: Settings) -> None:
        check_host(settings.server.host)
        self.settings = settings
        self._socket = bound_socket(settings.server.host, settings.server.port)
        host, port = self._socket.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}{settings.server.base_path}"

        @asynccontextmanager
        async def open_memory() -> AsyncIterator[MemoryBank]:
            async with MemoryBank.opened(settings) as memory:
                yield memory

        config = uvicorn.Config(
            build(settings, open_memory), log_config=None, access_log=False, lifespan="on", ws="none"
        )
        self._server = _Server(config)

    async def run(self, announce: Any = None) -> None:
        """Serve until SIGINT or SIGTERM; `announce()` is called once requests are answered."""
        serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        answering = asyncio.create_task(self._server.answering.wait())
        await asyncio.wait({serving, answering}, return_when=asyncio.FIRST_COMPLETED)
        answering.cancel()
        if announce is not None and self._server.answering.is_set():
            await asyncio.to_thread(announce)
        await serving
        if not self._server.answering.is_set():
            raise DatabaseUnavailable("the server did not start; the log says why")

    def stop(self) -> None:
        """Let running requests end, then stop."""
        self._server.should_exit = True


class WorkerProcess:
    """The workers as a child process; one that dies is started again."""

    def __init__(self, settings: Settings) -> None:
        self._grace = settings.worker.grace_seconds + WORKER_MARGIN_SECONDS
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Keep a worker process running until cancelled; then let it drain."""
        try:
            while True:
                # A group of its own: Ctrl-C reaches us alone, and we end the API before the workers.
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "memorybank_workers", start_new_session=True
                )
                await self._process.wait()
                await asyncio.sleep(RESTART_SECONDS)
        finally:
            await asyncio.shield(self._drain())

    async def _drain(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), self._grace)
        except TimeoutError:
            process.kill()
            await process.wait()


async def serve(settings: Settings, announce: Any = None) -> None:
    """Run the HTTP server alone."""
    await Api(settings).run(announce)


async def up(settings: Settings, announce: Any = None) -> None:
    """Run database, HTTP server and workers; on SIGINT or SIGTERM the API ends first, the database last."""
    api = Api(settings)
    server = Server(settings.database, paths.home())
    await server.conninfo()
    worker = asyncio.create_task(WorkerProcess(settings).run())
    try:
        await api.run(lambda: announce(api.url) if announce else None)
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
        await server.stop()
