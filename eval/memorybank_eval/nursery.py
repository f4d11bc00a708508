"""Worker processes by forking: many fit into one run, for what a worker imports, which takes seconds, is imported once.

`python -m memorybank_eval.nursery` is the process that forks. A line of its input is JSON: the environment of a worker
and the file for its output; the answer is the process id.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from memorybank.errors import MemoryBankError
from memorybank_workers import __main__ as program

#: What a worker imports at its first call of a model, and at its first fact.
HEAVY = ("litellm", "onnxruntime")
#: Seconds in which a killed process is gone.
PATIENCE = 60.0


class Nursery:
    """Starts workers; a context manager."""

    def __enter__(self) -> Self:
        environ = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "ORT_DISABLE_TELEMETRY": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        self._process.stdout.close()

    def __call__(self, environ: Mapping[str, str], output: Path) -> "Forked":
        """Start a worker with an environment; its output is added to a file."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"environ": dict(environ), "output": str(output)}) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()))


class Forked:
    """A worker process that a nursery started."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    @property
    def running(self) -> bool:
        """Whether it is there."""
        return Path(f"/proc/{self.pid}").exists()

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it where it is there."""
        if self.running:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until it has ended; raises MemoryBankError where it does not."""
        end = time.monotonic() + PATIENCE
        while self.running:
            if time.monotonic() > end:
                raise MemoryBankError(f"process {self.pid} does not end")
            time.sleep(0.01)


def become_worker(environ: Mapping[str, str], output: str) -> None:
    """Turn this process into a worker; never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environ)
    file = os.open(output, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = ["memorybank_workers"]
    os._exit(program.main())


def main() -> None:
    """Fork workers until the input ends."""
    for name in HEAVY:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the dead: they vanish
    for line in sys.stdin:
        told = json.loads(line)
        if pid := os.fork():
            print(pid, flush=True)
        else:
            become_worker(told["environ"], told["output"])


if __name__ == "__main__":
    main()
