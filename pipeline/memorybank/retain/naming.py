"""Stores which entities new facts mention: inside the transaction that stores the facts."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memorybank.model import EntityInput
from memorybank.operations import Claim
from memorybank.retain.entities import Mention, resolve, said_aliases
from memorybank.storage import entities
from memorybank.storage.chunks import Pending
from memorybank.storage.queries import Connection


@dataclass(frozen=True)
class Named:
    """A chunk, and the names of each of its facts by unit; those in `known` were stored before, with names."""

    chunk: Pending
    units: Sequence[tuple[UUID, Sequence[EntityInput]]]
    known: Collection[UUID] = ()


async def write_names(connection: Connection, claim: Claim, named: Sequence[Named], now: datetime) -> int:
    """Store the names of facts; return how many entities they mention."""
    mentions = [
        (unit, Mention(one.chunk.document, name.text, name.type, not one.chunk.about.resolve_entities))
        for one in named
        for unit, names in one.units
        for name in names
    ]
    if not mentions:
        return 0
    bank, audience = claim.bank, claim.audience_id
    wanted = list(dict.fromkeys(mention for _, mention in mentions))
    known = await entities.find(connection, bank, audience, [mention.key for mention in wanted])
    present = await entities.of_documents(connection, sorted({one.chunk.document for one in named}))
    found = resolve(wanted, known, present, _said(named))
    ids = await entities.ensure(connection, bank, found.names, now)
    keys = [(unit, found.key_of.get(mention)) for unit, mention in mentions]
    pairs = dict.fromkeys((unit, ids[key]) for unit, key in keys if key is not None)
    stored = {unit for one in named for unit in one.known}
    await entities.mention(connection, bank, list(pairs), stored)
    if found.learned:
        learned = [entities.Learned(key, name, ids[target]) for key, name, target in found.learned]
        await entities.learn(connection, bank, audience, learned)
    for document, source, target in found.moved:
        await entities.move_mentions(connection, document, source, ids[target])
    await entities.prune(connection, bank, [source for _, source, _ in found.moved])
    return len(ids)


def _said(named: Sequence[Named]) -> dict[int, list[tuple[str, str]]]:
    """Return, by document, the names that its chunks equate in words."""
    said: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for one in named:
        spelled = {name.text for _, names in one.units for name in names}
        said[one.chunk.document] += said_aliases(one.chunk.text, spelled)
    return said
