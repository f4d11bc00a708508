"""Changes to a bank's overrides: what a PATCH of its config and a create request may set."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from memorybank.errors import InvalidConfig, InvalidInput
from memorybank.settings import aliases, environment
from memorybank.settings.bank import BankConfig, bank_fields, resolve_bank
from memorybank.settings.defense import MemoryDefense
from memorybank.settings.explain import explain
from memorybank.settings.keys import declared
from memorybank.settings.labels import Labels

#: Names that hold secrets or say where secrets are sent, told by their form: so also those of providers we do
#: not know.
_CREDENTIAL = re.compile(
    r"(_api_key|_base_url|_service_account_key|_service_account_json|_llm_members|_access_key|_access_key_id"
    r"|_account_key|_secret|_secret_key|_connection_string|_password|database_url)$"
    r"|^llm_?router|^litellm_?router"
)

#: JSON types as people call them, and the Python types that do; an integer may stand for a number.
_JSON: dict[Any, tuple[str, tuple[type, ...]]] = {
    int: ("an integer", (int,)),
    float: ("a number", (int, float)),
    str: ("a string", (str,)),
    Literal: ("a string", (str,)),
    bool: ("a boolean", (bool,)),
    list: ("a list", (list,)),
    dict: ("an object", (dict,)),
}

#: What PostgreSQL cannot store as text.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

#: Fields with a shape of their own: its type, and how a wrong one is refused.
_SHAPES: dict[str, tuple[TypeAdapter[Any], type[InvalidInput], str, tuple[str, ...]]] = {
    "entity_labels": (TypeAdapter(Labels), InvalidConfig, "Invalid entity_labels format", ("entity_labels",)),
    "memory_defense": (
        TypeAdapter(MemoryDefense), InvalidInput, "Invalid memory_defense policy", ("body", "updates", "memory_defense")
    ),
}  # fmt: skip

#: Characters of one text (a mission is in each prompt), of all texts of a field, and of the name of a strategy.
MAX_TEXT_CHARS, MAX_FIELD_CHARS, MAX_NAME_CHARS = 20_000, 200_000, 256
#: Characters of all labels: they are in each prompt.
MAX_LABEL_CHARS = 40_000

_TRAITS = ("skepticism", "literalism", "empathy")


def check_updates(
    updates: Mapping[str, Any],
    current_overrides: Mapping[str, Any],
    defaults: BankConfig,
    chunk_limit: int | None,
) -> dict[str, Any]:
    """Return the bank's overrides after an update, ready to be stored as JSON; null takes an override away.

    Names may be fields or environment names. `chunk_limit` is the retain model's `max_output_tokens`, which a
    chunk must stay below. Raises InvalidConfig (400) for everything that is not allowed, and InvalidInput (422)
    for a `memory_defense` of the wrong shape; then nothing may be saved.
    """
    named = {_field_name(name): value for name, value in updates.items()}
    _check_names(named)
    values = {name: _checked(name, value) for name, value in named.items()}
    merged = {**current_overrides, **values}
    overrides = {name: value for name, value in merged.items() if name in bank_fields() and value is not None}
    config = resolve_bank(defaults, overrides)
    _check_chunk_sizes(config, chunk_limit)
    _check_strategies(config, chunk_limit)
    return config.model_dump(mode="json", include=set(overrides))


def overrides_from_profile(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the updates that a create request asks for, to be given to `check_updates`.

    The mission is `reflect_mission`, else `mission`, else `background`; a `disposition_*` number wins over
    the `disposition` object. Unset and null fields change nothing, `name` is the bank's own column.
    """
    found = {name: value for name, value in body.items() if name in bank_fields() and value is not None}
    missions = (body.get(name) for name in ("reflect_mission", "mission", "background"))
    mission = next((text for text in missions if text is not None), None)
    if mission is not None:
        found["reflect_mission"] = mission
    for trait in _TRAITS:
        value = (body.get("disposition") or {}).get(trait)
        if value is not None:
            found.setdefault(f"disposition_{trait}", value)
    return found


def _field_name(name: str) -> str:
    """Return the field of a field or environment name."""
    for prefix in (aliases.PREFIX, environment.name_of("bank.")):
        if name.upper().startswith(prefix):
            return name[len(prefix) :].lower()
    return name.lower()


