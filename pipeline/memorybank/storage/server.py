"""Which PostgreSQL this installation uses: its own embedded one, or the one that `database.url` names."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from memorybank.settings import DatabaseSettings
from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.migrate import migrate
from memorybank.storage.pool import Database


class Server:
    """The server of one installation; for the embedded one, this process may become its owner."""

    def __init__(self, settings: DatabaseSettings, home: Path) -> None:
        self._url = settings.url
        self._embedded = EmbeddedServer(home) if settings.embedded else None

    async def conninfo(self) -> str:
        """Return how to connect; starts the embedded server where none runs. Raises DatabaseUnavailable."""
        if self._embedded is None:
            return self._url
        return await asyncio.to_thread(self._embedded.ensure)

    async def stop(self) -> None:
        """Stop the embedded server if this process owns it."""
        if self._embedded is not None:
            await asyncio.to_thread(self._embedded.stop)


@asynccontextmanager
async def opened(settings: DatabaseSettings, home: Path) -> AsyncIterator[Database]:
    """Find or start the database, bring its schema up to date, and give a Database for this event loop.

    Raises DatabaseUnavailable.
    """
    server = Server(settings, home)
    try:
        await migrate(await server.conninfo())
        database = Database(server.conninfo, settings)
        await database.open()
        try:
            yield database
        finally:
            await database.close()
    finally:
        await server.stop()
