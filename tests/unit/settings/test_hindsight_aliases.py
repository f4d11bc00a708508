"""Environment names of the Hindsight server."""

import pytest

from memorybank.errors import InvalidConfig
from memorybank.settings import Settings, bank_fields, load, stage_model
from memorybank.settings.aliases import ALIASES, WITHOUT_COUNTERPART
from memorybank.settings.keys import declared


def hindsight(**variables: str) -> Settings:
    return load(environ={f"HINDSIGHT_API_{name}": value for name, value in variables.items()})


def test_every_alias_means_a_setting_and_every_bank_field_has_one() -> None:
    assert set(ALIASES.values()) <= declared().keys()
    assert {f"bank.{name}" for name in bank_fields()} <= set(ALIASES.values())
    assert not WITHOUT_COUNTERPART & ALIASES.keys()


@pytest.mark.parametrize(
    ("provider", "model", "base_url"),
    [
        ("openai", "openai/m", ""),
        ("groq", "groq/m", ""),
        ("anthropic", "anthropic/m", ""),
        ("gemini", "gemini/m", ""),
        ("vertexai", "vertex_ai/m", ""),
        ("ollama", "openai/m", "http://localhost:11434/v1"),
        ("lmstudio", "openai/m", "http://localhost:1234/v1"),
        ("LITELLM", "m", ""),
        ("none", "", ""),
    ],
)
def test_provider_and_model_make_one_name(provider: str, model: str, base_url: str) -> None:
    llm = hindsight(LLM_PROVIDER=provider, LLM_MODEL="m").llm
    assert (llm.model, llm.base_url) == (model, base_url)


def test_a_model_alone_is_openai_and_its_slash_stays() -> None:
    llm = hindsight(LLM_MODEL="meta/llama", LLM_BASE_URL="http://127.0.0.1:1/v1", LLM_API_KEY="k").llm
    assert (llm.model, llm.base_url, llm.api_key) == ("openai/meta/llama", "http://127.0.0.1:1/v1", "k")


def test_a_given_address_beats_the_usual_one() -> None:
    assert (
        hindsight(LLM_PROVIDER="ollama", LLM_MODEL="m", LLM_BASE_URL="http://h/v1").llm.base_url
        == "http://h/v1"
    )


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"LLM_PROVIDER": "mock", "LLM_MODEL": "m"}, "there is no mock model"),
        (
            {"LLM_PROVIDER": "claude-code", "LLM_MODEL": "m"},
            "'claude-code' is not supported; known: anthropic",
        ),
        ({"LLM_PROVIDER": "groq"}, "HINDSIGHT_API_LLM_MODEL names no model"),
        ({"LLM_PROVIDER": "llamacpp", "LLM_MODEL": "m"}, "needs HINDSIGHT_API_LLM_BASE_URL"),
        ({"REFLECT_LLM_PROVIDER": "mock", "LLM_MODEL": "m"}, "HINDSIGHT_API_REFLECT_LLM_PROVIDER=mock"),
        ({"EMBEDDINGS_PROVIDER": "tei"}, "'tei' is not supported"),
        ({"EMBEDDINGS_PROVIDER": "gemini"}, "HINDSIGHT_API_EMBEDDINGS_GEMINI_MODEL names no model"),
        ({"DATABASE_BACKEND": "oracle"}, "only 'postgresql' is supported"),
        ({"DATABASE_SCHEMA": "mine"}, "only 'public' is supported"),
    ],
)
def test_what_cannot_be_served_refuses_the_start(variables: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        hindsight(**variables)


def test_stages_take_the_general_provider_or_model() -> None:
    settings = hindsight(LLM_PROVIDER="groq", LLM_MODEL="big", LLM_API_KEY="k", RETAIN_LLM_MODEL="small")
    retain = stage_model(settings, "retain")
    assert (retain.model, retain.api_key) == ("groq/small", "k")
    assert stage_model(settings, "reflect").model == "groq/big"


def test_a_stage_of_another_provider_inherits_neither_address_nor_key() -> None:
    settings = hindsight(
        LLM_PROVIDER="ollama", LLM_MODEL="m", REFLECT_LLM_PROVIDER="openai", REFLECT_LLM_MODEL="large"
    )
    reflect = stage_model(settings, "reflect")
    assert (reflect.model, reflect.base_url, reflect.api_key) == ("openai/large", "", "")


def test_a_stage_without_a_model() -> None:
    settings = hindsight(LLM_MODEL="m", RETAIN_LLM_PROVIDER="none")
    assert stage_model(settings, "retain").extractive
    assert not stage_model(settings, "reflect").extractive


def test_stage_names_and_temperatures() -> None:
    settings = hindsight(
        LLM_MODEL="m",
        CONSOLIDATION_LLM_TIMEOUT="7",
        LLM_TEMPERATURE_REFLECT="0.4",
        LLM_MAX_RETRIES="5",
        REFLECT_LLM_MAX_RETRIES="1",
    )
    assert stage_model(settings, "consolidation").timeout_seconds == 7
    assert stage_model(settings, "reflect").temperature == 0.4
    assert (settings.retain.attempts, settings.reflect.attempts) == (6, 2)


def test_server_names() -> None:
    settings = hindsight(
        PORT="8001",
        DATABASE_URL="pg0",
        WORKER_MAX_SLOTS="3",
        WORKER_MAX_RETRIES="2",
        LOG_LEVEL="WARNING",
        BASE_PATH="/",
    )
    assert (settings.server.port, settings.server.base_path) == (8001, "")
    assert settings.database.embedded
    assert (settings.worker.concurrency, settings.worker.max_attempts, settings.log.level) == (
        3,
        3,
        "warning",
    )
    assert hindsight(DATABASE_URL="postgresql://h/d").database.url == "postgresql://h/d"


def test_bank_fields() -> None:
    settings = hindsight(
        RETAIN_MISSION="plants",
        ENABLE_OBSERVATIONS="false",
        MCP_ENABLED_TOOLS="recall",
        ENTITY_LABELS='[{"key": "mood"}]',
    )
    assert settings.bank.retain_mission == "plants"
    assert settings.bank.enable_observations is False
    assert settings.bank.mcp_enabled_tools == ["recall"]
    assert settings.bank.entity_labels is not None
    assert settings.bank.entity_labels[0].key == "mood"


def test_embeddings() -> None:
    openai = hindsight(EMBEDDINGS_PROVIDER="openai", EMBEDDINGS_OPENAI_API_KEY="k").embeddings
    assert (openai.provider, openai.model, openai.api_key) == (
        "litellm",
        "openai/text-embedding-3-small",
        "k",
    )
    named = hindsight(EMBEDDINGS_PROVIDER="litellm-sdk", EMBEDDINGS_LITELLM_MODEL="cohere/e").embeddings
    assert (named.provider, named.model) == ("litellm", "cohere/e")
    local = hindsight(EMBEDDINGS_PROVIDER="onnx", EMBEDDINGS_LOCAL_MODEL="org/model").embeddings
    assert (local.provider, local.model) == ("local", "org/model")


def test_our_own_name_wins() -> None:
    settings = load(
        environ={"HINDSIGHT_API_PORT": "1", "MEMORYBANK_SERVER__PORT": "2", "HINDSIGHT_API_LLM_MODEL": ""}
    )
    assert settings.server.port == 2
    assert settings.sources["server.port"] == "MEMORYBANK_SERVER__PORT"
