"""People merge entities over HTTP and undo it."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from bank_calls import Bank, good


@pytest.fixture
def bank(http: httpx.Client) -> Bank:
    """Two names in a fact each."""
    bank = Bank(http, f"merging-{uuid4()}")
    bank.call("PATCH", "/config", {"updates": {"retain_extraction_mode": "chunks"}})
    for text, name in (("Bob came.", "Bob"), ("Robert Chen left.", "Robert Chen")):
        bank.retain({"content": text, "entities": [{"text": name}]})
    return bank


def named(bank: Bank) -> dict[str, Any]:
    return {item["canonical_name"]: item for item in bank.get("/entities")["items"]}


def test_a_merge_and_its_undoing(bank: Bank) -> None:
    before = named(bank)
    bob, robert = before["Bob"]["id"], before["Robert Chen"]["id"]
    merged = good(bank.call("POST", f"/entities/{bob}/merge", {"into": robert}))
    assert (merged["id"], merged["mention_count"]) == (robert, 2)
    assert merged["aliases"] == [{"name": "Bob", "entity_id": bob}]
    assert bank.call("GET", f"/entities/{bob}").status_code == 404
    bank.retain({"content": "Bob sings.", "entities": [{"text": "bob"}]})
    assert [item["mention_count"] for item in named(bank).values()] == [3]
    assert {hit["text"] for hit in bank.recall("What does Bob do?")["results"]} >= {"Bob came.", "Bob sings."}
    assert good(bank.call("POST", f"/entities/{bob}/unmerge")) == {"success": True}
    after = named(bank)
    assert {name: item["mention_count"] for name, item in after.items()} == {"Bob": 2, "Robert Chen": 1}
    assert after["Bob"]["id"] == bob
    assert bank.get(f"/entities/{robert}")["aliases"] == []


def test_names_are_given_to_an_entity(bank: Bank) -> None:
    robert = named(bank)["Robert Chen"]["id"]
    given = good(bank.call("POST", f"/entities/{robert}/merge", {"names": ["Rob", "Bobby", "rob"]}))
    assert [alias["name"] for alias in given["aliases"]] == ["Bobby", "rob"]
    bank.retain({"content": "Bobby sings.", "entities": [{"text": "Bobby"}]})
    assert {name: item["mention_count"] for name, item in named(bank).items()} == {"Bob": 1, "Robert Chen": 2}


def test_names_that_are_entities_are_not_swallowed(bank: Bank) -> None:
    before = named(bank)
    robert, bob = before["Robert Chen"]["id"], before["Bob"]["id"]
    refused = bank.call("POST", f"/entities/{robert}/merge", {"names": ["Bobby", "bob"]})
    assert refused.status_code == 409
    assert f"'bob' ({bob})" in refused.text
    assert named(bank) == before
    assert bank.get(f"/entities/{robert}")["aliases"] == [], "all or none"
    good(bank.call("POST", f"/entities/{bob}/merge", {"into": robert}))
    good(bank.call("POST", f"/entities/{robert}/merge", {"names": ["Bob", "Robert Chen"]}))


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 422), ({"into": "x"}, 400), ({"names": [" "]}, 422), ({"names": ["A"], "into": str(uuid4())}, 422)],
)
def test_what_no_merge_is(bank: Bank, body: dict[str, Any], status: int) -> None:
    robert = named(bank)["Robert Chen"]["id"]
    assert bank.call("POST", f"/entities/{robert}/merge", body).status_code == status
    assert bank.call("POST", f"/entities/{robert}/unmerge").status_code == 404
    assert bank.call("POST", f"/entities/{uuid4()}/merge", {"into": robert}).status_code == 404
    assert bank.call("POST", f"/entities/{robert}/merge", {"into": robert}).status_code == 422
