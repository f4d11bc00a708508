"""Key-value memory over HTTP with real keys: rules K1 to K22 of its contract, and what it shares with the rest.

Ana owns the agents One and Two, Ben owns Ben's; One has a key of its own.
"""

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest
from entry_calls import BANK, MEMORY, Asking
from processes import WHEN_ASKED, Installation

DIRECTORY = {
    "people": [{"id": name, "key": f"key-of-{name}-0123456789"} for name in ("ana", "ben", "cem")],
    "agents": [
        {"id": "one", "name": "One", "owner": "ana", "bank": "shared", "key": "key-of-one-0123456789"},
        {"id": "two", "name": "Two", "owner": "ana", "bank": "shared", "key": False},
        {"id": "far", "owner": "ben", "key": False},
    ],
}
NOT_FOUND = (404, {"error": "Agent not found"})
UNAUTHORIZED = (401, {"error": "Unauthorized"})
REQUIRED = (400, {"error": "Memory data required (object or key+memory pair)"})
TOO_LARGE = (400, {"error": "Memory value too large (max 100KB)"})


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    home = Installation(tmp_path_factory.mktemp("entries"), **WHEN_ASKED)
    try:
        up = home.up()
        made = httpx.put(f"{up.url()}/v1/default/directory", json=DIRECTORY, timeout=60, trust_env=False)
        [operator] = made.json()["keys"]
        asking = Asking(up.url(), operator["key"])
        yield asking
        asking.client.close()
        up.send(signal.SIGINT)
        assert up.wait() == 0
    finally:
        home.end()


@pytest.fixture
def agent(ask: Asking) -> str:
    """An agent of Ana's that has no entries yet, in a bank of its own."""
    name = f"agent-{uuid4().hex[:8]}"
    declared = {"agents": [{"id": name, "owner": "ana", "key": False}]}
    assert ask("operator", "PUT", "/v1/default/directory", declared).status_code == 200
    return name


def _said(answer: httpx.Response) -> tuple[int, Any]:
    return answer.status_code, answer.json()


@pytest.mark.parametrize("key", [None, "nobody"])
def test_k1_without_a_valid_session_both_are_unauthorized(ask: Asking, key: str | None) -> None:
    assert _said(ask.get(key)) == UNAUTHORIZED
    assert _said(ask.put(key, agentId="one", key="k", memory=1)) == UNAUTHORIZED
    assert _said(ask(key, "GET", "/api/agents")) == UNAUTHORIZED


def test_k1_an_operator_is_nobody_here_until_they_act_for_somebody(ask: Asking) -> None:
    assert _said(ask.get("operator")) == UNAUTHORIZED
    acting = ask("operator", "GET", MEMORY, headers={"x-acting-as": "person:ana"})
    assert acting.status_code == 200


def test_k1_a_session_of_a_key_is_its_person(ask: Asking, agent: str) -> None:
    begun = ask("ana", "POST", "/v1/default/session")
    cookie = {"cookie": begun.headers["set-cookie"].partition(";")[0]}
    origin = {"origin": str(ask.client.base_url).rstrip("/")}
    saved = ask(None, "POST", MEMORY, {"agentId": agent, "key": "k", "memory": 1}, headers=cookie | origin)
    assert saved.status_code == 200
    assert ask(None, "GET", MEMORY, params={"agentId": agent}, headers=cookie).json()["memory"] == {"k": 1}
    elsewhere = ask(None, "POST", MEMORY, {"agentId": agent, "key": "k", "memory": 2}, headers=cookie)
    assert elsewhere.status_code == 403
    assert elsewhere.json().keys() == {"error"}
    ask.client.cookies.clear()


def test_k2_the_entries_of_an_agent(ask: Asking, agent: str) -> None:
    saved = ask.put("ana", agentId=agent, key="theme", memory="dark").json()["saved"]
    expected = {"memory": {"theme": "dark"}, "agentId": agent, "count": 1, "lastUpdated": saved}
    assert _said(ask.get("ana", agent)) == (200, expected)


