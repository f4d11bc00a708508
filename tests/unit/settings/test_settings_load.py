"""Where settings come from, and what is refused or told."""

import logging
from pathlib import Path

import pytest

from memorybank.errors import InvalidConfig
from memorybank.settings import Settings, defaults, load, stage_model


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    path = tmp_path / "local.toml"
    path.write_text(
        '[llm]\nmodel = "openai/small"\n[recall.weights]\ndense = 0.7\n[bank]\nretain_mission = "plants"\n'
    )
    return path


def with_env(**variables: str) -> Settings:
    return load(environ=variables)


def test_overlay_over_defaults_and_environment_over_both(overlay: Path) -> None:
    settings = load(overlay, {"MEMORYBANK_LLM__MODEL": "openai/large", "MEMORYBANK_PORT": "9999"})
    assert settings.llm.model == "openai/large"
    assert settings.server.port == 9999
    assert settings.bank.retain_mission == "plants"
    assert settings.recall.weights == {**defaults().recall.weights, "dense": 0.7}
    assert settings.sources["llm.model"] == "MEMORYBANK_LLM__MODEL"
    assert settings.sources["recall.weights.dense"] == str(overlay)
    assert settings.sources["recall.bm25_k1"] == "default.toml"


def test_overlay_named_by_variable_unless_given(overlay: Path, tmp_path: Path) -> None:
    assert load(environ={"MEMORYBANK_CONFIG": str(overlay)}).llm.model == "openai/small"
    assert load(overlay, {"MEMORYBANK_CONFIG": str(tmp_path / "absent.toml")}).llm.model == "openai/small"


def test_a_missing_or_broken_overlay_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="there is no such file"):
        load(tmp_path / "absent.toml", {})
    broken = tmp_path / "broken.toml"
    broken.write_text("[llm")
    with pytest.raises(InvalidConfig, match="not valid TOML"):
        load(broken, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[recall]\nbm25_k = 1\n", r"unknown key recall.bm25_k \(did you mean recall.bm25_k1"),
        ("[recal]\nbm25_k1 = 1\n", r"unknown key recal.bm25_k1"),
        (
            "[recall.weights]\nlexial = 1\n",
            r"unknown key recall.weights.lexial \(did you mean recall.weights.lexical",
        ),
        ("sources = 1\n", "unknown key sources"),
        ("[worker]\nlease_seconds = 4\n", r"worker: dead_seconds must be below lease_seconds"),
        ("[bank]\nretain_chunk_size = 64_000\n", "must be below retain.llm.max_output_tokens"),
        ("[llm]\ntimeout_seconds = 0\n", r"llm.timeout_seconds must be greater than 0 \(from .*local.toml\)"),
        ("[recall]\nbm25_b = nan\n", "recall.bm25_b must be"),
        ('database = "embedded"\n', "unknown key database"),
    ],
)
def test_faults_in_a_file_name_key_and_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "local.toml"
    path.write_text(text)
    with pytest.raises(InvalidConfig, match=message):
        load(path, {})


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("MEMORYBANK_RETAIN__LLM__MODEL", "openai/x", "retain.llm.model", "openai/x"),
        ("MEMORYBANK_BANK__RETAIN_MISSION", "12", "bank.retain_mission", "12"),
        ("MEMORYBANK_BANK__ENABLE_RERANKING", "false", "bank.enable_reranking", False),
        ("MEMORYBANK_BANK__ENABLE_RERANKING", "0", "bank.enable_reranking", False),
        (
            "MEMORYBANK_BANK__MCP_ENABLED_TOOLS",
            "recall, reflect",
            "bank.mcp_enabled_tools",
            ["recall", "reflect"],
        ),
        ("MEMORYBANK_BANK__MCP_ENABLED_TOOLS", '["recall"]', "bank.mcp_enabled_tools", ["recall"]),
        ("MEMORYBANK_LLM__EXTRA_BODY", '{"think": false}', "llm.extra_body", {"think": False}),
        ("MEMORYBANK_LLM__TIMEOUT_SECONDS", "2.5", "llm.timeout_seconds", 2.5),
        ("MEMORYBANK_LLM__TIMEOUT_SECONDS", "", "llm.timeout_seconds", 120),
        ("MEMORYBANK_RECALL__WEIGHTS__DENSE", "0.9", "recall.weights.dense", 0.9),
        ("MEMORYBANK_LOG__LEVEL", "DEBUG", "log.level", "debug"),
        ("MEMORYBANK_SERVER__BASE_PATH", "/memory/", "server.base_path", "/memory"),
        ("MEMORYBANK_DATABASE__URL", "postgresql://h/db", "database.url", "postgresql://h/db"),
        ("MEMORYBANK_DATABASE__URL", "host=h dbname=db", "database.url", "host=h dbname=db"),
    ],
)
def test_values_from_the_environment(name: str, text: str, key: str, value: object) -> None:
    found: object = load(environ={name: text})
    for part in key.split("."):
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    assert found == value


