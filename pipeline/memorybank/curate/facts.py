"""Workspace facts: what people and their agents keep for a workspace, a conversation, or one person.

Who asks is a Principal; what they see is resolved once for each call, at a place or anywhere. What they may change is
asked of `audience.may_change`. What somebody does not see is not there: unknown and unseen are the same NotFound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memorybank import clock
from memorybank.audience import (
    AudienceKind,
    Place,
    PlaceKind,
    Principal,
    PrincipalKind,
    Surface,
    Viewer,
    may_change,
    same,
)
from memorybank.curate import scopes
from memorybank.curate.placed import PlacedRecall
from memorybank.curate.scopes import CIRCLES, OWNERS, Heard, NewFact, Scope, Told
from memorybank.curate.stating import Stating
from memorybank.errors import Forbidden, InvalidInput, NotFound, OwnerRequired, Unauthorized
from memorybank.indexing import index_terms
from memorybank.model import Bank, Source, UnitStatus
from memorybank.recall.query import RecallQuery
from memorybank.retain.editing import Edit
from memorybank.settings import BankConfig
from memorybank.storage import audiences, directory, stated
from memorybank.storage.directory import Agent
from memorybank.storage.forget import Erasure
from memorybank.storage.queries import Connection
from memorybank.storage.stated import Asked, Memory, Page, Statement

#: Where facts are: a bank, and what holds for it.
Shelf = tuple[Bank, BankConfig]


@dataclass(frozen=True)
class Fact:
    """A memory as one of those sees it who may. `shows_source`: they may also see the place where it was said."""

    memory: Memory
    kept_by_name: str | None
    shows_source: bool
    can_change: bool


@dataclass(frozen=True)
class Wanted:
    """Which facts to list; None leaves a condition out. `place`: what is of that conversation or talk."""

    kind: str | None = None
    scope: Scope | None = None
    place: str | None = None
    pinned: bool | None = None
    q: str | None = None


@dataclass(frozen=True)
class Listed:
    """A page of facts; `more`: there are others behind it. `count`: stated facts that who asks can see, in all."""

    facts: Sequence[Fact]
    more: bool
    count: int


@dataclass(frozen=True)
class Facts:
    """The stage."""

    stating: Stating
    placed: PlacedRecall

    async def add(self, shelf: Shelf, principal: Principal, new: NewFact) -> Fact:
        """Keep a fact. Raises InvalidInput, OwnerRequired, SourceNotPublic, MemoryFull; an operator is Unauthorized."""
        bank, config = shelf
        text = scopes.worded(new.text)
        async with self.stating.database.connection() as connection:
            if principal.kind is PrincipalKind.PERSON:
                statement = await _added(connection, bank, principal, replace(new, text=text))
            elif principal.kind is PrincipalKind.AGENT:
                statement = await _learned(connection, bank, principal, replace(new, text=text))
            else:
                raise Unauthorized("a person or an agent adds a fact: say X-Acting-As")
        id_ = await self.stating.keep(bank, config, statement)
        async with self.stating.database.connection() as connection:
            kept = await stated.get(connection, bank.id, id_, Viewer.operator())
            return (await _shown(connection, principal, [kept], statement.source.place))[0]

    async def get(self, shelf: Shelf, principal: Principal, id_: UUID, place: str | None = None) -> Fact:
        """Return a fact; raises NotFound."""
        bank, _ = shelf
        async with self.stating.database.connection() as connection:
            viewer, where = await _view(connection, bank, principal, place)
            memory = await _told(connection, bank, id_, viewer)
            return (await _shown(connection, principal, [memory], _id(where)))[0]

    async def list_(self, shelf: Shelf, principal: Principal, wanted: Wanted, page: Page) -> Listed:
        """Return a page of what who asks can see, the newest first; raises NotFound for a place where they are not."""
        bank, _ = shelf
        async with self.stating.database.connection() as connection:
            viewer, where = await _view(connection, bank, principal, wanted.place)
            further = replace(page, limit=page.limit + 1)
            found = (await stated.list_(connection, bank.id, viewer, _asked(wanted, where), further)).memories
            own = Asked(stated=True, surface=Surface.FACTS)
            everywhere, _ = await _view(connection, bank, principal, None)
            count = await stated.list_(connection, bank.id, everywhere, own, Page(1, counted=True))
            shown = await _shown(connection, principal, found[: page.limit], _id(where))
        return Listed(shown, len(found) > page.limit, count.total or 0)

    async def change(
        self,
        shelf: Shelf,
        principal: Principal,
        id_: UUID,
        *,
        text: str | None = None,
        pinned: bool | None = None,
        place: str | None = None,
    ) -> Fact:
        """Correct a fact in place, which its corrector says from then on, pin it or take the pin away.

        Raises NotFound, Forbidden, OwnerRequired, BadRequest for a key's value, and what a fact breaks.
        """
        bank, config = shelf
        memory, viewer = await self._changeable(bank, principal, id_, place)
        if text is not None:
            line = scopes.worded(text) if memory.surface == Surface.FACTS else text
            edit = Edit({"text": line}, source=_corrector(principal, memory))
            await self.stating.change(bank, config, id_, edit, viewer)
        if pinned is not None:
            await self.stating.pin(bank, id_, viewer, pinned)
        return await self.get(shelf, principal, id_, place)

    async def forget(
        self, shelf: Shelf, principal: Principal, id_: UUID, place: str | None = None
    ) -> Erasure:
        """Forget a fact with all that stands on it, and return what went; raises as `change` does."""
        bank, config = shelf
        _, viewer = await self._changeable(bank, principal, id_, place)
        return await self.stating.forget(bank, config, id_, viewer)

    async def recall(
        self, shelf: Shelf, principal: Principal, place: str, person: str | None, query: str | None
    ) -> list[Fact]:
        """Return what an agent is told first at a place, at most 40. `person`: of a direct talk, if it is said.

        Raises NotFound, Unauthorized for a person, and what recall raises.
        """
        bank, config = shelf
        if principal.kind is PrincipalKind.PERSON:
            raise Unauthorized("facts are recalled for agents")
        async with self.stating.database.connection() as connection:
            viewer, where = await _view(connection, bank, principal, place)
        if where is None or (person is not None and directory.id_of("person", person) != where.person):
            raise directory.unknown("Place", place)
        limit = self.stating.settings.recall.query_max_tokens
        asked = RecallQuery(query).shortened(limit) if query and any(index_terms(query)) else None
        found = await self.placed.facts(bank, config, asked, viewer)
        async with self.stating.database.connection() as connection:
            return await _shown(connection, principal, [memory for _, memory in found], where.id)

    async def _changeable(
        self, bank: Bank, principal: Principal, id_: UUID, place: str | None
    ) -> tuple[Memory, Viewer]:
        """Return a memory that who asks may change, and as whom; raises NotFound, Forbidden, OwnerRequired."""
        async with self.stating.database.connection() as connection:
            viewer, _ = await _view(connection, bank, principal, place)
            memory = await _told(connection, bank, id_, viewer)
        if not _may_change(principal, memory):
            if memory.audience.kind is AudienceKind.ORGANIZATION and principal.kind is PrincipalKind.PERSON:
                raise OwnerRequired(OWNERS)
            raise Forbidden("who kept a fact changes it, or a person to whom it belongs")
        return memory, viewer


async def _told(connection: Connection, bank: Bank, id_: UUID, viewer: Viewer) -> Memory:
    """Return a memory that is told as true; raises NotFound."""
    memory = await stated.get(connection, bank.id, id_, viewer)
    if memory.status != UnitStatus.ACTIVE:
        raise NotFound(f"Memory {id_} not found")
    return memory


async def _view(
    connection: Connection, bank: Bank, principal: Principal, place: str | None
) -> tuple[Viewer, Place | None]:
    """Return what somebody sees in a bank, at a place or anywhere, and that place; raises NotFound."""
    where = None if place is None else await audiences.spoken_in(connection, principal, place)
    return await audiences.resolve(connection, principal, bank.bank_id, _id(where)), where


async def _added(connection: Connection, bank: Bank, person: Principal, new: NewFact) -> Statement:
    """Return a fact as a person adds it: theirs, and pinned."""
    agent = await _agent(connection, bank, person, new.agent)
    place = None
    if new.place is not None:
        _, place = await _view(connection, bank, person, new.place)
    audience = scopes.chosen(person, agent, new.scope, place)
    assert person.id is not None
    source = Source("person", clock.now(), person=person.id)
    return Statement(new.text, audience, Surface.FACTS, agent.id, person.id, source, pinned=True)


async def _agent(connection: Connection, bank: Bank, person: Principal, named: str | None) -> Agent:
    """Return the agent that is to remember: the one that was named, or the only one that a person has to do with."""
    await audiences.resolve(connection, person, bank.bank_id)
    found = [
        agent
        for agent in await directory.agents_in(connection, bank.bank_id)
        if person.knows(agent.id, agent.organization)
    ]
    if named is not None:
        found = [agent for agent in found if agent.id == directory.id_of("agent", named)]
    if not found:
        raise directory.unknown("Agent", named) if named is not None else audiences.unknown_bank(bank.bank_id)
    if len(found) > 1:
        raise InvalidInput("several agents remember here: say which", loc=("body", "agent"))
    return found[0]


async def _learned(connection: Connection, bank: Bank, principal: Principal, new: NewFact) -> Statement:
    """Return a fact as an agent keeps it."""
    if not principal.uses(bank.bank_id) or principal.id is None:
        raise audiences.unknown_bank(bank.bank_id)
    if new.told is None:
        raise InvalidInput("an agent says where it has a fact from", loc=("body", "source"))
    agent = await directory.agent(connection, principal.id)
    _, where = await _view(connection, bank, principal, new.told.place)
    _, place = await _view(connection, bank, principal, new.place)
    assert where is not None
    heard = await _heard(connection, new.told, where, agent)
    audience = scopes.learned(agent, new.scope, place or where, heard)
    told = new.told
    source = Source(told.kind, told.at or clock.now(), told.ref, where.id, heard.person)
    return Statement(new.text, audience, Surface.FACTS, agent.id, agent.id, source)


async def _heard(connection: Connection, told: Told, place: Place, agent: Agent) -> Heard:
    """Return a source with who said it; raises NotFound for somebody who is not in the place, and InvalidInput."""
    if told.person is None:
        if told.kind == "person":
            raise InvalidInput("say who told it", loc=("body", "source", "person"))
        return Heard(place)
    who = directory.id_of("person", told.person)
    if who not in await directory.members(connection, place.id):
        raise directory.unknown("Person", told.person)
    if told.kind != "person":
        return Heard(place, who)
    person = await directory.person(connection, who)
    return Heard(place, who, person.role == "owner" and same(person.organization, agent.organization))


def _corrector(principal: Principal, memory: Memory) -> Source:
    """Return the source of a corrected memory: the person who does it; an agent stays with where it has it from.

    What a person has said no agent says in their name. Raises OwnerRequired where that was said to a whole workspace.
    """
    now, source = clock.now(), memory.source
    if principal.kind is PrincipalKind.PERSON:
        # Whose room it was said in goes on to see it: Band's rule, and facts are told no place of a person's.
        place = source.place if source and memory.surface == Surface.BAND else None
        return Source("person", now, person=principal.id, place=place)
    if source is None:
        return Source("session", now, memory.document_id)
    if source.kind == "person" and memory.audience.kind is AudienceKind.ORGANIZATION:
        raise OwnerRequired(OWNERS)
    return replace(source, at=now, kind="session" if source.kind == "person" else source.kind, person=None)


def _may_change(principal: Principal, memory: Memory) -> bool:
    return may_change(principal, memory.bank_id, memory.audience, memory.kept_by, Surface.FACTS)


def _asked(wanted: Wanted, where: Place | None) -> Asked:
    """Return which memories to list; of a direct talk its circle, for that has no place."""
    circle = CIRCLES[wanted.scope] if wanted.scope else None
    at = None if where is None else where.id
    if where is not None and where.kind is PlaceKind.DM:
        if circle not in (None, AudienceKind.DM):
            raise NotFound(f"Place '{wanted.place}' holds nothing else than a talk")
        circle, at = AudienceKind.DM, None
    return Asked(
        kind=wanted.kind,
        circle=circle,
        place=at,
        pinned=wanted.pinned,
        terms=None if wanted.q is None else list(index_terms(wanted.q)),
    )


async def _shown(
    connection: Connection, principal: Principal, memories: Sequence[Memory], place: UUID | None
) -> list[Fact]:
    """Return memories with the names of who kept them; the place of a source only to who may read there."""
    names = await directory.names(connection, [one.kept_by for one in memories if one.kept_by])
    said_in = {one.source.place for one in memories if one.source and one.source.place}
    public = await directory.public(connection, list(said_in), principal.organization)
    public |= {place} if place else set()
    return [
        Fact(
            one,
            names[one.kept_by].name if one.kept_by is not None and one.kept_by in names else None,
            principal.reads_in(one.source.place if one.source else None, public),
            _may_change(principal, one),
        )
        for one in memories
    ]


def _id(place: Place | None) -> UUID | None:
    return None if place is None else place.id
