"""Provider names of the Hindsight server, and how litellm calls the same provider."""

from typing import Any, NamedTuple

from memorybank.errors import InvalidConfig
from memorybank.paths import table

#: Names, keys and providers as data.
HINDSIGHT: dict[str, Any] = table("settings/hindsight.toml")


class Provider(NamedTuple):
    """How to reach a provider: litellm's prefix, the address and key to use where none is given."""

    prefix: str
    base_url: str = ""
    api_key: str = ""
    needs_base_url: bool = False


PROVIDERS = {name: Provider(**entry) for name, entry in HINDSIGHT["providers"].items()}

#: No model: the extractive engine.
NONE = "none"


def provider_named(name: str, variable: str) -> Provider:
    """Return a provider by its Hindsight name; one we cannot serve raises InvalidConfig with the variable."""
    if name == "mock":
        raise InvalidConfig(
            f"{variable}=mock: there is no mock model; leave the model out for the extractive engine, "
            "or point the base URL at a scripted server"
        )
    if name not in PROVIDERS:
        raise not_supported(variable, name, [*sorted(PROVIDERS), NONE])
    return PROVIDERS[name]


def not_supported(variable: str, name: str, known: list[str]) -> InvalidConfig:
    """Return the refusal of a provider, with those that can be served."""
    return InvalidConfig(f"{variable}: provider {name!r} is not supported; known: {', '.join(known)}")


def model_name(prefix: str, model: str) -> str:
    """Return litellm's name of a provider's model."""
    return f"{prefix}/{model}" if prefix else model
