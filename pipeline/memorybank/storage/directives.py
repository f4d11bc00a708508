"""Directives: the rules that answers of a bank must keep, and which of them an answer stands under."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memorybank import clock
from memorybank.errors import BadRequest, InvalidInput, NotFound
from memorybank.ids import new_id
from memorybank.storage.listings import Page, TagFilter
from memorybank.storage.queries import Connection, Row, execute, fetch_all, fetch_one, fetch_row
from memorybank.text import normalize

#: Longest name and longest content, in characters.
MAX_NAME_CHARS, MAX_CONTENT_CHARS = 200, 4_000
#: Directives of one bank: who has more of them has an essay that no model keeps.
MAX_DIRECTIVES = 100
#: Characters of all active ones together: each may stand in every prompt and in every verdict (some 8,000 tokens).
MAX_ACTIVE_CHARS = 32_000


@dataclass(frozen=True)
class Directive:
    """One rule; the larger `priority`, the earlier it is told."""

    id: UUID
    name: str
    content: str
    priority: int
    is_active: bool
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Changes:
    """What a directive is made of, or what changes of it: None leaves a field as it is."""

    name: str | None = None
    content: str | None = None
    priority: int | None = None
    is_active: bool | None = None
    tags: tuple[str, ...] | None = None

    def checked(self) -> "Changes":
        """Return the same as it may be stored: a name is one line; raises InvalidInput for blank and too long ones."""
        name = None if self.name is None else " ".join(normalize(self.name).split())
        content = None if self.content is None else normalize(self.content).strip()
        for field, text, limit in (("name", name, MAX_NAME_CHARS), ("content", content, MAX_CONTENT_CHARS)):
            if text is not None and not 0 < len(text) <= limit:
                raise InvalidInput(
                    f"1 to {limit} characters, not blank", loc=("body", field), value=getattr(self, field)
                )
        return replace(self, name=name, content=content)


async def in_scope(
    connection: Connection, bank: int, tags: Sequence[str] | None, *, everything: bool = False
) -> list[Directive]:
    """Return the active directives that an answer to a request with these tags must keep, the most important first.

    Those without tags always hold; a tagged one where the request names one of its tags, however the request's tags
    must match memories. `everything`: all active ones.
    """
    asked = {"bank": bank, "tags": list(map(normalize, tags or ())), "everything": everything}
    return [_directive(row) for row in await fetch_all(connection, "directives.in_scope", asked)]


async def page(
    connection: Connection, bank: int, tags: TagFilter, page: Page, *, active_only: bool
) -> tuple[list[Directive], int]:
    """Return directives, the most important first, and how many there are in all."""
    asked = {"bank": bank, "active_only": active_only, **tags.parameters(), **page.parameters()}
    total = await fetch_row(connection, "directives.count", asked)
    return [_directive(row) for row in await fetch_all(connection, "directives.page", asked)], total["total"]


async def get(connection: Connection, bank: int, id_: UUID) -> Directive:
    """Return one directive; raises NotFound."""
    return _found(await fetch_one(connection, "directives.get", {"bank": bank, "id": id_}), id_)


async def add(connection: Connection, bank: int, new: Changes) -> Directive:
    """Make a directive, all of whose fields are given; raises InvalidInput, and BadRequest where a bank is full."""
    await execute(connection, "directives.hold", {"bank": bank})
    made = await fetch_row(connection, "directives.add", _values(bank, new_id(), new))
    await _check_limits(connection, bank)
    return _directive(made)


async def update(connection: Connection, bank: int, id_: UUID, changes: Changes) -> Directive:
    """Change a directive; raises NotFound, InvalidInput, and BadRequest where the bank would hold too much."""
    await execute(connection, "directives.hold", {"bank": bank})
    changed = _found(await fetch_one(connection, "directives.update", _values(bank, id_, changes)), id_)
    await _check_limits(connection, bank)
    return changed


async def delete(connection: Connection, bank: int, id_: UUID) -> None:
    """Delete a directive; raises NotFound."""
    if not await execute(connection, "directives.delete", {"bank": bank, "id": id_}):
        raise _missing(id_)


async def _check_limits(connection: Connection, bank: int) -> None:
    """Raise BadRequest, which takes the change back, where a bank holds more than it may."""
    held = await fetch_row(connection, "directives.held", {"bank": bank})
    if held["count"] > MAX_DIRECTIVES:
        raise BadRequest(f"a bank has at most {MAX_DIRECTIVES} directives")
    if held["characters"] > MAX_ACTIVE_CHARS:
        raise BadRequest(
            f"the active directives of a bank have at most {MAX_ACTIVE_CHARS:,} characters together: each of"
            " them stands in every prompt"
        )


def _values(bank: int, id_: UUID, given: Changes) -> dict[str, object]:
    tags = None if given.tags is None else list(given.tags)
    return {**vars(given.checked()), "tags": tags, "bank": bank, "id": id_, "now": clock.now()}


def _found(row: Row | None, id_: UUID) -> Directive:
    if row is None:
        raise _missing(id_)
    return _directive(row)


def _missing(id_: UUID) -> NotFound:
    return NotFound(f"Directive '{id_}' not found")


def _directive(row: Row) -> Directive:
    return Directive(**row | {"tags": tuple(row["tags"])})
