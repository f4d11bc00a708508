"""Stores a group of extracted chunks: facts, search rows, names and links, in one transaction with the mark that the
chunks are done. So each effect happens exactly once. A fact that is stored already is mentioned, not stored again.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from memorybank import clock
from memorybank.ids import new_id
from memorybank.indexing import form_of, index_terms, text_hash
from memorybank.model import EntityInput, Fact
from memorybank.operations import Claim
from memorybank.retain import links as neighbours
from memorybank.retain.facts import statement
from memorybank.retain.intake import MAX_LABELS
from memorybank.retain.naming import Named, write_names
from memorybank.retain.rereading import reread
from memorybank.retain.work import Extraction
from memorybank.storage import chunks, history, links, mentions, units
from memorybank.storage.chunks import About, Pending
from memorybank.storage.mentions import Curated, Home, Mention
from memorybank.storage.queries import Connection
from memorybank.storage.units import POSITIONS, NewUnit

#: Facts of the same moment are told apart by this, so that lists keep the order in which they were said.
CHUNK_STEP, FACT_STEP = timedelta(milliseconds=10), timedelta(microseconds=10)
#: What a group has that is read for the first time.
NOTHING_CURATED: Mapping[int, Curated] = {}
#: The reason under which label tags are counted that a fact had no room for: its labels stay, and the fact.
TAGS_OVER = "too_many_tags"
#: Dropped facts are counted in the progress under this prefix.
DROPPED = "dropped_"


@dataclass(frozen=True)
class Done:
    """A chunk whose facts are known: `facts` holds each as it would be stored, `names` the entities of each.

    A fact that is known already has the id of the stored one.
    """

    chunk: Pending
    extraction: Extraction
    facts: tuple[NewUnit, ...] = ()
    names: tuple[tuple[EntityInput, ...], ...] = ()


@dataclass(frozen=True)
class Group:
    """Chunks that are stored together, with the vectors of all their facts in order (n, d)."""

    done: Sequence[Done]
    vectors: np.ndarray
    model: int

    @property
    def facts(self) -> list[NewUnit]:
        """The facts of all chunks, in order."""
        return [fact for one in self.done for fact in one.facts]


@dataclass(frozen=True)
class Sorted:
    """The facts of a group: which of them are new (n,), and what was said again."""

    group: Group
    is_new: np.ndarray
    mentions: Sequence[Mention]


def prepared(chunk: Pending, extraction: Extraction, free_form: bool) -> Done:
    """Return an extracted chunk as it will be stored; `free_form`: keep names besides labels and the caller's."""
    extraction = _within(extraction, chunk.about.tags)
    given = tuple(EntityInput(name, kind) for name, kind in chunk.about.entities)
    facts = tuple(_unit(chunk, fact, index) for index, fact in enumerate(extraction.facts))
    named = tuple(
        (*given, *(name for name in fact.entities if free_form or name.is_label)) for fact in extraction.facts
    )
    return Done(chunk, extraction, facts, named)


def _within(extraction: Extraction, given: Sequence[str]) -> Extraction:
    """Return facts with no more tags than may be given to one, `given` among them; what is over is counted."""
    own = [[tag for tag in fact.tags if tag not in given] for fact in extraction.facts]
    room = max(0, MAX_LABELS - len(given))
    over = sum(max(0, len(tags) - room) for tags in own)
    if not over:
        return extraction
    facts = tuple(
        replace(fact, tags=tuple(tags[:room])) for fact, tags in zip(extraction.facts, own, strict=True)
    )
    return replace(extraction, facts=facts, dropped={**extraction.dropped, TAGS_OVER: over})


