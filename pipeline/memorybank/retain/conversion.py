"""Files to text, each in a process of its own (`reader`): a poisoned one must not take a worker with it."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from memorybank.errors import InvalidInput
from memorybank.settings import FileSettings

#: What the process gets of our environment: where its code is, and no keys.
PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "SYSTEMROOT")
#: One thread: a library that makes one for each core reserves memory that the limit counts.
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
#: How a process ends that ran out of memory: by an error of Python, an abort of a library, the kernel.
OUT_OF_MEMORY = {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGKILL}


def environment() -> dict[str, str]:
    """Return what a reader knows of the world."""
    return {key: os.environ[key] for key in PASSED_ON if key in os.environ} | THREADS


@dataclass
class Converter:
    """Reads files, a few at a time; `characters` is the longest text that is wanted, and `recalled_tags` stand around
    what clients recalled.
    """

    settings: FileSettings
    characters: int
    recalled_tags: Sequence[str] = ()
    _room: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        """Set how many files are read at once."""
        self._room = asyncio.Semaphore(self.settings.concurrency)

    async def text(self, name: str, content: bytes) -> str:
        """Return the text of a file; raises InvalidInput that says what is wrong with it, and how to go on."""
        async with self._room:
            said = await self._read(name, content)
        if "error" in said:
            raise InvalidInput(f"file '{name}' was not read: {said['error']}")
        if not said["text"].strip():
            raise InvalidInput(f"file '{name}' holds no text; a scan needs text recognition first")
        return said["text"]

    async def _read(self, name: str, content: bytes) -> dict[str, str]:
        own = self.settings
        limits = map(str, (own.timeout_seconds, own.memory_mb, self.characters))
        tags = ",".join(self.recalled_tags)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "memorybank.retain.reader", name, *limits, tags),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(),
        )
        try:
            async with asyncio.timeout(own.timeout_seconds):
                out, err = await process.communicate(content)
        except TimeoutError:
            return {"error": self._too_long}
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            return {"error": self._reason(process.returncode, err.decode("utf-8", "replace"))}
        said: dict[str, str] = json.loads(out)
        return said

    def _reason(self, code: int, trace: str) -> str:
        """Return what the end of a reader means. Its trace gives only the error's name: the rest may quote the file."""
        error = (trace.strip().splitlines() or [""])[-1].partition(":")[0].rpartition(".")[2]
        if code == -signal.SIGXCPU:
            return self._too_long
        if error == "MemoryError" or code in OUT_OF_MEMORY:
            return f"it needs more than {self.settings.memory_mb} MB of memory; split it"
        return f"it is damaged, or locked with a password ({error or code})"

    @property
    def _too_long(self) -> str:
        return f"it takes longer than {self.settings.timeout_seconds} seconds; split it"
