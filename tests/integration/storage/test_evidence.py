"""No observation outlives its evidence: whatever is kept, edited, tagged, moved, taken back, deleted and consolidated.

A property over random sequences of what can be done to a bank, looked at after each step.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from observation_world import AT, OPERATOR, World, broken, changing, creating, vector

from memorybank.errors import NotFound
from memorybank.ids import new_id
from memorybank.settings import Settings
from memorybank.storage import clearing, documents, forget, observing, units
from memorybank.storage.observations import Pending, Scope
from memorybank.storage.observing import Change, Decided
from memorybank.storage.pool import Database

TAGS = [(), ("a",), ("b",), ("a", "b"), ("a", "b", "c")]
#: What must hold too, where every decision says something of each of its facts.
DONE_IS_CITED = """
WITH done AS (
    SELECT p.unit, p.scope FROM consolidation_pass p JOIN memory_unit u ON u.id = p.unit WHERE u.bank = %(bank)s
    UNION
    SELECT u.id, CASE WHEN u.observation_scopes = '"shared"' THEN '{}' ELSE u.tags END FROM memory_unit u
    WHERE u.bank = %(bank)s AND u.fact_type <> 'observation' AND u.consolidated_at IS NOT NULL
      AND u.observation_scopes IS DISTINCT FROM '"per_tag"'
)
SELECT * FROM done d
WHERE NOT EXISTS (SELECT 1 FROM observation_source s JOIN memory_unit o ON o.id = s.observation
                  WHERE s.source = d.unit AND o.tags = d.scope)
