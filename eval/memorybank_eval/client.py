"""The HTTP API as the harness uses it: configure, retain and wait, recall."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import httpx

from memorybank.errors import MemoryBankError

#: Seconds one call may take: a synchronous retain of a long session is inside.
TIMEOUT_SECONDS = 900.0
#: Seconds between two looks at an operation: first, and at most. They double, because each look costs the server too.
POLL_SECONDS, POLL_CAP_SECONDS = 0.1, 2.0
#: Only the raw facts: observations are made later, and here each hit must be a turn.
FACT_TYPES = ("world", "experience")
#: Metadata key under which a retained item carries the id of its turn.
TURN_KEY = "turn"
_ENDED = ("completed", "failed", "cancelled")


@dataclass(frozen=True)
class RecallOptions:
    """How a question is asked: the budget's name, the size of the answer in cl100k tokens, the time it is asked at."""

    budget: str = "mid"
    max_tokens: int = 4096
    asked_at: datetime | None = None


class Client:
    """A server at one address; an async context manager."""

    def __init__(
        self, url: str, transport: httpx.AsyncBaseTransport | None = None, key: str | None = None
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=url,
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
            transport=transport,
            headers={"Authorization": f"Bearer {key}"} if key else None,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send one call and return its answer; raises MemoryBankError with the server's own words."""
        try:
            answer = await self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise MemoryBankError(f"{method} {path}: {type(error).__name__}: {error}") from error
        if answer.is_error:
            raise MemoryBankError(f"{method} {path}: {answer.status_code}: {answer.text[:500]}")
        result: dict[str, Any] = answer.json()
        return result

    async def health(self) -> dict[str, Any]:
        """Return what /health says."""
        return await self.call("GET", "/health")

    async def configure(self, bank: str, updates: Mapping[str, Any]) -> None:
        """Create the bank where it is missing and set its configuration."""
        await self.call("PUT", bank_path(bank), {})
        await self.call("PATCH", f"{bank_path(bank)}/config", {"updates": dict(updates)})

    async def retain(self, bank: str, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Retain items before the call returns."""
        return await self.call("POST", f"{bank_path(bank)}/memories", {"items": list(items)})

    async def submit(self, bank: str, items: Sequence[Mapping[str, Any]]) -> str:
        """Retain items in the background; return the operation's id."""
        body = {"items": list(items), "async": True}
        answer = await self.call("POST", f"{bank_path(bank)}/memories", body)
        return str(answer["operation_id"])

    async def wait(self, bank: str, operation: str) -> dict[str, Any]:
        """Return an operation once it has ended; raises MemoryBankError unless it kept everything."""
        pause = POLL_SECONDS
        while True:
            state = await self.call("GET", f"{bank_path(bank)}/operations/{operation}")
            if state["status"] in _ENDED:
                break
            await asyncio.sleep(pause)
            pause = min(2 * pause, POLL_CAP_SECONDS)
        if state["status"] != "completed" or state.get("error_message"):
            raise MemoryBankError(f"retain of bank {bank} {state['status']}: {state.get('error_message')}")
        return state

    async def count(self, bank: str) -> int:
        """Return how many facts the bank holds."""
        return int((await self.call("GET", f"{bank_path(bank)}/memories/list?limit=1"))["total"])

    async def recall(self, bank: str, query: str, options: RecallOptions) -> list[dict[str, Any]]:
        """Ask a bank; return the hits, best first."""
        body = {
            "query": query,
            "types": list(FACT_TYPES),
            "budget": options.budget,
            "max_tokens": options.max_tokens,
            "query_timestamp": options.asked_at.isoformat() if options.asked_at else None,
            "include": {"entities": None},
        }
        hits: list[dict[str, Any]] = (await self.call("POST", f"{bank_path(bank)}/memories/recall", body))[
            "results"
        ]
        return hits


def bank_path(bank: str) -> str:
    """Return the path of a bank."""
    return f"/v1/default/banks/{bank}"


def turn_item(text: str, turn: str, at: datetime, context: str) -> dict[str, Any]:
    """Return the item that retains one turn and remembers which it is."""
    return {"content": text, "timestamp": at.isoformat(), "context": context, "metadata": {TURN_KEY: turn}}


def turns_of(hits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the turns the hits come from, best first, each once (a long turn may be several facts)."""
    turns = ((hit.get("metadata") or {}).get(TURN_KEY) for hit in hits)
    return list(dict.fromkeys(turn for turn in turns if turn))
