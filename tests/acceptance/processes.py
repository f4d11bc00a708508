"""Processes of an installation as the tests start, signal and count them; each installation has a home of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from uuid import NAMESPACE_URL, uuid5

import httpx
import psutil

from memorybank_eval.nursery import Forked

T = TypeVar("T")

MEMORYBANK = str(Path(sys.executable).with_name("memorybank"))
#: Times of workers that make deaths quick to see.
QUICK = {
    "MEMORYBANK_WORKER__HEARTBEAT_SECONDS": "0.2",
    "MEMORYBANK_WORKER__DEAD_SECONDS": "0.6",
    "MEMORYBANK_WORKER__LEASE_SECONDS": "2",
    "MEMORYBANK_WORKER__SWEEP_SECONDS": "0.2",
    "MEMORYBANK_WORKER__RERING_SECONDS": "0.6",
}
#: Consolidation runs where a test asks for it, so that what a test counts is its own.
WHEN_ASKED = {"MEMORYBANK_BANK__ENABLE_AUTO_CONSOLIDATION": "false"}
#: The one line that `up` and `serve` print.
HEALTHY = re.compile(r"^memorybank is healthy at (\S+) \(engine: (\S+), data: (.+)\)$", re.MULTILINE)
WORKER_READY = "the worker is ready"
#: Seconds that anything may take on a busy machine.
PATIENCE = 60.0


def eventually(look: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Look until something true is seen, and return it."""
    end = time.monotonic() + seconds
    while True:
        if seen := look():
            return seen
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Program:
    """A running program, its output in files."""

    def __init__(self, command: list[str], environ: Mapping[str, str], output: Path) -> None:
        self._out, self._err = output.with_suffix(".out"), output.with_suffix(".err")
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                command, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        self.pid = self._process.pid

    @property
    def out(self) -> str:
        return self._out.read_text(errors="replace")

    @property
    def err(self) -> str:
        return self._err.read_text(errors="replace")

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self, seconds: float = PATIENCE) -> int:
        return self._process.wait(seconds)

    def kill(self) -> None:
        """kill -9, and bury it."""
        self._process.kill()
        self._process.wait()

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.pid).children()

    def worker(self) -> psutil.Process:
        """The worker process that this `up` runs."""

        def find() -> psutil.Process | None:
            return next((child for child in self.children() if is_worker(child)), None)

        return eventually(find, self.err)

    def url(self) -> str:
        """Wait until it answers, and return where."""

        def found() -> "re.Match[str] | None":
            assert self.running, f"ended with {self.wait()}: {self.err[-2000:]}"
            return HEALTHY.search(self.out)

        return eventually(found, self.err)[1]

    def ready(self) -> "Program":
        """Wait until a worker says that it works."""
        eventually(lambda: WORKER_READY in self.err, self.err)
        return self


class Installation:
    """One home, its settings, and all that runs on it. `end()` leaves nothing."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        clean = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        self.environ = clean | {"HOME": str(folder), "MEMORYBANK_HOME": str(self.home)} | environ
        self._started: list[Program] = []
        #: Workers that were forked for this installation: their environment does not show it.
        self.forked: list[Forked] = []

    def start(self, *arguments: str, **environ: str) -> Program:
        """Start a command of memorybank."""
        output = self.folder / f"{len(self._started)}-{arguments[0]}"
        program = Program([MEMORYBANK, *arguments], self.environ | environ, output)
        self._started.append(program)
        return program

    def up(self, **environ: str) -> Program:
        return self.start("up", "--port", "0", **environ)

    def serve(self, **environ: str) -> Program:
        return self.start("serve", "--port", "0", **environ)

    def worker(self, **environ: str) -> Program:
        return self.start("worker", **environ)

    def run(
        self, *arguments: str, text: str | None = None, **environ: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        return subprocess.run(
            [MEMORYBANK, *arguments],
            env=self.environ | environ,
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE * 2,
            check=False,
        )

    def processes(self) -> list[psutil.Process]:
        """Everything that belongs to this home, whoever its parent is now."""
        return [process for process in psutil.process_iter() if self._ours(process)]

    def deserted(self, seconds: float = 15) -> None:
        """Wait until nothing runs on this home any more."""
        eventually(lambda: not self.processes(), "processes are left", seconds)

    def end(self) -> None:
        """Leave nothing behind."""
        for program in self._started:
            if program.running:
                program.kill()
        for worker in self.forked:
            worker.kill()
        for process in self.processes():
            process.kill()

    def _ours(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE or process.pid == os.getpid():
                return False
            at_home = process.environ().get("MEMORYBANK_HOME") == str(self.home)
            return at_home or str(self.home / "postgres") in process.cmdline()
        except psutil.Error:
            return False


class Client:
    """One bank over HTTP."""

    def __init__(self, url: str, bank: str) -> None:
        self._path = f"{url}/v1/default/banks/{bank}"

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        answer = httpx.request(method, self._path + path, json=body, timeout=120, trust_env=False)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def retain(self, *contents: str) -> dict[str, Any]:
        return self.call("POST", "/memories", {"items": items(*contents)})

    def submit(self, *contents: str) -> str:
        body = {"items": items(*contents), "async": True}
        return str(self.call("POST", "/memories", body)["operation_id"])

    def operation(self, operation: str) -> dict[str, Any]:
        return self.call("GET", f"/operations/{operation}")

    def stored(self, operation: str) -> int:
        """How many chunks are stored."""
        return int((self.operation(operation).get("progress") or {}).get("processed") or 0)

    def ended(self, operation: str) -> dict[str, Any]:
        """Wait until an operation has ended, and return it."""

        def look() -> dict[str, Any] | None:
            found = self.operation(operation)
            return found if found["status"] in ("completed", "failed", "cancelled") else None

        return eventually(look, f"operation {operation} does not end")

    def facts(self) -> list[str]:
        found = self.call("GET", "/memories/list?limit=1000")["items"]
        return sorted(fact["text"] for fact in found)


def items(*contents: str) -> list[dict[str, str]]:
    """The items of a retain; each content is a document, so that a repeated request is the same one, and has a context
    of its own, so that no two share a call.
    """
    ids = [str(uuid5(NAMESPACE_URL, content)) for content in contents]
    return [
        {"content": content, "document_id": id_, "context": id_}
        for content, id_ in zip(contents, ids, strict=True)
    ]


def is_worker(process: psutil.Process) -> bool:
    """Whether this is a worker process."""
    try:
        return "memorybank_workers" in process.cmdline()
    except psutil.Error:
        return False
