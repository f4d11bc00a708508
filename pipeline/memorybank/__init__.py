"""memorybank: long-term memory for AI agents."""

import os

__version__ = "0.1.0"

# Before numpy is loaded: its threads wait for each other busily. Thirty vectors times a few hundred took ten times the
# processor time that they take with one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
