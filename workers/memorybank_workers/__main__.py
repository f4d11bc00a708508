"""`python -m memorybank_workers`: one worker process over the settings of this installation."""

import sys
from functools import partial

from memorybank.memory import MemoryBank
from memorybank.settings import load
from memorybank_workers.process import run


def main() -> int:
    """Work until told to stop; returns the exit code."""
    settings = load()
    return run(partial(MemoryBank.opened, settings), settings.worker)


if __name__ == "__main__":
    sys.exit(main())