@pytest.mark.parametrize("named", ["far", "nobody", "\u0000", "x" * 5000])
def test_k3_a_foreign_agent_is_as_one_that_is_not_there(ask: Asking, named: str) -> None:
    assert _said(ask.get("ana", named)) == NOT_FOUND


@pytest.mark.parametrize("named", ["all", "", None])
def test_k4_all_agents_of_who_asks(ask: Asking, named: str | None) -> None:
    ask.put("ana", agentId="one", key="of-one", memory=1)
    ask.put("ana", agentId="two", key="of-two", memory=2)
    ask.put("ben", agentId="far", key="of-far", memory=3)
    found = ask.get("ana", named).json()
    assert found["agentId"] is None
    assert found["memory"] | {"of-one": 1, "of-two": 2} == found["memory"]
    assert "of-far" not in found["memory"]


def test_k5_nothing_is_an_empty_answer(ask: Asking, agent: str) -> None:
    empty = {"memory": {}, "count": 0, "lastUpdated": None}
    assert _said(ask.get("ana", agent)) == (200, empty | {"agentId": agent})
    assert _said(ask.get("cem")) == (200, empty | {"agentId": None})


def test_k6_last_updated_is_the_newest_of_those_returned(ask: Asking, agent: str) -> None:
    first = ask.put("ana", agentId=agent, key="a", memory=1).json()["saved"]
    second = ask.put("ana", agentId=agent, key="b", memory=1).json()["saved"]
    assert first < second == ask.get("ana", agent).json()["lastUpdated"]


def test_k7_count_is_that_of_the_keys(ask: Asking, agent: str) -> None:
    ask.put("ana", agentId=agent, memory={"a": 1, "b": 2})
    ask.put("ana", agentId=agent, key="a", memory=3)
    assert ask.get("ana", agent).json()["count"] == 2


def test_k8_of_two_agents_with_a_key_the_newest_value(ask: Asking) -> None:
    for agent, value in (("two", "old"), ("one", "new")):
        ask.put("ana", agentId=agent, key="shared", memory=value)
    found = ask.get("ana").json()
    assert found["memory"]["shared"] == "new"
    assert found["count"] == len(found["memory"])


@pytest.mark.parametrize("named", [{}, {"agentId": ""}, {"agentId": None}])
def test_k9_an_agent_is_asked_for_first(ask: Asking, named: dict[str, Any]) -> None:
    assert _said(ask.put("ana", **named)) == (400, {"error": "agentId required"})


@pytest.mark.parametrize("named", ["far", "nobody", "all"])
def test_k10_a_foreign_agent_is_not_found_before_the_value_is_looked_at(ask: Asking, named: str) -> None:
    assert _said(ask.put("ana", agentId=named)) == NOT_FOUND
    assert _said(ask.put("ana", agentId=named, key="k", memory="x" * 200_000)) == NOT_FOUND


def test_k11_a_key_is_set_and_set_again(ask: Asking, agent: str) -> None:
    for value in ("first", "second"):
        saved = ask.put("ana", agentId=agent, key="k", memory=value)
        assert saved.json() | {"saved": ""} == {"success": True, "agentId": agent, "key": "k", "saved": ""}
        assert ask.get("ana", agent).json()["memory"] == {"k": value}


@pytest.mark.parametrize("value", [None, False, True, 0, -0.5, "", [], {}, [1, [2]], {"b": 1, "a": None}])
def test_k12_a_value_is_any_json(ask: Asking, agent: str, value: Any) -> None:
    assert ask.put("ana", agentId=agent, key="k", memory=value).status_code == 200
    told = ask.get("ana", agent).json()["memory"]["k"]
    assert told == value
    assert type(told) is type(value)


@pytest.mark.parametrize("bulk", [False, True])
def test_k13_a_value_of_more_than_100_kb_is_refused_and_nothing_is_stored(
    ask: Asking, agent: str, bulk: bool
) -> None:
    def put(value: Any) -> httpx.Response:
        body = {"memory": {"small": 1, "k": value}} if bulk else {"key": "k", "memory": value}
        return ask.put("ana", agentId=agent, **body)

    for value in ("x" * 100_001, "é" * 50_001, ["x" * 99_997]):
        assert _said(put(value)) == TOO_LARGE
    assert ask.get("ana", agent).json()["memory"] == {}
    for value in ("x" * 100_000, "é" * 50_000, ["x" * 99_996]):
        assert put(value).status_code == 200
        assert ask.get("ana", agent).json()["memory"]["k"] == value


