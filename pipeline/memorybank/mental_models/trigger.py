"""What a mental model looks at, and when it is refreshed: the wire's `trigger`, checked. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from cronsim import CronSim, CronSimError

from memorybank.errors import BadRequest, InvalidInput
from memorybank.llm.conforming import check_schema
from memorybank.model import Budget
from memorybank.tags import Match, TagAll, TagGroup, TagLeaf, parse_groups, written_groups
from memorybank.text import normalize

Mode = Literal["full", "delta"]

_ID = re.compile(r"[a-z0-9][a-z0-9-]*")
_NOT_IN_ID = re.compile(r"[^a-z0-9]+")
#: Longest id, in characters.
MAX_ID_CHARS = 128
#: Longest name and longest source query, in characters.
MAX_NAME_CHARS, MAX_QUERY_CHARS = 512, 8_000
#: What an id is where a name has no letter for one.
UNNAMED = "model"


@dataclass(frozen=True)
class Scope:
    """Which memories a model may look at; `condition` is that on tags, None where every memory passes."""

    fact_types: tuple[str, ...] | None = None
    condition: TagGroup | None = None


@dataclass(frozen=True)
class Trigger:
    """A checked trigger."""

    mode: Mode
    scope: Scope
    budget: Budget
    recall_max_tokens: int | None
    chunks_max_tokens: int | None
    response_schema: Mapping[str, Any] | None
    keep_trace: bool


def id_of(given: str | None, name: str) -> str:
    """Return the id of a new model: the one given, or one made of its name; raises BadRequest for one that is none."""
    if given is not None:
        if not _ID.fullmatch(given) or len(given) > MAX_ID_CHARS:
            raise BadRequest(
                f"an id matches ^[a-z0-9][a-z0-9-]*$ and has at most {MAX_ID_CHARS} characters",
                loc=("body", "id"),
                value=given,
            )
        return given
    return _NOT_IN_ID.sub("-", name.lower())[: MAX_ID_CHARS // 2].strip("-") or UNNAMED


def worded(value: str, field: str, limit: int) -> str:
    """Return a name or a question as it is stored; raises InvalidInput for a blank one and one that is too long."""
    stored = " ".join(normalize(value).split())
    if not stored or len(stored) > limit:
        raise InvalidInput(f"1 to {limit} characters, not blank", loc=("body", field), value=value)
    return stored


def checked(trigger: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trigger as it is stored, without what is null; raises InvalidInput."""
    stored: dict[str, Any] = _clean({key: value for key, value in trigger.items() if value is not None})
    cron = stored.get("refresh_cron")
    if cron is not None and stored.get("refresh_after_consolidation"):
        raise _wrong("refresh_cron", "give refresh_cron or refresh_after_consolidation, not both", cron)
    if cron is not None and next_time(cron, datetime(2026, 1, 1, tzinfo=UTC)) is None:
        raise _wrong("refresh_cron", "is no cron expression that ever comes", cron)
    if stored.get("fact_types") == []:
        raise _wrong("fact_types", "must name at least one type", [])
    groups = stored.get("tag_groups")
    if groups is not None:
        stored["tag_groups"] = written_groups(parse_groups(groups))
    schema = stored.get("response_schema")
    if schema is not None:
        check_schema(schema, ("body", "trigger", "response_schema"))
    return stored


def _clean(value: Any) -> Any:
    """Return a value with its texts, names of fields too, as they may be stored."""
    match value:
        case str():
            return normalize(value)
        case list():
            return [_clean(one) for one in value]
        case dict():
            return {normalize(str(name)): _clean(one) for name, one in value.items()}
    return value


def _wrong(name: str, message: str, value: Any) -> InvalidInput:
    return InvalidInput(message, loc=("body", "trigger", name), value=value)


def next_time(cron: str, after: datetime) -> datetime | None:
    """Return the first time after a moment that a cron expression names (UTC); None where it is none or never comes."""
    try:
        return next(CronSim(cron, after.astimezone(UTC)))
    except (CronSimError, StopIteration):
        return None


def read(trigger: Mapping[str, Any], tags: tuple[str, ...]) -> Trigger:
    """Return what a stored trigger means for a model with these tags."""
    types = trigger.get("fact_types")
    chunks = trigger.get("recall_chunks_max_tokens", 1000) if trigger.get("include_chunks") else None
    return Trigger(
        mode=trigger.get("mode", "full"),
        scope=Scope(None if types is None else tuple(types), _condition(trigger, tags)),
        budget=trigger.get("budget", "mid"),
        recall_max_tokens=trigger.get("recall_max_tokens"),
        chunks_max_tokens=chunks,
        response_schema=trigger.get("response_schema"),
        keep_trace=bool(trigger.get("keep_trace")),
    )


def tags_match(trigger: Mapping[str, Any], tags: tuple[str, ...]) -> Match:
    """Return how a model's tags must match: where it does not say, all of them, strictly."""
    mode: Match = trigger.get("tags_match", "all_strict" if tags else "any")
    return mode


def _condition(trigger: Mapping[str, Any], tags: tuple[str, ...]) -> TagGroup | None:
    mode, groups = tags_match(trigger, tags), trigger.get("tag_groups")
    parts: list[TagGroup] = []
    if tags or mode == "exact":
        parts.append(TagLeaf(tags, mode))
    if groups:
        parts.append(parse_groups(groups))
    return TagAll(tuple(parts)) if parts else None
