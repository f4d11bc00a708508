"""The HTTP contract: paths, operation ids, shapes of the answers, nulls, the header of what was ignored."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
from bank_calls import Bank, good, request
from wire_shapes import CALLS, violations

from memorybank.serve.calls import BANK

#: Calls with a test file of their own.
MERGING = ("merge_entity", "unmerge_entity")
MODELS = tuple(name for name in CALLS if "mental_model" in name or "knowledge" in name)
#: Calls with a test of their own: two need an operation in the right state, one a form of files.
DIRECTIVES = tuple(name for name in CALLS if "directive" in name)
ELSEWHERE = (
    *("reflect_stream", "cancel_operation", "retry_operation", "get_version", "file_retain"),
    *(*MERGING, *MODELS, *DIRECTIVES),
)
#: The contract's own examples of a retain and a recall.
RETAIN = {
    "items": [
        {
            "content": "Ana moved the release to Friday because the tests failed.",
            "timestamp": "2026-03-04T10:00:00Z",
            "context": "stand-up",
            "document_id": "standup/2026-03-04",
            "metadata": {"source": "slack"},
            "tags": ["proj:x"],
            "entities": [{"text": "Ana", "type": "PERSON"}],
            "observation_scopes": "per_tag",
            "strategy": None,
            "update_mode": "replace",
        }
    ],
    "async": False,
    "document_tags": ["team:a"],
    "operation_id": None,
}
RECALL = {
    "query": "When is the release?",
    "budget": "mid",
    "max_tokens": 2048,
    "types": ["world", "experience", "observation"],
    "tags": ["proj:x"],
    "tags_match": "any_strict",
    "include": {
        "entities": None,
        "chunks": {"max_tokens": 4000},
        "source_facts": {"max_tokens": 1000, "max_tokens_per_observation": 200},
    },
    "temporal_window": None,
    "min_scores": {"final": 0.1},
    "trace": False,
}
REFLECT = {
    "query": "When is the release?",
    "budget": "low",
    "max_tokens": 1024,
    "include": {"facts": {}, "tool_calls": {"output": True}},
}


@pytest.fixture
def filled(bank: Bank) -> Bank:
    good(bank.call("POST", "/memories", RETAIN))
    return bank


def _bodies(bank: Bank) -> dict[str, Any]:
    """A good body for each call that takes one."""
    return {
        "create_or_update_bank": {"name": "Team A", "mission": "Keep decisions"},
        "update_bank": {"disposition_empathy": 4},
        "update_bank_disposition": {"disposition": {"skepticism": 1, "literalism": 2, "empathy": 3}},
        "update_bank_config": {"updates": {"retain_mission": "Keep decisions"}},
        "retain_memories": RETAIN,
        "dry_run_extract_memories": {"content": "Ana likes teal."},
        "recall_memories": RECALL | {"include": {"chunks": {}, "source_facts": {}}, "trace": True},
        "reflect": REFLECT,
        "update_document": {"tags": ["proj:y"]},
        "update_memory": {"text": "Ana moved the release to Monday.", "state": "invalidated", "reason": "no"},
    }


def _path(name: str, bank: Bank) -> str:
    """The path of a call, its ids those of things that are there."""
    operations = bank.get("/operations")["operations"]
    return CALLS[name][1].format(
        bank_id=bank.id,
        memory_id=bank.get("/memories/list")["items"][0]["id"],
        document_id="standup/2026-03-04",
        chunk_id=f"{bank.id}_standup/2026-03-04_0",
        entity_id=bank.get("/entities")["items"][0]["id"],
        operation_id=operations[0]["id"],
    )


#: What the contract does not know: who asks, and what people and agents keep themselves; and of its paths this call.
OURS = ("/v1/default/directory", "/v1/default/keys", "/v1/default/session", f"{BANK}/facts", "/api/")
OUR_CALLS = ("forget_memory",)


def test_operation_ids_methods_and_paths_are_the_contracts(http: httpx.Client) -> None:
    served = {
        operation["operationId"]: (method.upper(), path)
        for path, methods in good(http.get("/openapi.json"))["paths"].items()
        for method, operation in methods.items()
        if not path.startswith(OURS) and operation["operationId"] not in OUR_CALLS
    }
    assert served == {name: (method, path) for name, (method, path, _) in CALLS.items()}


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ELSEWHERE])
def test_answers_have_the_shape_of_the_contract(filled: Bank, name: str) -> None:
    method, _, shape = CALLS[name]
    body = _bodies(filled).get(name, ...)
    answer = request(filled.http, method, _path(name, filled), body)
    assert answer.status_code == 200, answer.text
    if shape != "any":
        assert list(violations(shape, answer.json())) == []
    assert "x-ignored-params" not in answer.headers


def test_version_names_the_engine_and_what_there_is(http: httpx.Client) -> None:
    version = good(http.get("/version"))
    assert list(violations("VersionResponse", version)) == []
    assert version["engine"] == "extractive"
    assert version["features"]["worker"] and version["features"]["store_document_text"]


def test_example_of_a_retain(bank: Bank) -> None:
    usage = dict.fromkeys(
        ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "thoughts_tokens"), 0
    )
    assert good(bank.call("POST", "/memories", RETAIN)) == {
        "success": True,
        "bank_id": bank.id,
        "items_count": 1,
        "async": False,
        "usage": usage,
    }


def test_example_of_an_async_retain(bank: Bank) -> None:
    answer = good(bank.call("POST", "/memories", {"items": RETAIN["items"], "async": True}))
    operation = answer.pop("operation_id")
    assert answer == {"success": True, "bank_id": bank.id, "items_count": 1, "async": True}
    found = bank.ended(operation)
    assert list(violations("OperationStatusResponse", found)) == []
    assert (found["status"], found["operation_type"]) == ("completed", "batch_retain")
    said = {"items_count": 1, "num_sub_batches": 1, "is_parent": True, "unit_ids_count": 1}
    assert said.items() <= found["result_metadata"].items()
    assert found["result_metadata"]["extraction_errors_count"] == 0
    (child,) = found["child_operations"]
    assert (child["status"], child["sub_batch_index"], child["items_count"]) == ("completed", 1, 1)


def test_example_of_a_recall(filled: Bank) -> None:
    answer = good(filled.call("POST", "/memories/recall", RECALL))
    (hit,) = answer["results"]
    chunk = f"{filled.id}_standup/2026-03-04_0"
    assert hit["entities"] == ["Ana"] and hit["chunk_id"] == chunk and hit["metadata"] == {"source": "slack"}
    assert hit["mentioned_at"] == "2026-03-04T10:00:00+00:00" and hit["tags"] == ["proj:x", "team:a"]
    text = RETAIN["items"][0]["content"]
    assert answer["chunks"] == {chunk: {"id": chunk, "text": text, "chunk_index": 0, "truncated": False}}
    assert (answer["source_facts"], answer["source_facts_truncated"]) == ({}, False)
    assert "entities" not in answer and "trace" not in answer


def test_entities_come_by_default_and_the_rest_does_not(filled: Bank) -> None:
    answer = filled.recall("When is the release?")
    assert answer.keys() == {"results", "entities", "stages"}
    assert answer["entities"]["Ana"]["canonical_name"] == "Ana"


def test_example_of_a_reflect(filled: Bank) -> None:
    answer = good(filled.call("POST", "/reflect", REFLECT))
    assert "Friday" in answer["text"] and answer["based_on"]["memories"]
    hidden = REFLECT | {"include": {"tool_calls": {"output": False}}}
    answer = good(filled.call("POST", "/reflect", hidden))
    assert "based_on" not in answer
    assert answer["trace"]["tool_calls"] and not any(
        "output" in call for call in answer["trace"]["tool_calls"]
    )


def test_metadata_is_the_same_everywhere(filled: Bank) -> None:
    sent = {"source": "slack"}
    (listed,) = filled.get("/memories/list")["items"]
    assert listed["metadata"] == sent
    assert filled.get(f"/memories/{listed['id']}")["metadata"] == sent
    assert filled.recall("release")["results"][0]["metadata"] == sent
    assert filled.get("/documents")["items"][0]["document_metadata"] == sent
    assert filled.get("/documents/standup/2026-03-04")["document_metadata"] == sent


def test_what_was_just_told_is_found_at_once(bank: Bank) -> None:
    bank.retain("Door code marker ZX-48211-Q.")
    assert bank.recall("ZX-48211-Q")["results"][0]["text"] == "Door code marker ZX-48211-Q."
    bank.retain("The spare key is with the florist.")
    found = [hit["text"] for hit in bank.recall("Where is the spare key?")["results"]]
    assert found.count("The spare key is with the florist.") == 1 and found[0].startswith("The spare key")


def test_nulls_are_dropped_unless_a_field_is_required_and_nullable(filled: Bank) -> None:
    def nulls(value: Any) -> int:
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return (value is None) + sum(nulls(one) for one in inside)

    (listed,) = filled.get("/memories/list")["items"]
    for path in ("/profile", "/entities", "/stats", f"/memories/{listed['id']}"):
        assert nulls(filled.get(path)) == 0, path
    assert nulls(filled.recall("release")) == 0
    operation = filled.get("/operations")["operations"][0]
    assert operation["error_message"] is None and operation["next_retry_at"] is None
    status = filled.get(f"/operations/{operation['id']}")
    assert status["error_message"] is None and status["task_payload"] is None
    assert filled.get("/documents/standup/2026-03-04")["observation_scopes"] == "per_tag"
    filled.retain({"content": "Bert swims.", "document_id": "plain"})
    assert filled.get("/documents/plain")["observation_scopes"] is None


def test_unknown_fields_are_named_and_never_fail(filled: Bank) -> None:
    answer = filled.call("GET", "/memories/list", params={"limit": 1, "colour": "red", "size": "2"})
    assert (answer.status_code, answer.headers["x-ignored-params"]) == (200, "colour, size")
    answer = filled.call("POST", "/memories/recall?verbose=1", {"query": "release", "max_token": 5})
    assert (answer.status_code, answer.headers["x-ignored-params"]) == (200, "verbose, max_token")
    answer = filled.call(
        "POST", "/memories", {"items": [{"content": "Bert swims.", "extra": 1}], "async": False}
    )
    assert answer.status_code == 200 and "x-ignored-params" not in answer.headers


def test_names_of_unknown_fields_cannot_end_the_header(filled: Bank) -> None:
    body = {"query": "release", "a\r\nSet-Cookie: x": 1, "b,c": 1, "Ü": 1, "x" * 10_000: 1}
    answer = filled.call("POST", "/memories/recall", body)
    assert answer.status_code == 200 and "set-cookie" not in answer.headers
    named = answer.headers["x-ignored-params"]
    assert named.startswith("a%0D%0ASet-Cookie: x, b%2Cc, %C3%9C, xxx") and len(named) <= 2000


def test_bank_ids_and_document_ids_are_free_strings(new_bank: Callable[[], Bank]) -> None:
    base = new_bank()
    for name in ("acme::chan-77::u-3", "a b", "ü-東京", "..", "x_y_1", "50%", "a+b&c=d;e"):
        bank = Bank(base.http, f"{name} {uuid4()}")
        for document in ("a/b/c", "ü 東京", "x_0", "100% sure?", "chunks", "#1"):
            bank.retain({"content": "Ana lives in Graz.", "document_id": document})
            path = f"/documents/{quote(document)}"
            assert bank.get(path)["id"] == document
            chunk = bank.get(path + "/chunks")["items"][0]
            assert chunk["chunk_id"] == f"{bank.id}_{document}_0"
            assert bank.get("/memories/list", document_id=document)["total"] == 1
        assert bank.get("/profile")["name"] == bank.id
        assert good(bank.call("DELETE"))["success"]


def test_a_chunk_is_found_whatever_its_ids_hold(bank: Bank) -> None:
    other = Bank(bank.http, f"{bank.id}_a")
    bank.retain({"content": "Ana lives in Graz.", "document_id": "a_b"})
    other.retain({"content": "Bert lives in Linz.", "document_id": "c"})
    for one, document, text in ((bank, "a_b", "Ana lives in Graz."), (other, "c", "Bert lives in Linz.")):
        found = good(one.http.get(f"/v1/default/chunks/{one.id}_{document}_0"))
        assert (found["bank_id"], found["document_id"], found["chunk_text"]) == (one.id, document, text)