"""


@dataclass
class Life:
    """A bank to which things are done at random."""

    world: World
    dice: Random
    places: Sequence[int]
    said: int = 0

    def text(self) -> str:
        self.said += 1
        return f"{self.dice.choice(['Ana', 'Theo', 'Uma'])} says {self.said}"

    async def any(self, what: str, condition: str = "true") -> Any:
        rows = await self.world.rows(
            f"SELECT {what} AS found FROM memory_unit WHERE bank = %s AND {condition} ORDER BY id",  # noqa: S608
            self.world.bank,
        )
        return self.dice.choice(rows)["found"] if rows else None

    async def keep(self) -> None:
        texts = [self.text() for _ in range(self.dice.randint(1, 4))]
        await self.world.keep(
            f"d{self.said}",
            *texts,
            tags=self.dice.choice(TAGS),
            scopes=self.dice.choice([None, None, "per_tag", "shared"]),
            audience=self.dice.choice(self.places),
        )

    async def touch(self, change: str) -> None:
        """Change a fact: from then on nothing stands on it."""
        fact = await self.any("id", "fact_type <> 'observation' AND status = 'active'")
        if fact:
            await self.world.change(change, fact)
            assert await self.world.rows("SELECT 1 FROM observation_source WHERE source = %s", fact) == []

    async def edit(self) -> None:
        await self.touch(f"text = '{self.text()}'")

    async def invalidate(self) -> None:
        await self.touch("status = 'invalidated'")

    async def move(self) -> None:
        fact = await self.any("id", "fact_type <> 'observation' AND status = 'active'")
        if fact:
            [row] = await self.world.rows("SELECT audience_id FROM memory_unit WHERE id = %s", fact)
            [other] = [place for place in self.places if place != row["audience_id"]]
            await self.world.change(f"audience_id = {other}", fact)
            assert await self.world.rows("SELECT 1 FROM observation_source WHERE source = %s", fact) == []

    async def restore(self) -> None:
        fact = await self.any("id", "status = 'invalidated'")
        if fact:
            await self.world.change("status = 'active'", fact)
            [row] = await self.world.rows("SELECT * FROM memory_unit WHERE id = %s", fact)
            said = row["text"]
            found = units.indexed(said, None, (row["document_number"], row["position"], row["fact_type"]))
            async with self.world.database.transaction() as connection:
                place = (connection, self.world.bank, row["audience_id"])
                await units.add_postings(*place, [found])
                await units.add_vectors(*place, self.world.model, [found], np.stack([vector(said)]))

    async def retag(self) -> None:
        name = await self._document()
        if name:
            async with self.world.database.transaction() as connection:
                tags = self.dice.choice(TAGS)
                await documents.set_tags(connection, self.world.bank, name, tags, OPERATOR, AT)

    async def delete_fact(self) -> None:
        fact = await self.any("id", "fact_type <> 'observation'")
        if fact:
            await self.world.delete_chunk(fact)

    async def delete_document(self) -> None:
        name = await self._document()
        if name:
            await self.world.delete_document(name)

    async def _document(self) -> str | None:
        rows = await self.world.rows(
            "SELECT id FROM document WHERE bank = %s ORDER BY number", self.world.bank
        )
        return self.dice.choice(rows)["id"] if rows else None

    async def forget(self) -> None:
        kind = self.dice.choice(["world", "experience", "observation"])
        async with self.world.database.transaction() as connection:
            await forget.clear(connection, self.world.bank, kind, OPERATOR, AT)

    async def clear(self) -> None:
        fact = await self.any("id", "fact_type <> 'observation'")
        if fact:
            async with self.world.database.transaction() as connection:
                await clearing.clear(connection, self.world.bank, OPERATOR, AT, fact)
            assert await self.world.rows("SELECT 1 FROM observation_source WHERE source = %s", fact) == []

    async def fail(self) -> None:
        lane = await self._lane()
        if lane:
            facts, scope = lane
            shelf = self.world.shelf(*scope, audience=facts[0].audience)
            async with self.world.database.transaction() as connection:
                await observing.mark_failed(connection, shelf, facts[:1], AT)

    async def recover(self) -> None:
        async with self.world.database.transaction() as connection:
            await clearing.recover(connection, self.world.bank, OPERATOR)

    async def consolidate(self) -> None:
        lane = await self._lane()
        if lane:
            facts, scope = lane
            decided = await self._decided(facts, scope)
            if self.dice.random() < 0.3:  # something happens while the model thinks
                await self.dice.choice([self.edit, self.delete_fact, self.invalidate, self.retag])()
            await self.world.consolidate(facts, decided, scope)

    async def _lane(self) -> tuple[list[Pending], Scope] | None:
        """Facts of one audience that wait in one scope."""
        lanes: dict[tuple[int, Scope], list[Pending]] = {}
        for fact in await self.world.pending():
            for scope in _scopes(fact):
                if scope not in fact.done:
                    lanes.setdefault((fact.audience, scope), []).append(fact)
        if not lanes:
            return None
        (_, scope), facts = self.dice.choice(list(lanes.items()))
        return facts[:4], scope

    async def _decided(self, facts: Sequence[Pending], scope: Scope) -> Decided:
        """Say something of each fact: new, of what stands there, or of two of these as one."""
        shelf = [facts[0].audience, list(scope)]
        rows = await self.world.rows(
            "SELECT id FROM memory_unit WHERE bank = %s AND fact_type = 'observation' AND audience_id = %s"
            " AND tags = %s::text[] ORDER BY id",
            self.world.bank,
            *shelf,
        )
        standing = [row["id"] for row in rows]
        self.dice.shuffle(standing)
        changes: list[Change] = []
        creates = []
        for fact in facts:
            doing = self.dice.random()
            if standing and doing < 0.6:
                gone = [standing.pop()] if len(standing) > 1 and doing < 0.2 else []
                text = self.text() if gone or doing < 0.4 else None
                changes.append(changing(standing.pop(), fact.id, text=text, gone=gone))
            else:
                creates.append(creating(self.text(), fact.id, *(one.id for one in facts[:1])))
        return Decided(tuple(creates), tuple(changes))

    async def check(self) -> None:
        async with self.world.database.connection() as connection:
            assert await broken(connection, self.world.bank) == []
            lost = await connection.execute(DONE_IS_CITED.encode(), {"bank": self.world.bank})
            assert await lost.fetchall() == []


def _scopes(fact: Pending) -> list[Scope]:
    if fact.scopes == "shared":
        return [()]
    return [(tag,) for tag in fact.tags] or [()] if fact.scopes == "per_tag" else [fact.tags]


#: What is done, as often as it is named.
ACTS = (
    *("keep", "keep", "keep", "consolidate", "consolidate", "consolidate", "consolidate"),
    *("edit", "invalidate", "restore", "move", "retag", "delete_fact", "delete_document"),
    *("forget", "clear", "fail", "recover"),
)


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    acts=st.lists(st.sampled_from(ACTS), min_size=10, max_size=40),
    seed=st.integers(min_value=0, max_value=2**32),
)
def test_observations_stand_on_what_is_there(
    conninfo: str, settings: Settings, acts: list[str], seed: int
) -> None:
    async def live() -> None:
        async def where() -> str:
            return conninfo

        database = Database(where, settings.database)
        await database.open()
        try:
            world = await World.made(database, str(new_id()))
            [place] = await world.rows(
                "INSERT INTO audience (bank, kind, place) VALUES (%s, 'place', gen_random_uuid()) RETURNING id",
                world.bank,
            )
            life = Life(world, Random(seed), (world.audience, place["id"]))
            await life.keep()
            for act in acts:
                await getattr(life, act)()
                await life.check()
        finally:
            await database.close()

    asyncio.run(live())


class Bystander(Life):
    """The same, beside others: what it just changed may be consolidated again before it looks."""

    async def touch(self, change: str) -> None:
        fact = await self.any("id", "fact_type <> 'observation' AND status = 'active'")
        if fact:
            await self.world.change(change, fact)

    async def clear(self) -> None:
        fact = await self.any("id", "fact_type <> 'observation'")
        if fact:
            async with self.world.database.transaction() as connection:
                with suppress(NotFound):
                    await clearing.clear(connection, self.world.bank, OPERATOR, AT, fact)


async def test_nobody_waits_in_a_circle(database: Database) -> None:
    world = await World.made(database)
    others = [
        Bystander(replace(world, said=100 * n), Random(n), (world.audience,), 1000 * n) for n in range(4)
    ]
    for other in others:
        await other.keep()

    async def change(life: Bystander) -> None:
        for _ in range(12):
            acts = ("keep", "keep", "edit", "invalidate", "retag", "delete_fact", "delete_document", "clear")
            await getattr(life, life.dice.choice(acts))()

    async def consolidate() -> None:
        life = Bystander(world, Random(9), (world.audience,), 9000)
        for _ in range(25):
            await life.consolidate()

    await asyncio.gather(consolidate(), *map(change, others))
    await others[0].check()
