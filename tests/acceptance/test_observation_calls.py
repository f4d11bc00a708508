"""Observations over HTTP: runs that are asked for, scopes, history, and taking back what was learned."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from bank_calls import Bank, good

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


def test_runs_of_a_scope_are_each_their_own(new_bank: Callable[[], Bank]) -> None:
    bank = new_bank()
    bank.call("PATCH", "/config", {"updates": {"enable_auto_consolidation": False}})
    body = {"observation_scopes": [["a"], []]}
    first = good(bank.call("POST", "/consolidate", body))
    second = good(bank.call("POST", "/consolidate", body))
    assert first["operation_id"] != second["operation_id"]
    assert (first["deduplicated"], second["deduplicated"]) == (False, False)
    asked = bank.get(f"/operations/{first['operation_id']}", include_payload=True)
    assert (asked["operation_type"], asked["task_payload"]) == ("consolidation", {"scopes": [["a"], []]})
