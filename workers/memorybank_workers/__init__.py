"""Worker processes of memorybank: dramatiq runs the operations, PostgreSQL knows what there is to run."""

from memorybank_workers.middleware import Workplace
from memorybank_workers.process import run

__all__ = ["Workplace", "run"]
