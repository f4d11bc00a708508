"""Facts and observations for tests, made of what a test is about."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memorybank.storage.observations import Pending, Shown, Source

DAY = datetime(2031, 3, 1, tzinfo=UTC)


def uuid(number: int) -> UUID:
    return UUID(int=number)


def fact(number: int, text: str = "Ada likes teal", **more: Any) -> Pending:
    """Return a pending fact; `day`: the day in March 2031 on which it was said."""
    said = more.pop("said", DAY.replace(day=more.pop("day", number)))
    known = {
        "id": uuid(number),
        "audience": 1,
        "text": text,
        "context": "",
        "fact_type": "world",
        "occurred_start": None,
        "occurred_end": None,
        "mentioned_at": said,
        "mentioned_at_assumed": False,
        "tags": (),
        "scopes": None,
        "created_at": DAY,
        "done": frozenset(),
        "proof_count": 1,
        "revision": 0,
    }
    return Pending(**known | more)


def source(number: int, text: str, day: int = 1, **more: Any) -> Source:
    known = {"occurred_start": None, "occurred_end": None, "mentioned_at": DAY.replace(day=day)}
    return Source(id=uuid(number), text=text, **known | more)


def shown(number: int, text: str = "Ada likes teal", *sources: Source, **more: Any) -> Shown:
    known = {
        "tags": (),
        "proof_count": max(1, len(sources)),
        "occurred_start": None,
        "occurred_end": None,
        "mentioned_at": DAY,
        "nearness": 0.9,
    }
    return Shown(id=uuid(number), text=text, sources=sources, **known | more)
