"""The environment names of the Hindsight server (HINDSIGHT_API_…) and the settings they mean here.

The names stand in `hindsight.toml`; here is what several of them make together.
"""

from collections.abc import Mapping

from memorybank.errors import InvalidConfig
from memorybank.settings.bank import bank_fields
from memorybank.settings.llm import STAGES
from memorybank.settings.providers import HINDSIGHT, NONE, model_name, not_supported, provider_named
from memorybank.settings.server import EMBEDDED

#: Key -> (text value, environment name).
Found = dict[str, tuple[str, str]]

PREFIX = "HINDSIGHT_API_"

#: `[llm]` and one for each stage: what their names begin with, and our table.
_TABLES = {"LLM_": "llm", **{f"{stage.upper()}_LLM_": f"{stage}.llm" for stage in STAGES}}

#: Environment name (without the prefix) -> key, where the value means the same (but for `_meaning`).
ALIASES: dict[str, str] = {
    **HINDSIGHT["keys"],
    **{
        n + theirs: f"{table}.{ours}"
        for n, table in _TABLES.items()
        for theirs, ours in HINDSIGHT["llm"].items()
    },
    **{f"LLM_TEMPERATURE_{stage.upper()}": f"{stage}.llm.temperature" for stage in STAGES},
    **{name.upper(): f"bank.{name}" for name in bank_fields()},
}

#: Names that mean nothing here: ignored with a warning, refused where a bank's config names them.
WITHOUT_COUNTERPART = frozenset(HINDSIGHT["without_counterpart"].split())

#: Embedding providers that compute in this process.
_LOCAL_EMBEDDINGS = ("local", "onnx")

_EMBEDDINGS: dict[str, str] = HINDSIGHT["embedding_providers"]


def _embedding_names(provider: str) -> str:
    return f"EMBEDDINGS_{provider.removesuffix('-sdk').upper()}_"


#: Names that several settings are made from.
_COMPOSED = frozenset(
    {"LLM_MAX_RETRIES", "EMBEDDINGS_PROVIDER", "EMBEDDINGS_LOCAL_MODEL"}
    | {names + what for names in _TABLES for what in ("PROVIDER", "MODEL")}
    | {_embedding_names(name) + what for name in _EMBEDDINGS for what in ("MODEL", "API_KEY", "BASE_URL")}
)

#: Every name we know what to do with.
KNOWN = frozenset(ALIASES) | _COMPOSED | frozenset(HINDSIGHT["fixed"])

#: The provider that the Hindsight server takes when only a model is named.
_USUAL_PROVIDER = "openai"

#: The model it takes for OpenAI embeddings.
_USUAL_OPENAI_EMBEDDING = "text-embedding-3-small"

_ATTEMPTS = ("retain.attempts", "reflect.attempts")


def translated(environ: Mapping[str, str]) -> Found:
    """Return key -> (text value, environment name) for all HINDSIGHT_API_… names that mean a setting of ours.

    Raises InvalidConfig for a provider that cannot be served, and for a model, provider or database that is
    only half named.
    """
    theirs = {
        name.removeprefix(PREFIX): text for name, text in environ.items() if name.startswith(PREFIX) and text
    }
    for name, value in HINDSIGHT["fixed"].items():
        if theirs.get(name, value) != value:
            raise InvalidConfig(f"{PREFIX}{name}: only {value!r} is supported")
    found = {**_models(theirs), **_embeddings(theirs)}
    # Attempts of all stages first, those of one stage over them.
    named = [("LLM_MAX_RETRIES", key) for key in _ATTEMPTS] + list(ALIASES.items())
    return found | {
        key: (_meaning(key, theirs[name]), PREFIX + name) for name, key in named if name in theirs
    }


def _meaning(key: str, raw: str) -> str:
    """Return the value where it is written otherwise there; what is no number is left for the check of the setting."""
    if key == "database.url" and (raw == "pg0" or raw.startswith("pg0://")):
        return EMBEDDED
    # Retries come after a first attempt.
    counts = key in ("worker.max_attempts", *_ATTEMPTS) and raw.strip().isdecimal()
    return str(int(raw) + 1) if counts else raw


def _models(theirs: Mapping[str, str]) -> Found:
    """Return the models of `[llm]` and of the stages; a stage takes the general provider or model for its own."""
    general = theirs.get("LLM_PROVIDER", _USUAL_PROVIDER).lower()
    found: Found = {}
    for names, table in _TABLES.items():
        if names + "PROVIDER" not in theirs and names + "MODEL" not in theirs:
            continue
        provider = theirs.get(names + "PROVIDER", general).lower()
        found |= _model(theirs, names, table, provider, shared=provider == general)
        if table != "llm" and provider != general:
            # Another provider than the general one: its address and key must not be inherited.
            for leaf in ("base_url", "api_key"):
                found.setdefault(f"{table}.{leaf}", ("", PREFIX + names + "PROVIDER"))
    return found


def _model(theirs: Mapping[str, str], names: str, table: str, provider: str, *, shared: bool) -> Found:
    """Return model, and the address and key that go without saying, for `[llm]` or one stage.

    `shared`: the general provider's address will do.
    """
    variable = PREFIX + names + ("PROVIDER" if names + "PROVIDER" in theirs else "MODEL")
    if provider == NONE:
        return {f"{table}.model": ("", variable)}
    known = provider_named(provider, variable)
    model = theirs.get(names + "MODEL") or theirs.get("LLM_MODEL")
    if not model:
        raise _nameless(variable, names)
    address = theirs.get(names + "BASE_URL") or (theirs.get("LLM_BASE_URL") if shared else None)
    if known.needs_base_url and not address:
        raise InvalidConfig(f"{variable}: provider {provider!r} needs {PREFIX}{names}BASE_URL")
    given = {"model": model_name(known.prefix, model), "base_url": known.base_url, "api_key": known.api_key}
    return {f"{table}.{leaf}": (value, variable) for leaf, value in given.items() if value}


def _embeddings(theirs: Mapping[str, str]) -> Found:
    name = theirs.get("EMBEDDINGS_PROVIDER", "local").lower()
    variable = PREFIX + "EMBEDDINGS_PROVIDER"
    if name in _LOCAL_EMBEDDINGS:
        model = theirs.get("EMBEDDINGS_LOCAL_MODEL")
        return {"embeddings.model": (model, PREFIX + "EMBEDDINGS_LOCAL_MODEL")} if model else {}
    if name not in _EMBEDDINGS:
        raise not_supported(variable, name, sorted([*_EMBEDDINGS, *_LOCAL_EMBEDDINGS]))
    names = _embedding_names(name)
    model = theirs.get(names + "MODEL", _USUAL_OPENAI_EMBEDDING if name == "openai" else "")
    if not model:
        raise _nameless(variable, names)
    found = {
        "embeddings.provider": ("litellm", variable),
        "embeddings.model": (model_name(_EMBEDDINGS[name], model), variable),
    }
    given = [(leaf, names + leaf.upper()) for leaf in ("api_key", "base_url")]
    return found | {f"embeddings.{leaf}": (theirs[own], PREFIX + own) for leaf, own in given if own in theirs}


def _nameless(variable: str, names: str) -> InvalidConfig:
    return InvalidConfig(f"{variable} names a provider, but {PREFIX}{names}MODEL names no model")
