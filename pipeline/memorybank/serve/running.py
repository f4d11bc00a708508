"""Running it: the database, the HTTP server and the workers, alone or as one group.

Each part is a block: it runs inside, and ends in order when the block is left, also by a cancel. So Ctrl-C is
nothing but the cancel of whoever stands in the block.
"""

import asyncio
import gc
import math
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from memorybank import paths
from memorybank.errors import InvalidConfig
from memorybank.memory import MemoryBank
from memorybank.serve.admission import is_loopback
from memorybank.serve.http.app import build
from memorybank.serve.workforce import Workforce
from memorybank.settings import ServerSettings, Settings
from memorybank.storage import keys
from memorybank.storage.server import Server, opened

#: New objects after which Python looks for garbage in circles. A recall makes thousands that live for a millisecond and
#: hold no circle: at Python's own 700 it costs a tenth of the CPU of a recall.
GARBAGE_AFTER = 20_000


@dataclass(frozen=True)
class Api:
    """A server that answers; `ended` is its task: it ends early only by a fault."""

    url: str
    ended: asyncio.Task[None]


@asynccontextmanager
async def up(settings: Settings) -> AsyncIterator[Api]:
    """Run database, workers and HTTP server inside the block; the API ends first, the database last.

    Raises InvalidConfig for an address that cannot be used, DatabaseUnavailable, ModelMisconfigured.
    """
    # The port first: a taken one is said before anything starts.
    with _bound_socket(settings.server) as listening:
        async with _database(settings):
            # The port is ours, but nobody is listened to yet.
            await _check_keys(settings)
            async with Workforce(settings), _answering(settings, listening) as api:
                yield api


@asynccontextmanager
async def serve(settings: Settings) -> AsyncIterator[Api]:
    """Run the HTTP server alone inside the block; raises what `up` raises."""
    with _bound_socket(settings.server) as listening:
        await _check_keys(settings)
        async with _answering(settings, listening) as api:
            yield api


async def _check_keys(settings: Settings) -> None:
    """Refuse an address beyond loopback until there is a key: everybody there would be the operator."""
    host = settings.server.host
    if is_loopback(host):
        return
    async with opened(settings.database, paths.home()) as database, database.connection() as connection:
        if not await keys.exist(connection):
            raise InvalidConfig(
                f"refusing to listen on {host!r}: there are no keys yet, so everybody who can reach it would be the"
                " operator. Make one first: memorybank keys create --operator"
            )


@contextmanager
def _bound_socket(server: ServerSettings) -> Iterator[socket.socket]:
    """Hold the address to listen on; raises InvalidConfig where it is refused or taken."""
    host, port = server.host, server.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small packets at once only on sockets that name TCP: without it every answer waits 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise _unusable(f"{host}:{port}", error) from error
        yield listening


def _unusable(address: str, error: OSError) -> InvalidConfig:
    return InvalidConfig(f"cannot listen on {address}: {error.strerror}; choose another --port")


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[None]:
    """Have a server for the whole group, so that it outlives API and workers."""
    server = Server(settings.database, paths.home())
    try:
        await server.conninfo()
        yield
    finally:
        await server.stop()


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it answers, and leaves signals to whoever runs it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answering = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        self.answering.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signal."""
        yield


@asynccontextmanager
async def _answering(settings: Settings, listening: socket.socket) -> AsyncIterator[Api]:
    """Answer HTTP inside the block; when it is left, running requests end or are given back to the workers."""
    address = _address(listening)
    async with MemoryBank.opened(settings) as memory:
        server = _Server(_configured(_application(settings, memory), settings))
        task = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            await _until_answering(server, task, address)
            _look_for_garbage_less()
            yield Api(f"http://{address}{settings.server.base_path}", task)
        finally:
            memory.drain()
            server.should_exit = True
            await asyncio.gather(task, return_exceptions=True)
            # uvicorn does not wait for the requests that it cancelled after the grace.
            await asyncio.gather(*server.server_state.tasks, return_exceptions=True)


def _look_for_garbage_less() -> None:
    """Let Python pass over what was loaded, which stays, and look through the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_AFTER)


def _application(settings: Settings, memory: MemoryBank) -> FastAPI:
    @asynccontextmanager
    async def opened() -> AsyncIterator[MemoryBank]:
        yield memory

    return build(settings, opened)


def _configured(app: FastAPI, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=math.ceil(settings.worker.grace_seconds),
    )


async def _until_answering(server: _Server, task: asyncio.Task[None], address: str) -> None:
    """Wait until requests are answered; raises what went wrong instead."""
    answering = asyncio.create_task(server.answering.wait())
    await asyncio.wait({task, answering}, return_when=asyncio.FIRST_COMPLETED)
    answering.cancel()
    if task.done():
        try:
            await task
        except OSError as error:  # somebody else was quicker between bind and listen
            raise _unusable(address, error) from error


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
