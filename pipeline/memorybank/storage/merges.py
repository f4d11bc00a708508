"""People say that two entities are one, and take it back.

What was merged keeps its row, its names and, at each mention, its own id: so new mentions under its names follow, and
undoing gives back exactly what is its own, later mentions too. Merges are of an audience: one is made in each that the
viewer sees and that knows both, and tells the others nothing. Everything here runs under `mentions.alone`.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.errors import Conflict, InvalidInput, NotFound
from memorybank.storage import entities, listings, mentions
from memorybank.storage.entities import MAX_KEY_CHARS, Identity
from memorybank.storage.listings import TagFilter
from memorybank.storage.queries import Connection, Row, execute, fetch_all
from memorybank.text import name_key, normalize


async def merge(connection: Connection, bank: int, source: UUID, target: UUID, viewer: Viewer) -> None:
    """Let everything that means `source` mean `target`.

    Raises NotFound for one that no visible memory names, and Conflict where no audience knows both.
    """
    if source == target:
        raise InvalidInput("an entity cannot be merged into itself", loc=("body", "into"))
    await mentions.alone(connection, bank)
    for entity in (source, target):
        await listings.get_entity(connection, bank, viewer, entity, TagFilter())
    asked = {"bank": bank, "source": source, "target": target, **viewer.parameters()}
    knowing = [row["audience_id"] for row in await fetch_all(connection, "merges.knowing_both", asked)]
    if not knowing:
        raise Conflict("no memories of one audience name both entities")
    for step in ("redirect", "absorb"):
        await execute(connection, f"merges.{step}", {**asked, "knowing": knowing})


async def call(
    connection: Connection, bank: int, target: UUID, names: Sequence[str], viewer: Viewer, now: datetime
) -> None:
    """Let names mean `target` from now on.

    Raises NotFound for a target that no visible memory names, and Conflict for names of entities of their own.
    """
    spelled = (" ".join(normalize(name).split()) for name in names)
    written = {name_key(name)[:MAX_KEY_CHARS]: name for name in spelled}
    if "" in written:
        raise InvalidInput("a name must not be empty", loc=("body", "names"))
    await mentions.alone(connection, bank)
    await listings.get_entity(connection, bank, viewer, target, TagFilter())
    asked = {"bank": bank, "keys": list(written), "target": target, **viewer.parameters()}
    bearers = await fetch_all(connection, "merges.bearers", asked)
    taken = [f"{written[row['key']]!r} ({row['entity']})" for row in bearers if row["entity"] != target]
    if taken:
        raise Conflict(f"entities of their own, merge them by id: {', '.join(taken)}")
    new = {Identity(key): written[key] for key in written.keys() - {row["key"] for row in bearers}}
    made = await entities.ensure(connection, bank, new, now)
    for identity, name in new.items():
        row = {"key": identity.key, "name": name, "source": made[identity]}
        await execute(connection, "merges.call", {**asked, **row})


async def unmerge(connection: Connection, bank: int, source: UUID, viewer: Viewer) -> None:
    """Take an entity out of what it was merged into, with what was merged into it; raises NotFound."""
    await mentions.alone(connection, bank)
    asked = {"bank": bank, "source": source, **viewer.parameters()}
    rows = await fetch_all(connection, "merges.tree", asked)
    if not rows:
        raise NotFound(f"Entity {source} is merged into no other")
    for root, audiences in _by_root(rows).items():
        leaves = list({row["entity"] for row in rows if row["root"] == root})
        part = {**asked, "root": root, "leaves": leaves, "knowing": audiences}
        for step in ("give_back", "drop_given", "keep_rest", "release"):
            await execute(connection, f"merges.{step}", part)
    await entities.prune(connection, bank, [source, *{row["root"] for row in rows}])


def _by_root(rows: Sequence[Row]) -> dict[UUID, list[int]]:
    found: dict[UUID, set[int]] = defaultdict(set)
    for row in rows:
        found[row["root"]].add(row["audience_id"])
    return {root: sorted(audiences) for root, audiences in found.items()}


async def aliases(connection: Connection, bank: int, entity: UUID, viewer: Viewer) -> list[Row]:
    """Return the other names of an entity that the viewer may know: `name`, and the `entity` that was merged."""
    asked = {"bank": bank, "entity": entity, **viewer.parameters()}
    return await fetch_all(connection, "merges.aliases", asked)
