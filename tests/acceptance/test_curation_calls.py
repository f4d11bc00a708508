"""A fact is corrected, invalidated and restored over HTTP, and through the published client."""

from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import pytest
from bank_calls import Bank, Running, good
from hindsight_client import Hindsight
from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest
from processes import eventually
from wire_shapes import violations

GRAZ, LINZ = "Ana lives in Graz.", "Ana lives in Linz."
PASS = "Bert lost his passport."


@pytest.fixture
def told(bank: Bank) -> Bank:
    """Two documents; the first says two things in one chunk."""
    bank.retain(
        {"content": f"{GRAZ} {PASS}", "document_id": "d", "timestamp": "2026-03-04T10:00:00Z"},
        {"content": "Cid repairs bicycles.", "document_id": "e"},
    )
    assert sorted(bank.texts()) == sorted([GRAZ, PASS, "Cid repairs bicycles."])
    return bank


def id_of(bank: Bank, text: str, **asked: Any) -> str:
    [found] = [item["id"] for item in bank.get("/memories/list", **asked)["items"] if item["text"] == text]
    return str(found)


def edit(bank: Bank, memory: str, **body: Any) -> Any:
    answer = good(bank.call("PATCH", f"/memories/{memory}", body))
    assert list(violations("MemoryUnit", answer)) == []
    assert answer == bank.get(f"/memories/{memory}")
    return answer


def recalled(bank: Bank, query: str, **fields: Any) -> list[str]:
    return [hit["text"] for hit in bank.recall(query, **fields)["results"]]


def test_a_correction_is_recalled_at_once(told: Bank) -> None:
    graz = id_of(told, GRAZ)
    before = told.get(f"/memories/{graz}")
    now = edit(told, graz, text=LINZ)
    assert now.pop("edited_at") and "edited_at" not in before
    assert now == before | {"text": LINZ, "entities": ["Ana", "Linz"]}
    assert recalled(told, "Who lives in Linz?")[0] == LINZ and GRAZ not in recalled(told, GRAZ)
    names = {item["canonical_name"] for item in told.get("/entities")["items"]}
    assert "Linz" in names and "Graz" not in names
    [event, *_] = told.get("/documents/d/history")["items"]
    assert (event["kind"], event["fact_id"]) == ("fact_edited", graz)
    assert told.get("/documents/d")["original_text"].startswith(GRAZ), "what was sent is as it was sent"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"context": "by phone"}, {"context": "by phone"}),
        ({"context": ""}, {"context": ""}),
        ({"occurred_start": "2026-02-01T12:00:00+02:00"}, {"occurred_start": "2026-02-01T10:00:00+00:00"}),
        (
            {"occurred_start": "2026-02-01", "occurred_end": "2026-02-02"},
            {"date": "2026-02-01T00:00:00+00:00"},
        ),
        ({"mentioned_at": "2025-01-01"}, {"mentioned_at": "2025-01-01T00:00:00+00:00"}),
        ({"mentioned_at": "unset"}, {"date": ""}),
        ({"mentioned_at": ""}, {"date": ""}),
        ({"fact_type": "experience"}, {"type": "experience"}),
        ({"entities": ["Bert", "Ana"]}, {"entities": ["Ana", "Bert"]}),
        ({"entities": []}, {"entities": []}),
        ({"entities": ["ana maria"], "resolve_entities": False}, {"entities": ["ana maria"]}),
        ({"text": None, "context": "x", "state": None}, {"context": "x", "text": GRAZ, "state": "valid"}),
        ({"state": "invalidated"}, {"state": "invalidated"}),
        ({"state": "valid"}, {"state": "valid", "text": GRAZ}),
    ],
)
def test_fields(told: Bank, body: dict[str, Any], found: dict[str, Any]) -> None:
    now = edit(told, id_of(told, GRAZ), **body)
    assert {name: now[name] for name in found} == found


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"reason": "why"}, 422),
        ({"resolve_entities": False}, 422),
        ({"text": None, "state": None}, 422),
        ({"text": "  "}, 422),
        ({"text": 7}, 422),
        ({"text": "x" * 9_000}, 422),
        ({"fact_type": "observation"}, 422),
        ({"state": "gone"}, 422),
        ({"occurred_start": "soon"}, 422),
        ({"occurred_start": "2026-03-02", "occurred_end": "2026-03-01"}, 422),
        ({"entities": [""]}, 422),
        ([], 422),
        ("x", 422),
    ],
)
def test_what_cannot_be_asked_for(told: Bank, body: object, status: int) -> None:
    graz = id_of(told, GRAZ)
    before = told.get(f"/memories/{graz}")
    assert told.call("PATCH", f"/memories/{graz}", body).status_code == status
    assert told.get(f"/memories/{graz}") == before


def test_whom_it_cannot_be_asked_of(told: Bank, new_bank: Callable[[], Bank]) -> None:
    graz, other = id_of(told, GRAZ), new_bank()
    for bank, memory, status in (
        (told, "nope", 400),
        (told, str(uuid4()), 404),
        (other, graz, 404),
    ):
        assert bank.call("PATCH", f"/memories/{memory}", {"text": "x"}).status_code == status
    other.retain("Something else.")
    assert other.call("PATCH", f"/memories/{graz}", {"text": "x"}).status_code == 404
    edit(told, graz, state="invalidated")
    assert told.call("PATCH", f"/memories/{graz}", {"text": LINZ}).status_code == 400
    assert told.call("PATCH", f"/memories/{graz}", {"text": LINZ, "state": "invalidated"}).status_code == 400