def _is_server_name(name: str) -> bool:
    """Whether only the server has a setting of that name, ours or the Hindsight server's."""
    key = name.replace("__", ".")
    ours = key in declared() and not key.startswith("bank.")
    return ours or name.upper() in aliases.KNOWN | aliases.WITHOUT_COUNTERPART


def _check_names(named: Mapping[str, Any]) -> None:
    """Refuse names that are no per-bank field: first credentials, then server settings, then the unknown."""
    foreign = sorted(named.keys() - bank_fields().keys())
    credentials = [name for name in foreign if _CREDENTIAL.search(name)]
    if credentials:
        raise InvalidConfig(f"Cannot set credential fields via API: {credentials}", value=credentials)
    static = [name for name in foreign if _is_server_name(name)]
    if static:
        raise InvalidConfig(f"Cannot override static (server-level) fields: {static}", value=static)
    if foreign:
        raise InvalidConfig(f"Unknown configuration fields: {foreign}", value=foreign)


def _checked(name: str, value: Any) -> Any:
    """Return a value whose JSON type and shape fit its field; bounds are checked on the whole config."""
    if value is None:
        return None
    if any(_UNSTORABLE.search(text) for text in _texts(value)):
        raise InvalidConfig(f"{name} must not contain NUL or lone surrogates", loc=(name,))
    _check_sizes(name, value)
    if name in _SHAPES:
        shape, refusal, words, place = _SHAPES[name]
        try:
            return shape.validate_python(value)
        except ValidationError as error:
            raise refusal(f"{words}: {explain(error.errors()[0])}", loc=place) from error
    kind = environment.kinds(bank_fields()[name].annotation)[0]
    word, allowed = _JSON[kind]
    if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
        raise InvalidConfig(f"{name} must be {word}, got {type(value).__name__}", loc=(name,))
    if name == "retain_strategies" and isinstance(value, dict):
        return {strategy: _strategy(strategy, fields) for strategy, fields in value.items()}
    return value


def _check_sizes(name: str, value: Any) -> None:
    lengths = [len(text) for text in _texts(value)]
    if max(lengths, default=0) > MAX_TEXT_CHARS:
        raise InvalidConfig(f"{name} must have at most {MAX_TEXT_CHARS} characters", loc=(name,))
    most = MAX_LABEL_CHARS if name == "entity_labels" else MAX_FIELD_CHARS
    if sum(lengths) > most:
        raise InvalidConfig(f"{name} must have at most {most} characters in all", loc=(name,))


def _texts(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _strategy(name: str, fields: Any) -> dict[str, Any]:
    """Return a strategy with field names and shapes checked, as plain JSON."""
    if not name.strip():
        raise _refused_strategy(name, "the name is empty")
    if len(name) > MAX_NAME_CHARS:
        raise _refused_strategy(name[:MAX_NAME_CHARS], f"a name has at most {MAX_NAME_CHARS} characters")
    if not isinstance(fields, dict):
        raise _refused_strategy(name, f"must be an object, got {type(fields).__name__}")
    named = {_field_name(field): value for field, value in fields.items()}
    nested = sorted({"retain_strategies", "retain_default_strategy"} & named.keys())
    if nested:
        raise _refused_strategy(name, f"cannot hold {nested}")
    try:
        _check_names(named)
        checked = {field: _checked(field, value) for field, value in named.items()}
    except InvalidInput as error:
        raise _refused_strategy(name, error.message) from error
    plain: dict[str, Any] = TypeAdapter(dict[str, Any]).dump_python(checked, mode="json")
    return plain


def _refused_strategy(name: str, reason: str) -> InvalidConfig:
    return InvalidConfig(f"Invalid retain strategy {name!r}: {reason}", loc=("retain_strategies", name))


def _check_chunk_sizes(config: BankConfig, limit: int | None) -> None:
    for name in ("retain_chunk_size", "retain_structured_chunk_size"):
        size = getattr(config, name)
        if size is not None and limit is not None and size >= limit:
            reason = f"{name} must be below the model's largest output ({limit} tokens), got {size}"
            raise InvalidConfig(reason, loc=(name,))


def _check_strategies(config: BankConfig, limit: int | None) -> None:
    """Check the whole config that each strategy would give."""
    for name, fields in (config.retain_strategies or {}).items():
        try:
            _check_chunk_sizes(resolve_bank(config, fields), limit)
        except InvalidInput as error:
            raise _refused_strategy(name, error.message) from error
