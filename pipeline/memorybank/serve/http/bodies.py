"""Request bodies: strict JSON, of bounded depth. What is wrong with one is a 422 here, not a crash later."""

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

#: Deepest nesting of a body. No call needs ten levels; what follows (checks, JSON for PostgreSQL) recurses.
MAX_DEPTH = 64
#: Attribute of an endpoint: what is awaited with the request before its body is read, so that nobody is read who may
#: not ask.
ADMIT = "admit"


class StrictRoute(APIRoute):
    """A route whose body is read by `read_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, which lets in whom the endpoint admits and reads JSON our way."""
        handle = super().get_route_handler()
        admit = getattr(self.endpoint, ADMIT, None)

        async def strict(request: Request) -> Response:
            if admit is not None:
                await admit(request)
            return await handle(_Request(request.scope, request.receive))

        return strict


class _Request(Request):
    async def json(self) -> Any:
        """Return the body; raises JSONDecodeError, which is answered with 422."""
        return read_json(await self.body())


def read_json(body: bytes) -> Any:
    """Return what a body says. Raises JSONDecodeError for all that is no JSON or no JSON we can keep.

    Python's parser is wider than JSON: NaN and infinite numbers, which PostgreSQL cannot store; and it raises other
    errors than its own for broken UTF-8, for endless numbers and for nesting that is too deep.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise json.JSONDecodeError("the body is not UTF-8", "", error.start) from error
    try:
        found = json.loads(text, parse_constant=_refused, parse_float=_finite, parse_int=_counted)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise _too_deep(text) from error
    except ValueError as error:
        raise json.JSONDecodeError(str(error), text, 0) from error
    if _deeper(found, MAX_DEPTH):
        raise _too_deep(text)
    return found


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _counted(number: str) -> int:
    """Return a whole number; 10**400 is as much too large as 1e400, since arithmetic turns the one into the other."""
    _finite(number)
    return int(number)


def _too_deep(text: str) -> json.JSONDecodeError:
    return json.JSONDecodeError(f"nested more than {MAX_DEPTH} deep", text, 0)


def _deeper(value: Any, limit: int) -> bool:
    """Return whether a value is nested deeper than `limit`, looking level by level instead of recursing."""
    level = [value]
    for _ in range(limit):
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
