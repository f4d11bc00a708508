"""Links between units: semantic (cosine) and caused_by. Neighbours in time are a range, asked for when recalling."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memorybank.storage.copying import literal
from memorybank.storage.queries import Connection, execute

SEMANTIC, CAUSED_BY = "semantic", "caused_by"


@dataclass(frozen=True)
class Link:
    """From a newer unit to another; of `caused_by`, the target is the cause. `weight` in (0, 1]."""

    source: UUID
    target: UUID
    kind: str
    weight: float


async def add(connection: Connection, bank: int, links: Sequence[Link]) -> int:
    """Store links that are not there yet; return how many: those to facts that go are left out."""
    if not links:
        return 0
    parameters = {
        "bank": bank,
        "sources": literal(link.source for link in links),
        "targets": literal(link.target for link in links),
        "kinds": literal(link.kind for link in links),
        "weights": literal(link.weight for link in links),
    }
    return await execute(connection, "links.add", parameters)
