"""Errors as each interface words them: never a stack, never a 500 for bad input.

Memory banks: `{"detail": …}`. Workspace facts: `{"error": {code, message}}`. Band: that with a `request_id`, and with
`details`, a list of what is wrong with each field. Keys with values: `{"error": "<a sentence>"}`.
"""

import json
import math
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from memorybank.errors import (
    Blocked,
    InvalidInput,
    MemoryBankError,
    ModelRateLimited,
    ScopeNeedsOrganization,
)
from memorybank.ids import new_id

_log = structlog.get_logger()
#: Characters of a refused value that are echoed: enough to find it, not a whole document.
ECHO_CHARS = 200
#: Paths of workspace facts, of Band, and of keys with values.
_FACTS = re.compile(r"/v1/default/banks/[^/]+/facts(/[^/]+)?$")
_BAND = re.compile(r"/api/v1/(agent|me)/")
_ENTRIES = re.compile(r"/api/(memory|agents)$")
#: What is a code of its own at Band.
_BAND_CODES = {InvalidInput.code: "validation_error"}
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
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_exception_handler(Exception, _unknown)


async def _refused_by_schema(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # What is refused of a directory may hold a key, and is not said back.
    silent = {"input": None} if request.url.path.endswith(DIRECTORY) else {}
    entries = [_entry({**entry, **silent}) for entry in error.errors()]
    told = f"{'.'.join(map(str, entries[0]['loc']))}: {entries[0]['msg']}"
    return _answer(request, _Refusal(422, InvalidInput.code, told, entries))


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, MemoryBankError)
    if error.status >= 500:
        _log.warning("request_failed", code=error.code, path=request.url.path, error=error.message)
    response = _answer(request, _Refusal(error.status, error.code, error.message, detail(error)))
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
    message = f"internal error: {type(error).__name__}"
    return _answer(request, _Refusal(500, MemoryBankError.code, message, message))


async def _unrouted(request: Request, error: Exception) -> Response:
    """Answer what no call has refused: an unknown path or method, a body that is too large."""
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).name.lower()
    response = _answer(request, _Refusal(error.status_code, code, error.detail, error.detail))
    response.headers.update(error.headers or {})
    return response


@dataclass(frozen=True)
class _Refusal:
    """What went wrong, in a word and in a sentence, and as the contract of memory banks has it."""

    status: int
    code: str
    message: str
    detail: Any


def _answer(request: Request, refusal: _Refusal) -> Response:
    """Return an error body as the interface that was asked has it.

    All non-ASCII is escaped, so that a lone surrogate in it can be sent.
    """
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    status, said = refusal.status, {"detail": refusal.detail}
    if _BAND.match(path):
        said = {"error": _enveloped(refusal)}
    elif _ENTRIES.match(path):
        status, said = _worded(request.method, refusal)
    elif _FACTS.match(path):
        said = {"error": {"code": refusal.code, "message": refusal.message}}
    body = json.dumps(said, ensure_ascii=True, default=str)
    return Response(body, status_code=status, media_type="application/json")


def _worded(method: str, refusal: _Refusal) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of an error of keys with values, which tells nothing of what failed inside."""
    if refusal.status >= 500:
        return 500, {"error": f"Failed to {'fetch' if method == 'GET' else 'save'} memory"}
    if refusal.status == 401:
        return 401, {"error": "Unauthorized"}
    return 400 if refusal.status == 422 else refusal.status, {"error": refusal.message}


def _enveloped(refusal: _Refusal) -> dict[str, Any]:
    """Return an error as Band has it: `details` say of each field, by its pointer, what is wrong with it."""
    entries = refusal.detail if isinstance(refusal.detail, list) else []
    details = {
        "".join(f"/{part}" for part in entry["loc"][1:]): [entry["msg"]] for entry in entries if entry["loc"]
    }
    if refusal.code == ScopeNeedsOrganization.code:
        # What Band's own clients look for.
        details["organization_id"] = [refusal.message]
    return {
        "code": _BAND_CODES.get(refusal.code, refusal.code),
        "message": refusal.message,
        "request_id": f"req_{new_id().hex}",
        **({"details": details} if details else {}),
    }


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
