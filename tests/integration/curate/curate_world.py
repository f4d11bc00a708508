"""A workspace: Olga owns it, Mia and Nils are members; its agents, channels and talks. What is stated there."""

from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from memorybank import clock
from memorybank.audience import Audience, AudienceKind, Principal, PrincipalKind, Surface, Viewer
from memorybank.curate.facts import Fact, Facts, Listed, Wanted
from memorybank.curate.placed import PlacedRecall
from memorybank.curate.scopes import NewFact, Scope, Told
from memorybank.curate.stating import Stating
from memorybank.ids import stable_id
from memorybank.indexing import index_terms
from memorybank.model import Bank, Source, UnitStatus
from memorybank.recall.query import RecallQuery
from memorybank.recall.stage import Recall
from memorybank.retain.curating import Curate
from memorybank.retain.editing import Edit
from memorybank.settings import Settings, resolve_bank
from memorybank.storage import audiences, banks, keys, stated
from memorybank.storage.forget import Erasure
from memorybank.storage.pool import Database
from memorybank.storage.queries import execute
from memorybank.storage.stated import Asked, Memory, Page, Statement
from memorybank.testing.embedder import HashingEmbedder

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
ACME = stable_id("organization", "acme")
OLGA, MIA, NILS = (stable_id("person", name) for name in ("olga", "mia", "nils"))
AIDE, BOT = (stable_id("agent", name) for name in ("aide", "bot"))
GENERAL, OPS, THREAD, OTHER, TALK, HERS, GROUP, BOTS = (
    stable_id("place", name)
    for name in ("general", "ops", "thread", "other", "talk", "hers", "group", "bots")
)
ACTIVE, SUPERSEDED, ARCHIVED = UnitStatus.ACTIVE, UnitStatus.SUPERSEDED, UnitStatus.ARCHIVED
EVERYBODY = Viewer.operator()
OWN = Audience(AudienceKind.AGENT, agent=AIDE)
ALL = Audience(AudienceKind.ORGANIZATION, organization=ACME)

#: Each place with its kind, its one agent where it has one, its root, its members.
PLACES: dict[UUID, tuple[str, UUID | None, UUID, tuple[UUID, ...]]] = {
    GENERAL: ("public", None, GENERAL, (OLGA, MIA, NILS)),
    OPS: ("private", None, OPS, (MIA,)),
    OTHER: ("private", None, OTHER, (MIA, NILS)),
    GROUP: ("private", AIDE, GROUP, (MIA, NILS)),
    THREAD: ("private", None, OPS, ()),
    TALK: ("dm", AIDE, TALK, (MIA,)),
    HERS: ("dm", AIDE, HERS, (NILS,)),
    BOTS: ("dm", BOT, BOTS, (MIA,)),
}


def statement(text: str, audience: Audience = OWN, **more: Any) -> Statement:
    source = Source("session", AT, "s1")
    return replace(Statement(text, audience, Surface.BAND, AIDE, AIDE, source, taxonomy=_TAXONOMY), **more)


_TAXONOMY = stated.Taxonomy("long_term", "semantic", "agent", "worth knowing", {"tags": ["x"]})


