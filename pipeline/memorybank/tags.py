"""Tag filters: five modes and groups of them. Pure; `tags_match` of the schema is the same rule for lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, get_args

import numpy as np

from memorybank.errors import InvalidInput
from memorybank.text import normalize

Match = Literal["any", "all", "any_strict", "all_strict", "exact"]
MODES: tuple[str, ...] = get_args(Match)
#: Deepest nesting of groups, and most of them in one request: no person writes more, and each costs time.
MAX_DEPTH, MAX_GROUPS = 16, 1_000
_PLACE = ("body", "tag_groups")

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


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


def passing(held: Sequence[frozenset[str]], group: TagGroup) -> Flags:
    """Return whether a unit with each of these sets of tags passes (n,).

    | match      | tagged units                  | untagged units            |
    | any        | share one                     | pass                      |
    | all        | hold all                      | pass                      |
    | any_strict | share one                     | do not                    |
    | all_strict | hold all                      | do not                    |
    | exact      | hold the same set             | only if none is asked for |

    A leaf that asks for no tags lets everything through, but for `exact`. All sets are asked at once: a bank may have
    as many as sessions, and set by set a filter of 1,000 leaves took 45 seconds over 20,000 of them.
    """
    return _Held(held).passing(group)


class _Held:
    """Sets of tags, by the tags that they hold."""

    def __init__(self, held: Sequence[frozenset[str]]) -> None:
        self.sizes = np.array([len(tags) for tags in held], np.int64)
        self.holders: dict[str, list[int]] = {}
        for at, tags in enumerate(held):
            for tag in tags:
                self.holders.setdefault(tag, []).append(at)

    def passing(self, group: TagGroup) -> Flags:
        match group:
            case TagAll(parts):
                return reduce(np.logical_and, map(self.passing, parts), self.sizes >= 0)
            case TagAny(parts):
                return reduce(np.logical_or, map(self.passing, parts), self.sizes < 0)
            case TagNot(part):
                return ~self.passing(part)
            case TagLeaf(tags, mode):
                return self._leaf(frozenset(tags), mode)

    def _leaf(self, asked: frozenset[str], mode: Match) -> Flags:
        shared = np.zeros(len(self.sizes), np.int64)
        for tag in asked & self.holders.keys():
            shared[self.holders[tag]] += 1
        found: Flags = shared == len(asked)
        if mode == "exact":
            found &= self.sizes == len(asked)
        elif not asked:
            found = self.sizes >= 0
        elif mode in ("any", "any_strict"):
            found = shared > 0
        if mode in ("any", "all"):
            found |= self.sizes == 0
        return found


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


def parse_groups(groups: Sequence[Any]) -> TagAll:
    """Read the wire's `tag_groups`, a list whose members must all hold.

    Raises InvalidInput naming the place of what is no group.
    """
    reader = _Reader()
    return TagAll(tuple(reader.read(group, (*_PLACE, at), 1) for at, group in enumerate(groups)))


def written_groups(group: TagAll) -> list[dict[str, Any]]:
    """Return what `parse_groups` read as the wire has it, in the form in which tags are stored."""
    return [_written(part) for part in group.parts]


def _written(group: TagGroup) -> dict[str, Any]:
    match group:
        case TagAll(parts):
            return {"and": [_written(part) for part in parts]}
        case TagAny(parts):
            return {"or": [_written(part) for part in parts]}
        case TagNot(part):
            return {"not": _written(part)}
        case TagLeaf(tags, mode):
            return {"tags": list(tags), "match": mode}


class _Reader:
    """Reads groups, and counts them."""

    count = 0

    def read(self, value: Any, place: tuple[str | int, ...], depth: int) -> TagGroup:
        self.count += 1
        if depth > MAX_DEPTH:
            raise InvalidInput(f"tag groups are nested more than {MAX_DEPTH} deep", loc=place)
        if self.count > MAX_GROUPS:
            raise InvalidInput(f"there are more than {MAX_GROUPS} tag groups", loc=_PLACE)
        told = value.items() if isinstance(value, Mapping) else ()
        said: dict[str, Any] = {key: one for key, one in told if one is not None}
        mode: Any = said.pop("match", "any_strict") if "tags" in said else None
        # Tags are compared as they are (`exact`); `fuzzy`, which the contract names and does not explain, is wider.
        known = "tags" not in said or said.pop("resolve", "exact") in ("exact", "fuzzy")
        # A key that is none of these would be a condition left out, and the filter wider than was meant.
        match list(said.items()):
            case [("and" | "or" as key, list(parts))]:
                made = TagAll if key == "and" else TagAny
                return made(
                    tuple(self.read(part, (*place, key, at), depth + 1) for at, part in enumerate(parts))
                )
            case [("not", part)]:
                return TagNot(self.read(part, (*place, "not"), depth + 1))
            case [("tags", list(tags))]:
                if known and mode in MODES and all(isinstance(tag, str) for tag in tags):
                    return TagLeaf(tuple(normalize(tag) for tag in tags), mode)
        raise InvalidInput(
            "a tag group is one of {tags, match}, {and: [...]}, {or: [...]} and {not: {...}}; "
            f"match is one of {', '.join(MODES)}",
            loc=place,
            value=value,
        )
