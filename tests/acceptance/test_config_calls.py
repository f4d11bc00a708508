"""The configuration of a bank over HTTP: what is refused, and that a refusal saves nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from bank_calls import Bank, good
from test_bad_input import places

#: Updates that are refused, and how the message starts.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"llm_api_key": "x"}, "Cannot set credential fields via API: ['llm_api_key']"),
    (
        {"retain_llm_base_url": "x", "s3_secret_access_key": "x"},
        "Cannot set credential fields via API: ['retain_llm_base_url', 's3_secret_access_key']",
    ),
    ({"llm_provider": "x"}, "Cannot override static (server-level) fields: ['llm_provider']"),
    (
        {"port": 1, "worker_max_slots": 2},
        "Cannot override static (server-level) fields: ['port', 'worker_max_slots']",
    ),
    ({"colour": 1, "Size": 2}, "Unknown configuration fields: ['colour', 'size']"),
    ({"\u0000": 1}, "Unknown configuration fields: "),
    ({"\ud83d": 1}, "Unknown configuration fields: "),
    ({"retain_chunk_size": "big"}, "retain_chunk_size must be an integer, got str"),
    ({"retain_chunk_size": True}, "retain_chunk_size must be an integer, got bool"),
    ({"retain_chunk_size": 1.5}, "retain_chunk_size must be an integer, got float"),
    ({"retain_mission": 5}, "retain_mission must be a string, got int"),
    ({"enable_observations": 1}, "enable_observations must be a boolean, got int"),
    ({"mcp_enabled_tools": "recall"}, "mcp_enabled_tools must be a list, got str"),
    ({"retain_strategies": []}, "retain_strategies must be an object, got list"),
    ({"entity_labels": "mood"}, "Invalid entity_labels format: Input should be a valid list"),
    ({"entity_labels": [{"description": "x"}]}, "Invalid entity_labels format: "),
    ({"retain_strategies": {"": {}}}, "Invalid retain strategy '': "),
    ({"retain_strategies": {"fast": 1}}, "Invalid retain strategy 'fast': "),
    ({"retain_strategies": {"fast": {"retain_chunk_size": 10**6}}}, "Invalid retain strategy 'fast': "),
    ({"recall_budget_function": "magic"}, "recall_budget_function must be"),
    ({"recall_budget_fixed_low": 0}, "recall_budget_fixed_low must be"),
    ({"recall_budget_adaptive_low": 0}, "recall_budget_adaptive_low must be"),
    ({"recall_budget_min": 3000}, "recall_budget_min must be at most recall_budget_max"),
    ({"disposition_empathy": 6}, "disposition_empathy must be"),
    ({"disposition_empathy": "3"}, "disposition_empathy must be an integer, got str"),
    ({"retain_chunk_size": 0}, "retain_chunk_size must be"),
    ({"retain_chunk_size": 64_000}, "retain_chunk_size must be below"),
    ({"retain_chunk_batch_size": 10**30}, "retain_chunk_batch_size must be at most"),
    ({"recall_budget_max": 2**31}, "recall_budget_max must be at most"),
    ({"retain_mission": "a\u0000b"}, "retain_mission must not contain NUL"),
    ({"llm_gemini_safety_settings": [{"a": "\ud83d"}]}, "llm_gemini_safety_settings must not contain NUL"),
]


@pytest.mark.parametrize(("updates", "start"), REFUSED)
def test_a_refused_key_saves_none_of_the_update(bank: Bank, updates: dict[str, Any], start: str) -> None:
    good(bank.call("PATCH", "/config", {"updates": {"retain_mission": "as before"}}))
    answer = bank.call("PATCH", "/config", {"updates": {"observations_mission": "new", **updates}})
    assert answer.status_code == 400 and answer.json()["detail"].startswith(start), answer.text
    assert bank.get("/config")["overrides"] == {"retain_mission": "as before"}


def test_a_refused_update_makes_no_bank(bank: Bank) -> None:
    assert bank.call("PATCH", "/config", {"updates": {"colour": 1}}).status_code == 400
    assert bank.call("GET", "/profile").status_code == 404


@pytest.mark.parametrize("policy", ["strict", {"rules": [{"on": "x"}]}, {"enabled": "yes"}])
def test_a_wrong_defense_policy_is_422(bank: Bank, policy: Any) -> None:
    answer = bank.call("PATCH", "/config", {"updates": {"memory_defense": policy}})
    assert places(answer) == ["body.updates.memory_defense"]


@pytest.mark.parametrize("body", [{}, {"updates": None}, {"updates": []}, {"updates": "x"}])
def test_updates_must_be_an_object(bank: Bank, body: Any) -> None:
    assert places(bank.call("PATCH", "/config", body)) == ["body.updates"]


def test_updates_merge_null_clears_and_delete_resets(bank: Bank) -> None:
    def patched(**updates: Any) -> Any:
        return good(bank.call("PATCH", "/config", {"updates": updates}))["overrides"]

    assert patched(retain_mission="Keep decisions", disposition_skepticism=5) == {
        "retain_mission": "Keep decisions",
        "disposition_skepticism": 5,
    }
    assert patched(HINDSIGHT_API_RETAIN_CHUNK_SIZE=2000, disposition_skepticism=None) == {
        "retain_mission": "Keep decisions",
        "retain_chunk_size": 2000,
    }
    found = bank.get("/config")
    assert found["config"]["retain_chunk_size"] == 2000 and found["config"]["disposition_skepticism"] is None
    assert good(bank.call("DELETE", "/config"))["overrides"] == {}
    assert bank.get("/config")["config"]["retain_chunk_size"] == 3000


def test_the_config_names_every_field_of_the_contract(bank: Bank) -> None:
    config = bank.get("/config")["config"]
    # The 46 of the contract, the output language, which the contract sets for a server, and the switch of entries.
    assert len(config) == 48 and not any("key" in name or "url" in name for name in config)
    defaults = {
        "retain_extraction_mode": "concise",
        "retain_chunk_batch_size": 100,
        "entities_allow_free_form": True,
        "consolidation_llm_batch_size": 8,
        "max_observations_per_scope": -1,
        "recall_budget_function": "fixed",
        "recall_budget_fixed_mid": 300,
        "recall_budget_adaptive_high": 0.25,
        "recall_budget_max": 2000,
        "mcp_enabled_tools": None,
    }
    assert defaults.items() <= config.items()


def test_a_profile_becomes_overrides(bank: Bank) -> None:
    body = {
        "name": "Team",
        "background": "oldest",
        "mission": "older",
        "reflect_mission": "now",
        "disposition": {"skepticism": 1, "literalism": 2, "empathy": 5},
        "disposition_empathy": 4,
        "retain_chunk_size": 2000,
        "enable_reranking": False,
    }
    made = good(bank.call("PUT", "", body))
    traits = {"skepticism": 1, "literalism": 2, "empathy": 4}
    assert made == {
        "bank_id": bank.id,
        "name": "Team",
        "disposition": traits,
        "mission": "now",
        "background": "now",
    }
    assert bank.get("/config")["overrides"] == {
        "reflect_mission": "now",
        "disposition_skepticism": 1,
        "disposition_literalism": 2,
        "disposition_empathy": 4,
        "retain_chunk_size": 2000,
        "enable_reranking": False,
    }
    # What is not set again stays.
    assert good(bank.call("PUT", "", {"name": "Renamed"}))["mission"] == "now"


def test_a_setting_holds_at_once_and_for_its_bank_only(new_bank: Callable[[], Bank]) -> None:
    text = "Hello! Ana lives in Graz."
    plain, whole = new_bank(), new_bank()
    good(whole.call("PATCH", "/config", {"updates": {"retain_extraction_mode": "chunks"}}))
    for bank in (plain, whole):
        bank.retain(text)
    assert whole.texts() == [text]
    assert plain.texts() == ["Ana lives in Graz."]


def test_a_strategy_holds_for_the_items_that_name_it(bank: Bank) -> None:
    strategies = {"whole": {"retain_extraction_mode": "chunks"}}
    good(bank.call("PATCH", "/config", {"updates": {"retain_strategies": strategies}}))
    text = "Hello! Ana lives in Graz."
    items = [
        {"content": text},
        {"content": text, "strategy": "whole"},
        {"content": text, "strategy": "unknown"},
    ]
    answer = bank.retain(*items, **{"async": True})
    assert len(answer["operation_ids"]) == 3 and answer["operation_id"] == answer["operation_ids"][0]
    assert {bank.ended(id_)["status"] for id_ in answer["operation_ids"]} == {"completed"}
    # What two of them say is one fact, said twice.
    assert sorted(bank.texts()) == ["Ana lives in Graz.", text]
