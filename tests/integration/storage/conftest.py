"""Homes, processes and servers for the tests of the embedded server; all of them end with the test."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from embedded_world import Child, commit

from memorybank.storage.embedded import EmbeddedServer


@pytest.fixture(scope="session")
def stopped_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose server was shut down after a row (1) was committed."""
    home = tmp_path_factory.mktemp("stopped") / "home"
    server = EmbeddedServer(home)
    commit(server.ensure(), 1)
    server.stop()
    return home


@pytest.fixture
def home(tmp_path: Path, stopped_home: Path) -> Path:
    """A copy of it, owners of the files included: quicker than a new cluster."""
    subprocess.run(["cp", "-a", str(stopped_home), str(tmp_path / "home")], check=True)
    return tmp_path / "home"


@pytest.fixture
def child() -> Iterator[Callable[..., Child]]:
    """Make child processes; those that still live are killed at the end."""
    made: list[Child] = []

    def make(*arguments: Any, **options: Any) -> Child:
        made.append(Child(*arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.process.send_signal(signal.SIGCONT)
        one.end(signal.SIGKILL)


@pytest.fixture
def embedded() -> Iterator[Callable[[Path], EmbeddedServer]]:
    """Make servers of this process; they are stopped at the end."""
    made: list[EmbeddedServer] = []

    def make(home: Path) -> EmbeddedServer:
        made.append(EmbeddedServer(home))
        return made[-1]

    yield make
    for one in made:
        one.stop()