def _unit(chunk: Pending, fact: Fact, index: int) -> NewUnit:
    about = chunk.about
    step = chunk.ordinal * CHUNK_STEP + index * FACT_STEP
    start, end = fact.occurred_start, fact.occurred_end
    if start is not None and start == end:
        # Only a moment is moved: the edges of a day or a month are meant, and a start alone is that of what lasts.
        start = end = _later(start, step)
    said_at = fact.mentioned_at or about.mentioned_at
    return NewUnit(
        id=new_id(),
        document=chunk.document,
        chunk=chunk.id,
        position=chunk.ordinal * POSITIONS + index,
        fact_type=str(fact.fact_type),
        text=fact.text,
        text_hash=text_hash(fact.text),
        statement=text_hash(statement(fact)),
        terms=index_terms(fact.text),
        form=form_of(fact.text, said_at),
        place_name=fact.place_name,
        occurred_start=start,
        occurred_end=end,
        mentioned_at=_later(said_at, step),
        mentioned_at_assumed=about.mentioned_at_assumed and fact.mentioned_at is None,
        **_taken(about, fact),
    )


def _later(at: datetime | None, step: timedelta) -> datetime | None:
    try:
        return at + step if at else None
    except OverflowError:
        return at


async def write(
    connection: Connection, claim: Claim, group: Group, *, keep_text: bool, replaces: bool = False
) -> Counter[str]:
    """Store a group and count what was stored; inside `Round.writing()`.

    Chunks that are gone, or were done before, leave nothing.

    Facts take from their chunks what holds now: a document may have got other tags while it was read. `replaces`: there
    are chunks that go when these are there. What people have made of the facts of those stands.
    """
    bank, audience = claim.bank, claim.audience_id
    await mentions.beside(connection, bank, audience, [fact.statement for fact in group.facts])
    ids = [done.chunk.id for done in group.done]
    abouts = await chunks.finish(connection, claim.lease.operation_id, ids, keep_text=keep_text)
    group = _only(group, abouts)
    known = await mentions.same(connection, bank, audience, group.facts)
    curated = await mentions.curated(connection, claim.lease.operation_id) if replaces else ()
    told = told_apart(group, known, reread(group.facts, known, curated))
    new = Group(told.group.done, group.vectors[told.is_new], group.model)
    facts = [fact for fact, is_new in zip(told.group.facts, told.is_new, strict=True) if is_new]
    now = clock.now()
    await units.add(connection, bank, audience, facts, now)
    await mentions.add(connection, bank, audience, told.mentions)
    await write_names(connection, bank, audience, [_named(one) for one in new.done], now)
    ends = [(fact.id, fact.fact_type) for fact in facts]
    near = await semantic_links(connection, bank, audience, new.model, ends, new.vectors)
    await units.add_vectors(connection, bank, audience, new.model, facts, new.vectors)
    linked = await links.add(connection, bank, [*near, *_causes(new.done)])
    counts = Counter(
        chunks_extracted=len(new.done), facts=len(facts), mentions=len(told.mentions), links=linked
    )
    for done in new.done:
        counts.update(lost(done.extraction.dropped))
    said = Counter(one.chunk.document for one in new.done for _ in {fact.id for fact in one.facts})
    await history.count(connection, claim.lease.operation_id, "added", said)
    return counts


def lost(dropped: Mapping[str, int]) -> dict[str, int]:
    """Return counts by reason under their names in the progress."""
    return {f"{DROPPED}{reason}": count for reason, count in dropped.items()}


def told_apart(
    group: Group, known: Mapping[int, Home], curated: Mapping[int, Curated] = NOTHING_CURATED
) -> Sorted:
    """Return which facts of a group are new. `known`: stored facts that say the same, by place among the group's facts;
    `curated`: what people have made of a fact that was read before.

    What a chunk says twice is one fact; what two chunks say is one fact and a mention.
    """
    homes: dict[Said, Home] = {}
    said: dict[tuple[UUID, UUID], Mention] = {}
    is_new: list[bool] = []
    done: list[Done] = []
    for one in group.done:
        facts: list[NewUnit] = []
        names = list(one.names)
        for index, fact in enumerate(one.facts):
            corrected = curated.get(len(is_new))
            if corrected:
                home = Home(corrected.unit, corrected.chunk)
                names[index] = () if corrected.names_own else names[index]
                is_new.append(False)
            else:
                key = _said(fact)
                found = homes.get(key) or known.get(len(is_new))
                is_new.append(found is None)
                home = homes[key] = found or Home(fact.id, fact.chunk)
            facts.append(replace(fact, id=home.unit))
            if home.chunk != fact.chunk:
                said.setdefault((home.unit, fact.chunk), _mention(home.unit, fact))
        done.append(replace(one, facts=tuple(facts), names=tuple(names)))
    return Sorted(replace(group, done=done), np.array(is_new, bool), list(said.values()))


