"""Errors as the contract words them: `{"detail": …}`, never a stack, never a 500 for bad input."""

import json
import math
import re
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from memorybank.errors import Blocked, InvalidInput, MemoryBankError, ModelRateLimited

_log = structlog.get_logger()
#: Characters of a refused value that are echoed: enough to find it, not a whole document.
ECHO_CHARS = 200
#: Paths of workspace facts, whose errors have a code.
_FACTS = re.compile(r"/v1/default/banks/[^/]+/facts(/[^/]+)?$")
#: Seconds a client should wait when the error itself does not say.
RETRY_AFTER_SECONDS = 30
#: The path whose bodies hold keys.
DIRECTORY = "/v1/default/directory"
#: Said of a body that came under another type: taking it as JSON would let any web page write to a local server.
NOT_JSON = "send the body as JSON, with the header Content-Type: application/json"


def install(app: FastAPI) -> None:
    """Register how each error is answered."""
    app.add_exception_handler(RequestValidationError, _refused_by_schema)
    app.add_exception_handler(MemoryBankError, _known)
    app.add_exception_handler(Exception, _unknown)


async def _refused_by_schema(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if _FACTS.search(request.url.path):
        found = error.errors()[0]
        told = f"{'.'.join(map(str, found['loc']))}: {found['msg']}"
        return _coded(422, InvalidInput.code, told)
    # What is refused of a directory may hold a key, and is not said back.
    silent = {"input": None} if request.url.path.endswith(DIRECTORY) else {}
    return answer(422, [_entry({**entry, **silent}) for entry in error.errors()])


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, MemoryBankError)
    if error.status >= 500:
        _log.warning("request_failed", code=error.code, path=request.url.path, error=error.message)
    facts = _FACTS.search(request.url.path)
    response = (
        _coded(error.status, error.code, error.message) if facts else answer(error.status, detail(error))
    )
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if error.status == 503:
        wait = error.retry_after if isinstance(error, ModelRateLimited) else None
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS if wait is None else math.ceil(wait))
    return response


def detail(error: MemoryBankError) -> Any:
    """Return what the body of an error says."""
    if isinstance(error, Blocked):
        return {"violations": error.violations}
    if isinstance(error, InvalidInput) and error.status == 422:
        return [_entry({"type": "value_error", "loc": error.loc, "msg": error.message, "input": error.value})]
    return error.message


async def _unknown(request: Request, error: Exception) -> Response:
    _log.error("request_crashed", path=request.url.path, exc_info=error)
    return answer(500, f"internal error: {type(error).__name__}")


def _coded(status: int, code: str, message: str) -> Response:
    """Return an error body as the calls on facts have it."""
    body = json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=True)
    return Response(body, status_code=status, media_type="application/json")


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    if isinstance(entry.get("input"), bytes):
        entry["msg"] = NOT_JSON
    context = {key: str(value) for key, value in (entry.get("ctx") or {}).items()}
    return {
        "type": entry["type"],
        "loc": list(entry["loc"]),
        "msg": entry["msg"],
        "input": _echo(entry.get("input")),
        **({"ctx": context} if context else {}),
    }


def _echo(value: Any) -> Any:
    """Return the refused value, cut: a caller needs to recognise it, not to get it back."""
    if value is None or isinstance(value, bool | int):
        return value
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= ECHO_CHARS else text[:ECHO_CHARS] + "…"


def answer(status: int, said: Any) -> Response:
    """Return an error body; all non-ASCII is escaped, so that a lone surrogate in it can be sent."""
    body = json.dumps({"detail": said}, ensure_ascii=True, default=str)
    return Response(body, status_code=status, media_type="application/json")
