"""A running server as the command line sees it: HTTP, and errors that say what to do."""

import os
from collections.abc import Mapping
from typing import Any

import httpx
import typer

from memorybank.settings import load

#: Seconds for one call: a synchronous retain waits for the model.
TIMEOUT_SECONDS = 900.0


class Remote:
    """The HTTP API at one address."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._client = httpx.Client(base_url=self.url, timeout=TIMEOUT_SECONDS, trust_env=False)

    @classmethod
    def here(cls) -> "Remote":
        """Return the server that MEMORYBANK_URL names, else the one of this installation's settings."""
        server = load().server
        return cls(
            os.environ.get("MEMORYBANK_URL") or f"http://{server.host}:{server.port}{server.base_path}"
        )

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> dict[str, Any]:
        """Send one call and return its answer; ends the command with the server's own words on an error."""
        try:
            answer = self._client.request(method, path, params=dict(query or {}), json=body)
        except httpx.ConnectError:
            typer.secho(
                f"no server answers at {self.url}: start one with `memorybank up`", fg="red", err=True
            )
            raise typer.Exit(1) from None
        except httpx.HTTPError as error:
            typer.secho(f"{self.url}: {type(error).__name__}: {error}", fg="red", err=True)
            raise typer.Exit(1) from None
        if answer.is_error:
            typer.secho(f"{answer.status_code}: {_detail(answer)}", fg="red", err=True)
            raise typer.Exit(1)
        result: dict[str, Any] = answer.json()
        return result


def _detail(answer: httpx.Response) -> str:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return answer.text
    if isinstance(detail, list):
        return "; ".join(
            f"{'.'.join(str(part) for part in entry['loc'])}: {entry['msg']}" for entry in detail
        )
    return str(detail)