@dataclass
class World:
    database: Database
    settings: Settings
    bank: Bank
    embedder: HashingEmbedder = field(default_factory=HashingEmbedder)

    @property
    def config(self) -> Any:
        return resolve_bank(self.settings.bank, self.bank.config)

    @property
    def recalling(self) -> Recall:
        return Recall(self.database, self.embedder, self.settings)

    @property
    def stating(self) -> Stating:
        curate = Curate(self.database, self.embedder, self.settings)
        return Stating(self.database, self.embedder, self.settings, curate)

    @property
    def facts(self) -> Facts:
        return Facts(self.stating, PlacedRecall(self.recalling))

    @property
    def shelf(self) -> tuple[Bank, Any]:
        return self.bank, self.config

    async def person(self, id_: UUID) -> Principal:
        return await self.principal(PrincipalKind.PERSON, id_)

    async def agent(self, id_: UUID = AIDE) -> Principal:
        return await self.principal(PrincipalKind.AGENT, id_)

    async def add(
        self, text: str, who: UUID = OLGA, scope: Scope = Scope.WORKSPACE, place: UUID | None = None
    ) -> Fact:
        """Let a person add a fact."""
        new = NewFact(text, scope, place and str(place))
        return await self.facts.add(self.shelf, await self.person(who), new)

    async def learn(
        self, text: str, place: UUID, scope: Scope | None = None, *, kind: Any = "message", **told: Any
    ) -> Fact:
        """Let the agent keep a fact that it has from a place."""
        person, goes_to = told.pop("person", None), told.pop("goes_to", None)
        source = Told(kind, str(place), person and str(person), "m1", AT)
        new = NewFact(text, scope, goes_to and str(goes_to), source)
        return await self.facts.add(self.shelf, await self.agent(), new)

    async def facts_of(self, who: UUID, limit: int = 100, **wanted: Any) -> Listed:
        if "place" in wanted:
            wanted["place"] = str(wanted["place"])
        return await self.facts.list_(self.shelf, await self.person(who), Wanted(**wanted), Page(limit))

    async def seen_by(self, who: UUID, **wanted: Any) -> set[str]:
        return {fact.memory.text for fact in (await self.facts_of(who, **wanted)).facts}

    async def at(self, place: UUID, query: str | None = None, agent: UUID = AIDE) -> list[str]:
        """What an agent is told first at a place."""
        found = await self.facts.recall(self.shelf, await self.agent(agent), str(place), None, query)
        return [fact.memory.text for fact in found]

    async def keep(self, text: str, audience: Audience = OWN, **more: Any) -> UUID:
        return await self.stating.keep(self.bank, self.config, statement(text, audience, **more))

    async def change(self, memory: UUID, viewer: Viewer = EVERYBODY, **edit: Any) -> None:
        edited = Edit(edit.pop("fields", {}), **edit)
        await self.stating.change(self.bank, self.config, memory, edited, viewer)

    async def forget(self, memory: UUID, viewer: Viewer = EVERYBODY) -> Erasure:
        return await self.stating.forget(self.bank, self.config, memory, viewer)

    async def get(self, memory: UUID, viewer: Viewer = EVERYBODY) -> Memory:
        async with self.database.connection() as connection:
            return await stated.get(connection, self.bank.id, memory, viewer)

    async def listed(
        self, viewer: Viewer = EVERYBODY, page: Page | None = None, **asked: Any
    ) -> stated.Listing:
        async with self.database.connection() as connection:
            return await stated.list_(
                connection, self.bank.id, viewer, Asked(**asked), page or Page(100, counted=True)
            )

    async def texts(self, viewer: Viewer = EVERYBODY, **asked: Any) -> list[str]:
        return [memory.text for memory in (await self.listed(viewer, **asked)).memories]

    async def recalled(self, query: str, viewer: Viewer = EVERYBODY) -> list[str]:
        found = await self.recalling(self.bank, self.config, RecallQuery(query), viewer)
        return [hit.text for hit in found.hits]

    async def principal(self, kind: PrincipalKind, id_: UUID) -> Principal:
        async with self.database.connection() as connection:
            found = await keys.principal(connection, kind, id_)
        assert found is not None
        return found

    async def viewer(self, kind: PrincipalKind, id_: UUID, place: UUID | None = None) -> Viewer:
        principal = await self.principal(kind, id_)
        async with self.database.connection() as connection:
            return await audiences.resolve(connection, principal, self.bank.bank_id, place)

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(sql, values)).fetchall()

    async def searched(self, memory: UUID) -> tuple[int, int]:
        """How many vectors and terms a memory is found by."""
        [row] = await self.rows(
            "SELECT (SELECT count(*) FROM embedding e WHERE e.bank = u.bank AND e.document = u.document_number) AS e,"
            " (SELECT count(*) FROM posting p WHERE p.bank = u.bank AND p.document = u.document_number) AS p"
            " FROM memory_unit u WHERE id = %s",
            memory,
        )
        return row["e"], row["p"]


async def populated(database: Database, settings: Settings) -> World:
    """The workspace, with the bank of its agents."""
    now = {"now": clock.now(), "handle": "", "description": "", "email": None, "memory_access": True}
    async with database.transaction() as connection:
        bank = await banks.ensure(connection, "team", clock.now())

        async def put(table: str, id_: UUID, name: str, **columns: Any) -> None:
            named = {"id": id_, "external_id": f"{name}", "name": name.title()}
            await execute(connection, f"directory.put_{table}", now | named | columns)

        await put("organization", ACME, "acme")
        for id_, name in ((OLGA, "olga"), (MIA, "mia"), (NILS, "nils")):
            role = "owner" if id_ == OLGA else "member"
            await put("person", id_, name, organization=ACME, role=role)
        await put("agent", AIDE, "aide", organization=ACME, owner=OLGA, bank_id="team")
        await put("agent", BOT, "bot", organization=ACME, owner=OLGA, bank_id="bots")
        for place, (kind, agent, root, members) in PLACES.items():
            own = {"organization": ACME, "agent": agent, "root": root, "title": "", "kind": kind}
            await put("place", place, str(place), **own)
            await execute(connection, "directory.join", {"place": place, "members": list(members)})
    return World(database, settings, bank)


def terms(text: str) -> list[int]:
    return list(index_terms(text))


WORKSPACE, CONVERSATION, JUST_YOU = Scope.WORKSPACE, Scope.CONVERSATION, Scope.JUST_YOU
EVERYWHERE = (GENERAL, OPS, THREAD, OTHER, GROUP, TALK, HERS)
PLAN = "The release is on Friday."


async def told_at(world: World, text: str = PLAN) -> set[UUID]:
    """The places where the agent is told a fact."""
    return {place for place in EVERYWHERE if text in await world.at(place)}


async def refused(attempts: list[Awaitable[object]], error: type[Exception]) -> None:
    for attempt in attempts:
        with pytest.raises(error):
            await attempt


async def leave(world: World, place: UUID, left: list[UUID]) -> None:
    async with world.database.transaction() as connection:
        await execute(connection, "directory.leave", {"place": place, "members": left})
