"""What a PATCH of a bank's config refuses and stores."""

from typing import Any

import pytest

from memorybank.errors import InvalidConfig, InvalidInput
from memorybank.settings import check_updates, defaults, overrides_from_profile


def patched(
    updates: dict[str, Any], current: dict[str, Any] | None = None, chunk_limit: int | None = 64_000
) -> dict[str, Any]:
    return check_updates(updates, current or {}, defaults().bank, chunk_limit)


@pytest.mark.parametrize(
    "name",
    [
        "llm_api_key",
        "HINDSIGHT_API_LLM_API_KEY",
        "retain_llm_base_url",
        "embeddings_openai_api_key",
        "vertexai_service_account_key",
        "reflect_llm_members",
        "litellmrouter_config",
        "file_storage_s3_secret_access_key",
        "database_url",
    ],
)
def test_credentials_are_refused_first(name: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        patched({name: "x", "port": 1, "nonsense": 2})
    field = name.removeprefix("HINDSIGHT_API_").lower()
    assert caught.value.message == f"Cannot set credential fields via API: ['{field}']"
    assert caught.value.status == 400


@pytest.mark.parametrize(
    "name", ["llm_provider", "port", "worker_max_slots", "recall.bm25_k1", "RERANKER_PROVIDER"]
)
def test_server_fields_are_refused_before_unknown_ones(name: str) -> None:
    with pytest.raises(InvalidConfig, match=r"^Cannot override static \(server-level\) fields: \['"):
        patched({name: 1, "nonsense": 2})


def test_unknown_fields_are_named_sorted() -> None:
    with pytest.raises(InvalidConfig) as caught:
        patched({"zeal": 1, "retain_mission": "x", "ardour": 2})
    assert caught.value.message == "Unknown configuration fields: ['ardour', 'zeal']"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("retain_chunk_size", "3000", "retain_chunk_size must be an integer, got str"),
        ("retain_chunk_size", True, "retain_chunk_size must be an integer, got bool"),
        ("retain_chunk_size", 2.5, "retain_chunk_size must be an integer, got float"),
        ("retain_mission", 3, "retain_mission must be a string, got int"),
        ("retain_extraction_mode", [], "retain_extraction_mode must be a string, got list"),
        ("enable_observations", "yes", "enable_observations must be a boolean, got str"),
        ("enable_observations", 1, "enable_observations must be a boolean, got int"),
        ("recall_budget_adaptive_low", "0.1", "recall_budget_adaptive_low must be a number, got str"),
        ("recall_budget_adaptive_low", False, "recall_budget_adaptive_low must be a number, got bool"),
        ("mcp_enabled_tools", "recall", "mcp_enabled_tools must be a list, got str"),
        ("retain_strategies", [], "retain_strategies must be an object, got list"),
        ("disposition_empathy", "3", "disposition_empathy must be an integer, got str"),
    ],
)
def test_wrong_json_types_name_field_and_type(name: str, value: Any, message: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        patched({name: value})
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("updates", "part"),
    [
        ({"disposition_empathy": 0}, "disposition_empathy must be greater than or equal to 1"),
        ({"disposition_empathy": 6}, "disposition_empathy must be less than or equal to 5"),
        ({"recall_budget_fixed_low": 0}, "recall_budget_fixed_low must be"),
        ({"recall_budget_adaptive_mid": 0}, "recall_budget_adaptive_mid must be greater than 0"),
        ({"recall_budget_function": "magic"}, "recall_budget_function must be 'fixed' or 'adaptive'"),
        ({"retain_extraction_mode": "guess"}, "retain_extraction_mode must be 'concise'"),
        ({"retain_chunk_size": 0}, "retain_chunk_size must be"),
        ({"retain_chunk_size": 64_000}, "retain_chunk_size must be below"),
        ({"retain_structured_chunk_size": 70_000}, "retain_structured_chunk_size must be below"),
        ({"recall_budget_min": 3000}, "recall_budget_min must be at most recall_budget_max"),
        ({"mcp_enabled_tools": ["recall", 3]}, "mcp_enabled_tools.1 must be a valid string"),
        ({"entity_labels": [{"type": "value"}]}, "Invalid entity_labels format: 0.key: Field required"),
        ({"entity_labels": "mood"}, "Invalid entity_labels format: "),
        ({"entity_labels": [{"key": "a"}, {"key": "A"}]}, "Invalid entity_labels format: the same key twice"),
        ({"retain_strategies": {" ": {}}}, "Invalid retain strategy ' ': the name is empty"),
        (
            {"retain_strategies": {"s" * 257: {}}},
            f"Invalid retain strategy {'s' * 256!r}: a name has at most 256 characters",
        ),
        ({"reflect_mission": "x" * 20_001}, "reflect_mission must have at most 20000 characters"),
        (
            {"retain_strategies": {"fast": {"retain_mission": "x" * 20_001}}},
            "retain_strategies must have at most 20000 characters",
        ),
        (
            {"entity_labels": [{"key": str(n), "description": "x" * 9_000} for n in range(5)]},
            "entity_labels must have at most 40000 characters in all",
        ),
        ({"retain_strategies": {"fast": 3}}, "Invalid retain strategy 'fast': must be an object, got int"),
        (
            {"retain_strategies": {"fast": {"retain_chunk_size": "9"}}},
            "Invalid retain strategy 'fast': retain_chunk_size must be an integer, got str",
        ),
        (
            {"retain_strategies": {"fast": {"retain_chunk_size": 99_999}}},
            "Invalid retain strategy 'fast': retain_chunk_size must be below",
        ),
        (
            {"retain_strategies": {"fast": {"speed": 1}}},
            "Invalid retain strategy 'fast': Unknown configuration",
        ),
        (
            {"retain_strategies": {"fast": {"retain_strategies": {}}}},
            "Invalid retain strategy 'fast': cannot hold",
        ),
        ({"retain_mission": "a\x00b"}, "retain_mission must not contain NUL or lone surrogates"),
        (
            {"observation_scope_limits": [{"scope": ["\ud83d"]}]},
            "observation_scope_limits must not contain NUL",
        ),
    ],
)
def test_refusals_start_with_the_field(updates: dict[str, Any], part: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        patched(updates)
    assert caught.value.message.startswith(part)


def test_bounds_hold_against_stored_values_too() -> None:
    with pytest.raises(InvalidConfig, match="recall_budget_min must be at most"):
        patched({"recall_budget_max": 50}, {"recall_budget_min": 60})


def test_a_strategy_is_checked_again_when_the_base_changes() -> None:
    with pytest.raises(InvalidConfig, match="Invalid retain strategy 'wide': recall_budget_min"):
        patched({"recall_budget_max": 50}, {"retain_strategies": {"wide": {"recall_budget_min": 60}}})


def test_chunks_must_stay_below_the_model_in_use() -> None:
    assert patched({"retain_chunk_size": 9000}, chunk_limit=10_000) == {"retain_chunk_size": 9000}
    with pytest.raises(InvalidConfig, match="retain_chunk_size must be below"):
        patched({"retain_chunk_size": 9000}, chunk_limit=8000)


@pytest.mark.parametrize(
    "policy",
    [
        [],
        {"enabled": "yes"},
        {"rules": [{"on": "", "action": "block"}]},
        {"rules": [{"on": "x", "action": "burn"}]},
    ],
)
def test_a_wrong_defense_policy_is_422(policy: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        patched({"memory_defense": policy})
    assert caught.value.status == 422


def test_names_may_be_environment_names_of_either_server() -> None:
    stored = patched({"HINDSIGHT_API_RETAIN_MISSION": "plants", "MEMORYBANK_BANK__RETAIN_CHUNK_SIZE": 900})
    assert stored == {"retain_mission": "plants", "retain_chunk_size": 900}


def test_patch_merges_null_clears_and_the_rest_stays() -> None:
    current = {"retain_mission": "plants", "retain_chunk_size": 900}
    assert patched({"retain_mission": None, "enable_reranking": False}, current) == {
        "retain_chunk_size": 900,
        "enable_reranking": False,
    }
    assert current == {"retain_mission": "plants", "retain_chunk_size": 900}


def test_an_integer_does_for_a_number_and_null_for_anything() -> None:
    assert patched({"recall_budget_adaptive_high": 1, "entity_labels": None}) == {
        "recall_budget_adaptive_high": 1.0
    }


def test_what_is_stored_is_plain_json_in_one_form() -> None:
    stored = patched(
        {
            "entity_labels": [{"key": "mood", "values": ["glad"]}],
            "memory_defense": {"enabled": True, "rules": [{"on": "sensitive_data", "action": "redact"}]},
            "retain_strategies": {"calls": {"ENTITY_LABELS": [{"key": "tone", "free_values": True}]}},
            "recall_budget_function": "Adaptive",
        }
    )
    assert stored["entity_labels"][0]["values"] == [{"value": "glad", "description": ""}]
    assert stored["memory_defense"] == {
        "enabled": True,
        "rules": [{"on": "sensitive_data", "action": "redact"}],
    }
    assert stored["retain_strategies"]["calls"]["entity_labels"][0]["type"] == "text"
    assert stored["recall_budget_function"] == "adaptive"
    assert patched(stored) == stored


def test_profile_mission_precedence() -> None:
    body = {"name": "Ada", "background": "old", "mission": "newer", "reflect_mission": None, "unknown": 1}
    assert overrides_from_profile(body) == {"reflect_mission": "newer"}
    assert overrides_from_profile({**body, "reflect_mission": "newest"}) == {"reflect_mission": "newest"}
    assert overrides_from_profile({"background": "old"}) == {"reflect_mission": "old"}


def test_profile_disposition_numbers_win_over_the_object() -> None:
    body = {"disposition": {"skepticism": 1, "literalism": 2, "empathy": 5}, "disposition_literalism": 4}
    assert overrides_from_profile(body) == {
        "disposition_skepticism": 1,
        "disposition_literalism": 4,
        "disposition_empathy": 5,
    }
