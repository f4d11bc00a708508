"""Puts the settings together: configs/default.toml, then an overlay file, then the environment."""

import logging
import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memorybank import paths
from memorybank.errors import InvalidConfig
from memorybank.settings.environment import from_environment
from memorybank.settings.explain import dotted, explain
from memorybank.settings.keys import OPEN_TABLES, declared, flat, near, nested
from memorybank.settings.llm import STAGES
from memorybank.settings.server import Settings, stage_model

#: What `Settings.sources` calls the shipped values.
SHIPPED = "default.toml"

_log = logging.getLogger(__name__)

#: Key -> (value, where it came from).
Layer = dict[str, tuple[Any, str]]


def load(overlay: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of this process; later sources win and `sources` says which one did.

    `overlay` is a TOML file of the form of configs/default.toml; None takes MEMORYBANK_CONFIG, if that is
    set. `environ` None is the process's own environment. Raises InvalidConfig, naming key and source, for an
    unknown key in a file, a value that is not allowed, and a variable that is meant for the database but
    misspelt.
    """
    variables = os.environ if environ is None else environ
    shipped = _shipped()
    chosen = _overlay(overlay, variables) | from_environment(variables, known_keys(), declared())
    settings = _validated(_kept(shipped, chosen) | chosen)
    _warn_half_set(settings)
    return settings


@cache
def defaults() -> Settings:
    """Return the shipped settings alone: no overlay, no environment."""
    return load(environ={})


@cache
def _shipped() -> Layer:
    document = _read(paths.configs() / SHIPPED)
    return {key: (value, SHIPPED) for key, value in flat(document, declared())}


def known_keys() -> frozenset[str]:
    """Return every key there is: the declared ones, and the names that default.toml puts into open tables."""
    return frozenset(declared().keys() - OPEN_TABLES | _shipped().keys())


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidConfig(f"{path}: there is no such file") from error
    except OSError as error:
        raise InvalidConfig(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidConfig(f"{path}: not valid TOML: {error}") from error


def _overlay(overlay: Path | None, environ: Mapping[str, str]) -> Layer:
    named = environ.get("MEMORYBANK_CONFIG")
    path = overlay or (Path(named).expanduser() if named else None)
    if path is None:
        return {}
    layer = {key: (value, str(path)) for key, value in flat(_read(path), declared())}
    known = known_keys()
    for key in layer:
        if key not in known:
            raise InvalidConfig(f"{path}: unknown key {key}{near(key, known)}")
    return layer


def _kept(shipped: Layer, chosen: Layer) -> Layer:
    """Leave out shipped `[<stage>.llm]` values where somebody set the `[llm]` one: that is for all stages."""
    general = [key.removeprefix("llm.") for key in chosen if key.startswith("llm.")]
    beaten = {f"{stage}.llm.{leaf}" for stage in STAGES for leaf in general}
    return {key: entry for key, entry in shipped.items() if key not in beaten}


def _validated(layer: Layer) -> Settings:
    document = nested({key: value for key, (value, _) in layer.items()})
    document["sources"] = {key: source for key, (_, source) in layer.items()}
    for stage in STAGES:
        document.setdefault(stage, {}).setdefault("llm", {})
    try:
        return Settings.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        source = _source(dotted(first["loc"]), layer)
        raise InvalidConfig(explain(first) + (f" (from {source})" if source else "")) from error


def _source(key: str, layer: Layer) -> str:
    """Return where a faulty value came from; the fault may lie deeper than the key."""
    while key and key not in layer:
        key = key.rpartition(".")[0]
    return layer[key][1] if key else ""


def _warn_half_set(settings: Settings) -> None:
    named = settings.llm.model or any(stage_model(settings, stage).model for stage in STAGES)
    if not named and (settings.llm.api_key or settings.llm.base_url):
        _log.warning(
            "llm.api_key or llm.base_url is set, but llm.model is not: the extractive engine does the work"
        )
