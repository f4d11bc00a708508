"""The graph in the database: hubs are read up to their cap, whatever the planner knows; links lead both ways."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from recall_world import Unit, World

from memorybank.audience import Viewer
from memorybank.ids import new_id
from memorybank.model import Bank
from memorybank.storage import queries, search
from memorybank.storage.found import Addresses, Reached, Seeds
from memorybank.storage.links import Link, add
from memorybank.storage.search import FirstTrip

#: Mentions of the hub: many times the cap, each of them in two chunks.
HUB = 3_000
#: What asks for its two newest units, but for the bank and who asks.
ASKED: dict[str, Any] = {
    "sees_all": False,
    "keys": "ana",
    "documents": [9, 9],
    "positions": [HUB, HUB - 1],
    "strengths": [0.9, 0.8],
    "known": [],
    "cap": search.MENTIONS_CAP,
    "entities": search.ENTITIES_CAP,
}


def rows_read(plan: dict[str, Any], table: str) -> Iterator[int]:
    """How many rows each scan of a table gave in all."""
    if plan.get("Relation Name") == table:
        yield round(plan["Actual Rows"] * plan["Actual Loops"])
    for part in plan.get("Plans", ()):
        yield from rows_read(part, table)


async def hub(world: World) -> dict[str, Any]:
    """A bank never analysed in which all units but one mention one name; what asks for its two newest units."""
    bank, audience = await world.bank()
    await world.document(bank, audience, ["Nobody is named here."])
    async with world.database.transaction() as connection:
        scope = {
            "bank": bank.id,
            "audience": audience,
            "ids": [new_id() for _ in range(HUB)],
            "ana": new_id(),
        }
        await connection.execute(
            "INSERT INTO entity (id, bank, key, name, created_at) VALUES (%(ana)s, %(bank)s, 'ana', 'Ana', now())",
            scope,
        )
        await connection.execute(
            "INSERT INTO memory_unit (id, bank, audience_id, document_number, position, fact_type, text, created_at,"
            " updated_at) SELECT unit, %(bank)s, %(audience)s, 9, place, 'world', 'Ana.', now(), now()"
            " FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS made (unit, place)",
            scope,
        )
        await connection.execute(
            "INSERT INTO unit_entity (unit, entity, bank, chunk) SELECT u.id, e.id, u.bank, c.id"
            " FROM memory_unit u, entity e, (SELECT id FROM chunk UNION ALL SELECT NULL) AS c"
            " WHERE u.document_number = 9",
            scope,
        )
    return ASKED | {"bank": bank.id, "audiences": [audience]}


@pytest.mark.parametrize("name", ["named", "around"])
async def test_a_hub_is_walked_from_its_newest_mention_to_the_cap(world: World, name: str) -> None:
    asked = await hub(world)
    sql = queries.load()[f"search.{name}"].sql
    async with world.database.connection() as connection:
        found = await (await connection.execute(sql, asked)).fetchall()
        explained = await (
            await connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", asked)
        ).fetchone()
    assert len(found) == 1 and explained
    assert sorted(found[0]["positions"]) == list(range(HUB - search.MENTIONS_CAP + 1, HUB + 1))
    plan = explained["QUERY PLAN"][0]["Plan"]
    assert sum(rows_read(plan, "memory_unit")) <= 3 * search.MENTIONS_CAP
    assert sum(rows_read(plan, "unit_entity")) <= 3 * search.MENTIONS_CAP


@pytest.mark.parametrize("name", ["named", "around", "linked", "units"])
async def test_a_plan_that_was_made_while_tables_were_tiny_reads_no_more_of_full_ones(
    world: World, name: str
) -> None:
    sql = queries.load()[f"search.{name}"].sql
    async with world.database.connection() as connection:
        await connection.execute("ANALYZE memory_unit, unit_entity, entity, entity_name, unit_link")
        for full in (False, True):
            asked = await hub(world) if full else ASKED | {"bank": 1, "audiences": [1]}
            async with connection.transaction():
                await queries.execute(connection, "plans.by_key", {})
                await connection.execute(sql, asked, prepare=True)
                read = await connection.execute(
                    "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) AS rows FROM pg_stat_xact_user_tables"
                    " WHERE relname IN ('memory_unit', 'unit_entity')"
                )
                assert (await read.fetchone() or {})["rows"] < HUB / 2
        plans = await connection.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE position(%s IN statement) > 0",
            [sql[:20]],
        )
        assert await plans.fetchall() == [{"generic_plans": 2, "custom_plans": 0}]


async def addresses(world: World, units: Sequence[UUID]) -> Addresses:
    """Where these units stand."""
    async with world.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT u.document_number, u.position FROM unnest(%s::uuid[]) WITH ORDINALITY AS asked (id, place)"
            " JOIN memory_unit u ON u.id = asked.id ORDER BY asked.place",
            [list(units)],
        )
        rows = await cursor.fetchall()
    return Addresses(*(np.array([row[name] for row in rows]) for name in ("document_number", "position")))


async def link(world: World, bank: Bank, *links: tuple[UUID, UUID, str]) -> None:
    async with world.database.transaction() as connection:
        await add(connection, bank.id, [Link(source, target, kind, 0.8) for source, target, kind in links])


async def reach(
    world: World, bank: Bank, audience: int, hits: Sequence[UUID], names: Sequence[str]
) -> Reached:
    """What is one hop away from these units, the first the strongest, when these names are in the question."""
    seeds = Seeds(await addresses(world, hits), np.linspace(0.9, 0.5, len(hits)))
    wanted = FirstTrip(30.0, np.zeros(384), world.recall.embedder.model, (), 16, 100, names)
    async with world.database.snapshot() as connection:
        gathered = await search.gather(connection, bank.id, Viewer((audience,)), wanted)
        return await search.reach(connection, bank.id, Viewer((audience,)), seeds, gathered)


def in_order(found: Addresses) -> list[tuple[int, int]]:
    return list(zip(found.documents.tolist(), found.positions.tolist(), strict=True))


def places(found: Addresses) -> list[tuple[int, int]]:
    return sorted(in_order(found))


async def test_hits_stand_among_the_mentions_of_a_hub_and_nothing_is_read_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MENTIONS_CAP", 2)
    bank, audience = await world.bank()
    units = await world.document(
        bank, audience, [Unit(f"Ana and Bo {number}", entities=["Ana", "Bo"]) for number in range(5)]
    )
    hidden = await world.audience(bank.id, "dm", new_id())
    await world.document(bank, hidden, [Unit("Ana hides.", entities=["Ana"])])
    whole = await addresses(world, units)
    everywhere = places(whole)
    both = await reach(world, bank, audience, units[:1], ())
    assert [places(each.addresses) for each in both.around] == 2 * [[everywhere[0], *everywhere[3:]]]
    known = await reach(world, bank, audience, units[:1], ["ana"])
    assert sorted(len(each.addresses) for each in known.around) == [1, 3]


async def test_links_are_followed_both_ways_and_one_between_two_hits_stands_once(world: World) -> None:
    bank, audience = await world.bank()
    units = await world.document(
        bank, audience, ["The dam broke.", "It rained.", "The town moved.", "Rain fell."]
    )
    hidden = await world.audience(bank.id, "dm", new_id())
    secret = await world.document(bank, hidden, ["Nobody checked the dam."])
    await link(
        world,
        bank,
        (units[0], units[1], "caused_by"),
        (units[2], units[0], "caused_by"),
        (units[0], secret[0], "caused_by"),
        (units[3], units[1], "semantic"),
    )
    found = await reach(world, bank, audience, units[:2], ())
    everywhere = places(await addresses(world, units))
    ends = {
        (links.causal, int(hit), place)
        for links in found.linked
        for hit, place in zip(links.hits, in_order(links.addresses), strict=True)
    }
    assert ends == {(True, 0, everywhere[1]), (True, 0, everywhere[2]), (False, 1, everywhere[3])}
    assert sum(len(links.addresses) for links in found.linked) == 3


@pytest.mark.parametrize("backwards", [False, True])
async def test_the_cause_and_the_effect_are_found_where_a_reason_is_asked_for(
    world: World, backwards: bool
) -> None:
    bank, audience = await world.bank()
    (hit,) = await world.document(bank, audience, ["The dam at Linz broke."])
    others = [
        (await world.document(bank, audience, [f"Shelf {number} holds maps of hills."]))[0]
        for number in range(30)
    ]
    (other,) = await world.document(bank, audience, ["Snow melted in a week."])
    ends = (other, hit) if backwards else (hit, other)
    await link(world, bank, (*ends, "caused_by"), *((hit, each, "semantic") for each in others[:10]))
    texts = await world.texts(bank, audience, "Why did the dam at Linz break?")
    assert texts[:2] == ["The dam at Linz broke.", "Snow melted in a week."]
