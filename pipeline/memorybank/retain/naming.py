"""Stores which entities new facts mention: inside the transaction that stores the facts."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memorybank.model import EntityInput
from memorybank.retain.entities import Alias, Mention, Resolution, Resolver, asked_keys, label_key, read
from memorybank.retain.spelling import CONCEPT, PERSON, said_aliases
from memorybank.storage import entities
from memorybank.storage.entities import Identity, Said
from memorybank.storage.queries import Connection

#: Who speaks in a transcript is a person.
_SPEAKER = re.compile(r"^\W*([^\s:][^:\n]{0,60}):\s", re.MULTILINE)


@dataclass(frozen=True)
class Named:
    """A text, and the names of each of its facts by unit; `exact`: no other spelling of a name counts.

    `chunk` None: not a chunk says it but who corrects one.
    """

    chunk: UUID | None
    document: int
    text: str
    exact: bool
    units: Sequence[tuple[UUID, Sequence[EntityInput]]]


async def write_names(
    connection: Connection, bank: int, audience_id: int, named: Sequence[Named], now: datetime
) -> int:
    """Store the names of facts; return how many entities they mention."""
    mentions = [(one.chunk, *found) for one in named for found in _mentions(one)]
    if not mentions:
        return 0
    wanted = list(dict.fromkeys(mention for _, _, mention in mentions))
    found = await _resolved(connection, (bank, audience_id), named, wanted)
    labels = {
        mention: Identity(label_key(mention.name), is_label=True) for mention in wanted if mention.is_label
    }
    names = {**found.names, **{identity: mention.name for mention, identity in labels.items()}}
    ids = await entities.ensure(connection, bank, names, now)
    rows = [one for each in mentions if (one := _said(*each, found, labels))]
    await entities.mention(connection, bank, rows, ids)
    await entities.learn(connection, bank, audience_id, found.learned, ids)
    for document, source, target in found.moved:
        await entities.move(connection, document, source, ids[target.identity], ids[target.root.identity])
    await entities.prune(connection, bank, [source for _, source, _ in found.moved])
    return len({one.root for one in rows})


def _mentions(named: Named) -> Iterator[tuple[UUID, Mention]]:
    """Yield the names of a text by unit. Who speaks in it is a person."""
    speakers = set(_SPEAKER.findall(named.text)) if ":" in named.text else ()
    for unit, names in named.units:
        for name in names:
            kind = PERSON if name.type == CONCEPT and name.text in speakers else name.type
            yield unit, Mention(named.document, name.text, kind, named.exact, name.is_label)


async def _resolved(
    connection: Connection, place: tuple[int, int], named: Sequence[Named], mentions: Sequence[Mention]
) -> Resolution:
    """Return what names mean, by what the audience knows; `place`: the bank and the audience."""
    bank, audience = place
    documents = sorted({one.document for one in named})
    pages = read(mentions, await entities.present(connection, bank, audience, documents), _equated(named))
    resolver = Resolver(await entities.find(connection, bank, audience, asked_keys(pages)))
    doubtful = resolver.doubtful(pages)
    if doubtful:
        resolver.tell(await entities.near(connection, bank, audience, doubtful))
    return resolver.resolve(pages)


def _equated(named: Sequence[Named]) -> dict[int, list[Alias]]:
    """Return, by document, the names that its texts equate in words."""
    said: dict[int, list[Alias]] = defaultdict(list)
    for one in named:
        spelled = {name.text for _, names in one.units for name in names if not name.is_label}
        said[one.document] += said_aliases(one.text, spelled)
    return said


def _said(
    chunk: UUID | None, unit: UUID, mention: Mention, found: Resolution, labels: dict[Mention, Identity]
) -> Said | None:
    """Return what a unit says by a mention; None for a name without a key."""
    if mention in labels:
        identity = labels[mention]
        return Said(unit, chunk, identity.key, identity, identity)
    known = found.meaning.get(mention)
    return Said(unit, chunk, found.keys[mention], known.identity, known.root.identity) if known else None