def test_an_invalidated_fact_is_nowhere_but_in_its_list(told: Bank) -> None:
    graz = id_of(told, GRAZ)
    shown = told.recall("Where does Ana live?", include={"chunks": {}})
    assert any(GRAZ in chunk["text"] for chunk in shown["chunks"].values())
    before = told.get("/stats")
    gone = edit(told, graz, state="invalidated", reason="she moved")
    assert (gone["state"], gone["invalidation_reason"]) == ("invalidated", "she moved")
    for query in (GRAZ, "Where does Ana live?", "Who lost a passport?"):
        answer = told.recall(query, include={"chunks": {}, "entities": {}})
        assert GRAZ not in str(answer), "nor in the text of its chunk"
    assert PASS in recalled(told, "Who lost a passport?")
    assert GRAZ not in str(good(told.call("POST", "/reflect", {"query": "Where does Ana live?"})))
    assert GRAZ not in told.texts() and told.texts(state="invalidated") == [GRAZ]
    [listed] = told.get("/memories/list", state="invalidated")["items"]
    assert (listed["id"], listed["state"], listed["invalidation_reason"]) == (
        graz,
        "invalidated",
        "she moved",
    )
    assert listed["invalidated_at"] and list(violations("MemoryListItem", listed)) == []
    assert told.get("/stats")["total_nodes"] == before["total_nodes"] - 1
    assert told.get("/documents/d")["memory_unit_count"] == 1
    back = edit(told, graz, state="valid")
    assert back["state"] == "valid" and not {"invalidation_reason", "invalidated_at"} & back.keys()
    assert recalled(told, "Where does Ana live?")[0] == GRAZ
    assert told.recall("Where does Ana live?", include={"chunks": {}})["chunks"] == shown["chunks"]
    assert told.get("/stats")["total_nodes"] == before["total_nodes"]
    kinds = [event["kind"] for event in told.get("/documents/d/history")["items"]]
    assert kinds == ["fact_restored", "fact_invalidated", "retain"]


def test_corrections_stand_when_the_document_is_sent_or_read_again(told: Bank) -> None:
    edit(told, id_of(told, GRAZ), text=LINZ)
    edit(told, id_of(told, PASS), state="invalidated")
    told.retain({"content": f"{GRAZ} {PASS}", "document_id": "d", "timestamp": "2026-03-04T10:00:00Z"})
    again = good(told.call("POST", "/documents/d/reprocess"))
    assert told.ended(again["operation_id"])["status"] == "completed"
    told.retain({"content": f"{GRAZ} {PASS}\n\nDora sings.", "document_id": "d"})
    assert set(told.texts(document_id="d")) == {LINZ, "Dora sings."}
    assert told.texts(state="invalidated") == [PASS]


@pytest.fixture
async def client(server: Running) -> AsyncIterator[Hindsight]:
    made = Hindsight(base_url=server.url, timeout=60)
    yield made
    await made.aclose()


async def test_the_published_client_curates(client: Hindsight, told: Bank) -> None:
    graz = id_of(told, GRAZ)
    await client.memory.update_memory(told.id, graz, UpdateMemoryRequest(text=LINZ, entities=["Ana", "Linz"]))
    await client.memory.update_memory(told.id, graz, UpdateMemoryRequest(state="invalidated", reason="no"))
    listed = await client.memory.list_memories(told.id, state="invalidated")
    assert [(item.text, item.invalidation_reason) for item in listed.items] == [(LINZ, "no")]


def test_what_was_learned_follows(told: Bank) -> None:
    """An observation of three facts is made anew of the two that are left, and says nothing of the third."""
    good(told.call("PATCH", "/config", {"updates": {"enable_auto_consolidation": True}}))
    for day, city in enumerate(("Graz", "Linz", "Wels"), 1):
        told.retain({"content": f"Ana: city: {city}", "timestamp": f"2026-03-0{day}T10:00:00Z"})

    def observed(*cities: str) -> list[str]:
        stats = told.get("/stats")
        texts = told.texts(type="observation")
        settled = not stats["pending_operations"] and not stats["pending_consolidation"]
        return texts if settled and texts and all(city in texts[0] for city in cities) else []

    eventually(lambda: observed("Wels"), "all three are consolidated")
    wels = id_of(told, "Ana: city: Wels")
    edit(told, wels, state="invalidated")
    assert "Wels" not in str(told.get("/memories/list")), "at once"
    [text] = eventually(lambda: observed("Linz"), "what is left is consolidated anew")
    assert "Wels" not in text
    [seen] = told.get("/memories/list", type="observation")["items"]
    assert seen["proof_count"] == 2 and wels not in seen["source_memory_ids"]
    assert told.call("PATCH", f"/memories/{seen['id']}", {"text": "x"}).status_code == 400
    assert told.call("PATCH", f"/memories/{seen['id']}", {"state": "invalidated"}).status_code == 400
    edit(told, wels, state="valid")
    eventually(lambda: observed("Wels"), "what is back is consolidated too")
    edit(told, wels, text="Ana: city: Bonn")
    assert "Wels" not in str(told.get("/memories/list"))
    eventually(lambda: observed("Bonn"), "what was corrected is consolidated as it is now")
