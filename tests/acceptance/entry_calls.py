"""Asking for keys and values over HTTP, as people, agents and the operator do."""

import json
from typing import Any

import httpx

MEMORY, BANK = "/api/memory", "/v1/default/banks/shared"


class Asking:
    """A running installation, asked with the keys of people and agents."""

    def __init__(self, url: str, operator: str) -> None:
        self.operator = operator
        self.client = httpx.Client(base_url=url, timeout=60, trust_env=False)

    def __call__(
        self, who: str | None, method: str, path: str, body: Any = None, **options: Any
    ) -> httpx.Response:
        key = self.operator if who == "operator" else f"key-of-{who}-0123456789"
        headers = ({"authorization": f"Bearer {key}"} if who else {}) | options.pop("headers", {})
        content = None if body is None else json.dumps(body)
        if content is not None:
            headers = {"content-type": "application/json"} | headers
        return self.client.request(method, path, content=content, headers=headers, **options)

    def get(self, who: str | None, agent: str | None = None) -> httpx.Response:
        return self(who, "GET", MEMORY, params={} if agent is None else {"agentId": agent})

    def put(self, who: str | None, **body: Any) -> httpx.Response:
        return self(who, "POST", MEMORY, body)

    def recalled(self, who: str, query: str, bank: str = BANK) -> list[str]:
        answer = self(who, "POST", f"{bank}/memories/recall", {"query": query})
        assert answer.status_code == 200, answer.text
        return [hit["text"] for hit in answer.json()["results"]]
