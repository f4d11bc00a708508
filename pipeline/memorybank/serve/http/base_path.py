"""The path that all routes stand under, for a proxy that does not strip it."""

from starlette.types import ASGIApp, Receive, Scope, Send


class BasePath:
    """Lets every route be reached below `base_path` too; the schema and the documentation name it."""

    def __init__(self, app: ASGIApp, base_path: str) -> None:
        self.app = app
        self.base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the router takes the root path off."""
        scope["root_path"] = self.base_path
        await self.app(scope, receive, send)
