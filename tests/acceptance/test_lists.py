"""Lists: order, pages, totals, filters."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest
from bank_calls import Bank, good

#: Text, day it was said (None: it has no date), names in it, tags, document.
TOLD: list[tuple[str, str | None, list[str], list[str], str]] = [
    ("Ana lives in Graz.", "2026-03-01T10:00:00Z", ["Ana", "Graz"], ["home", "proj:x"], "d1"),
    ("Bert moved to Graz.", "2026-03-05T10:00:00Z", ["Bert", "Graz"], ["home"], "d2"),
    ("Graz has a clock tower.", None, ["Graz"], [], "d3"),
    ("Ana plays the cello.", "2026-03-03T10:00:00Z", ["Ana"], ["proj:y"], "d4"),
    ("Cid repairs bicycles.", "2026-03-02T10:00:00Z", ["Cid"], ["Home"], "d5"),
]


@pytest.fixture(scope="module")
def told(http: httpx.Client) -> Bank:
    """A bank that the tests of this file only read. Each text is one fact, in a document of its own."""
    bank = Bank(http, f"lists-{uuid4()}")
    bank.call("PATCH", "/config", {"updates": {"retain_extraction_mode": "chunks"}})
    for text, said, names, tags, document in TOLD:
        bank.retain(
            {
                "content": text,
                "timestamp": said or "unset",
                "entities": [{"text": name} for name in names],
                "tags": tags,
                "document_id": document,
            }
        )
    return bank


def _key(path: str) -> str:
    return "operations" if path == "/operations" else "items"


def test_memories_stand_last_mentioned_first_and_undated_last(told: Bank) -> None:
    assert told.texts() == [
        "Bert moved to Graz.",
        "Ana plays the cello.",
        "Cid repairs bicycles.",
        "Ana lives in Graz.",
        "Graz has a clock tower.",
    ]


def test_documents_stand_last_updated_first(told: Bank) -> None:
    assert [item["id"] for item in told.get("/documents")["items"]] == ["d5", "d4", "d3", "d2", "d1"]


def test_entities_stand_most_mentioned_first(told: Bank) -> None:
    found = told.get("/entities")["items"]
    assert [(item["canonical_name"], item["mention_count"]) for item in found] == [
        ("Graz", 3),
        ("Ana", 2),
        ("Bert", 1),
        ("Cid", 1),
    ]


def test_tags_stand_most_used_first_then_by_name(told: Bank) -> None:
    found = [(item["tag"], item["count"]) for item in told.get("/tags")["items"]]
    assert found == [("home", 2), ("Home", 1), ("proj:x", 1), ("proj:y", 1)]


def test_operations_stand_newest_first(told: Bank) -> None:
    found = told.get("/operations")
    times = [item["created_at"] for item in found["operations"]]
    assert found["total"] == 10 and times == sorted(times, reverse=True)
    assert told.get("/operations", exclude_parents=True)["total"] == 5
    assert told.get("/operations", type="batch_retain")["total"] == 5
    assert told.get("/operations", status="completed")["total"] == 10
    assert told.get("/operations", status="failed")["operations"] == []


@pytest.mark.parametrize("path", ["/memories/list", "/documents", "/entities", "/tags", "/operations"])
def test_pages_add_up_to_the_whole(told: Bank, path: str) -> None:
    whole = told.get(path)
    rows = whole[_key(path)]
    assert whole["total"] == len(rows) and whole["offset"] == 0
    assert whole["limit"] == (20 if path == "/operations" else 100)
    pages = [told.get(path, limit=2, offset=offset) for offset in range(0, len(rows) + 2, 2)]
    assert [row for page in pages for row in page[_key(path)]] == rows
    assert {(page["total"], page["limit"]) for page in pages} == {(len(rows), 2)}
    beyond = told.get(path, limit=2, offset=1000)
    assert (beyond[_key(path)], beyond["total"], beyond["offset"]) == ([], len(rows), 1000)


@pytest.mark.parametrize("path", ["/memories/list", "/documents", "/entities", "/tags"])
def test_a_page_of_none_says_how_many_there_are(told: Bank, path: str) -> None:
    page = told.get(path, limit=0)
    assert (page["items"], page["limit"], page["total"]) == ([], 0, told.get(path)["total"])


@pytest.mark.parametrize("path", ["/memories/list", "/documents", "/entities", "/tags"])
def test_the_largest_page_is_the_whole(told: Bank, path: str) -> None:
    largest = 2**63 - 1
    assert told.get(path, limit=largest)["items"] == told.get(path)["items"]
    assert told.get(path, limit=largest, offset=largest)["items"] == []


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"q": "graz"}, {"Ana lives in Graz.", "Bert moved to Graz.", "Graz has a clock tower."}),
        ({"q": "CELLO"}, {"Ana plays the cello."}),
        ({"q": "%"}, set()),
        ({"q": "_"}, set()),
        ({"q": ""}, {text for text, *_ in TOLD}),
        ({"document_id": "d2"}, {"Bert moved to Graz."}),
        ({"document_id": "nope"}, set()),
        ({"type": "world"}, {text for text, *_ in TOLD}),
        ({"type": "experience"}, set()),
        ({"state": "valid"}, {text for text, *_ in TOLD}),
        ({"state": "invalidated"}, set()),
        ({"consolidation_state": "pending"}, {text for text, *_ in TOLD}),
        ({"consolidation_state": "done"}, set()),
    ],
)
def test_memories_are_filtered(told: Bank, asked: dict[str, str], found: set[str]) -> None:
    page = told.get("/memories/list", **asked)
    assert {item["text"] for item in page["items"]} == found and page["total"] == len(found)


def test_memories_of_one_entity(told: Bank) -> None:
    (ana,) = [item for item in told.get("/entities")["items"] if item["canonical_name"] == "Ana"]
    assert set(told.texts(entity_id=ana["id"])) == {"Ana lives in Graz.", "Ana plays the cello."}
    assert told.texts(entity_id=str(uuid4())) == []


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("home", {"home", "Home"}),
        ("proj:*", {"proj:x", "proj:y"}),
        ("*:X", {"proj:x"}),
        ("*o*", {"home", "Home", "proj:x", "proj:y"}),
        ("proj", set()),
        ("proj__", set()),
        ("%", set()),
        ("*", {"home", "Home", "proj:x", "proj:y"}),
    ],
)
def test_tags_are_found_by_pattern(told: Bank, q: str, found: set[str]) -> None:
    page = told.get("/tags", q=q)
    assert {item["tag"] for item in page["items"]} == found and page["total"] == len(found)


def test_tags_of_mental_models_are_listed_apart(told: Bank) -> None:
    assert told.get("/tags", source="mental_models")["total"] == 0
    for tags in (["a", "shared"], ["shared"]):
        good(
            told.call(
                "POST", "/mental-models", {"name": "M", "source_query": "What?", "tags": tags, "id": tags[0]}
            )
        )
    listed = told.get("/tags", source="mental_models")
    assert listed["items"] == [{"tag": "shared", "count": 2}, {"tag": "a", "count": 1}]
    assert told.get("/tags", source="mental_models", q="SH*")["total"] == 1


def test_documents_are_found_by_a_part_of_the_id(told: Bank) -> None:
    assert [item["id"] for item in told.get("/documents", q="D2")["items"]] == ["d2"]
    assert told.get("/documents", q="%")["total"] == 0


def test_chunks_stand_in_order(bank: Bank) -> None:
    bank.call("PATCH", "/config", {"updates": {"retain_chunk_size": 60, "retain_extraction_mode": "chunks"}})
    text = " ".join(f"Sentence number {number} is about kiln {number}." for number in range(9))
    bank.retain({"content": text, "document_id": "long"})
    whole = bank.get("/documents/long/chunks")
    assert [chunk["chunk_index"] for chunk in whole["items"]] == list(range(whole["total"]))
    assert "".join(chunk["chunk_text"].replace(" ", "") for chunk in whole["items"]) == text.replace(" ", "")
    pages = [
        bank.get("/documents/long/chunks", limit=2, offset=at)["items"] for at in range(0, whole["total"], 2)
    ]
    assert [chunk for page in pages for chunk in page] == whole["items"]


def test_banks_stand_last_written_first(new_bank: Callable[[], Bank]) -> None:
    mark = uuid4().hex
    made = [Bank(new_bank().http, f"{mark}-{name}") for name in "abc"]
    for bank in made:
        good(bank.call("PUT", "", {"name": f"Team {bank.id[-1]}"}))
    made[0].retain("Ana lives in Graz.")

    def listed(**asked: Any) -> Any:
        return good(made[0].http.get("/v1/default/banks", params=asked))

    page = listed(q=mark.upper())
    assert [item["bank_id"][-1] for item in page["banks"]] == ["a", "c", "b"] and page["total"] == 3
    assert [item["fact_count"] for item in page["banks"]] == [1, 0, 0]
    assert page["banks"][0]["last_document_at"] and page["banks"][0]["last_write_at"]
    assert page["banks"][1].keys().isdisjoint({"last_document_at", "last_write_at"})
    page = listed(q=mark, limit=1, offset=1)
    assert [item["name"] for item in page["banks"]] == ["Team c"] and page["total"] == 3
    assert listed(q=mark, limit=0) == {"banks": [], "total": 3, "limit": 0, "offset": 0}
    assert listed(q="TEAM B", limit=1000)["total"] >= 1
    assert listed(q="100%_sure")["total"] == 0
