"""What callers should not send, or send at the wrong place: refused, never kept for others than was meant."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fact_workspace import BANK, FACTS, WORKSPACE, Asking, workspace

RECALL = f"{FACTS}/recall"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    with workspace(tmp_path_factory.mktemp("hostile")) as asking:
        yield asking


def _source(**more: Any) -> dict[str, Any]:
    return {"kind": "message", "place": "general", "message_id": "m1"} | more


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_cannot_be_kept_is_refused(ask: Asking, at: str) -> None:
    """One was kept, and no list with it could be read any more."""
    assert ask("aide", "POST", FACTS, {"text": "Of no time.", "source": _source(at=at)}).status_code == 422
    assert ask("olga", "GET", FACTS).status_code == 200


def test_a_reference_may_hold_any_text(ask: Asking) -> None:
    told = {"text": "Of an odd message.", "source": _source(message_id="a\u0000b")}
    assert ask("aide", "POST", FACTS, told).json()["source"]["ref"] == "ab"


@pytest.mark.parametrize(
    "mark", [{"place": "ops"}, {"audience": "agent"}, {"data_level": "Customer data"}, {"data_level": "?"}]
)
def test_what_an_item_may_not_say_is_refused(ask: Asking, mark: dict[str, Any]) -> None:
    """Passed over it would be kept for the whole bank."""
    item = {"content": "Quirin is in the wrong place.", **mark}
    assert ask("aide", "POST", f"{BANK}/memories", {"items": [item]}).status_code == 422
    form = {"request": json.dumps({"files_metadata": [mark]})}
    assert _sent(ask, form).status_code == 422
    assert ask("operator", "GET", f"{BANK}/memories/list", params={"q": "Quirin"}).json()["total"] == 0


def _sent(ask: Asking, form: dict[str, str]) -> httpx.Response:
    headers = {"authorization": f"Bearer {ask.keys['aide']}"}
    files = [("files", ("quirin.txt", b"Quirin hides a key in the shed."))]
    return ask.client.post(f"{BANK}/files/retain", data=form, files=files, headers=headers)


def test_customer_data_is_known_at_every_level(ask: Asking) -> None:
    for level in ("customer_data", "Customer data", "CUSTOMER-DATA"):
        body = {"items": [{"content": "Rosa owes."}], "data_level": level}
        assert ask("aide", "POST", f"{BANK}/memories", body).status_code == 422
        told = {"text": "Rosa owes.", "source": _source(), "data_level": level}
        answer = ask("aide", "POST", FACTS, told)
        assert answer.json()["error"]["code"] == "customer_data_not_remembered"
        assert _sent(ask, {"request": json.dumps({"data_level": level})}).status_code == 422


def test_files_are_for_those_in_a_place(ask: Asking) -> None:
    [operation] = _sent(ask, {"request": json.dumps({"place": "ops"})}).json()["operation_ids"]
    path = f"{BANK}/operations/{operation}"
    # An agent says where it is to see what it does there.
    assert ask("aide", "GET", path).json()["status"] == "not_found"
    assert ask("aide", "GET", path, params={"place": "ops"}).json()["status"] != "not_found"
    assert ask("aide", "GET", path, params={"place": "nowhere"}).status_code == 404
    until = time.monotonic() + 60
    while ask("aide", "GET", path, params={"place": "ops"}).json()["status"] != "completed":
        assert time.monotonic() < until
        time.sleep(0.1)
    [kept] = ask("operator", "GET", f"{BANK}/documents").json()["items"]
    assert ask("mia", "GET", f"{BANK}/documents/{kept['id']}").status_code == 200
    for who in ("olga", "aide", "nils"):
        assert ask(who, "GET", f"{BANK}/documents/{kept['id']}").status_code == 404


def test_no_agent_speaks_in_a_persons_name(ask: Asking) -> None:
    fact = ask.learn("The rent is 10.", "general")
    path = f"{FACTS}/{fact['id']}"
    assert ask("aide", "PATCH", path, {"text": "The rent is 11."}).json()["source"]["kind"] == "message"
    assert ask("olga", "PATCH", path, {"text": "The rent is 12."}).json()["source"]["kind"] == "person"
    answer = ask("aide", "PATCH", path, {"text": "The rent is 99."})
    assert answer.json()["error"]["code"] == "owner_required"
    assert ask("olga", "GET", path).json()["text"] == "The rent is 12."


@pytest.mark.parametrize("query", ["👍", "???", "…", "", "rent " * 2000])
def test_facts_are_told_whatever_the_question_is(ask: Asking, query: str) -> None:
    ask.add("olga", "Pinned by Olga.", **{"for": WORKSPACE})
    answer = ask("aide", "POST", RECALL, {"place": "general", "query": query})
    assert "Pinned by Olga." in [fact["text"] for fact in answer.json()["facts"]]


@pytest.mark.parametrize("text", ["a\u2029b", "a\u2028\u2028b", "a\n\u200b\nb"])
def test_a_paragraph_ends_however_it_is_written(ask: Asking, text: str) -> None:
    answer = ask("mia", "POST", FACTS, {"text": text, "for": {"scope": "just_you"}})
    assert answer.json()["error"]["code"] == "fact_not_one_paragraph"
    kept = ask.add("mia", "a\u2028 b", **{"for": {"scope": "just_you"}})
    assert kept["text"] == "a b"


def test_a_run_that_others_caused_is_not_listed(ask: Asking) -> None:
    """Their number and times would tell of each memory that is kept out of sight."""
    path = f"{BANK}/operations"
    asked = ask("olga", "POST", f"{BANK}/consolidate", {}).json()["operation_id"]
    assert ask("operator", "GET", path, params={"type": "consolidation"}).json()["total"] > 0
    assert ask("nils", "GET", path, params={"type": "consolidation"}).json()["total"] == 0
    assert ask("olga", "GET", f"{path}/{asked}").json()["status"] != "not_found"


def test_what_is_said_of_somebody_is_not_told_where_others_read(ask: Asking) -> None:
    [mia] = [
        one["uuid"]
        for one in ask("operator", "GET", "/v1/default/directory").json()["people"]
        if one["id"] == "mia"
    ]
    memory = {
        "content": "Mia dislikes olives.",
        "system": "long_term",
        "type": "semantic",
        "segment": "user",
        "thought": "t",
    }
    stored = ask("aide", "POST", "/api/v1/agent/memories", {"memory": memory | {"subject_id": mia}})
    assert stored.status_code == 201
    for place, told in (("general", False), ("ops", False), ("talk", True)):
        assert ("Mia dislikes olives." in ask.recalled("aide", "olives", place=place)) is told


def test_a_session_is_whoever_the_key_is(ask: Asking) -> None:
    answer = ask("operator", "POST", "/v1/default/session", headers={"x-acting-as": "person:mia"})
    assert answer.status_code == 400
    cookie = ask("mia", "POST", "/v1/default/session").headers["set-cookie"].partition(";")[0]
    with httpx.Client(base_url=str(ask.client.base_url), trust_env=False, headers={"cookie": cookie}) as page:
        fact = {"text": "x", "for": {"scope": "just_you"}}
        for origin in ("http://[::1", "http://evil", ""):
            assert page.post(FACTS, json=fact, headers={"origin": origin}).status_code == 403
    # With a key beside it the session is ended as well.
    assert ask("mia", "DELETE", "/v1/default/session", headers={"cookie": cookie}).status_code == 204
    with httpx.Client(base_url=str(ask.client.base_url), trust_env=False, headers={"cookie": cookie}) as page:
        assert page.get("/v1/default/session").status_code == 401


def test_nothing_comes_back_with_a_place_or_an_organization(ask: Asking) -> None:
    """Last: it changes the directory. Other people would find under the old id what was said before."""
    directory = "/v1/default/directory"
    den = {"id": "den", "kind": "private", "organization": "zeta"}
    zoe = {"id": "zoe", "organization": "zeta", "role": "owner", "key": "key-of-zoe-0123456789"}
    zed = {
        "id": "zed",
        "organization": "zeta",
        "bank": "zeta",
        "owner": "zoe",
        "key": "key-of-zed-0123456789",
    }
    all_of_it = {
        "organizations": [{"id": "zeta"}],
        "people": [zoe],
        "agents": [zed],
        "places": [den | {"members": ["zoe"]}],
    }
    bank = "/v1/default/banks/zeta"
    ask.keys |= {
        "zoe": "key-of-zoe-0123456789",
        "zed": "key-of-zed-0123456789",
        "new": "key-of-new-0123456789",
    }
    assert ask("operator", "PUT", directory, all_of_it).status_code == 200
    for text, circle in (
        ("Said in the den.", {"scope": "conversation", "place": "den"}),
        ("For Zeta.", WORKSPACE),
    ):
        assert ask("zoe", "POST", f"{bank}/facts", {"text": text, "for": circle}).status_code == 201
    gone = [("place", "den"), ("agent", "zed"), ("person", "zoe"), ("organization", "zeta")]
    removal = {"remove": [{"kind": kind, "id": id_} for kind, id_ in gone]}
    assert ask("operator", "PUT", directory, removal).json()["removed"] == len(gone)
    new = {"id": "new", "organization": "zeta", "key": "key-of-new-0123456789"}
    again = all_of_it | {"people": [new | {"role": "owner"}], "places": [den | {"members": ["new"]}]}
    again["agents"] = [{"id": "zed", "organization": "zeta", "bank": "zeta", "owner": "new", "key": False}]
    assert ask("operator", "PUT", directory, again).status_code == 200
    assert ask("new", "GET", f"{bank}/facts").json()["items"] == []
    assert ask("operator", "GET", f"{bank}/memories/list").json()["total"] == 0
