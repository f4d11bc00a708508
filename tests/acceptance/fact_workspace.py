"""A workspace over HTTP: Olga owns it; Mia is in #ops, Nils is not; the agent Aide remembers in the bank `team`."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from processes import WHEN_ASKED, Installation

DIRECTORY = {
    "organizations": [{"id": "acme"}],
    "people": [
        {
            "id": name,
            "name": name.title(),
            "organization": "acme",
            "role": role,
            "key": f"key-of-{name}-0123456789",
        }
        for name, role in (("olga", "owner"), ("mia", "member"), ("nils", "member"))
    ],
    "agents": [
        {
            "id": "aide",
            "name": "Aide",
            "owner": "olga",
            "organization": "acme",
            "bank": "team",
            "key": "key-of-aide-0123456789",
        }
    ],
    "places": [
        {"id": "general", "kind": "public", "organization": "acme", "members": ["olga", "mia", "nils"]},
        {"id": "ops", "kind": "private", "organization": "acme", "members": ["mia"]},
        {"id": "thread", "parent": "ops"},
        {"id": "talk", "kind": "dm", "agent": "aide", "members": ["mia"]},
    ],
}
BANK = "/v1/default/banks/team"
FACTS = BANK + "/facts"
JUST_YOU, WORKSPACE = {"scope": "just_you"}, {"scope": "workspace"}


class Asking:
    """A running installation, asked with the keys of its people and its agent."""

    def __init__(self, url: str, keys: dict[str, str]) -> None:
        self.keys = keys
        self.client = httpx.Client(base_url=url, timeout=60, trust_env=False)

    def __call__(self, who: str, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.keys[who]}"} | options.pop("headers", {})
        answer = self.client.request(method, path, json=body, headers=headers, **options)
        assert answer.status_code < 500, answer.text
        return answer

    def add(self, who: str, text: str, **body: Any) -> dict[str, Any]:
        answer = self(who, "POST", FACTS, {"text": text, **body})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def learn(self, text: str, place: str, **body: Any) -> dict[str, Any]:
        source = {"kind": "message", "place": place, "message_id": "m1", "at": "2026-03-01T09:00:00Z"}
        return self.add("aide", text, source=source, **body)

    def texts(self, who: str, **query: Any) -> set[str]:
        answer = self(who, "GET", FACTS, params={"limit": 100, **query})
        assert answer.status_code == 200, answer.text
        return {fact["text"] for fact in answer.json()["items"]}

    def recalled(self, who: str, query: str, **body: Any) -> list[str]:
        answer = self(who, "POST", f"{BANK}/memories/recall", {"query": query, **body})
        assert answer.status_code == 200, answer.text
        return [hit["text"] for hit in answer.json()["results"]]

    def retain(self, who: str, content: str, **body: Any) -> httpx.Response:
        return self(who, "POST", f"{BANK}/memories", {"items": [{"content": content}], **body})


@contextmanager
def workspace(home: Path, **settings: str) -> Iterator[Asking]:
    """Run an installation with the directory, and give who asks it; `settings` by their names in the environment."""
    installation = Installation(home, **WHEN_ASKED, **settings)
    try:
        up = installation.up()
        made = httpx.put(f"{up.url()}/v1/default/directory", json=DIRECTORY, timeout=60, trust_env=False)
        [operator] = made.json()["keys"]
        keys = {name: f"key-of-{name}-0123456789" for name in ("olga", "mia", "nils", "aide")}
        asking = Asking(up.url(), keys | {"operator": operator["key"]})
        yield asking
        asking.client.close()
        up.send(signal.SIGINT)
        assert up.wait() == 0
    finally:
        installation.end()
