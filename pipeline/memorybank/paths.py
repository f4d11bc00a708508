"""Where the shipped data (prompts, configs) and the installation's own data are."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

_PACKAGE = Path(__file__).resolve().parent


def _shipped(name: str) -> Path:
    """Return a data folder: beside the sources in a checkout, inside the package in a wheel."""
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent.parent / name


def prompts() -> Path:
    """Return the folder of prompt templates."""
    return _shipped("prompts")


def configs() -> Path:
    """Return the folder of default.toml, overlays, samples and bank templates."""
    return _shipped("configs")


def table(name: str) -> dict[str, Any]:
    """Return a table of the library's own, by its path in the package: "retain/spelling.toml"."""
    return tomllib.loads((_PACKAGE / name).read_text(encoding="utf-8"))


def home(environ: Mapping[str, str] | None = None) -> Path:
    """Return where this installation keeps its data: MEMORYBANK_HOME, else the platform's user data directory."""
    chosen = (os.environ if environ is None else environ).get("MEMORYBANK_HOME")
    return Path(chosen).expanduser().resolve() if chosen else Path(platformdirs.user_data_dir("memorybank"))
