"""In which scopes a fact is consolidated: a scope is a set of tags, which its observations have. Pure."""

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Any

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
