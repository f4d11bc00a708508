"""The per-bank fields: defaults of the wire, resolution, dispositions, labels."""

import logging
from typing import Any

import pytest

from memorybank.errors import InvalidConfig
from memorybank.settings import BankConfig, Disposition, defaults, resolve_bank, strategy_named

BANK = defaults().bank

#: wire/hindsight §7.2, with the older page's -1 for the source facts.
WIRE_DEFAULTS = {
    "retain_mission": None,
    "retain_extraction_mode": "concise",
    "retain_custom_instructions": None,
    "retain_chunk_size": 3000,
    "retain_structured_chunk_size": None,
    "retain_chunk_batch_size": 100,
    "retain_default_strategy": None,
    "retain_strategies": None,
    "entity_labels": None,
    "entities_allow_free_form": True,
    "store_document_text": True,
    "enable_observations": True,
    "enable_auto_consolidation": True,
    "observations_mission": None,
    "consolidation_llm_batch_size": 8,
    "consolidation_llm_parallelism": 4,
    "consolidation_max_memories_per_round": 100,
    "consolidation_source_facts_max_tokens": -1,
    "consolidation_source_facts_max_tokens_per_observation": 256,
    "max_observations_per_scope": -1,
    "observation_scope_limits": None,
    "mental_model_min_refresh_interval_seconds": 0,
    "reflect_mission": None,
    "reflect_source_facts_max_tokens": -1,
    "disposition_skepticism": None,
    "disposition_literalism": None,
    "disposition_empathy": None,
    "recall_include_chunks": True,
    "recall_max_tokens": 2048,
    "recall_chunks_max_tokens": 1000,
    "enable_temporal_retrieval": True,
    "enable_graph_retrieval": True,
    "enable_reranking": True,
    "recall_budget_function": "fixed",
    "recall_budget_fixed_low": 100,
    "recall_budget_fixed_mid": 300,
    "recall_budget_fixed_high": 1000,
    "recall_budget_adaptive_low": 0.025,
    "recall_budget_adaptive_mid": 0.075,
    "recall_budget_adaptive_high": 0.25,
    "recall_budget_min": 20,
    "recall_budget_max": 2000,
    "mcp_enabled_tools": None,
    "audit_log_enabled": False,
    "llm_output_language": None,
    "llm_gemini_safety_settings": None,
    "memory_defense": None,
}


def bank(**overrides: Any) -> BankConfig:
    return resolve_bank(BANK, overrides)


def test_fields_and_defaults_are_those_of_the_wire() -> None:
    # The last is ours: key-value memory stands beside that of the wire.
    assert BANK.model_dump(mode="json") == {**WIRE_DEFAULTS, "kv_recall": True}


def test_unset_disposition_is_balanced() -> None:
    assert bank(disposition_empathy=5).disposition == Disposition(skepticism=3, literalism=3, empathy=5)


def test_later_layers_win_and_null_overrides_nothing() -> None:
    defaults = bank(retain_mission="server", retain_chunk_size=1000)
    resolved = resolve_bank(
        defaults, {"retain_mission": "bank", "retain_chunk_size": None}, {"retain_extraction_mode": "verbose"}
    )
    assert (resolved.retain_mission, resolved.retain_chunk_size) == ("bank", 1000)
    assert resolved.retain_extraction_mode == "verbose"


def test_a_name_of_a_newer_version_is_passed_over() -> None:
    assert bank(not_known_yet=1) == BANK


def test_a_stored_value_out_of_bounds_is_refused_by_name() -> None:
    with pytest.raises(InvalidConfig, match="retain_chunk_size must be greater than or equal to 1"):
        bank(retain_chunk_size=0)


def test_budget_function_in_any_case() -> None:
    assert bank(recall_budget_function="ADAPTIVE").recall_budget_function == "adaptive"


def test_strategy_by_name_then_default_then_none(caplog: pytest.LogCaptureFixture) -> None:
    config = bank(
        retain_strategies={"fast": {"retain_chunk_size": 500}, "deep": {}}, retain_default_strategy="fast"
    )
    assert strategy_named(config, None) == {"retain_chunk_size": 500}
    assert strategy_named(config, "deep") == {}
    assert strategy_named(BANK, None) is None
    with caplog.at_level(logging.WARNING):
        assert strategy_named(config, "absent") is None
    assert "absent" in caplog.text


def test_labels_of_all_forms() -> None:
    labels = bank(
        entity_labels={
            "attributes": [
                {"key": "topic", "free_values": True},
                {
                    "key": "style",
                    "multi_value": True,
                    "values": ["dry", {"value": "warm", "description": "kind"}],
                },
                {"key": "order", "type": "map", "fields": {"size": {"type": "value", "values": ["S", "L"]}}},
            ]
        }
    ).entity_labels
    assert labels is not None
    assert [group.type for group in labels] == ["text", "multi-values", "map"]
    assert [value.value for value in labels[1].values] == ["dry", "warm"]
    assert labels[2].fields["size"].values[1].value == "L"
    assert (labels[0].optional, labels[0].tag, labels[0].description) == (True, False, "")
