"""Brings up worker processes quickly: `nursery.py` imports what a worker imports, then forks one for each line it reads.

A line is JSON: the environment of the worker and the file for its output; the answer is its process id. Such a worker
is a process like any other, but for the seconds that its imports take: so many kills fit into one test.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path


class Nursery:
    """The process that forks; a context manager."""

    def __enter__(self) -> "Nursery":
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def __call__(self, environ: Mapping[str, str], output: Path) -> "Forked":
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"environ": dict(environ), "output": str(output)}) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()))


class Forked:
    """A worker process that another process started."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self.running:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while self.running:
            assert time.monotonic() < end, f"process {self.pid} does not end"
            time.sleep(0.002)

    @property
    def running(self) -> bool:
        return Path(f"/proc/{self.pid}").exists()


def main() -> None:
    import litellm  # noqa: F401
    import onnxruntime  # noqa: F401

    from memorybank_workers import __main__ as program

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the dead: they vanish
    for line in sys.stdin:
        told = json.loads(line)
        pid = os.fork()
        if pid:
            print(pid, flush=True)
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(told["environ"])
        output = os.open(told["output"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.argv = ["memorybank_workers"]
        os._exit(program.main())


if __name__ == "__main__":
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    main()
