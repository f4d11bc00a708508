"""Forks worker processes: it has imported what a worker imports, which else takes seconds each time.

A line of its input is JSON: the environment of a worker and the file for its output; the answer is the process id.
"""

import json
import os
import signal
import sys

import litellm  # noqa: F401 - what a worker with a model imports at its first call
import onnxruntime  # noqa: F401 - and at its first fact

from memorybank_workers import __main__ as program


def become_worker(environ: dict[str, str], output: str) -> None:
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


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the dead: they vanish
    for line in sys.stdin:
        told = json.loads(line)
        if pid := os.fork():
            print(pid, flush=True)
        else:
            become_worker(told["environ"], told["output"])