def test_k14_several_keys_at_once_join_those_that_are_there(ask: Asking, agent: str) -> None:
    ask.put("ana", agentId=agent, memory={"a": 1, "b": 1})
    saved = ask.put("ana", agentId=agent, memory={"b": 2, "c": 2})
    told = {"success": True, "agentId": agent, "keysUpdated": 2, "saved": ""}
    assert saved.json() | {"saved": ""} == told
    assert ask.get("ana", agent).json()["memory"] == {"a": 1, "b": 2, "c": 2}


def test_k15_fifty_keys_at_once_and_no_more(ask: Asking, agent: str) -> None:
    def put(first: int, count: int) -> httpx.Response:
        return ask.put("ana", agentId=agent, memory={f"k{n}": n for n in range(first, first + count)})

    assert _said(put(0, 51)) == (400, {"error": "Too many memory keys (max 50)"})
    assert ask.get("ana", agent).json()["count"] == 0
    assert put(0, 50).json()["keysUpdated"] == 50
    assert put(50, 10).json()["keysUpdated"] == 10
    assert ask.get("ana", agent).json()["count"] == 60


@pytest.mark.parametrize(
    "body", [{}, {"key": "k"}, *({"memory": one} for one in ("text", 1, None, True, ["a"]))], ids=repr
)
def test_k16_what_is_no_memory_is_refused(ask: Asking, body: dict[str, Any]) -> None:
    assert _said(ask.put("ana", agentId="one", **body)) == REQUIRED


@pytest.mark.parametrize("key", ["", None])
def test_k17_an_empty_key_is_none(ask: Asking, agent: str, key: str | None) -> None:
    assert ask.put("ana", agentId=agent, key=key, memory={"a": 1}).json()["keysUpdated"] == 1
    assert _said(ask.put("ana", agentId=agent, key=key, memory="text")) == REQUIRED


def test_k18_no_keys_are_no_error(ask: Asking, agent: str) -> None:
    assert ask.put("ana", agentId=agent, memory={}).json()["keysUpdated"] == 0


@pytest.mark.parametrize(
    "value", ["123", "true", "null", '{"a": 1}', "[1]", "1e5", 123, 1.0, 2**70, "\u0000", "\ud83d", "日本"]
)
def test_k19_the_kind_of_a_value_is_kept(ask: Asking, agent: str, value: Any) -> None:
    assert ask.put("ana", agentId=agent, key="k", memory=value).status_code == 200
    told = ask.get("ana", agent).json()["memory"]["k"]
    assert (told, type(told)) == (value, type(value))


def test_k19_the_order_of_keys_inside_a_value_is_kept(ask: Asking, agent: str) -> None:
    ask.put("ana", agentId=agent, key="k", memory={"z": 1, "a": 2, "m": {"y": 1, "b": 2}})
    told = ask.get("ana", agent).json()["memory"]["k"]
    assert json.dumps(told) == '{"z": 1, "a": 2, "m": {"y": 1, "b": 2}}'


def test_k20_everybody_sees_their_own_alone(ask: Asking, agent: str) -> None:
    canary = uuid4().hex
    ask.put("ana", agentId=agent, key=canary, memory=canary)
    for who in ("ben", "cem", "one"):
        assert canary not in ask.get(who).text
        assert _said(ask.get(who, agent)) == NOT_FOUND
        assert _said(ask.put(who, agentId=agent, key=canary, memory=1)) == NOT_FOUND
    assert ask.get("ana").json()["memory"][canary] == canary


