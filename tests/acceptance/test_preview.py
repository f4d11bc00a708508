"""Extraction tried out: what a retain would find, with and without a model, and nothing of it stored."""

from typing import Any

import pytest
from bank_calls import Bank, good

from memorybank.testing.scripted_llm import ScriptedLLM

TEXT = "Ana moved the release to Friday.\n\nBert keeps bees in Graz."
PATH = "/memories/dry-run-extract"
KEY = "ghp_" + "a8Kd93jfLq02ZmXc7VbN"


def preview(bank: Bank, content: str = TEXT, **fields: Any) -> Any:
    return good(bank.call("POST", PATH, {"content": content, **fields}))


@pytest.mark.parametrize("there", [True, False])
def test_it_finds_what_a_retain_finds_and_stores_nothing(bank: Bank, there: bool) -> None:
    if there:
        bank.call("PUT", "", {"name": "Team"})
    found = preview(bank, timestamp="2026-03-04T10:00:00Z")
    assert set(found) == {"facts", "chunks", "usage"}
    assert [chunk["fact_count"] for chunk in found["chunks"]] == [2]
    assert {fact["chunk_index"] for fact in found["facts"]} == {0}
    assert set(bank.counts().values()) == {0}
    assert bank.call("GET", "/profile").status_code == (200 if there else 404)
    bank.retain({"content": TEXT, "timestamp": "2026-03-04T10:00:00Z"})
    stored = bank.get("/memories/list")["items"]
    assert sorted(fact["text"] for fact in found["facts"]) == sorted(item["text"] for item in stored)
    assert found["facts"][0]["occurred_start"] == next(
        item["occurred_start"] for item in stored if item["text"] == found["facts"][0]["text"]
    )


def test_settings_are_tried_over_the_banks_own(bank: Bank) -> None:
    bank.call("PATCH", "/config", {"updates": {"retain_extraction_mode": "chunks"}})
    assert [fact["text"] for fact in preview(bank)["facts"]] == [TEXT]
    assert len(preview(bank, retain_extraction_mode="concise")["facts"]) == 2
    cut = preview(bank, retain_chunk_size=40)
    assert [chunk["text"].strip() for chunk in cut["chunks"]] == TEXT.split("\n\n")
    assert [fact["chunk_index"] for fact in cut["facts"]] == [0, 1]
    assert bank.get("/config")["overrides"] == {"retain_extraction_mode": "chunks"}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"content": " "}, 422),
        ({"timestamp": "soon"}, 422),
        ({"retain_chunk_size": 0}, 400),
        ({"retain_extraction_mode": "loud"}, 400),
        ({"entity_labels": [{"values": 3}]}, 400),
        ({"retain_chunk_size": "x"}, 422),
    ],
)
def test_what_is_wrong_is_refused(bank: Bank, fields: dict[str, Any], status: int) -> None:
    assert bank.call("POST", PATH, {"content": TEXT, **fields}).status_code == status


def test_keys_are_masked_here_too(bank: Bank) -> None:
    found = preview(bank, f"Ana deploys with {KEY} on Friday.")
    assert KEY not in str(found) and "[REDACTED:github_token]" in found["chunks"][0]["text"]
    rules = [{"on": "sensitive_data", "action": "block"}]
    bank.call("PATCH", "/config", {"updates": {"memory_defense": {"enabled": True, "rules": rules}}})
    answer = bank.call("POST", PATH, {"content": KEY})
    assert answer.status_code == 422 and answer.json()["detail"]["violations"][0]["index"] == 0


def test_a_models_calls_are_counted_in_the_answer(modelled_bank: Bank, model: ScriptedLLM) -> None:
    found = preview(modelled_bank, agent_name="Robin", retain_mission="Keep decisions about releases")
    assert found["facts"] and found["usage"]["total_tokens"] > 0
    [request] = model.requests
    assert "Robin" in str(request) and "Keep decisions about releases" in str(request)
    assert set(modelled_bank.counts().values()) == {0}
