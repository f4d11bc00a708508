"""What is really there, read from the tables: each row with the circle that its words were said in.

A row whose own audience is not that circle is a leak at rest, and found here.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from isolation_oracle import Circle
from isolation_site import WORD
from isolation_world import World

#: Tables whose rows belong to an audience, and the column that names such a row to callers.
TABLES = {
    "memory_unit": "t.id::text",
    "chunk": "t.id::text",
    "document": "t.id",
    "document_event": "t.id::text",
    "operation": "t.id::text",
    "mental_model": "t.id",
    "knowledge_folder": "t.id",
}


@dataclass(frozen=True)
class Row:
    """A row: what callers call it, for whom it is, and all its columns."""

    id: str
    bank: int
    circle: Circle
    about: dict[str, Any]


@dataclass
class Truth:
    """The rows of a world by table; `entities`: by bank and name, the ids and the circles of the facts that name it."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    entities: dict[tuple[int, str], list[Circle]] = field(default_factory=lambda: defaultdict(list))
    entity_names: dict[tuple[int, str], str] = field(default_factory=dict)


async def circles(world: World) -> dict[int, Circle]:
    """Return the circle that each audience of a world stands for."""
    known: dict[Any, int] = {}
    for kind, count in (
        ("organization", world.plan.organizations),
        ("person", len(world.plan.people)),
        ("agent", len(world.plan.agents)),
        ("place", len(world.plan.places)),
    ):
        known |= {world.uuid(kind, number): number for number in range(count)}
    people = {world.uuid("person", number) for number in range(len(world.plan.people))}
    found = {}
    for row in await world.site.rows(
        "SELECT a.*, b.bank_id FROM audience a JOIN bank b ON b.id = a.bank WHERE b.bank_id = ANY(%s)",
        world.banks,
    ):
        subject = person = None
        if row["kind"] == "subject":
            subject = ("person" if row["person"] in people else "agent", known[row["person"]])
        elif row["person"] is not None:
            person = known[row["person"]]
        found[row["id"]] = Circle(
            row["kind"],
            world.banks.index(row["bank_id"]),
            agent=known.get(row["agent"]),
            organization=known.get(row["organization"]),
            subject=subject,
            person=person,
            place=known.get(row["place"]),
        )
    return found


async def truth(world: World) -> Truth:
    """Read what a world holds, and check that nothing stands in a circle where it was not said."""
    found, of = Truth(), await circles(world)
    for table, name in TABLES.items():
        rows = await world.site.rows(
            f"SELECT {name} AS called, b.bank_id, to_jsonb(t) AS about FROM {table} t JOIN bank b ON b.id = t.bank"  # noqa: S608
            " WHERE b.bank_id = ANY(%s)",
            world.banks,
        )
        for row in rows:
            circle = of[row["about"]["audience_id"]]
            for word in WORD.findall(repr(row["about"]).encode()):
                said_in = world.secrets.get(word.decode().lower())
                assert said_in == circle, f"{table} {row['called']} of {circle} holds {word!r} of {said_in}"
            found.rows[table].append(Row(row["called"], circle.bank, circle, row["about"]))
            if row["about"].get("kind") == "consolidation":
                # A bank has one run for all circles; the history of a document names the run that learned from it.
                circle = Circle("knows", circle.bank)
            if table not in ("document", "mental_model"):
                world.secrets[row["called"]] = circle
    for row in await world.site.rows(
        "SELECT d.id, b.bank_id FROM directive d JOIN bank b ON b.id = d.bank WHERE b.bank_id = ANY(%s)",
        world.banks,
    ):
        bank = world.banks.index(row["bank_id"])
        found.rows["directive"].append(Row(str(row["id"]), bank, Circle("uses", bank), {}))
    for row in await world.site.rows(
        "SELECT DISTINCT b.bank_id, e.id, e.name, u.id AS unit, u.audience_id FROM unit_entity ue"
        " JOIN entity e ON e.id = ue.entity JOIN memory_unit u ON u.id = ue.unit JOIN bank b ON b.id = u.bank"
        " WHERE b.bank_id = ANY(%s) AND u.status = 'active' AND u.fact_type <> 'observation'",
        world.banks,
    ):
        key = (world.banks.index(row["bank_id"]), str(row["id"]))
        found.entities[key].append(of[row["audience_id"]])
        found.entity_names[key] = row["name"]
    return found
