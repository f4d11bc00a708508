"""What the tests of the embedded server share: other processes, rows, and looks at processes."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from memorybank.storage.embedded_state import Process, find_process, read_state

CHILD = Path(__file__).with_name("embedded_child.py")


class Child:
    """Another process of the installation."""

    def __init__(
        self, home: Path, python: str = sys.executable, script: Path = CHILD, **options: Any
    ) -> None:
        self.process = subprocess.Popen(
            [python, str(script), str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )

    def say(self, word: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, word: str) -> dict[str, Any]:
        self.say(word)
        return self.hear()

    def end(self, sign: int | None = None) -> None:
        """End by a signal, or by the end of its input; wait for it."""
        if sign is not None:
            self.process.send_signal(sign)
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def postmaster(home: Path) -> Process:
    """The server of the state file."""
    state = read_state(home / "postgres.json")
    assert state is not None
    return state.server


def replaced(home: Path, process: Process) -> bool:
    """Whether another server is announced within some seconds."""
    return wait_for(lambda: postmaster(home) != process)


def gone(process: Process) -> bool:
    """Whether the process ends within some seconds."""
    return wait_for(lambda: not process.lives())


def frozen(process: "subprocess.Popen[str]") -> bool:
    """Stop a process; whether each of its threads stands still within some seconds."""
    process.send_signal(signal.SIGSTOP)
    threads = Path(f"/proc/{process.pid}/task")
    return wait_for(lambda: all(_letter(thread / "stat") == "T" for thread in threads.iterdir()))


def _letter(stat: Path) -> str:
    """The state letter of a /proc stat file."""
    return stat.read_text().rpartition(")")[2].split()[0]


def zombie(process: Process) -> bool:
    """Whether the process becomes a zombie within some seconds."""
    stat = Path(f"/proc/{process.pid}/stat")
    return wait_for(lambda: find_process(process.pid) is None and _letter(stat) == "Z")


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Poll until the condition holds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def commit(conninfo: str, number: int) -> None:
    """Commit one row."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (number int)")
        connection.execute("INSERT INTO kept VALUES (%s)", [number])


def kept(conninfo: str) -> list[int]:
    """The committed rows, in order."""
    with psycopg.connect(conninfo) as connection:
        return [row[0] for row in connection.execute("SELECT number FROM kept ORDER BY number")]


def answers(conninfo: str) -> bool:
    """Whether a server takes a connection now."""
    try:
        psycopg.connect(conninfo).close()
    except psycopg.OperationalError:
        return False
    return True
