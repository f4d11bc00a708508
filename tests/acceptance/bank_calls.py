"""A bank of the tests, called over HTTP as any program would."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
from processes import WHEN_ASKED, Installation, Program

#: Seconds until background work of a test has ended.
PATIENCE = 30.0
JSON_HEADERS = {"content-type": "application/json"}


class Running(NamedTuple):
    """A server that answers at `url`: its home, and the `up` that runs it."""

    url: str
    home: Installation
    up: Program


def running(folder: Path, **environment: str) -> Iterator[Running]:
    """Run a memorybank in a folder, and see that nothing of it is left."""
    home = Installation(folder, **WHEN_ASKED, **environment)
    try:
        up = home.up()
        yield Running(up.url(), home, up)
        up.send(signal.SIGINT)
        assert up.wait() == 0
        assert home.processes() == []
    finally:
        home.end()


def request(http: httpx.Client, method: str, path: str, body: Any = ..., **options: Any) -> httpx.Response:
    """Send a request; the body as JSON of ASCII only, so that every character can be sent. No answer may be a 5xx."""
    if body is not ...:
        options["content"] = json.dumps(body)
        options["headers"] = JSON_HEADERS
    answer = http.request(method, path, **options)
    assert answer.status_code < 500, f"{method} {path}: {answer.status_code} {answer.text}"
    return answer


def good(answer: httpx.Response) -> Any:
    """The JSON of an answer that must be 200."""
    assert answer.status_code == 200, f"{answer.request.method} {answer.url}: {answer.text}"
    return answer.json()


class Bank:
    """One bank id, and the calls on it."""

    def __init__(self, http: httpx.Client, bank_id: str) -> None:
        self.http = http
        self.id = bank_id
        self.url = f"/v1/default/banks/{quote(bank_id, safe='')}"

    def call(self, method: str, path: str = "", body: Any = ..., **options: Any) -> httpx.Response:
        """Send a request; see `request`."""
        return request(self.http, method, self.url + path, body, **options)

    def get(self, path: str = "", **params: Any) -> Any:
        """Return the JSON of a read."""
        return good(self.call("GET", path, params=params))

    def retain(self, *items: Any, **fields: Any) -> Any:
        """Keep texts or items, now; return the answer."""
        made = [{"content": item} if isinstance(item, str) else item for item in items]
        return good(self.call("POST", "/memories", {"items": made, **fields}))

    def recall(self, query: str, **fields: Any) -> Any:
        """Ask; return the answer."""
        return good(self.call("POST", "/memories/recall", {"query": query, **fields}))

    def texts(self, **params: Any) -> list[str]:
        """The texts of the listed memories."""
        return [item["text"] for item in self.get("/memories/list", **params)["items"]]

    def counts(self) -> dict[str, int]:
        """How many of each thing the bank holds; of a bank that is not there, nothing."""
        lists = {
            "memories": "/memories/list",
            "documents": "/documents",
            "entities": "/entities",
            "tags": "/tags",
        }
        found = {}
        for name, path in (lists | {"operations": "/operations"}).items():
            answer = self.call("GET", path)
            found[name] = answer.json()["total"] if answer.status_code == 200 else 0
            assert answer.status_code in (200, 404)
        return found

    def ended(self, operation_id: str) -> Any:
        """Wait until an operation has ended and return its status."""
        end = time.monotonic() + PATIENCE
        while True:
            found = self.get(f"/operations/{operation_id}")
            if found["status"] not in ("pending", "processing"):
                return found
            assert time.monotonic() < end, found
            time.sleep(0.05)
