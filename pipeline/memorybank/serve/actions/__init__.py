"""Every call, declared once. Importing this package declares them all, in the order in which routes are matched."""

from memorybank.serve.actions import banks, documents, entities, memories, operations
from memorybank.serve.calls import CALLS

#: Modules whose import declares calls; a greedy path (documents) never hides another module's.
DECLARED = (banks, memories, documents, entities, operations)
ALL = CALLS
