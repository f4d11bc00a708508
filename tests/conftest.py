"""One PostgreSQL per test session, one migrated template, a copy of it per test."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from memorybank.settings import Settings, load
from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.migrate import migrate
from memorybank.storage.pool import Database

#: A server of your own for the tests (its role must be allowed to create databases); else an embedded one is started.
SERVER_VARIABLE = "MEMORYBANK_TEST_POSTGRES"
#: Longest wait for autovacuum to leave a database that is to be dropped.
DROP_SECONDS = 30.0


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The conninfo of a running server."""
    given = os.environ.get(SERVER_VARIABLE)
    if given:
        yield given
        return
    embedded = EmbeddedServer(Path(tmp_path_factory.mktemp("postgres")))
    yield embedded.ensure()
    embedded.stop()


@pytest.fixture(scope="session")
def template(server: str) -> Iterator[str]:
    """The name of a migrated, empty database."""
    name = f"template_{uuid4().hex[:12]}"
    _create(server, name, "template0")
    asyncio.run(migrate(make_conninfo(server, dbname=name)))
    yield name
    _drop(server, name)


@pytest.fixture
def conninfo(server: str, template: str) -> Iterator[str]:
    """The conninfo of a fresh database with the newest schema."""
    yield from _copied(server, template)


@pytest.fixture(scope="module")
def shared_conninfo(server: str, template: str) -> Iterator[str]:
    """The conninfo of a database that all tests of a module share."""
    yield from _copied(server, template)


@pytest.fixture
def empty(server: str) -> Iterator[str]:
    """The conninfo of a database without any schema."""
    name = f"empty_{uuid4().hex[:12]}"
    _create(server, name, "template0")
    yield make_conninfo(server, dbname=name)
    _drop(server, name)


@pytest.fixture(scope="session")
def settings() -> Settings:
    """The settings as shipped, with nothing of the environment."""
    return load(environ={})


@pytest.fixture
async def database(conninfo: str, settings: Settings) -> AsyncIterator[Database]:
    """An open Database on a fresh copy."""

    async def where() -> str:
        return conninfo

    opened = Database(where, settings.database)
    await opened.open()
    yield opened
    await opened.close()


def _copied(server: str, template: str) -> Iterator[str]:
    name = f"test_{uuid4().hex[:12]}"
    _create(server, name, template)
    yield make_conninfo(server, dbname=name)
    _drop(server, name)


def _create(server: str, name: str, template: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        )


def _drop(server: str, name: str) -> None:
    """Drop a database, if it is there; autovacuum, which only a superuser may end, is waited for."""
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    until = time.monotonic() + DROP_SECONDS
    with psycopg.connect(server, autocommit=True) as connection:
        while True:
            try:
                connection.execute(drop)
                return
            except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectInUse):
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)
