"""Observations over HTTP: runs that are asked for, scopes, history, and taking back what was learned."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from bank_calls import Bank, good
from processes import eventually
from wire_shapes import violations

CALLS = [
    ("POST", "/consolidate"),
    ("POST", "/consolidation/recover"),
    ("GET", "/observations/scopes"),
    ("DELETE", "/observations"),
    ("DELETE", f"/memories/{uuid4()}/observations"),
    ("GET", f"/memories/{uuid4()}/history"),
]


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_an_unknown_bank_is_not_found(bank: Bank, method: str, path: str) -> None:
    assert bank.call(method, path).status_code == 404


@pytest.mark.parametrize("path", ["/memories/{}/observations", "/memories/{}/history"])
@pytest.mark.parametrize(("memory", "status"), [("no-uuid", 400), (str(uuid4()), 404)])
def test_a_memory_that_is_not_there(bank: Bank, path: str, memory: str, status: int) -> None:
    bank.retain("Ana lives in Graz.")
    method = "GET" if path.endswith("history") else "DELETE"
    assert bank.call(method, path.format(memory)).status_code == status


def test_a_bank_without_observations_has_none_to_show(bank: Bank) -> None:
    bank.retain("Ana lives in Graz.")
    [fact] = bank.get("/memories/list", type="world")["items"]
    assert bank.get(f"/memories/{fact['id']}/history") == []
    assert fact["source_memory_ids"] == []
    one = bank.get(f"/memories/{fact['id']}")
    assert not {"history", "source_memory_ids", "source_memories"} & one.keys()
    assert good(bank.call("DELETE", f"/memories/{fact['id']}/observations")) == {"deleted_count": 0}
    assert good(bank.call("POST", "/consolidation/recover")) == {"retried_count": 0}


@pytest.mark.parametrize("body", [{"observation_scopes": "a"}, {"observation_scopes": ["a"]}, [], "x"])
def test_a_run_is_asked_for_in_form(bank: Bank, body: object) -> None:
    bank.retain("Ana lives in Graz.")
    assert bank.call("POST", "/consolidate", body).status_code == 422


def told(value: str, day: int) -> dict[str, Any]:
    """A line that a bank without a model can count."""
    return {
        "content": f"Ana: city: {value}",
        "timestamp": f"2026-03-{day:02}T10:00:00Z",
        "document_id": f"day {day}",
        "tags": ["home"],
    }


@pytest.fixture
def watching(bank: Bank) -> Bank:
    """A bank that consolidates by itself."""
    good(bank.call("PATCH", "/config", {"updates": {"enable_auto_consolidation": True}}))
    return bank


def observed(bank: Bank) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = bank.get("/memories/list", type="observation")["items"]
    return items


def settled(bank: Bank) -> bool:
    stats = bank.get("/stats")
    return not stats["pending_operations"] and not stats["pending_consolidation"]


def test_what_is_retained_is_consolidated_and_forgotten_with_its_evidence(watching: Bank) -> None:
    bank = watching
    bank.retain(told("Graz", 1))
    bank.retain(told("Linz", 2))
    eventually(lambda: observed(bank) and settled(bank), "it is consolidated by itself")
    bank.retain(told("Wels", 3))
    eventually(lambda: settled(bank), "what is newer is consolidated too")
    [seen] = observed(bank)
    assert "Wels" in seen["text"] and (seen["proof_count"], seen["tags"]) == (3, ["home"])
    assert bank.get("/observations/scopes") == {"scopes": [{"tags": ["home"], "count": 1}]}
    one = bank.get(f"/memories/{seen['id']}")
    assert list(violations("MemoryUnit", one)) == []
    assert one["source_memory_ids"] == [source["id"] for source in one["source_memories"]]
    assert sorted(one["source_memory_ids"]) == sorted(seen["source_memory_ids"])
    assert [source["text"] for source in one["source_memories"]] == [
        "Ana: city: Wels", "Ana: city: Linz", "Ana: city: Graz",
    ]  # fmt: skip
    [change, *_] = bank.get(f"/memories/{seen['id']}/history")
    assert list(violations("HistoryEntry", change)) == []
    assert (
        "Linz" in change["previous_text"] and change["new_source_memory_ids"] == one["source_memory_ids"][:1]
    )
    assert [fact["is_new"] for fact in change["source_facts"]] == [True, False, False]
    assert bank.get("/stats")["total_observations"] == 1

    good(bank.call("DELETE", "/documents/day 3"))
    assert "Wels" not in str(bank.get("/memories/list")), "what was forgotten is nowhere at once"
    eventually(lambda: observed(bank) and settled(bank), "what is left is consolidated anew")
    [seen] = observed(bank)
    assert "Linz" in seen["text"] and seen["proof_count"] == 2

    source = seen["source_memory_ids"][0]
    assert good(bank.call("DELETE", f"/memories/{source}/observations")) == {"deleted_count": 1}
    eventually(lambda: observed(bank) and settled(bank), "it is consolidated anew")
    assert good(bank.call("DELETE", "/observations"))["deleted_count"] == 1
    eventually(lambda: observed(bank) and settled(bank), "it is consolidated anew")
    kinds = [event["kind"] for event in bank.get("/documents/day 1/history")["items"]]
    assert {"consolidation", "observations_cleared", "retain"} == set(kinds)


def test_a_run_that_waits_is_the_one_that_is_asked_for(bank: Bank) -> None:
    bank.retain(told("Graz", 1))
    bank.retain(told("Linz", 2))
    assert observed(bank) == [], "nobody asked"
    answer = good(bank.call("POST", "/consolidate"))
    assert list(violations("ConsolidationResponse", answer)) == []
    eventually(lambda: observed(bank), "somebody asked")


def test_runs_of_a_scope_are_each_their_own(new_bank: Callable[[], Bank]) -> None:
    bank = new_bank()
    bank.call("PATCH", "/config", {"updates": {"retain_mission": "Keep decisions"}})
    body = {"observation_scopes": [["a"], []]}
    first = good(bank.call("POST", "/consolidate", body))
    second = good(bank.call("POST", "/consolidate", body))
    assert first["operation_id"] != second["operation_id"]
    assert (first["deduplicated"], second["deduplicated"]) == (False, False)
    asked = bank.get(f"/operations/{first['operation_id']}", include_payload=True)
    assert (asked["operation_type"], asked["task_payload"]) == ("consolidation", {"scopes": [["a"], []]})
