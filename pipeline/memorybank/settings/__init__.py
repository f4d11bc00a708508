"""Typed settings: configs/default.toml, then an overlay file, then the environment.

Per-bank fields are declared in `bank`, the installation's own in `server`.
"""

from memorybank.settings.bank import BankConfig, Disposition, bank_fields, resolve_bank, strategy_named
from memorybank.settings.defense import DefenseRule, MemoryDefense
from memorybank.settings.labels import LabelGroup, LabelValue, MapField
from memorybank.settings.llm import STAGES, LlmSettings, Stage, StageLlm
from memorybank.settings.load import defaults, load
from memorybank.settings.server import (
    EMBEDDED,
    ConsolidationSettings,
    DatabaseSettings,
    EmbeddingSettings,
    LogSettings,
    RecallSettings,
    ReflectSettings,
    RetainSettings,
    ServerSettings,
    Settings,
    WorkerSettings,
    stage_model,
)
from memorybank.settings.updates import check_updates, overrides_from_profile

__all__ = [
    "EMBEDDED",
    "STAGES",
    "BankConfig",
    "ConsolidationSettings",
    "DatabaseSettings",
    "DefenseRule",
    "Disposition",
    "EmbeddingSettings",
    "LabelGroup",
    "LabelValue",
    "LlmSettings",
    "LogSettings",
    "MapField",
    "MemoryDefense",
    "RecallSettings",
    "ReflectSettings",
    "RetainSettings",
    "ServerSettings",
    "Settings",
    "Stage",
    "StageLlm",
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
