"""`python -m memorybank_workers`: one worker process over the settings of this installation."""

import argparse
import sys
from functools import partial

from memorybank.errors import MemoryBankError
from memorybank.memory import MemoryBank
from memorybank.serve import logs
from memorybank.settings import load
from memorybank_workers.process import run


def main() -> int:
    """Work until told to stop; returns the exit code."""
    parser = argparse.ArgumentParser(prog="memorybank_workers", description="Run workers until SIGTERM.")
    parser.add_argument("--with-parent", type=int, metavar="PID", help="end when this parent process is gone")
    given = parser.parse_args()
    try:
        settings = load()
    except MemoryBankError as error:
        sys.exit(error.message)
    logs.configure(settings.log)
    return run(partial(MemoryBank.opened, settings), settings.worker, given.with_parent)


if __name__ == "__main__":
    sys.exit(main())
