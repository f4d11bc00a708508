"""The environment names of the Hindsight server (HINDSIGHT_API_…) and the settings they mean here."""

from collections.abc import Callable, Mapping

from memorybank.errors import InvalidConfig
from memorybank.settings.bank import bank_fields
from memorybank.settings.llm import STAGES
from memorybank.settings.providers import (
    EMBEDDING_PROVIDERS,
    LOCAL_EMBEDDINGS,
    NONE,
    Provider,
    model_name,
    provider_named,
)
from memorybank.settings.server import EMBEDDED

PREFIX = "HINDSIGHT_API_"

_LLM = {
    "BASE_URL": "base_url",
    "API_KEY": "api_key",
    "TIMEOUT": "timeout_seconds",
    "MAX_CONCURRENT": "max_concurrent",
    "INITIAL_BACKOFF": "backoff_seconds",
    "MAX_BACKOFF": "backoff_cap_seconds",
    "EXTRA_BODY": "extra_body",
}

_SERVER = {
    "HOST": "server.host",
    "PORT": "server.port",
    "BASE_PATH": "server.base_path",
    "ENABLE_BANK_CONFIG_API": "server.bank_config_api",
    "ENABLE_DRY_RUN_EXTRACT": "server.dry_run_extract",
    "ENABLE_FILE_UPLOAD_API": "files.enabled",
    "FILE_CONVERSION_MAX_BATCH_SIZE": "files.max_files",
    "FILE_CONVERSION_MAX_BATCH_SIZE_MB": "files.max_total_mb",
    "LOG_LEVEL": "log.level",
    "LOG_FORMAT": "log.format",
    "DATABASE_URL": "database.url",
    "DB_POOL_MIN_SIZE": "database.pool_min",
    "DB_POOL_MAX_SIZE": "database.pool_max",
    "DB_ACQUIRE_TIMEOUT": "database.acquire_timeout_seconds",
    "DB_STATEMENT_TIMEOUT": "database.statement_timeout_seconds",
    "RETAIN_MAX_COMPLETION_TOKENS": "retain.llm.max_output_tokens",
    "RETAIN_BATCH_TOKENS": "retain.batch_tokens",
    "RECALL_MAX_QUERY_TOKENS": "recall.query_max_tokens",
    "RECALL_MAX_CONCURRENT": "recall.max_concurrent",
    "BM25_MAX_QUERY_TERMS": "recall.max_query_terms",
    "REFLECT_MAX_COMPLETION_TOKENS": "reflect.llm.max_output_tokens",
    "REFLECT_WALL_TIMEOUT": "reflect.timeout_seconds",
    "WORKER_MAX_SLOTS": "worker.concurrency",
    "WORKER_MAX_RETRIES": "worker.max_attempts",
    "WORKER_TASK_RETRY_BACKOFF_SECONDS": "worker.retry_seconds",
    "RETAIN_LLM_MAX_RETRIES": "retain.attempts",
    "REFLECT_LLM_MAX_RETRIES": "reflect.attempts",
    "EMBEDDINGS_QUERY_PREFIX": "embeddings.query_prefix",
    "EMBEDDINGS_PASSAGE_PREFIX": "embeddings.passage_prefix",
}

#: Environment name (without the prefix) -> key, where the value means the same (but for `_MEANING`).
ALIASES: dict[str, str] = {
    **_SERVER,
    **{f"LLM_{theirs}": f"llm.{ours}" for theirs, ours in _LLM.items()},
    **{f"{s.upper()}_LLM_{theirs}": f"{s}.llm.{ours}" for s in STAGES for theirs, ours in _LLM.items()},
    **{f"LLM_TEMPERATURE_{s.upper()}": f"{s}.llm.temperature" for s in STAGES},
    **{name.upper(): f"bank.{name}" for name in bank_fields()},
}

#: Names that several settings are made from.
_COMPOSED = frozenset(
    {"LLM_PROVIDER", "LLM_MODEL", "LLM_MAX_RETRIES", "EMBEDDINGS_PROVIDER", "EMBEDDINGS_LOCAL_MODEL"}
    | {f"{stage.upper()}_LLM_{what}" for stage in STAGES for what in ("PROVIDER", "MODEL")}
    | {
        f"EMBEDDINGS_{name.upper()}_{what}"
        for name in ("openai", "gemini", "cohere", "openrouter", "litellm")
        for what in ("MODEL", "API_KEY", "BASE_URL")
    }
)

#: Names with one value that is true here; any other one would put data elsewhere than asked.
_FIXED = {"DATABASE_BACKEND": "postgresql", "DATABASE_SCHEMA": "public"}

#: Every name we know what to do with.
KNOWN = frozenset(ALIASES) | _COMPOSED | frozenset(_FIXED)

#: The provider that the Hindsight server takes when only a model is named.
_USUAL_PROVIDER = "openai"

#: The model it takes for OpenAI embeddings.
_USUAL_OPENAI_EMBEDDING = "text-embedding-3-small"


def _database(raw: str) -> str:
    return EMBEDDED if raw == "pg0" or raw.startswith("pg0://") else raw


def _attempts(raw: str) -> str:
    """Retries come after a first attempt; what is no number is left for the check of the setting."""
    return str(int(raw) + 1) if raw.strip().isdecimal() else raw


