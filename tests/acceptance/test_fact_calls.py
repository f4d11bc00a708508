"""Workspace facts over HTTP, with real keys: shapes, codes, and that a place decides what is remembered and recalled.

Olga owns the workspace; Mia is in #ops, Nils is not; the agent Aide remembers in the bank `team`.
"""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fact_workspace import BANK, FACTS, JUST_YOU, WORKSPACE, Asking, workspace


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    with workspace(tmp_path_factory.mktemp("facts")) as asking:
        yield asking


def _code(answer: httpx.Response) -> tuple[int, str]:
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"].keys() == {"code", "message"}
    return answer.status_code, answer.json()["error"]["code"]


def test_a_fact_over_its_life(ask: Asking) -> None:
    fact = ask.add("mia", "  Deploys wait\nfor Mia. ", **{"for": JUST_YOU})
    mia = ask("operator", "GET", "/v1/default/directory").json()["people"][0]["uuid"]
    assert fact | {"id": "", "created_at": "", "updated_at": "", "source": None} == {
        "id": "",
        "kind": "stated",
        "text": "Deploys wait for Mia.",
        "scope": "just_you",
        "place": None,
        "person": mia,
        "pinned": True,
        "kept_by": {"kind": "person", "id": mia, "name": "Mia"},
        "source": None,
        "corrected": False,
        "created_at": "",
        "updated_at": "",
        "can_change": True,
    }
    assert fact["source"] | {"at": ""} == {
        "kind": "person",
        "place": None,
        "ref": None,
        "person": mia,
        "at": "",
    }
    path = f"{FACTS}/{fact['id']}"
    changed = ask("mia", "PATCH", path, {"text": "Deploys wait for Ben.", "pinned": False}).json()
    assert (changed["id"], changed["corrected"], changed["pinned"]) == (fact["id"], True, False)
    assert ask("mia", "GET", path).json() == changed
    gone = ask("mia", "DELETE", path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert _code(ask("mia", "GET", path)) == (404, "not_found")


@pytest.mark.parametrize(
    ("who", "body", "code"),
    [
        ("mia", {"text": "x", "for": WORKSPACE}, (403, "owner_required")),
        ("mia", {"text": "x"}, (422, "invalid_input")),
        ("mia", {"text": "x" * 501, "for": JUST_YOU}, (422, "fact_too_long")),
        ("mia", {"text": "x\n\ny", "for": JUST_YOU}, (422, "fact_not_one_paragraph")),
        ("mia", {"text": "x", "for": {"scope": "everywhere"}}, (422, "invalid_input")),
        ("nils", {"text": "x", "for": {"scope": "conversation", "place": "ops"}}, (404, "not_found")),
        ("aide", {"text": "x"}, (422, "invalid_input")),
        (
            "aide",
            {"text": "x", "for": WORKSPACE, "source": {"kind": "message", "place": "ops"}},
            (422, "workspace_source_not_public"),
        ),
        ("aide", {"text": "x", "source": {"kind": "session", "place": "nowhere"}}, (404, "not_found")),
        ("operator", {"text": "x", "for": WORKSPACE}, (401, "unauthorized")),
    ],
)
def test_refusals_have_a_code(ask: Asking, who: str, body: dict[str, Any], code: tuple[int, str]) -> None:
    assert _code(ask(who, "POST", FACTS, body)) == code


def test_nobody_is_let_in_without_a_key(ask: Asking) -> None:
    assert _code(ask.client.get(FACTS)) == (401, "unauthorized")


def test_an_operator_acts_for_others(ask: Asking) -> None:
    acting = {"headers": {"x-acting-as": "person:olga"}}
    made = ask("operator", "POST", FACTS, {"text": "Acting.", "for": WORKSPACE}, **acting)
    assert (made.status_code, made.json()["kept_by"]["name"]) == (201, "Olga")


def test_w02_recall_takes_a_place_and_no_scope(ask: Asking) -> None:
    ask.learn("Ops burns the midnight oil.", "ops")
    for place, told in (("ops", True), ("thread", True), ("general", False), ("talk", False)):
        body = {
            "place": place,
            "query": "midnight oil",
            "scope": "workspace",
            "for": {"scope": "conversation"},
        }
        answer = ask("aide", "POST", f"{FACTS}/recall", body)
        assert ("Ops burns the midnight oil." in [one["text"] for one in answer.json()["facts"]]) is told
        assert set(re.split(", ", answer.headers["x-ignored-params"])) == {"scope", "for"}
    assert "Ops burns the midnight oil." not in ask.recalled("aide", "midnight oil")
    assert "Ops burns the midnight oil." in ask.recalled("aide", "midnight oil", place="ops")
    assert _code(ask("mia", "POST", f"{FACTS}/recall", {"place": "ops"})) == (401, "unauthorized")
    for person in ("nils", "nobody"):
        body = {"place": "talk", "person": person}
        assert _code(ask("aide", "POST", f"{FACTS}/recall", body)) == (404, "not_found")


def test_lists_are_paged_and_narrowed(ask: Asking) -> None:
    for number in range(3):
        ask.add("nils", f"Nils notes {number}.", **{"for": JUST_YOU})
    seen, cursor = [], None
    while True:
        query = {"scope": "just_you", "limit": 2} | ({"cursor": cursor} if cursor else {})
        page = ask("nils", "GET", FACTS, params=query).json()
        seen += [fact["text"] for fact in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [f"Nils notes {number}." for number in (2, 1, 0)]
    assert page["limits"]["max"] == 2000
    assert ask.texts("nils", q="notes 1") == {"Nils notes 1."}
    assert ask.texts("nils", kind="kv") == ask.texts("nils", scope="just_you", pinned=False) == set()
    for query in ({"cursor": "x"}, {"limit": 101}, {"kind": "all"}):
        assert _code(ask("nils", "GET", FACTS, params=query)) == (422, "invalid_input")


def test_w13_what_is_retained_in_a_place_stays_there(ask: Asking) -> None:
    """Extracted facts, their names and counts obey too."""
    assert ask.retain("aide", "Zenobia owns the pager in March.", place="thread").status_code == 200
    assert "Zenobia owns the pager in March." in ask.recalled("aide", "Zenobia pager", place="ops")
    assert ask.texts("mia", kind="extracted", place="ops") == {"Zenobia owns the pager in March."}
    for who, place in (
        ("aide", {}),
        ("aide", {"place": "talk"}),
        ("olga", {}),
        ("olga", {"place": "general"}),
    ):
        assert "Zenobia" not in str(ask.recalled(who, "Zenobia pager", **place))
    for who in ("olga", "nils"):
        assert "Zenobia" not in ask(who, "GET", FACTS).text
    assert "Zenobia" not in ask("olga", "GET", f"{BANK}/entities").text
    for who, place in (("olga", "ops"), ("aide", "nowhere")):
        assert ask.retain(who, "x", place=place).status_code == 404
        said = ask(who, "POST", f"{BANK}/memories/recall", {"query": "pager", "place": place})
        assert said.status_code == 404
        answer = ask(who, "POST", f"{BANK}/reflect", {"query": "Who owns the pager?", "place": place})
        assert answer.status_code == 404


def test_an_id_of_a_document_is_one_circles_own(ask: Asking) -> None:
    """Else a refusal would tell of a document that one does not see, and circles would take ids from each other."""
    path = f"{BANK}/documents/minutes"
    for text, place in (
        ("Ferdinand bakes.", {}),
        ("Gisela bakes.", {"place": "ops"}),
        ("Hedwig bakes.", {"place": "talk"}),
    ):
        items = [{"content": text, "document_id": "minutes"}]
        assert ask("aide", "POST", f"{BANK}/memories", {"items": items, **place}).status_code == 200

    def texts(who: str) -> set[str]:
        body = {"query": "Who bakes?", "include": {"chunks": {}}}
        chunks = ask(who, "POST", f"{BANK}/memories/recall", body).json().get("chunks") or {}
        for id_, chunk in chunks.items():
            assert ask(who, "GET", f"/v1/default/chunks/{id_}").json()["chunk_text"] == chunk["text"]
        return {chunk["text"] for chunk in chunks.values() if "bakes" in chunk["text"]}

    def text(who: str) -> tuple[int, str | None]:
        answer = ask(who, "GET", path)
        return answer.status_code, answer.json().get("original_text")

    assert texts("operator") == {"Ferdinand bakes.", "Gisela bakes.", "Hedwig bakes."}
    assert (texts("olga"), texts("mia")) == ({"Ferdinand bakes."}, {"Gisela bakes.", "Hedwig bakes."})
    # One id names the oldest document that one sees.
    assert [text(who) for who in ("operator", "olga", "mia", "nils")] == [
        (200, "Ferdinand bakes."),
        (200, "Ferdinand bakes."),
        (200, "Gisela bakes."),
        (404, None),
    ]
    listed = ask("mia", "GET", f"{path}/chunks").json()["items"]
    assert [(chunk["chunk_text"], chunk["chunk_index"]) for chunk in listed] == [("Gisela bakes.", 0)]
    for id_ in ("team_minutes_0", listed[0]["chunk_id"]):
        assert ask("nils", "GET", f"/v1/default/chunks/{id_}").status_code == 404
    # To forget it is to forget all that one sees of it.
    assert ask("mia", "DELETE", path).json()["memory_units_deleted"] == 2
    assert (text("mia")[0], text("operator")) == (404, (200, "Ferdinand bakes."))
    assert ask("operator", "DELETE", path).json()["memory_units_deleted"] == 1


def test_for_whom_something_is_retained(ask: Asking) -> None:
    assert ask.retain("aide", "Yolanda plays chess.", audience="agent").status_code == 200
    assert ask.retain("olga", "Xaver plays chess.", audience="organization").status_code == 200
    assert ask.texts("nils", kind="extracted", q="chess") == {"Xaver plays chess."}
    assert ask.texts("olga", kind="extracted", q="chess") == {"Xaver plays chess.", "Yolanda plays chess."}
    for body, code in (
        ({"place": "ops", "audience": "organization"}, 422),
        ({"place": "general", "audience": "organization"}, 422),
        ({"place": "ops", "audience": "bank"}, 422),
        ({"audience": "place"}, 422),
        ({"audience": "subject"}, 422),
        ({"audience": "organization"}, 422),
    ):
        assert ask.retain("aide", "x", **body).status_code == code


def test_reflect_answers_from_what_applies_in_a_place(ask: Asking) -> None:
    ask.learn("Walburga keeps the spare key.", "ops")
    for place, known in (("ops", True), ("general", False)):
        body = {"query": "Who keeps the spare key?", "place": place}
        answer = ask("aide", "POST", f"{BANK}/reflect", body).json()
        assert ("Walburga" in answer["text"]) is known


def test_w23_a_memory_forgotten_through_the_bank_is_reported(ask: Asking) -> None:
    assert ask.retain("aide", "Ulrich sings bass.").status_code == 200
    [found] = ask("olga", "GET", f"{BANK}/memories/list", params={"q": "Ulrich"}).json()["items"]
    path = f"{BANK}/memories/{found['id']}"
    for who in ("nils", "mia"):
        assert ask(who, "DELETE", path).status_code == 404
    erased = ask("olga", "DELETE", path).json()
    assert erased == {"memory": found["id"], "observations": 0, "statements": 0, "entities": 1, "chunks": 1}
    assert ask("olga", "DELETE", path).status_code == 404
    body = {"query": "Who sings bass?", "include": {"chunks": {}}}
    assert "Ulrich" not in ask("olga", "POST", f"{BANK}/memories/recall", body).text


def test_w28_customer_data_is_never_remembered(ask: Asking) -> None:
    marked = {"content": "Tamara owes 300 euros.", "data_level": "customer_data"}
    body = {"items": [{"content": "Harmless."}, marked]}
    for more in ({}, {"async": True}):
        answer = ask("aide", "POST", f"{BANK}/memories", body | more)
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == ["body", "items", 1, "data_level"]
    told = {
        "text": "Tamara owes.",
        "data_level": "customer_data",
        "source": {"kind": "session", "place": "ops"},
    }
    assert _code(ask("aide", "POST", FACTS, told)) == (422, "customer_data_not_remembered")
    assert ask.texts("mia", q="Tamara") == set()
    assert ask("olga", "GET", f"{BANK}/documents").text.count("Tamara") == 0


def test_w30_unseen_and_unknown_are_the_same_answer(ask: Asking) -> None:
    fact = ask.add("mia", "A secret of Mia's.", **{"for": JUST_YOU})
    for method, body in (("GET", None), ("PATCH", {"text": "x"}), ("PATCH", {"text": ""}), ("DELETE", None)):
        answers = []
        for id_ in (fact["id"], str(uuid4())):
            answer = ask("nils", method, f"{FACTS}/{id_}", body)
            headers = {name: value for name, value in answer.headers.items() if name != "date"}
            answers.append((answer.status_code, answer.text.replace(id_, "…"), headers))
        assert answers[0] == answers[1]
        assert answers[0][0] == 404
    assert ask("mia", "GET", f"{FACTS}/{fact['id']}").json() == fact
    assert _code(ask("nils", "GET", f"{FACTS}/no-uuid")) == (404, "not_found")