def test_k20_an_agent_with_a_key_has_its_own(ask: Asking) -> None:
    canary = uuid4().hex
    assert ask.put("one", agentId="one", key=canary, memory=1).status_code == 200
    assert ask.get("one").json()["memory"][canary] == 1
    assert _said(ask.get("one", "two")) == NOT_FOUND


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("{", "application/json"),
        ("[]", "application/json"),
        ('"agentId"', "application/json"),
        ('{"agentId": "one", "key": "k", "memory": NaN}', "application/json"),
        ('{"agentId": "one", "key": "k", "memory": 1e400}', "application/json"),
        ('{"agentId": "one", "key": "k", "memory": ' + "[" * 70 + "]" * 70 + "}", "application/json"),
        ('{"agentId": 1, "key": "k", "memory": 1}', "application/json"),
        ('{"agentId": "one", "key": 1, "memory": 1}', "application/json"),
        ('{"agentId": "one", "key": "\\u0000", "memory": 1}', "application/json"),
        ('{"agentId": "one", "key": "\\ud800", "memory": 1}', "application/json"),
        ('{"agentId": "one", "memory": {"": 1}}', "application/json"),
        ('{"agentId": "one", "key": "' + "k" * 513 + '", "memory": 1}', "application/json"),
        ('{"agentId": "one", "key": "k", "memory": 1}', "text/plain"),
    ],
)
def test_k22_every_refusal_is_one_sentence(ask: Asking, content: str, kind: str) -> None:
    headers = {"content-type": kind, "authorization": "Bearer key-of-ana-0123456789"}
    answer = ask.client.post(MEMORY, content=content, headers=headers)
    assert answer.status_code == 400, answer.text
    assert list(answer.json()) == ["error"]
    assert isinstance(answer.json()["error"], str)


@pytest.mark.parametrize("key", ["a/b", "../x", "key with spaces", "ключ", "🐝", "k" * 512, "a\nb", "'; --"])
def test_a_key_is_any_text(ask: Asking, agent: str, key: str) -> None:
    assert ask.put("ana", agentId=agent, key=key, memory=1).json()["key"] == key
    assert ask.get("ana", agent).json()["memory"] == {key: 1}


def test_own_agents_are_listed(ask: Asking) -> None:
    found = ask("ben", "GET", "/api/agents").json()
    agent = {"id": "far", "name": "far", "handle": "", "description": ""}
    assert found == {"agents": [agent], "count": 1, "status": "ok"}


def test_an_entry_is_found_by_recall_for_its_agent_alone(ask: Asking) -> None:
    word = f"quetzal{uuid4().hex[:6]}"
    ask.put("ana", agentId="one", key="favourite bird", memory={"name": word})
    assert ask.recalled("one", f"Which bird is {word}?")[0] == f'favourite bird: {{"name": "{word}"}}'
    assert word in ask.recalled("ana", word)[0]
    for other in ("ben", "cem"):
        assert ask(other, "POST", f"{BANK}/memories/recall", {"query": word}).status_code == 404


def test_recall_follows_the_newest_value_and_the_switch(ask: Asking, agent: str) -> None:
    bank = f"/v1/default/banks/{agent}"
    for value in ("heron", "kingfisher"):
        ask.put("ana", agentId=agent, key="bird", memory=value)
    assert ask.recalled("ana", "which bird", bank) == ["bird: kingfisher"]
    for on in (False, True):
        changed = ask("ana", "PATCH", f"{bank}/config", {"updates": {"kv_recall": on}})
        assert changed.status_code == 200, changed.text
        assert ask.recalled("ana", "which bird", bank) == (["bird: kingfisher"] if on else [])
    assert ask.get("ana", agent).json()["memory"] == {"bird": "kingfisher"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("openai_api_key", "hardly one"),
        ("note", "the password: tr0ub4dor3"),
        ("auth", {"password": "tr0ub4dor3"}),
    ],
)
def test_a_secret_is_kept_and_never_recalled(ask: Asking, agent: str, key: str, value: Any) -> None:
    ask.put("ana", agentId=agent, memory={key: value, "plain": "a swallow"})
    assert ask.get("ana", agent).json()["memory"][key] == value
    assert ask.recalled("ana", f"{key} {value} swallow", f"/v1/default/banks/{agent}") == ["plain: a swallow"]


