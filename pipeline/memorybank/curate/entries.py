"""Entries: what agents keep under keys, any JSON, told back as it was given; and found by recall, each as a memory.

That memory says key and value. It is one of the agent alone, made anew when it says something else, and gone with
the entry; forgetting it forgets the entry. A key or a value that holds a secret has none.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memorybank import clock
from memorybank.audience import Audience, AudienceKind, Principal, PrincipalKind, Surface, Viewer
from memorybank.curate.facts import Shelf
from memorybank.curate.stating import Ready, Stating
from memorybank.errors import NotFound
from memorybank.model import Source
from memorybank.retain.screening import Screen, mask
from memorybank.settings import BankConfig
from memorybank.storage import audiences, consolidations, directory, entries, forget, mentions
from memorybank.storage.directory import Agent
from memorybank.storage.entries import Entry, Face
from memorybank.storage.queries import Connection
from memorybank.storage.stated import Statement
from memorybank.text import normalize, visible

#: Characters of the text by which recall finds an entry: the start of a value says what it is.
FACE_CHARS = 4_000
#: Drawn at random: what the screener masks behind a key, it takes that key for the name of a secret.
_DRAWN = "Xk9-q2_LmPz7Rt4W8v"


@dataclass(frozen=True)
class Entries:
    """The stage."""

    stating: Stating

    async def agents(self, principal: Principal) -> list[Agent]:
        """Return the agents whose entries are somebody's."""
        async with self.stating.database.connection() as connection:
            return await directory.agents_of(connection, list(principal.agents))

    async def list_(self, principal: Principal, named: str | None) -> list[Entry]:
        """Return the entries of one agent, or (None) of all of theirs, of each key the newest; raises NotFound."""
        agents = list(principal.agents) if named is None else [own(principal, named)]
        async with self.stating.database.connection() as connection:
            return await entries.list_(connection, agents)

    async def put(
        self, shelf: Shelf, principal: Principal, agent: UUID, values: Mapping[str, Any]
    ) -> datetime:
        """Set values of keys, all or none, and return when; `shelf`: where the agent remembers. Raises what the
        embedder raises.
        """
        bank, config = shelf
        faces = self._faces(config, values)
        told = {key: _statement(text, principal, agent) for key, text in faces.items()}
        ready = dict(zip(told, await self.stating.ready(bank, config, list(told.values())), strict=True))
        now = clock.now()
        async with self.stating.database.transaction() as connection:
            audience = await audiences.ensure(connection, bank.id, Audience(AudienceKind.AGENT, agent=agent))
            await mentions.alone(connection, bank.id)
            for key in sorted(values):
                before = await entries.put(connection, audience, agent, Entry(key, values[key], now))
                await _show(connection, bank.id, (agent, key), before, ready.get(key))
            await consolidations.queue_backlog(connection, bank.id, config)
        return now

    def _faces(self, config: BankConfig, values: Mapping[str, Any]) -> dict[str, str]:
        """Return by what recall is to find each value; none for a secret, and none where the bank wants none."""
        if not config.kv_recall:
            return {}
        screen = Screen.of(config.memory_defense, self.stating.settings.retain.mask_secrets)
        faces = {}
        for key, value in values.items():
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            text = normalize(f"{key}: {told}")
            secret = mask(f"{key}: {_DRAWN}", screen.looks_for)[1] or mask(text, screen.looks_for)[1]
            if not secret and visible(text).strip():
                faces[key] = text[:FACE_CHARS]
        return faces


def own(principal: Principal, named: str) -> UUID:
    """Return an agent whose entries are somebody's: itself, or one of theirs; raises NotFound for any other."""
    id_ = directory.id_of("agent", named)
    if id_ not in principal.agents:
        raise NotFound("Agent not found")
    return id_


def _statement(text: str, principal: Principal, agent: UUID) -> Statement:
    assert principal.id is not None
    person = principal.id if principal.kind is PrincipalKind.PERSON else None
    source = Source("session" if person is None else "person", clock.now(), person=person)
    audience = Audience(AudienceKind.AGENT, agent=agent)
    return Statement(text, audience, Surface.KV, agent, principal.id, source)


async def _show(
    connection: Connection, bank: int, which: tuple[UUID, str], before: Face, ready: Ready | None
) -> None:
    """Have recall find an entry by what it says now. What says the same as before stays, with all that stands on it."""
    if before.unit is not None:
        if ready is not None and before.text == ready.statement.text:
            return
        await entries.show(connection, *which, None)
        await forget.one(connection, bank, before.unit, Viewer.operator(), clock.now())
    if ready is not None:
        ready = replace(ready, statement=replace(ready.statement, pinned=before.pinned))
        await entries.show(connection, *which, await ready.write(connection))
