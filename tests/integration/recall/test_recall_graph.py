"""The graph in the database: hubs are read up to their cap and cost no more, whatever the planner knows."""

from collections.abc import Iterator
from typing import Any

import pytest
from recall_world import World

from memorybank.ids import new_id
from memorybank.storage import queries, search

#: Mentions of the hub: many times the cap, each of them in two chunks.
HUB = 3_000


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
    newest = {"documents": [9, 9], "positions": [HUB, HUB - 1], "strengths": [0.9, 0.8]}
    caps = {"cap": search.MENTIONS_CAP, "entities": search.ENTITIES_CAP}
    return {"bank": bank.id, "sees_all": False, "audiences": [audience], "keys": "ana", **newest, **caps}


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