def test_the_text_of_an_entry_follows_its_value(ask: Asking, agent: str) -> None:
    ask.put("ana", agentId=agent, key="bird", memory="heron")
    bank = f"/v1/default/banks/{agent}"
    [unit] = ask("ana", "GET", f"{bank}/memories/list").json()["items"]
    path = f"{bank}/memories/{unit['id']}"
    refused = ask("ana", "PATCH", path, {"text": "bird: osprey"})
    assert (refused.status_code, refused.json()["detail"]) == (400, "the value of a key is set by its key")
    assert ask("ana", "PATCH", path, {"state": "invalidated"}).status_code == 200
    assert ask.get("ana", agent).json()["memory"] == {}
    ask.put("ana", agentId=agent, key="bird", memory="osprey")
    assert ask.get("ana", agent).json()["memory"] == {"bird": "osprey"}


@pytest.mark.parametrize("key", ["bird", "api_token"])
def test_an_entry_is_forgotten_as_a_memory_is(ask: Asking, agent: str, key: str) -> None:
    bank = f"/v1/default/banks/{agent}"
    ask.put("ana", agentId=agent, key=key, memory="heron")
    if key == "bird":
        [unit] = ask("ana", "GET", f"{bank}/memories/list").json()["items"]
        assert ask("ana", "DELETE", f"{bank}/memories/{unit['id']}").is_success
    else:
        assert ask("ana", "DELETE", f"{bank}/memories").is_success
    assert ask.get("ana", agent).json()["memory"] == {}
    ask.put("ana", agentId=agent, key=key, memory="heron")
    assert ask("ana", "DELETE", bank).is_success
    assert ask.get("ana", agent).json()["memory"] == {}


def test_a_pin_stays_where_the_value_changes(ask: Asking, agent: str) -> None:
    facts = f"/v1/default/banks/{agent}/facts"
    ask.put("ana", agentId=agent, key="bird", memory="heron")
    [fact] = ask("ana", "GET", facts).json()["items"]
    assert ask("ana", "PATCH", f"{facts}/{fact['id']}", {"pinned": True}).status_code == 200
    ask.put("ana", agentId=agent, key="bird", memory="osprey")
    [fact] = ask("ana", "GET", facts).json()["items"]
    assert (fact["text"], fact["pinned"]) == ("bird: osprey", True)


def test_what_a_document_says_does_not_go_with_a_value(ask: Asking, agent: str) -> None:
    """Two keys that read alike, and a document for the same agent that says just that: three memories."""
    bank = f"/v1/default/banks/{agent}"
    ask.put("ana", agentId=agent, memory={"a: b": "c", "a": "b: c"})
    own = ask("ana", "PATCH", f"{bank}/config", {"updates": {"retain_extraction_mode": "chunks"}})
    assert own.status_code == 200
    acting, body = {"x-acting-as": f"agent:{agent}"}, {"items": [{"content": "a: b: c"}], "audience": "agent"}
    kept = ask("operator", "POST", f"{bank}/memories", body, headers=acting)
    assert kept.status_code == 200, kept.text
    ask.put("ana", agentId=agent, memory={"a: b": "d", "a": "d"})
    texts = sorted(one["text"] for one in ask("ana", "GET", f"{bank}/memories/list").json()["items"])
    assert texts == ["a: b: c", "a: b: d", "a: d"]


def test_writes_at_once_leave_one_value_that_recall_finds(ask: Asking, agent: str) -> None:
    def put(number: int) -> int:
        body = {f"bird{n}": f"heron {number}" for n in range(3)}
        return ask.put("ana", agentId=agent, memory=body).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(put, range(24))) == {200}
    kept = ask.get("ana", agent).json()["memory"]
    assert len(set(kept.values())) == 1
    texts = ask.recalled("ana", "heron", f"/v1/default/banks/{agent}")
    assert sorted(texts) == sorted(f"{key}: {value}" for key, value in kept.items())


def test_saving_what_is_there_changes_no_memory(ask: Asking, agent: str) -> None:
    def unit() -> str:
        [one] = ask("ana", "GET", f"/v1/default/banks/{agent}/memories/list").json()["items"]
        return str(one["id"])

    first = ask.put("ana", agentId=agent, key="bird", memory="heron").json()["saved"]
    before = unit()
    assert ask.put("ana", agentId=agent, key="bird", memory="heron").json()["saved"] > first
    assert unit() == before
