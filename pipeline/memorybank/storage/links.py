"""Links between units: semantic (cosine) and caused_by. Neighbours in time are a range, asked for when recalling."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memorybank.storage import copying
from memorybank.storage.queries import Connection, fetch_all

SEMANTIC, CAUSED_BY = "semantic", "caused_by"


@dataclass(frozen=True)
class Link:
    """From a newer unit to another; of `caused_by`, the target is the cause. `weight` in (0, 1]."""

    source: UUID
    target: UUID
    kind: str
    weight: float


async def add(connection: Connection, bank: int, links: Sequence[Link]) -> int:
    """Store links, source, target and kind once each; return how many: those to facts that go are left out."""
    targets = {"ids": list({link.target for link in links})}
    rows = await fetch_all(connection, "links.hold_targets", targets) if links else []
    held = {row["id"] for row in rows}
    links = [link for link in links if link.target in held]
    arrays = [
        _rows(bank, kind, [link for link in links if link.kind == kind]) for kind in (SEMANTIC, CAUSED_BY)
    ]
    await copying.copy_rows(connection, "links.copy", arrays)
    return len(links)


async def lock_deletions(connection: Connection, bank: int) -> None:
    """Wait until no other transaction deletes facts of this bank; taken after the locks on documents."""
    await fetch_all(connection, "links.lock_deletions", {"bank": bank})


def _rows(bank: int, kind: str, links: Sequence[Link]) -> copying.Rows:
    columns = {
        "source": copying.UUID_BYTES,
        "target": copying.UUID_BYTES,
        "kind": f"S{len(kind)}",
        "weight": copying.FLOAT4,
        "bank": copying.INT8,
    }
    rows = copying.rows(copying.row_type(columns), len(links))
    rows["source"] = copying.uuids(link.source for link in links)
    rows["target"] = copying.uuids(link.target for link in links)
    rows["weight"] = [link.weight for link in links]
    rows["kind"], rows["bank"] = kind.encode(), bank
    return rows
