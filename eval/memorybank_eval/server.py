"""A memorybank server of the harness's own: started, waited for, stopped."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memorybank.errors import MemoryBankError

#: The line that `memorybank up` prints once /health is good.
_READY = re.compile(r"healthy at (http://\S+)")
#: Seconds between two looks for that line: the resolution of a start time.
POLL_SECONDS = 0.005
#: Seconds a start may take before it counts as failed; a cold one takes a few.
START_SECONDS = 120.0
#: Seconds a stop may take: the workers' grace and the database's shutdown are inside.
STOP_SECONDS = 60.0
#: Lines of a failed server's output that are shown.
SHOWN_LINES = 15
#: Observations come into a bank while it is measured: the same questions find other facts, and CPU is counted that is
#: not the call's. So a server of the harness makes none, unless the environment says otherwise.
DEFAULTS = {"MEMORYBANK_BANK__ENABLE_AUTO_CONSOLIDATION": "false"}


@dataclass(frozen=True)
class RunningServer:
    """A server that answers; `pid` is the root of its process group, `start_seconds` from spawn to healthy."""

    url: str
    pid: int
    home: Path
    start_seconds: float


@contextmanager
def running(
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
    program: Path | None = None,
    command: str = "up",
) -> Iterator[RunningServer]:
    """Run `memorybank up` on a free port, in `home` or in a temporary home that is deleted afterwards.

    `environ` is added to this process's environment. `program` is another installation's `memorybank`. `command` may
    be `serve`, for a server without workers. Raises MemoryBankError where it does not start or does not stop.
    """
    if home is None:
        with (
            tempfile.TemporaryDirectory(prefix="memorybank-eval-", ignore_cleanup_errors=True) as temporary,
            running(Path(temporary), environ, program, command) as server,
        ):
            yield server
        return
    arguments = [str(program or Path(sys.executable).with_name("memorybank")), command, "--port", "0"]
    output = home / "server.out"
    began = time.perf_counter()
    with output.open("wb") as written:
        process = subprocess.Popen(
            arguments,
            stdout=written,
            stderr=subprocess.STDOUT,
            env={**DEFAULTS, **os.environ, **(environ or {}), "MEMORYBANK_HOME": str(home)},
            start_new_session=True,
        )
    try:
        url = _wait_until_ready(process, output)
        yield RunningServer(url, process.pid, home, time.perf_counter() - began)
    finally:
        _stop(process)


def _wait_until_ready(process: "subprocess.Popen[bytes]", output: Path) -> str:
    """Return the address from the ready line."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        said = output.read_text(errors="replace")
        ready = _READY.search(said)
        if ready and said.endswith("\n"):
            return ready[1]
        if process.poll() is not None:
            break
        time.sleep(POLL_SECONDS)
    last = "\n".join(output.read_text(errors="replace").splitlines()[-SHOWN_LINES:])
    raise MemoryBankError(f"`memorybank up` did not get healthy:\n{last}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Stop the server as Ctrl-C does; only one that will not stop is killed, and that is an error."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise MemoryBankError(f"the server did not stop within {STOP_SECONDS:.0f} s of SIGINT") from None


def free_home(parent: Path) -> Path:
    """Return a new empty home below `parent`."""
    return Path(tempfile.mkdtemp(prefix="home-", dir=parent))
