"""Every call, declared once. Importing this package declares them all, in the order in which routes are matched."""

import memorybank.serve.actions.banks as banks
import memorybank.serve.actions.documents as documents
import memorybank.serve.actions.entities as entities
import memorybank.serve.actions.memories as memories
import memorybank.serve.actions.operations as operations
from memorybank.serve.calls import CALLS

#: Modules whose import declares calls; a greedy path (documents) never hides another module's.
DECLARED = (banks, memories, documents, entities, operations)
ALL = CALLS