def test_a_bad_value_names_key_and_variable_but_not_the_value() -> None:
    with pytest.raises(InvalidConfig) as caught:
        with_env(MEMORYBANK_LLM__TIMEOUT_SECONDS="s3cret")
    assert "llm.timeout_seconds" in caught.value.message
    assert "(from MEMORYBANK_LLM__TIMEOUT_SECONDS)" in caught.value.message
    assert "s3cret" not in caught.value.message


@pytest.mark.parametrize(
    "name",
    [
        "MEMORYBANK_DATABASE_URL",
        "MEMORYBANK_DATABSE__URL",
        "MEMORYBANK_DATABASE__URI",
        "MEMORYBANK_DB_URL",
        "MEMORYBANK_POSTGRES_URL",
        "HINDSIGHT_API_DATABASE_URI",
    ],
)
def test_a_misspelt_database_variable_refuses_the_start(name: str) -> None:
    with pytest.raises(InvalidConfig, match=f"unknown variable {name}"):
        load(environ={name: "somewhere"})


def test_any_unknown_variable_that_holds_a_database_address_refuses_the_start() -> None:
    with pytest.raises(InvalidConfig) as caught:
        with_env(MEMORYBANK_STORE="postgresql://ada:pw@h/db")
    assert "ada" not in caught.value.message


def test_what_is_no_database_address_is_refused() -> None:
    with pytest.raises(
        InvalidConfig, match=r"database.url: must be 'embedded'.*from MEMORYBANK_DATABASE__URL"
    ):
        with_env(MEMORYBANK_DATABASE__URL="embeded")


def test_unknown_names_warn_with_near_ones(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        with_env(
            MEMORYBANK_LLM_MODEL="x", HINDSIGHT_API_RETAIN_MISION="y", HINDSIGHT_API_RERANKER_PROVIDER="z"
        )
    assert "MEMORYBANK_LLM_MODEL is ignored (did you mean MEMORYBANK_LLM__MODEL" in caplog.text
    assert "HINDSIGHT_API_RETAIN_MISION is ignored (did you mean HINDSIGHT_API_RETAIN_MISSION" in caplog.text
    assert "HINDSIGHT_API_RERANKER_PROVIDER has no counterpart" in caplog.text


def test_known_and_foreign_names_do_not_warn(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        with_env(
            MEMORYBANK_HOME="/h",
            MEMORYBANK_PORT="1",
            MEMORYBANK_TEST_DATABASE="x",
            DATABASE_URL="postgresql://elsewhere",
            HINDSIGHT_API_PORT="2",
        )
    assert caplog.text == ""


def test_a_key_without_a_model_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert with_env(MEMORYBANK_LLM__API_KEY="k").llm.extractive
    assert "extractive engine" in caplog.text


def test_stage_takes_its_own_over_the_general() -> None:
    settings = with_env(
        MEMORYBANK_LLM__MODEL="openai/large",
        MEMORYBANK_LLM__API_KEY="k",
        MEMORYBANK_RETAIN__LLM__MODEL="openai/small",
        MEMORYBANK_RETAIN__LLM__TIMEOUT_SECONDS="9",
    )
    retain, reflect = stage_model(settings, "retain"), stage_model(settings, "reflect")
    assert (retain.model, retain.api_key, retain.timeout_seconds) == ("openai/small", "k", 9)
    assert (reflect.model, reflect.timeout_seconds) == ("openai/large", 120)
    assert (retain.temperature, reflect.temperature, stage_model(settings, "consolidation").temperature) == (
        0.1,
        0.9,
        0,
    )


def test_a_key_is_not_sent_to_another_provider() -> None:
    settings = with_env(
        MEMORYBANK_LLM__MODEL="openai/large",
        MEMORYBANK_LLM__API_KEY="k",
        MEMORYBANK_LLM__BASE_URL="http://127.0.0.1:1/v1",
        MEMORYBANK_REFLECT__LLM__MODEL="anthropic/large",
    )
    reflect = stage_model(settings, "reflect")
    assert (reflect.model, reflect.api_key, reflect.base_url) == ("anthropic/large", "", "")


def test_one_stage_may_be_extractive() -> None:
    settings = with_env(MEMORYBANK_LLM__MODEL="openai/large", MEMORYBANK_RETAIN__LLM__MODEL="")
    assert stage_model(settings, "retain").extractive
    assert not stage_model(settings, "reflect").extractive


def test_a_general_value_that_is_set_beats_shipped_stage_values_but_not_set_ones() -> None:
    settings = with_env(MEMORYBANK_LLM__TEMPERATURE="0.5", MEMORYBANK_REFLECT__LLM__TEMPERATURE="0.7")
    assert stage_model(settings, "retain").temperature == 0.5
    assert stage_model(settings, "reflect").temperature == 0.7


def test_secrets_stay_out_of_the_printed_form() -> None:
    settings = with_env(
        MEMORYBANK_LLM__MODEL="openai/x",
        MEMORYBANK_LLM__API_KEY="k3y",
        MEMORYBANK_RETAIN__LLM__API_KEY="k3y",
        MEMORYBANK_EMBEDDINGS__API_KEY="k3y",
        MEMORYBANK_DATABASE__URL="postgresql://u:k3y@h/d",
    )
    assert "k3y" not in repr(settings)
