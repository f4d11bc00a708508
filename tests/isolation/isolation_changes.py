"""Whoever changes all that is theirs changes nothing else: what they may not see stays as it was, to the byte."""

import random

from isolation_look import Leak, Look
from isolation_making import MINUTES
from isolation_oracle import askers
from isolation_truth import TABLES, Truth, truth
from isolation_walk import walk
from isolation_world import World

#: Changes of many rows at once, the mildest first.
_BULK = (
    ("PATCH", f"/documents/{MINUTES}", {"tags": ["of-many"]}),
    ("DELETE", f"/documents/{MINUTES}", None),
    ("DELETE", "/observations", None),
    ("DELETE", "/memories", None),
)


async def change_all(look: Look, share: float) -> None:
    """Change all that is theirs in both banks; then look at what is not, and with the eyes of somebody else."""
    for bank in range(2):
        for method, path, body in _BULK:
            answer = await look.ask(method, look.world.path(bank, path), body)
            assert answer.status_code in (200, 403, 404), answer.text
    after = await truth(look.world)
    for table in TABLES:
        for bank in range(2):
            lost = _hidden(look, look.truth, table, bank) - _hidden(look, after, table, bank)
            if lost:
                raise Leak(f"{look.asker} changed {table} that they may not see: {lost}")
    await _forgotten(look.world, after)
    other = look.chance.choice([asker for asker in askers(look.world.plan) if asker != look.asker])
    await walk(Look(look.world, after, other, random.Random(look.world.plan.seed)), share)


async def _forgotten(world: World, after: Truth) -> None:
    """Expect nothing any more of what is not there."""
    left = {row.id for row in after.rows["memory_unit"]}
    world.band = {name: one for name, one in world.band.items() if "-" not in name or name in left}
    keys = {row["key"] for row in await world.site.rows("SELECT key FROM kv_entry")}
    for agent, own in world.entries.items():
        world.entries[agent] = own & keys


def _hidden(look: Look, found: Truth, table: str, bank: int) -> set[str]:
    """Return the rows of a bank that they may not see, with all their columns."""
    rows = (row for row in found.rows[table] if row.bank == bank and not look.sees(row.circle))
    return {f"{row.id} {sorted(row.about.items())}" for row in rows}
