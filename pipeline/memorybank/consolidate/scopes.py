"""In which scopes a fact is consolidated, and how many observations one may hold: a scope is a set of tags. Pure."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain, combinations
from typing import Any

from memorybank.settings import BankConfig
from memorybank.storage.observations import Scope

#: Scopes of one fact at most where all combinations are asked for: they double with each tag, and each is paid for.
MAX_COMBINATIONS = 63


def scopes_of(tags: Sequence[str], form: Any) -> tuple[Scope, ...]:
    """Return the scopes of a fact with these tags; `form` is the `observation_scopes` that its item was sent with.

    | combined, none, []  | all its tags together              |
    | per_tag             | each tag by itself                 |
    | all_combinations    | every set of them but the empty one|
    | shared              | the one without tags               |
    | a list of lists     | those sets                         |

    Every form gives a fact without tags the scope without tags. Beyond MAX_COMBINATIONS the smallest sets are taken,
    and the one of all tags.
    """
    own = _scope(tags)
    if isinstance(form, list) and form:
        return tuple(dict.fromkeys(_scope(named) for named in form if isinstance(named, list))) or (own,)
    match form:
        case "shared":
            return ((),)
        case "per_tag":
            return tuple((tag,) for tag in own) or ((),)
        case "all_combinations":
            return _combinations(own)
    return (own,)


def _scope(tags: Sequence[Any]) -> Scope:
    return tuple(sorted({str(tag) for tag in tags}))


def _combinations(own: Scope) -> tuple[Scope, ...]:
    smaller = chain.from_iterable(combinations(own, size) for size in range(1, len(own)))
    return (*(scope for scope, _ in zip(smaller, range(MAX_COMBINATIONS - 1), strict=False)), own)


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
