"""Server-sent events: what a call that streams tells, and its errors."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing

import structlog
from fastapi.responses import StreamingResponse

from memorybank.errors import MemoryBankError
from memorybank.serve.calls import Event
from memorybank.serve.http import errors

_log = structlog.get_logger()
#: Proxies must neither keep nor gather events.
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


async def response(
    events: AsyncGenerator[Event, None], headers: Mapping[str, str] | None
) -> StreamingResponse:
    """Return a response that sends events as they come; what fails before the first is raised, as in any other call."""
    first = await anext(events)
    return StreamingResponse(
        _sent(first, events), media_type="text/event-stream", headers={**HEADERS, **(headers or {})}
    )


async def _sent(first: Event, events: AsyncGenerator[Event, None]) -> AsyncIterator[str]:
    async with aclosing(events):
        yield _written(first)
        try:
            async for event in events:
                yield _written(event)
        except MemoryBankError as error:
            _log.warning("stream_failed", code=error.code, error=error.message)
            yield _written(Event("error", {"status": error.status, "detail": errors.detail(error)}))


def _written(event: Event) -> str:
    if event.name == "ping":
        return ": ping\n\n"
    # All non-ASCII is escaped: no line separator of Unicode can end a line, and a lone surrogate can be sent.
    return f"event: {event.name}\ndata: {json.dumps(event.data, default=str)}\n\n"
