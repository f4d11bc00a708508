"""What a request stands on: the MemoryBank of this process, and who asks.

Async, or FastAPI would call each in a thread of its own.
"""

from urllib.parse import urlsplit

from fastapi import Request

from memorybank.audience import Principal, Viewer
from memorybank.errors import Forbidden
from memorybank.memory import MemoryBank
from memorybank.serve.admission import Admission, Carried
from memorybank.serve.calls import Call
from memorybank.storage.pool import Database

#: The cookie of a session.
COOKIE = "memorybank_session"
#: Methods that change nothing, so that a page elsewhere may cause them.
SAFE = ("GET", "HEAD", "OPTIONS")


async def current_memory(request: Request) -> MemoryBank:
    """Return the MemoryBank that the application opened at start."""
    memory: MemoryBank = request.app.state.memory
    return memory


async def current_database(request: Request) -> Database:
    """Return the open database."""
    return (await current_memory(request)).database


async def current_viewer(request: Request) -> Viewer:
    """Return what whoever asks may see, or change, as `admit` found."""
    viewer: Viewer = request.state.viewer
    return viewer


async def current_principal(request: Request) -> Principal:
    """Return who asks, as `admit` found."""
    principal: Principal = request.state.principal
    return principal


async def admit(request: Request, declared: Call) -> None:
    """Find out who asks and what they may see by a call; raises what `Admission` raises. Comes before the body."""
    door = admission(request)
    principal = await door.principal(carried(request))
    request.state.principal = principal
    request.state.viewer = await door.viewer(principal, declared, request.path_params.get("bank_id"))


async def operating(request: Request) -> None:
    """Let only operators of the installation pass; raises Unauthorized and Forbidden."""
    principal = await admission(request).principal(carried(request))
    if not principal.operates_all:
        raise Forbidden("this is for the operator of the installation")


def admission(request: Request) -> Admission:
    """Return the door of this process."""
    door: Admission = request.app.state.admission
    return door


def carried(request: Request) -> Carried:
    """Return what a request carries to say who it is; raises Forbidden for a page elsewhere that uses a cookie.

    A key goes before a session. A key without `Bearer` before it is one too: clients of the contract send it so.
    """
    headers = request.headers
    key = headers.get("authorization") or headers.get("x-api-key")
    if key is not None and key[:7].lower() == "bearer ":
        key = key[7:].strip()
    session = None if key is not None else request.cookies.get(COOKIE)
    if session is not None and request.method not in SAFE:
        check_origin(request)
    return Carried(key, session, headers.get("x-acting-as"), headers.get("host"))


def check_origin(request: Request) -> None:
    """Raise Forbidden where a browser does not say that the page is ours: SameSite alone is not enough."""
    try:
        origin = urlsplit(request.headers.get("origin", "")).netloc
    except ValueError:
        origin = ""
    if not origin or origin.lower() != request.headers.get("host", "").lower():
        raise Forbidden("a session changes things only from a page of this server: the Origin is another")
