"""Tag filters: five modes and groups of them. Pure; `tags_match` of the schema is the same rule for lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from memorybank.errors import InvalidInput
from memorybank.text import normalize

Match = Literal["any", "all", "any_strict", "all_strict", "exact"]
MODES: tuple[str, ...] = get_args(Match)
#: Deepest nesting of groups: no person writes more, and reading them is recursive.
MAX_DEPTH = 16


@dataclass(frozen=True)
class TagLeaf:
    """Tags and how a unit's tags must match them."""

    tags: tuple[str, ...]
    match: Match = "any_strict"


@dataclass(frozen=True)
class TagAll:
    """Every part must hold."""

    parts: tuple["TagGroup", ...]


@dataclass(frozen=True)
class TagAny:
    """One part must hold."""

    parts: tuple["TagGroup", ...]


@dataclass(frozen=True)
class TagNot:
    """The part must not hold."""

    part: "TagGroup"


TagGroup = TagLeaf | TagAll | TagAny | TagNot


def passes(held: frozenset[str], group: TagGroup) -> bool:
    """Return whether a unit with these tags passes.

    | match      | tagged units                  | untagged units            |
    | any        | share one                     | pass                      |
    | all        | hold all                      | pass                      |
    | any_strict | share one                     | do not                    |
    | all_strict | hold all                      | do not                    |
    | exact      | hold the same set             | only if none is asked for |

    A leaf that asks for no tags lets everything through, but for `exact`.
    """
    match group:
        case TagAll(parts):
            return all(passes(held, part) for part in parts)
        case TagAny(parts):
            return any(passes(held, part) for part in parts)
        case TagNot(part):
            return not passes(held, part)
        case TagLeaf(tags, mode):
            return _leaf(held, frozenset(tags), mode)


def _leaf(held: frozenset[str], asked: frozenset[str], mode: Match) -> bool:
    if mode == "exact":
        return held == asked
    if not asked:
        return True
    if not held:
        return mode in ("any", "all")
    return asked <= held if mode in ("all", "all_strict") else bool(asked & held)


def is_open(group: TagGroup) -> bool:
    """Return whether the group is a leaf that lets everything through: nothing to filter."""
    return isinstance(group, TagLeaf) and not group.tags and group.match != "exact"


def needed(group: TagGroup) -> tuple[str, ...] | None:
    """Return tags of which every passing unit holds at least one, where the group says so; else None.

    The database can then start from its index of tags.
    """
    if isinstance(group, TagAll):
        return next((found for part in group.parts if (found := needed(part))), None)
    if isinstance(group, TagLeaf) and group.tags and group.match in ("any_strict", "all_strict", "exact"):
        return group.tags
    return None


def parse_groups(groups: Sequence[Any]) -> TagGroup:
    """Read the wire's `tag_groups`, a list whose members must all hold.

    Raises InvalidInput naming the place of what is no group.
    """
    place = ("body", "tag_groups")
    return TagAll(tuple(_parse(group, (*place, at), 1) for at, group in enumerate(groups)))


def _parse(value: Any, place: tuple[str | int, ...], depth: int) -> TagGroup:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"tag groups are nested more than {MAX_DEPTH} deep", loc=place)
    if isinstance(value, Mapping):
        for key, made in (("and", TagAll), ("or", TagAny)):
            if isinstance(parts := value.get(key), list):
                return made(
                    tuple(_parse(part, (*place, key, at), depth + 1) for at, part in enumerate(parts))
                )
        if "not" in value:
            return TagNot(_parse(value["not"], (*place, "not"), depth + 1))
        tags, mode = value.get("tags"), value.get("match", "any_strict")
        if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags) and mode in MODES:
            return TagLeaf(tuple(normalize(tag) for tag in tags), mode)
    raise InvalidInput(
        "a tag group is {tags, match}, {and: [...]}, {or: [...]} or {not: {...}}; "
        f"match is one of {', '.join(MODES)}",
        loc=place,
        value=value,
    )
