"""The flow against a memory of our own that answers as the HTTP API does."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from memorybank.errors import Conflict, MemoryBankError
from memorybank_eval import report, retrieval
from memorybank_eval.client import Client, RecallOptions, turns_of
from memorybank_eval.datasets import Conversation, Dataset, Question, Turn

AT = datetime(2024, 1, 1, tzinfo=UTC)
TURNS = (
    Turn("D1:1", "Mia: the boat is blue", AT, 1),
    Turn("D1:2", "Bo: the car is red", AT, 1),
    Turn("D2:1", "Mia: the boat is sold", AT, 2),
)
QUESTIONS = (
    Question("car", "4 single-hop", frozenset({"D1:2"}), AT),
    Question("boat", "1 multi-hop", frozenset({"D1:1", "D2:1"})),
    Question("plane", "5 adversarial", frozenset({"D1:1"})),
)
CONVERSATION = Conversation("0", "A conversation between Mia and Bo.", TURNS, QUESTIONS)
DATASET = Dataset(
    lambda _: [CONVERSATION], 999, {"categories 1-4": frozenset({"4 single-hop", "1 multi-hop"})}
)


class Memory:
    """Keeps items by bank; a recall finds those that hold the query's word. `failing`: how operations end."""

    def __init__(self, failing: str | None = None) -> None:
        self.banks: dict[str, list[dict[str, Any]]] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.failing = failing

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        path = request.url.path
        self.requests.append((request.method, path, body))
        if path == "/health":
            return httpx.Response(200, json={"status": "healthy", "engine": "extractive"})
        bank = self.banks.setdefault(path.split("/")[4], [])
        if path.endswith("/memories/recall"):
            return httpx.Response(200, json={"results": self._found(bank, body["query"])})
        if path.endswith("/memories/list"):
            return httpx.Response(200, json={"total": len(bank), "items": []})
        if path.endswith("/memories"):
            bank.extend(body["items"])
            return httpx.Response(200, json={"operation_id": "op"})
        if "/operations/" in path:
            answer = {"status": "completed", "error_message": self.failing}
            return httpx.Response(200, json=answer)
        return httpx.Response(200, json={})

    @staticmethod
    def _found(bank: Sequence[dict[str, Any]], word: str) -> list[dict[str, Any]]:
        return [{"metadata": item["metadata"]} for item in bank if word in item["content"]]

    def client(self) -> Client:
        return Client("http://memory", httpx.MockTransport(self))


@pytest.mark.parametrize("mode", retrieval.MODES)
async def test_every_session_is_one_request_without_document_id_and_every_turn_one_item(mode: str) -> None:
    memory = Memory()
    async with memory.client() as client:
        await retrieval.retain_all(client, "locomo", [CONVERSATION], reuse=False, mode=mode)
    sent = [body for method, path, body in memory.requests if method == "POST" and path.endswith("/memories")]
    assert [[item["metadata"]["turn"] for item in body["items"]] for body in sent] == [
        ["D1:1", "D1:2"],
        ["D2:1"],
    ]
    assert all(body["async"] for body in sent)
    assert sent[0]["items"][0] == {
        "content": "Mia: the boat is blue",
        "timestamp": "2024-01-01T00:00:00+00:00",
        "context": "A conversation between Mia and Bo.",
        "metadata": {"turn": "D1:1"},
    }
    configured = next(body for method, path, body in memory.requests if method == "PATCH")
    assert configured == {"updates": {"retain_extraction_mode": mode}}
    assert list(memory.banks) == ["eval-locomo-0"]


def test_turns_of_a_pool_are_documents_of_their_own() -> None:
    pool = Conversation("0", "A chat.", TURNS * 50, QUESTIONS, pooled=True)
    requests = retrieval.requests_of(pool)
    assert [len(items) for items in requests] == [100, 50]
    assert [item["document_id"] for item in requests[0][:3]] == ["D1:1", "D1:2", "D2:1"]


async def test_a_filled_bank_is_refused_unless_it_may_be_reused() -> None:
    memory = Memory()
    async with memory.client() as client:
        await retrieval.retain_all(client, "locomo", [CONVERSATION], reuse=False)
        with pytest.raises(Conflict, match="eval-locomo-0 holds 3 facts"):
            await retrieval.retain_all(client, "locomo", [CONVERSATION], reuse=False)
        retained = await retrieval.retain_all(client, "locomo", [CONVERSATION], reuse=True)
    assert (retained.turns, retained.facts) == (3, 3)


async def test_a_retain_that_lost_something_is_an_error() -> None:
    async with Memory(failing="1 chunk failed").client() as client:
        with pytest.raises(MemoryBankError, match="1 chunk failed"):
            await retrieval.retain_all(client, "locomo", [CONVERSATION], reuse=False)


async def test_a_refused_call_says_what_the_server_said() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(422, text="query: too long"))
    async with Client("http://memory", transport) as client:
        with pytest.raises(MemoryBankError, match="422: query: too long"):
            await client.recall("b", "x", RecallOptions())


async def test_the_whole_measurement_counts_what_was_found() -> None:
    memory = Memory()
    async with memory.client() as client:
        result, each = await retrieval.measure(client, "locomo", DATASET, [CONVERSATION], reuse=False)
    rows = result["categories"]
    assert {name: row["questions"] for name, row in rows.items()} == {
        "1 multi-hop": 1, "4 single-hop": 1, "5 adversarial": 1, "categories 1-4": 2, "all": 3,
    }  # fmt: skip
    assert rows["4 single-hop"]["metrics"]["any@5"] == [1, 1, 1]
    assert rows["5 adversarial"]["metrics"]["any@20"] == [0, 0, 0]
    assert rows["categories 1-4"]["metrics"]["all@5"][0] == 1
    assert rows["all"]["metrics"]["mrr"][0] == pytest.approx(2 / 3, abs=1e-4)
    assert result["answers_with_fewer_turns_than_20"] == 3
    assert [(one["number"], one["any@5"]) for one in each] == [(0, 1), (1, 1), (2, 0)]
    asked = [body for _, path, body in memory.requests if path.endswith("/recall")]
    assert asked[0]["query_timestamp"] == "2024-01-01T00:00:00+00:00"
    assert asked[1]["query_timestamp"] is None
    assert all(body["max_tokens"] == 999 and body["types"] == ["world", "experience"] for body in asked)
    assert "| categories 1-4 |" in report.retrieval({"dataset": "locomo", **result})


def test_a_turn_in_several_facts_stands_once_at_its_best_rank() -> None:
    hits = [
        {"metadata": {"turn": "b"}},
        {"metadata": None},
        {"metadata": {"turn": "a"}},
        {"metadata": {"turn": "b"}},
    ]
    assert turns_of(hits) == ["b", "a"]
