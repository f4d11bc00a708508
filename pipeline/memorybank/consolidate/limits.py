"""How many observations a scope may hold. Pure."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from memorybank.settings import BankConfig
from memorybank.storage.observations import Scope


def limit_of(scope: Scope, config: BankConfig) -> int | None:
    """Return how many observations a scope may hold, None for any number: the first rule that fits, else the bank's.

    A rule {scope: [globs], limit} fits where each tag matches a glob and each glob a tag. One that cannot be read fits
    nothing.
    """
    rules = config.observation_scope_limits or ()
    limit = next((rule["limit"] for rule in rules if _fits(rule, scope)), config.max_observations_per_scope)
    return None if limit < 0 else limit


def _fits(rule: Mapping[str, Any], scope: Scope) -> bool:
    globs = rule.get("scope")
    if type(rule.get("limit")) is not int or not isinstance(globs, list):
        return False
    if not all(isinstance(glob, str) for glob in globs):
        return False
    matched = [[fnmatchcase(tag, glob) for tag in scope] for glob in globs]
    return all(map(any, matched)) and all(any(row[at] for row in matched) for at in range(len(scope)))
