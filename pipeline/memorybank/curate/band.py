"""Band's memories: what agents keep for themselves, about somebody or for all, and what people see of it.

They are read across banks, and only what came through Band. What somebody does not see is not there; of the memories
of their own organization they are told that these are not theirs to change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memorybank import clock
from memorybank.audience import AudienceKind, PlaceKind, Principal, Surface, Viewer, may_change, same
from memorybank.curate import shared
from memorybank.curate.facts import Shelf
from memorybank.curate.shared import BEFORE, STATUSES, NewMemory
from memorybank.curate.stating import Stating
from memorybank.errors import Forbidden, NotFound, WrongState, WrongTransition
from memorybank.model import FactType, Source, UnitStatus
from memorybank.retain.editing import Edit
from memorybank.settings import resolve_bank
from memorybank.storage import audiences, banks, directory, stated
from memorybank.storage.directory import Named
from memorybank.storage.queries import Connection
from memorybank.storage.stated import Asked, Listing, Memory, Page, Statement


@dataclass(frozen=True)
class Shown:
    """A memory with the names that a person may read: who keeps it, whom it is about, and the room it is from."""

    memory: Memory
    author: Named | None
    subject: Named | None
    room: tuple[PlaceKind, str] | None


@dataclass(frozen=True)
class Band:
    """The stage."""

    stating: Stating

    async def store(self, shelf: Shelf, agent: Principal, new: NewMemory) -> Memory:
        """Keep a memory of an agent. Raises InvalidInput, what `shared.circle` does, and NotFound for a room where the
        agent is not.
        """
        bank, config = shelf
        new = shared.checked(new)
        audience, author, place = shared.circle(agent, new), agent.id, None
        assert author is not None
        if new.room is not None:
            async with self.stating.database.connection() as connection:
                place = (await audiences.spoken_in(connection, agent, new.room)).id
        type_ = FactType.EXPERIENCE if new.taxonomy.type == "episodic" else FactType.WORLD
        source = Source("session", clock.now(), place=place)
        statement = Statement(
            new.content, audience, Surface.BAND, author, author, source, type_, taxonomy=new.taxonomy
        )
        id_ = await self.stating.keep(bank, config, statement)
        async with self.stating.database.connection() as connection:
            return await stated.get(connection, bank.id, id_, Viewer.operator())

    async def room(self, named: str) -> UUID:
        """Return the room of a chat, of a thread its root; one that is not there is its own, and holds nothing."""
        async with self.stating.database.connection() as connection:
            try:
                return (await directory.place(connection, named)).id
            except NotFound:
                return directory.id_of("place", named)

    async def list_(self, principal: Principal, asked: Asked, page: Page) -> Listing:
        """Return a page of what `asked` names and they see, the newest first."""
        async with self.stating.database.connection() as connection:
            return await stated.list_(connection, None, await _viewer(connection, principal), asked, page)

    async def get(self, principal: Principal, id_: UUID) -> Memory:
        """Return a memory; raises NotFound."""
        async with self.stating.database.connection() as connection:
            return await _found(connection, id_, await _viewer(connection, principal))

    async def set_status(self, principal: Principal, id_: UUID, status: UnitStatus) -> Memory:
        """Supersede, archive or restore a memory; raises NotFound, Forbidden, WrongTransition."""
        memory, viewer = await self._changeable(principal, id_)
        edit = Edit({}, status=status, among=BEFORE[status])
        try:
            await self.stating.change(*await self._shelf(memory), id_, edit, viewer)
        except WrongState as error:
            raise WrongTransition(error.message) from error
        return await self.get(principal, id_)

    async def delete(self, principal: Principal, id_: UUID) -> None:
        """Forget a memory with all that stands on it; raises NotFound, Forbidden."""
        memory, viewer = await self._changeable(principal, id_)
        await self.stating.forget(*await self._shelf(memory), id_, viewer)

    async def shown(self, person: Principal, memories: Sequence[Memory]) -> list[Shown]:
        """Return memories with the names that a person may read."""
        places = {one.source.place for one in memories if one.source and one.source.place}
        async with self.stating.database.connection() as connection:
            named = _readable(person, await directory.names(connection, _named(memories)))
            rooms = await directory.rooms(connection, places & person.places)
        return [
            Shown(
                one,
                named.get(one.agent),
                named.get(subject_of(one)),
                rooms.get(one.source.place) if one.source and one.source.place else None,
            )
            for one in memories
        ]

    async def _changeable(self, principal: Principal, id_: UUID) -> tuple[Memory, Viewer]:
        """Return a memory that somebody may change, and as whom."""
        async with self.stating.database.connection() as connection:
            viewer = await _viewer(connection, principal)
            memory = await _found(connection, id_, Viewer.operator())
            visible = await _of_their_own(connection, principal, memory)
            if not visible:
                await _found(connection, id_, viewer)
        if not may_change(principal, memory.bank_id, memory.audience, memory.agent, Surface.BAND):
            raise Forbidden(
                "who stored a memory changes it, or a person whom it is about or whose agent keeps it"
            )
        return memory, viewer

    async def _shelf(self, memory: Memory) -> Shelf:
        async with self.stating.database.connection() as connection:
            bank = await banks.get(connection, memory.bank_id)
        return bank, resolve_bank(self.stating.settings.bank, bank.config)


def subject_of(memory: Memory) -> UUID | None:
    """Return whom a memory is about."""
    return memory.audience.person if memory.audience.kind is AudienceKind.SUBJECT else None


async def _viewer(connection: Connection, principal: Principal) -> Viewer:
    """Return what somebody sees through Band, in all banks: a person also what was said where they are."""
    return replace(await audiences.resolve(connection, principal), rooms=principal.places)


async def _found(connection: Connection, id_: UUID, viewer: Viewer) -> Memory:
    memory = await stated.get(connection, None, id_, viewer)
    if memory.surface != Surface.BAND or memory.status not in STATUSES:
        raise NotFound(f"Memory {id_} not found")
    return memory


async def _of_their_own(connection: Connection, principal: Principal, memory: Memory) -> bool:
    """Return whether an agent of somebody's organization has stored a memory."""
    if memory.agent is None:
        return False
    return same((await directory.agent(connection, memory.agent)).organization, principal.organization)


def _named(memories: Sequence[Memory]) -> set[UUID]:
    ids: Iterable[UUID | None] = (id_ for one in memories for id_ in (one.agent, subject_of(one)))
    return {id_ for id_ in ids if id_ is not None}


def _readable(person: Principal, named: Mapping[UUID, Named]) -> Mapping[UUID | None, Named]:
    """Return those whom a person knows."""
    return {id_: one for id_, one in named.items() if person.knows(id_, one.organization)}
