"""A bound on request bodies, held while they are read."""

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEGABYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """Bytes of a body; of one with files, which goes to a path that ends as one of `uploads`."""

    body: int
    files: int
    uploads: tuple[str, ...]

    def of(self, path: str) -> int:
        """Return the limit for a path."""
        return self.files if path.endswith(self.uploads) else self.body


class BodyLimit:
    """Answers 413 to a body over its limit, whether its length was announced or not."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting what arrives."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen, limit = 0, self.limits.of(scope["path"])

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, f"the request body is larger than {limit} bytes")
            return message

        await self.app(scope, counted, send)
