"""Documents over HTTP, and through the published client where it has the method."""

import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from bank_calls import Bank, Running, good
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException
from hindsight_client_api.models.update_document_request import UpdateDocumentRequest

from memorybank.testing.scripted_llm import ScriptedLLM

#: An id as clients make them, with slashes in it.
NOTES = "notes/2026/März #1"


@pytest.fixture
async def client(server: Running) -> AsyncIterator[Hindsight]:
    made = Hindsight(base_url=server.url, timeout=60)
    yield made
    await made.aclose()


def _history(bank: Bank, document_id: str) -> list[tuple[str, int, int]]:
    """What was done to a document, the oldest first."""
    items = bank.get(f"/documents/{document_id}/history")["items"]
    return [(event["kind"], event["facts_added"], event["facts_removed"]) for event in reversed(items)]


def _again(bank: Bank, document_id: str) -> Any:
    taken = good(bank.call("POST", f"/documents/{document_id}/reprocess"))
    assert (taken["success"], taken["items_count"]) == (True, 1)
    return bank.ended(taken["operation_id"])


async def test_the_published_client_reprocesses_and_reads_the_history(client: Hindsight, bank: Bank) -> None:
    await client.aretain(bank.id, "Ana moved to Graz.", document_id=NOTES, timestamp=None)
    await client.aretain(bank.id, "Bert moved to Linz.", document_id=NOTES, update_mode="append")
    before = {item["id"] for item in bank.get("/memories/list")["items"]}
    taken = await client.documents.reprocess_document(bank.id, NOTES)
    assert taken.success and bank.ended(taken.operation_id)["status"] == "completed"
    await client.documents.update_document(bank.id, NOTES, UpdateDocumentRequest(tags=["t"]))
    history = await client.documents.get_document_history(bank.id, NOTES)
    assert [event.kind for event in history.items] == ["retag", "reprocess", "append", "retain"]
    assert [(event.facts_added, event.facts_removed) for event in history.items] == [
        (0, 0),
        (2, 2),
        (1, 0),
        (1, 0),
    ]
    assert [bool(event.operation_id) for event in history.items] == [False, True, True, True]
    assert {event.document_id for event in history.items} == {history.document_id} == {NOTES}
    assert history.items[0].observations_created.count == 0
    page = await client.documents.get_document_history(bank.id, NOTES, limit=1, offset=1)
    assert ([event.kind for event in page.items], page.total, page.limit, page.offset) == (
        ["reprocess"],
        4,
        1,
        1,
    )
    assert {item["id"] for item in bank.get("/memories/list")["items"]} == before
    assert len((await client.documents.list_document_chunks(bank.id, NOTES)).items) == 2
    await client.documents.delete_document(bank.id, NOTES)
    with pytest.raises(ApiException) as gone:
        await client.documents.get_document_history(bank.id, NOTES)
    assert gone.value.status == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "history"), ("POST", "reprocess"), ("GET", "chunks"), ("GET", "history?limit=0")],
)
def test_what_cannot_be_answered(bank: Bank, method: str, path: str) -> None:
    assert bank.call(method, f"/documents/d/{path}").status_code == (422 if "limit" in path else 404)
    bank.retain("Something.")
    assert bank.call(method, f"/documents/d/{path}").status_code == (422 if "limit" in path else 404)


def test_without_texts_there_is_nothing_to_append_to_or_to_read_again(bank: Bank) -> None:
    good(bank.call("PUT", "", {}))
    good(bank.call("PATCH", "/config", {"updates": {"store_document_text": False}}))
    bank.retain({"content": "Ana moved to Graz.", "document_id": "d"})
    refused = bank.call("POST", "/documents/d/reprocess")
    assert refused.status_code == 400 and "not stored" in refused.json()["detail"]
    item = {"content": "Bert too.", "document_id": "d", "update_mode": "append"}
    assert bank.call("POST", "/memories", {"items": [item]}).status_code == 400
    assert bank.get("/documents/d").get("original_text") is None
    found = bank.recall("Where is Ana?", include={"chunks": {}})
    assert [hit["text"] for hit in found["results"]] == ["Ana moved to Graz."]
    assert not any(chunk["text"] for chunk in (found.get("chunks") or {}).values())


