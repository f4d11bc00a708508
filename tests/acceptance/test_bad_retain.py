"""Bad items: 422 naming item and field, and nothing of the request stored; odd ones are kept as far as they can be."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from bank_calls import JSON_HEADERS, Bank, good
from test_bad_input import places

GOOD = {"content": "Ana lives in Graz."}
#: Fields of an item that are wrong, and the place that is named.
WRONG_ITEMS: list[tuple[dict[str, Any], str]] = [
    ({"content": ""}, "content"),
    ({"content": " \n\t "}, "content"),
    ({"content": "\u0000"}, "content"),
    ({"content": "\ud83d\u0000"}, "content"),
    ({"content": None}, "content"),
    ({"content": 3}, "content"),
    ({"content": {"text": "x"}}, "content"),
    ({"content": "x" * 2_000_001}, "content"),
    ({"timestamp": "yesterday"}, "timestamp"),
    ({"timestamp": "2026-13-01"}, "timestamp"),
    ({"timestamp": "2026-03-01T24:00:01Z"}, "timestamp"),
    ({"timestamp": "9999-12-31T24:00:00Z"}, "timestamp"),
    ({"timestamp": "0001-01-01T00:00:00+14:00"}, "timestamp"),
    ({"timestamp": "2026-01-01T00:00:00\u0000Z"}, "timestamp"),
    ({"timestamp": 5}, "timestamp"),
    ({"timestamp": []}, "timestamp"),
    ({"context": 1}, "context"),
    ({"metadata": []}, "metadata"),
    ({"metadata": {"a": 1}}, "metadata.a"),
    ({"metadata": {"a": {"b": "c"}}}, "metadata.a"),
    ({"document_id": 1}, "document_id"),
    ({"document_id": "x" * 513}, "document_id"),
    ({"entities": "Ana"}, "entities"),
    ({"entities": ["Ana"]}, "entities.0"),
    ({"entities": [{}]}, "entities.0.text"),
    ({"entities": [{"text": "Ana"}, {"text": "\u0000"}]}, "entities.1.text"),
    ({"entities": [{"text": "x" * 257}]}, "entities.0.text"),
    ({"entities": [{"text": f"n{number}"} for number in range(257)]}, "entities"),
    ({"resolve_entities": "maybe"}, "resolve_entities"),
    ({"tags": "a"}, "tags"),
    ({"tags": [1]}, "tags.0"),
    ({"tags": ["x" * 513]}, "tags.0"),
    ({"tags": [f"t{number}" for number in range(257)]}, "tags"),
    ({"observation_scopes": "none"}, "observation_scopes"),
    ({"observation_scopes": [["a"], 1]}, "observation_scopes"),
    ({"strategy": 1}, "strategy"),
    ({"update_mode": "merge"}, "update_mode"),
]
#: Fields of a request that are wrong, and the place that is named.
WRONG_REQUESTS: list[tuple[dict[str, Any], str]] = [
    ({}, "body.items"),
    ({"items": []}, "body.items"),
    ({"items": None}, "body.items"),
    ({"items": "x"}, "body.items"),
    ({"items": GOOD}, "body.items"),
    ({"items": [1]}, "body.items.0"),
    ({"items": [{}]}, "body.items.0.content"),
    ({"items": [GOOD] * 1001}, "body.items"),
    ({"items": [GOOD], "async": "perhaps"}, "body.async"),
    ({"items": [GOOD], "document_tags": "a"}, "body.document_tags"),
    ({"items": [GOOD], "document_tags": ["a", None]}, "body.document_tags.1"),
    ({"items": [GOOD], "async": True, "operation_id": 5}, "body.operation_id"),
    ({"items": [GOOD], "async": True, "operation_id": "x"}, "body.operation_id"),
    ({"items": [GOOD], "async": True, "operation_id": "\u0000"}, "body.operation_id"),
]


def _nothing_stored(bank: Bank) -> bool:
    return set(bank.counts().values()) == {0}


@pytest.mark.parametrize(("fields", "place"), WRONG_ITEMS)
def test_one_wrong_item_stores_nothing_of_its_request(bank: Bank, fields: dict[str, Any], place: str) -> None:
    for in_background in (False, True):
        body = {"items": [GOOD, GOOD | fields, GOOD], "async": in_background}
        named = places(bank.call("POST", "/memories", body))
        assert all(name.startswith(f"body.items.1.{place}") for name in named), named
    assert _nothing_stored(bank)


@pytest.mark.parametrize(("body", "place"), WRONG_REQUESTS)
def test_a_wrong_request_stores_nothing(bank: Bank, body: dict[str, Any], place: str) -> None:
    assert places(bank.call("POST", "/memories", body)) == [place]
    assert _nothing_stored(bank)


@pytest.mark.parametrize(
    ("items", "fields", "word"),
    [
        ([GOOD, GOOD | {"update_mode": "append"}], {}, "document_id"),
        ([GOOD | {"document_id": "d"}] * 2, {"async": True}, "document_id 'd'"),
        (
            [GOOD, GOOD | {"strategy": "other"}],
            {"async": True, "operation_id": str(uuid4())},
            "operation_id",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_400(
    bank: Bank, items: list[Any], fields: dict[str, Any], word: str
) -> None:
    answer = bank.call("POST", "/memories", {"items": items, **fields})
    assert answer.status_code == 400 and word in answer.json()["detail"]
    assert _nothing_stored(bank)


def test_appending_needs_the_text_that_is_there(bank: Bank) -> None:
    bank.call("PATCH", "/config", {"updates": {"store_document_text": False}})
    bank.retain(GOOD | {"document_id": "d"})
    item = GOOD | {"document_id": "d", "update_mode": "append"}
    answer = bank.call("POST", "/memories", {"items": [item]})
    assert answer.status_code == 400 and "store_document_text" in answer.json()["detail"]
    # Texts are kept from now on; of this one there is none.
    bank.call("PATCH", "/config", {"updates": {"store_document_text": True}})
    answer = bank.call("POST", "/memories", {"items": [item]})
    assert answer.status_code == 400 and "document d: its text was not kept" in answer.json()["detail"]


def test_a_key_gives_the_same_operation_and_no_new_work(bank: Bank) -> None:
    key = str(uuid4())
    body = {"items": [GOOD, GOOD], "async": True, "operation_id": key}
    answers = [good(bank.call("POST", "/memories", body)) for _ in range(3)]
    assert [(answer["operation_id"], answer["items_count"]) for answer in answers] == [(key, 2)] * 3
    assert bank.ended(key)["status"] == "completed"
    other = body | {"items": [{"content": "Bert lives in Linz."}]}
    again = good(bank.call("POST", "/memories", other))
    assert (again["operation_id"], again["items_count"]) == (key, 2)
    assert bank.get("/operations", type="batch_retain")["total"] == 1
    assert not any("Bert" in text for text in bank.texts())


def test_a_key_of_another_bank_is_a_conflict(new_bank: Callable[[], Bank]) -> None:
    key, first, second = str(uuid4()), new_bank(), new_bank()
    body = {"items": [GOOD], "async": True, "operation_id": key}
    good(first.call("POST", "/memories", body))
    answer = second.call("POST", "/memories", body)
    assert answer.status_code == 409 and key in answer.json()["detail"]
    child = first.ended(key)["child_operations"][0]["operation_id"]
    answer = first.call("POST", "/memories", body | {"operation_id": child})
    assert answer.status_code == 409
    assert second.counts()["memories"] == 0


def test_a_key_means_nothing_to_who_waits(bank: Bank) -> None:
    for _ in range(2):
        bank.retain(GOOD, operation_id="no uuid at all")
    assert bank.counts()["documents"] == 2


def test_what_cannot_be_stored_is_left_out_and_the_rest_is_kept(bank: Bank) -> None:
    odd = {
        "content": "Total\u0000: Ana paid 40 EUR \ud83dto Bert.",
        "context": "bill\u0000\ud83d",
        "tags": ["due\u0000", "\u0000", "\ud83d"],
        "metadata": {"page\u0000": "7\ud83d", "\u0000": "\u0000", "none": None},
        "document_id": "bill\u00001",
        "entities": [{"text": "Bert\u0000", "type": "\u0000"}],
        "observation_scopes": [["due\u0000"], ["\ud83d"]],
    }
    bank.retain({"content": "Cid lives in Graz."}, odd, {"content": "Dora lives in Linz."})
    assert {"Cid lives in Graz.", "Dora lives in Linz."} <= set(bank.texts())
    document = bank.get("/documents/bill1")
    assert document["original_text"] == "Total: Ana paid 40 EUR to Bert." and document["tags"] == ["due"]
    assert document["document_metadata"]["page"] == "7" and "none" not in document["document_metadata"]
    (fact,) = bank.get("/memories/list", document_id="bill1")["items"]
    assert fact["context"] == "bill" and "Bert" in fact["entities"] and fact["tags"] == ["due"]
    assert "\u0000" not in str(bank.get("/memories/list"))
    assert bank.recall("Ana paid\u0000 40 EUR \ud83d")["results"][0]["id"] == fact["id"]
    assert good(bank.call("DELETE", "/documents/bill%001"))["memory_units_deleted"] == 1


@pytest.mark.parametrize("content", ["a" * 300_000, '{"k":"' + "YWJj" * 75_000 + '"}', "東" * 100_000])
def test_a_long_text_without_a_separator_is_cut_and_no_language_is_no_success(
    bank: Bank, content: str
) -> None:
    item = {"content": content, "document_id": "long"}
    for _ in range(2):
        answer = bank.call("POST", "/memories", {"items": [item]})
        assert answer.status_code == 409 and "data that is no language" in answer.json()["detail"]
    page = bank.get("/documents/long/chunks", limit=1000)
    texts = [chunk["chunk_text"] for chunk in page["items"]]
    assert page["total"] == len(texts) > 10 and max(map(len, texts)) <= 3000
    # Each part of a JSON object names the key again.
    joined = "".join(texts).replace('"}{"k":"', "")
    assert joined == content == bank.get("/documents/long")["original_text"]
    bank.recall("a" * 50)


def test_a_body_over_the_limit_is_refused_however_it_comes(bank: Bank) -> None:
    mebibyte = b"a" * 2**20
    answer = bank.call("POST", "/memories", content=mebibyte * 33, headers=JSON_HEADERS)
    assert answer.status_code == 413 and "33554432" in answer.json()["detail"]
    unannounced = (mebibyte for _ in range(33))
    answer = bank.call("POST", "/memories", content=unannounced, headers=JSON_HEADERS)
    assert answer.status_code == 413
    assert _nothing_stored(bank)


@pytest.mark.parametrize(
    ("timestamp", "mentioned"),
    [
        ("unset", None),
        ("UNSET", None),
        ("2026-03-01T09:00:00+02:00", "2026-03-01T07:00:00+00:00"),
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("2026-02-28T24:00:00Z", "2026-03-01T00:00:00+00:00"),
        ("20260301T0900+02", "2026-03-01T07:00:00+00:00"),
        ("2026-03-01t09:00:00.5z", "2026-03-01T09:00:00+00:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999+00:00"),
    ],
)
def test_times_that_are_taken(bank: Bank, timestamp: str, mentioned: str | None) -> None:
    text = "The lease of Ana ends one year from now. Bert left last week. Cid came 9999999 years ago."
    bank.retain({"content": text, "timestamp": timestamp})
    found = bank.get("/memories/list")["items"]
    assert len(found) == 3
    assert {item["mentioned_at"] and item["mentioned_at"][:19] for item in found} == {
        mentioned and mentioned[:19]
    }
    for query in ("What happened last year?", "Who came next week?", "5 centuries ago", "in 312 BC"):
        now = None if mentioned is None else mentioned
        assert bank.recall(query, query_timestamp=now)["results"]


def test_without_a_time_it_is_now_and_so_is_said(bank: Bank) -> None:
    for timestamp in (None, ""):
        bank.retain({"content": "Ana lives in Graz.", "timestamp": timestamp})
    assert all(item["mentioned_at"] for item in bank.get("/memories/list")["items"])


def test_dates_beyond_the_calendar_are_kept_as_text(bank: Bank) -> None:
    text = "The aqueduct was begun in 312 BC; the observatory plan runs to the year 12000."
    bank.retain(text)
    assert bank.recall("When was the aqueduct begun?")["results"][0]["text"] == text
