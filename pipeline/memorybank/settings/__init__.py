"""Typed settings: configs/default.toml, then an overlay file, then the environment.

Per-bank fields are declared in `bank`, the installation's own in `server`.
"""

from memorybank.settings.bank import BankConfig, Disposition, bank_fields, resolve_bank, strategy_named
from memorybank.settings.defense import MemoryDefense
from memorybank.settings.llm import STAGES, LlmSettings, Stage
from memorybank.settings.load import defaults, load
from memorybank.settings.server import (
    DatabaseSettings,
    EmbeddingSettings,
    FileSettings,
    LogSettings,
    RerankerSettings,
    RetainSettings,
    ServerSettings,
    Settings,
    WorkerSettings,
    stage_model,
)
from memorybank.settings.updates import check_updates, overrides_from_profile

__all__ = [
    "STAGES",
    "BankConfig",
    "DatabaseSettings",
    "Disposition",
    "EmbeddingSettings",
    "FileSettings",
    "LlmSettings",
    "LogSettings",
    "MemoryDefense",
    "RerankerSettings",
    "RetainSettings",
    "ServerSettings",
    "Settings",
    "Stage",
    "WorkerSettings",
    "bank_fields",
    "check_updates",
    "defaults",
    "load",
    "overrides_from_profile",
    "resolve_bank",
    "stage_model",
    "strategy_named",
]