def test_appends_at_once_all_land_in_one_array(bank: Bank) -> None:
    def append(at: int) -> None:
        turn = [{"role": "user", "content": f"Person{at} moved to Graz."}]
        item = {"content": json.dumps(turn), "document_id": "chat", "update_mode": "append"}
        answer = good(bank.call("POST", "/memories", {"items": [item], "async": at % 2 == 0}))
        if at % 2 == 0:
            bank.ended(answer["operation_id"])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(append, range(6)))
    said = [turn["content"] for turn in json.loads(bank.get("/documents/chat")["original_text"])]
    assert sorted(said) == [f"Person{at} moved to Graz." for at in range(6)]
    assert bank.get("/documents/chat/chunks")["total"] == 6
    assert [event[0] for event in _history(bank, "chat")] == ["append"] * 6


def test_each_item_of_a_document_keeps_its_date_when_it_is_read_again(bank: Bank) -> None:
    items = [
        {
            "content": f"Ana met Bert{at} yesterday.",
            "document_id": "d",
            "timestamp": f"202{at}-03-04T10:00:00Z",
        }
        for at in range(3)
    ]
    bank.retain(*items)
    fields = ("text", "occurred_start", "occurred_end", "mentioned_at", "context")
    before = [{key: item.get(key) for key in fields} for item in bank.get("/memories/list")["items"]]
    assert {item["occurred_start"][:10] for item in before} == {f"202{at}-03-03" for at in range(3)}
    assert _again(bank, "d")["status"] == "completed"
    assert [{key: item.get(key) for key in fields} for item in bank.get("/memories/list")["items"]] == before


def _long_text() -> list[str]:
    return [
        f"Paragraph {at} tells of shelf {at * 7}. " + f"It is dull, long and {at}. " * 24 + "So."
        for at in range(100)
    ]


def test_small_edits_of_a_long_document_cost_two_calls_at_most(
    modelled_bank: Bank, model: ScriptedLLM
) -> None:
    paragraphs = _long_text()
    assert len("\n\n".join(paragraphs)) > 60_000
    modelled_bank.retain({"content": "\n\n".join(paragraphs), "document_id": "d"})
    for at in (0, 30, 60, 103):
        paragraphs.insert(at, f"Put in at {at}, and it is new. " * 20 + "So.")
        calls = model.stats()["total"]["calls"]
        modelled_bank.retain({"content": "\n\n".join(paragraphs), "document_id": "d"})
        assert calls < model.stats()["total"]["calls"] <= calls + 2
        calls = model.stats()["total"]["calls"]
        modelled_bank.retain({"content": "\n\n".join(paragraphs), "document_id": "d"})
        assert model.stats()["total"]["calls"] == calls


def test_a_chat_that_is_sent_again_and_again_costs_a_call_for_each_new_turn(
    modelled_bank: Bank, model: ScriptedLLM
) -> None:
    turns = [f"{'Ana' if at % 2 else 'Bert'}: turn {at} is about shelf {at * 7}." for at in range(30)]
    for end in range(1, 31):
        modelled_bank.retain({"content": "\n".join(turns[:end]), "document_id": "chat"})
    assert model.stats()["total"]["calls"] == 30
    told = [json.dumps(request) for request in model.requests]
    assert [sum(turn in request for request in told) for turn in turns[3:]] == [1] * 27


def test_reading_again_loses_nothing_where_the_model_fails(modelled_bank: Bank, model: ScriptedLLM) -> None:
    modelled_bank.retain({"content": "Ana moved to Graz.", "document_id": "d"})
    before = modelled_bank.texts()
    model.fail("refusal", times=5)
    assert _again(modelled_bank, "d")["status"] == "failed"
    assert modelled_bank.texts() == before
    model.reset()
    assert _again(modelled_bank, "d")["status"] == "completed"
    assert (modelled_bank.texts(), model.stats()["total"]["calls"]) == (before, 1)
