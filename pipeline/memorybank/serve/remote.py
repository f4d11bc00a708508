"""A running server as the command line sees it: HTTP, and errors that say what to do."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from memorybank.errors import MemoryBankError
from memorybank.settings import ServerSettings, load

#: The variable that names a server elsewhere.
URL_VARIABLE = "MEMORYBANK_URL"
#: The variable that holds our key, for a server that needs one.
KEY_VARIABLE = "MEMORYBANK_API_KEY"
#: Seconds for one call: a synchronous retain waits for the model.
TIMEOUT_SECONDS = 900.0
#: Seconds to reach a server at all.
CONNECT_SECONDS = 10.0


class Remote:
    """The HTTP API at one address; a context manager."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        timeout = httpx.Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS)
        # The environment's proxy is for the world outside; we are on this machine, or named on purpose.
        key = os.environ.get(KEY_VARIABLE)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=timeout, headers=headers, trust_env=False)

    @classmethod
    def here(cls) -> "Remote":
        """Return the server that MEMORYBANK_URL names, else the one of this installation's settings."""
        return cls(os.environ.get(URL_VARIABLE) or local_url(load().server))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> dict[str, Any]:
        """Send one call and return its answer; raises MemoryBankError with the server's own words."""
        return self._answer(method, path, params=dict(query or {}), json=body)

    def upload(self, path: str, files: Sequence[tuple[str, Path]], form: Mapping[str, str]) -> dict[str, Any]:
        """Send files as parts of a form, with others; raises MemoryBankError, also where one cannot be opened."""
        with ExitStack() as opened:
            try:
                parts = [(name, (file.name, opened.enter_context(file.open("rb")))) for name, file in files]
            except OSError as error:
                raise MemoryBankError(f"{error.filename}: {error.strerror}") from error
            return self._answer("POST", path, files=parts, data=dict(form))

    def _answer(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        try:
            answer = self._client.request(method, self.url + path, **content)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise MemoryBankError(
                f"no server answers at {self.url}: start one with `memorybank up`, or name one by {URL_VARIABLE}"
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise MemoryBankError(f"{self.url}: {type(error).__name__}: {error}") from error
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            raise MemoryBankError(f"{self.url} wants a valid key: set {KEY_VARIABLE}")
        if answer.is_error:
            raise MemoryBankError(f"{answer.status_code}: {_detail(answer)}")
        return self._json(answer)

    def _json(self, answer: httpx.Response) -> dict[str, Any]:
        try:
            found = answer.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise MemoryBankError(f"what answers at {self.url} is not memorybank: set {URL_VARIABLE}")
        return found


def local_url(server: ServerSettings) -> str:
    """Return where the server of these settings is to be found."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"http://{host}:{server.port}{server.base_path}"


def _detail(answer: httpx.Response) -> str:
    try:
        said = answer.json()
        detail = said.get("detail", said.get("error", answer.text))
    except (ValueError, AttributeError):
        return answer.text
    if isinstance(detail, list):
        return "; ".join(
            f"{'.'.join(str(part) for part in entry['loc'])}: {entry['msg']}" for entry in detail
        )
    return str(detail)
