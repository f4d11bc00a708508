"""Every declared setting is read by the code: one that does nothing would lie to whoever sets it."""

import ast
from pathlib import Path

import pytest

from memorybank.settings.keys import declared

ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / "pipeline" / "memorybank" / "settings"

#: Per-bank fields that the wire knows and whose stage is not built yet. A field that is read must leave this list.
NOT_BUILT_YET = frozenset(
    {
        "bank.mcp_enabled_tools",
        "bank.audit_log_enabled",
        "bank.llm_gemini_safety_settings",
    }
)
#: Fields that the settings themselves read, in `strategy_named` and `BankConfig.disposition`.
READ_BY_SETTINGS = frozenset(
    {
        "bank.retain_default_strategy",
        "bank.retain_strategies",
        *(f"bank.disposition_{trait}" for trait in ("skepticism", "literalism", "empathy")),
    }
)


def attributes_read() -> frozenset[str]:
    """Return every name that the shipped code reads as an attribute, outside the settings themselves."""
    sources = [
        path
        for folder in ("pipeline", "workers")
        for path in (ROOT / folder).rglob("*.py")
        if SETTINGS not in path.parents
    ]
    return frozenset(
        node.attr
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    )


READ = attributes_read()


@pytest.mark.parametrize("key", sorted(declared().keys() - NOT_BUILT_YET - READ_BY_SETTINGS))
def test_setting_is_read(key: str) -> None:
    assert key.rpartition(".")[2] in READ


@pytest.mark.parametrize("key", sorted(NOT_BUILT_YET))
def test_what_is_read_is_not_excused(key: str) -> None:
    assert key in declared()
    assert key.rpartition(".")[2] not in READ