#: What must be equal of two facts of an audience that are one.
Said = tuple[bytes, tuple[str, ...], str]


def _said(fact: NewUnit) -> Said:
    about = json.dumps([dict(fact.metadata), fact.observation_scopes], sort_keys=True)
    return fact.statement, fact.tags, about


def _mention(unit: UUID, fact: NewUnit) -> Mention:
    return Mention(
        unit,
        fact.chunk,
        fact.position % POSITIONS,
        fact.context,
        fact.mentioned_at,
        fact.mentioned_at_assumed,
    )


def _only(group: Group, abouts: Mapping[UUID, About]) -> Group:
    """Return the chunks of a group that were still to be done, as they are now, with their vectors."""
    keep = [done.chunk.id in abouts for done in group.done for _ in done.facts]
    done = [_taking(done, abouts[done.chunk.id]) for done in group.done if done.chunk.id in abouts]
    return Group(done, group.vectors[np.array(keep, bool)], group.model)


def _taking(done: Done, about: About) -> Done:
    """Return a chunk whose facts take from it what `about` says."""
    pairs = zip(done.facts, done.extraction.facts, strict=True)
    return replace(done, facts=tuple(replace(unit, **_taken(about, fact)) for unit, fact in pairs))


def _taken(about: About, fact: Fact) -> dict[str, Any]:
    """Return what a fact takes from its chunk and can get another value of later."""
    return {
        "context": about.context,
        "tags": tuple(sorted({*about.tags, *fact.tags})),
        "metadata": about.metadata,
        "observation_scopes": about.observation_scopes,
    }


def _named(one: Done) -> Named:
    """Return the names of the facts of a chunk."""
    units = [(unit.id, names) for unit, names in zip(one.facts, one.names, strict=True)]
    chunk = one.chunk
    return Named(chunk.id, chunk.document, chunk.text, not chunk.about.resolve_entities, units)


async def semantic_links(
    connection: Connection,
    bank: int,
    audience: int,
    model: int,
    facts: Sequence[tuple[UUID, str]],
    vectors: np.ndarray,
) -> list[links.Link]:
    """Return the links of facts (id, type) to what is near in meaning; their vectors (n, d) are not stored yet."""
    stored = await units.newest_vectors(
        connection, bank, audience, model, vectors.shape[1], neighbours.WINDOW
    )
    found = neighbours.near(vectors, stored.vectors)
    rows = neighbours.targets(found)
    address = {row: (int(stored.documents[row]), int(stored.positions[row])) for row in rows}
    at = await units.at(connection, bank, audience, list(address.values()))
    made: list[links.Link] = []
    counts: dict[int, int] = defaultdict(int)
    for one in found:
        id_, kind = facts[one.source]
        target = facts[one.target] if one.in_batch else at.get(address[one.target])
        if target and target[1] == kind and counts[one.source] < neighbours.LINKS:
            counts[one.source] += 1
            made.append(links.Link(id_, target[0], links.SEMANTIC, one.cosine))
    return made


def _causes(done: Sequence[Done]) -> list[links.Link]:
    return [
        links.Link(one.facts[index].id, one.facts[cause].id, links.CAUSED_BY, 1.0)
        for one in done
        for index, fact in enumerate(one.extraction.facts)
        for cause in fact.causes
        if one.facts[index].id != one.facts[cause].id
    ]
