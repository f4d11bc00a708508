"""Sessions of a browser: a cookie made from a key, which is whoever the key is, and ends with it."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from memorybank.errors import BadRequest
from memorybank.memory import MemoryBank
from memorybank.serve.http.deps import COOKIE, admission, carried, current_memory
from memorybank.serve.http.schemas.directory import WhoResponse
from memorybank.storage import keys

router = APIRouter(tags=["sessions"])
SESSION = "/v1/default/session"
Memory = Annotated[MemoryBank, Depends(current_memory)]


@router.get(SESSION, operation_id="get_session")
async def get_session(request: Request) -> WhoResponse:
    """Return who asks: by key, by session, or, while there are no keys, the operator."""
    principal = await admission(request).principal(carried(request))
    banks = None if principal.banks is None else sorted(principal.banks)
    return WhoResponse(kind=principal.kind, uuid=principal.id, banks=banks)


@router.post(SESSION, operation_id="begin_session", status_code=204)
async def begin_session(request: Request, memory: Memory) -> Response:
    """Begin a session of the key that the request carries; the answer sets its cookie, which no script can read."""
    asked = carried(request)
    if asked.acting_as is not None:
        raise BadRequest("a session is whoever the key is: leave X-Acting-As out")
    opened = await admission(request).opened(asked)
    lasts = timedelta(hours=memory.settings.server.session_hours)
    async with memory.database.transaction() as connection:
        token = await keys.begin_session(connection, opened.key, lasts)
    answer = Response(status_code=204)
    answer.set_cookie(
        COOKIE,
        token,
        max_age=int(lasts.total_seconds()),
        path=_path(memory),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return answer


@router.delete(SESSION, operation_id="end_session", status_code=204)
async def end_session(request: Request, memory: Memory) -> Response:
    """End the session of the cookie that the request carries; one that is over is no error."""
    carried(request)
    session = request.cookies.get(COOKIE)
    if session is not None:
        async with memory.database.transaction() as connection:
            await keys.end_session(connection, session)
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE, path=_path(memory), httponly=True, samesite="strict")
    return answer


def _path(memory: MemoryBank) -> str:
    return memory.settings.server.base_path or "/"
