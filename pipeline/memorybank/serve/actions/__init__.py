"""Every call, declared once: importing this package imports, and so declares, them all.

Routes are matched in the order of these imports. The greedy paths (`documents`) hide nothing: each has a prefix that
no other module uses.
"""

from memorybank.serve.actions import (
    accounts,
    band,
    banks,
    directives,
    directory,
    documents,
    entities,
    entries,
    facts,
    files,
    knowledge,
    memories,
    mental_models,
    observations,
    operations,
    preview,
    reflection,
)
from memorybank.serve.calls import CALLS

__all__ = [
    "CALLS",
    "accounts",
    "band",
    "banks",
    "directives",
    "directory",
    "documents",
    "entities",
    "entries",
    "facts",
    "files",
    "knowledge",
    "memories",
    "mental_models",
    "observations",
    "operations",
    "preview",
    "reflection",
]
