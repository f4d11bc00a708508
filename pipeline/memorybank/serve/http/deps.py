"""What a request stands on: the MemoryBank of this process, and who asks.

Async, or FastAPI would call each in a thread of its own.
"""

from fastapi import Request

from memorybank.audience import Viewer
from memorybank.memory import MemoryBank


async def current_memory(request: Request) -> MemoryBank:
    """Return the MemoryBank that the application opened at start."""
    memory: MemoryBank = request.app.state.memory
    return memory


async def current_viewer() -> Viewer:
    """Return who asks. Without keys the server binds loopback only and its callers are the operator."""
    return Viewer.operator()