#: Where the value is written otherwise there.
_MEANING: dict[str, Callable[[str], str]] = {
    "database.url": _database,
    "worker.max_attempts": _attempts,
    "retain.attempts": _attempts,
    "reflect.attempts": _attempts,
}


def translated(environ: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return key -> (text value, environment name) for all HINDSIGHT_API_… names that mean a setting of ours.

    Raises InvalidConfig for a provider that cannot be served, and for a model, provider or database that is
    only half named.
    """
    theirs = {
        name.removeprefix(PREFIX): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and value
    }
    _check_fixed(theirs)
    return {**_models(theirs), **_embeddings(theirs), **_shared_attempts(theirs), **_plain(theirs)}


def _check_fixed(theirs: Mapping[str, str]) -> None:
    for name, value in _FIXED.items():
        if theirs.get(name, value) != value:
            raise InvalidConfig(f"{PREFIX}{name}: only {value!r} is supported")


def _plain(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    found = {}
    for name, key in ALIASES.items():
        if name in theirs:
            mean = _MEANING.get(key)
            found[key] = (mean(theirs[name]) if mean else theirs[name], PREFIX + name)
    return found


def _shared_attempts(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    retries = theirs.get("LLM_MAX_RETRIES")
    if retries is None:
        return {}
    return {
        key: (_attempts(retries), PREFIX + "LLM_MAX_RETRIES")
        for key in ("retain.attempts", "reflect.attempts")
    }


def _models(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    found = _model(theirs, "LLM_", "llm", theirs.get("LLM_PROVIDER"), theirs.get("LLM_MODEL"))
    general = theirs.get("LLM_PROVIDER", _USUAL_PROVIDER)
    for stage in STAGES:
        names = f"{stage.upper()}_LLM_"
        provider, model = theirs.get(names + "PROVIDER"), theirs.get(names + "MODEL")
        if provider is None and model is None:
            continue
        own = _model(theirs, names, f"{stage}.llm", provider or general, model or theirs.get("LLM_MODEL"))
        if (provider or general).lower() != general.lower():
            #: Another provider than the general one: its address and key must not be inherited.
            for leaf in ("base_url", "api_key"):
                own.setdefault(f"{stage}.llm.{leaf}", ("", PREFIX + names + "PROVIDER"))
        found |= own
    return found


def _model(
    theirs: Mapping[str, str], names: str, table: str, provider: str | None, model: str | None
) -> dict[str, tuple[str, str]]:
    """Return model, and the address and key that go without saying, for `[llm]` or one stage."""
    if provider is None and model is None:
        return {}
    name = (provider or _USUAL_PROVIDER).lower()
    variable = PREFIX + names + ("PROVIDER" if names + "PROVIDER" in theirs else "MODEL")
    if name == NONE:
        return {f"{table}.model": ("", variable)}
    known = provider_named(name, variable)
    if not model:
        raise InvalidConfig(f"{variable} names a provider, but {PREFIX}{names}MODEL names no model")
    shared = (
        theirs.get("LLM_BASE_URL") if name == theirs.get("LLM_PROVIDER", _USUAL_PROVIDER).lower() else None
    )
    if known.needs_base_url and not (theirs.get(names + "BASE_URL") or shared):
        raise InvalidConfig(f"{variable}: provider {name!r} needs {PREFIX}{names}BASE_URL")
    return {f"{table}.model": (model_name(known, model), variable), **_unsaid(known, table, variable)}


def _unsaid(known: Provider, table: str, variable: str) -> dict[str, tuple[str, str]]:
    given = {"base_url": known.base_url, "api_key": known.api_key}
    return {f"{table}.{leaf}": (value, variable) for leaf, value in given.items() if value}


def _embeddings(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    name = theirs.get("EMBEDDINGS_PROVIDER", "local").lower()
    variable = PREFIX + "EMBEDDINGS_PROVIDER"
    if name not in EMBEDDING_PROVIDERS:
        raise InvalidConfig(
            f"{variable}: provider {name!r} is not supported; known: {', '.join(sorted(EMBEDDING_PROVIDERS))}"
        )
    if name in LOCAL_EMBEDDINGS:
        model = theirs.get("EMBEDDINGS_LOCAL_MODEL")
        return {"embeddings.model": (model, PREFIX + "EMBEDDINGS_LOCAL_MODEL")} if model else {}
    names = f"EMBEDDINGS_{name.removesuffix('-sdk').upper()}_"
    model = theirs.get(names + "MODEL", _USUAL_OPENAI_EMBEDDING if name == "openai" else "")
    if not model:
        raise InvalidConfig(f"{variable} names a provider, but {PREFIX}{names}MODEL names no model")
    prefix = EMBEDDING_PROVIDERS[name]
    found = {
        "embeddings.provider": ("litellm", variable),
        "embeddings.model": (f"{prefix}/{model}" if prefix else model, variable),
    }
    for theirs_leaf, ours in (("API_KEY", "api_key"), ("BASE_URL", "base_url")):
        if names + theirs_leaf in theirs:
            found[f"embeddings.{ours}"] = (theirs[names + theirs_leaf], PREFIX + names + theirs_leaf)
    return found
