"""The HTTP application: every declared call becomes a route."""

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, FastAPI, Request, Response
from pydantic import BaseModel

import memorybank
from memorybank.audience import Principal, Viewer
from memorybank.memory import MemoryBank
from memorybank.serve.actions import CALLS
from memorybank.serve.admission import Admission
from memorybank.serve.calls import BANK, Action, Call
from memorybank.serve.http import errors, monitoring, sessions, streaming
from memorybank.serve.http.base_path import BasePath
from memorybank.serve.http.bodies import ADMIT, StrictRoute
from memorybank.serve.http.deps import (
    admit,
    current_database,
    current_memory,
    current_principal,
    current_viewer,
)
from memorybank.serve.http.limits import MEGABYTE, BodyLimit, Limits
from memorybank.serve.http.metrics import RequestMetrics
from memorybank.serve.http.schemas.wire import keeps_nulls
from memorybank.settings import Settings
from memorybank.storage.pool import Database

#: Names the query parameters and top-level body fields that were not known: they never fail.
IGNORED_HEADER = "X-Ignored-Params"
#: The status of an answer that says nothing.
NO_CONTENT = 204
#: Characters of that header: clients refuse headers of more than some 8,000.
IGNORED_CHARS = 2000
#: Characters that such a name may show as they are; the rest, commas and line ends too, is percent-encoded.
IGNORED_SAFE = "!#$&'*+/:;=?@[]^`|{}() \"<>\\"


def build(settings: Settings, open_memory: Callable[[], Any]) -> FastAPI:
    """Make the application; `open_memory` is an async context manager that gives the MemoryBank of this process."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_memory() as memory:
            app.state.memory, app.state.admission = memory, Admission(memory.database)
            yield

    app = FastAPI(title="memorybank", version=memorybank.__version__, lifespan=lifespan)
    app.router.route_class = StrictRoute
    app.include_router(monitoring.router)
    app.include_router(sessions.router)
    for declared in CALLS:
        _mount(app, declared)
    errors.install(app)
    app.add_middleware(BodyLimit, limits=_limits(settings))
    app.add_middleware(RequestMetrics)
    if settings.server.base_path:
        app.add_middleware(BasePath, base_path=settings.server.base_path)
    return app


def _limits(settings: Settings) -> Limits:
    uploads = tuple(declared.path.removeprefix(BANK) for declared in CALLS if declared.multipart)
    files = settings.files.max_total_mb * MEGABYTE + settings.server.max_body_bytes
    return Limits(settings.server.max_body_bytes, files, uploads)


def _mount(app: FastAPI, declared: Call) -> None:
    app.add_api_route(
        declared.path,
        _endpoint(declared),
        methods=[declared.method],
        operation_id=declared.name,
        tags=[declared.group],
        description=declared.help,
        response_model=None if declared.streams or declared.status == NO_CONTENT else declared.response,
        status_code=declared.status,
    )


def _endpoint(declared: Call) -> Action:
    """Return the call as FastAPI wants it: memory and viewer injected, unknown fields named in a header."""
    known = declared.query.model_fields if declared.query else {}
    body = declared.body
    without_nulls = not declared.streams and not keeps_nulls(declared.response)

    async def endpoint(request: Request, **given: Any) -> Response:
        ignored = [name for name in request.query_params if name not in known]
        if body is not None:
            ignored += given[body.name].model_extra or ()
        headers = {IGNORED_HEADER: _header(ignored)} if ignored else None
        if declared.streams:
            return await streaming.response(declared.action(**given), headers)
        answer: BaseModel = await declared.action(**given)
        if declared.status == NO_CONTENT:
            return Response(status_code=NO_CONTENT, headers=headers)
        # Written here, at once: FastAPI would check each of a recall's hundred hits again first.
        return Response(
            answer.model_dump_json(by_alias=True, exclude_none=without_nulls),
            status_code=declared.status,
            media_type="application/json",
            headers=headers,
        )

    endpoint.__signature__ = _injected(declared)  # type: ignore[attr-defined]
    setattr(endpoint, ADMIT, partial(admit, declared=declared))
    return endpoint


def _header(names: list[str]) -> str:
    """Return names as one header value: a name is the caller's text and must not end the header."""
    shown = (quote(name, safe=IGNORED_SAFE, errors="replace") for name in dict.fromkeys(names))
    return ", ".join(shown)[:IGNORED_CHARS].strip()


def _injected(declared: Call) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    provided = {
        "memory": Annotated[MemoryBank, Depends(current_memory)],
        "database": Annotated[Database, Depends(current_database)],
        "viewer": Annotated[Viewer, Depends(current_viewer)],
        "principal": Annotated[Principal, Depends(current_principal)],
        "request": Request,
    }
    taken = inspect.signature(declared.action).parameters
    first = [
        inspect.Parameter(name, keyword, annotation=annotation)
        for name, annotation in provided.items()
        if name in taken or name == "request"
    ]
    return inspect.Signature(
        [*first, *(parameter.replace(kind=keyword) for parameter in declared.parameters)]
    )
