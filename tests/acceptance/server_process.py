"""A `memorybank up` of the tests: started as a user does it, seen through its HTTP address, ended by Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

PROGRAM = Path(sys.executable).with_name("memorybank")
#: Seconds for the first healthy answer, on a busy machine and with a cold disk.
START_SECONDS = 60
#: Seconds for a clean end.
STOP_SECONDS = 30
_HEALTHY = re.compile(r"^memorybank is healthy at (\S+) ", re.MULTILINE)


class ServerProcess:
    """Database, HTTP server and worker in one process group, with a home of their own and a clean environment."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.home = folder / "home"
        self._said, self._log = folder / "stdout", folder / "stderr"
        clean = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        with self._said.open("wb") as said, self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [PROGRAM, "up", "--port", "0"],
                env=clean | {"HOME": str(folder), "MEMORYBANK_HOME": str(self.home)} | environment,
                stdout=said,
                stderr=log,
                start_new_session=True,
            )
        self.url = self._until_healthy()

    def _until_healthy(self) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if found := _HEALTHY.search(self._said.read_text()):
                return found.group(1)
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"no healthy server; its log ends with\n{self.log()[-4000:]}")

    def family(self) -> list[psutil.Process]:
        """The process and all it started, and whoever has its home on the command line."""
        found = {self._process.pid}
        for process in psutil.process_iter(["pid", "cmdline"]):
            if str(self.home) in " ".join(process.info["cmdline"] or ()):
                found.add(process.pid)
        if psutil.pid_exists(self._process.pid):
            found |= {child.pid for child in psutil.Process(self._process.pid).children(recursive=True)}
        return [psutil.Process(pid) for pid in found if psutil.pid_exists(pid)]

    def stop(self) -> tuple[int, list[str]]:
        """Press Ctrl-C; return the exit status and the processes that are left."""
        family = self.family()
        self._process.send_signal(signal.SIGINT)
        status = self._process.wait(STOP_SECONDS)
        _, left = psutil.wait_procs(family, timeout=5)
        return status, [" ".join(process.cmdline()) for process in {*left, *self.family()}]

    def kill(self) -> None:
        """Leave nothing behind, whatever happened."""
        for process in self.family():
            if process.is_running():
                process.kill()
        self._process.wait()

    def log(self) -> str:
        return self._log.read_text(errors="replace")
