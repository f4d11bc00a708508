"""A document of two facts that people change, and ways to look at what became of them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from retain_world import AT, World, item

from memorybank.indexing import index_terms
from memorybank.model import UnitStatus
from memorybank.storage.found import OBSERVED
from memorybank.testing.scripted_model import ScriptedModel

#: Years after anything is retained.
LATER = AT + timedelta(days=9_000)
OUT, BACK = UnitStatus.INVALIDATED, UnitStatus.ACTIVE
GRAZ, LINZ, WELS = "Ana lives in Graz.", "Ana lives in Linz.", "Ana lives in Wels."
SHELF = "Ben owns a shelf."
NAMES = ("Ana", "Ben", "Graz", "Linz", "Wels")


def said(line: str) -> dict[str, Any]:
    return {"what": line, "entities": [name for name in NAMES if name in line]}


def reader(wording: Callable[[str], str] = str) -> ScriptedModel:
    """A model for which each line is a fact, in its own wording."""
    return ScriptedModel(lambda content: {"facts": [said(wording(line)) for line in content.splitlines()]})


async def told(world: World) -> World:
    """Keep a document with two facts in one chunk."""
    world.model = reader()
    await world.keep(item(f"{GRAZ}\n{SHELF}", document_id="d", context="mail", tags=("home",)))
    return world


async def fact(world: World, text: str) -> dict[str, Any]:
    [row] = await world.rows(
        "SELECT u.*, entity_names(id, audience_id) AS names FROM memory_unit u WHERE text = %s", text
    )
    return row


async def id_of(world: World, text: str) -> UUID:
    return (await fact(world, text))["id"]


async def standing(world: World) -> dict[str, str]:
    """Each fact with its state."""
    rows = await world.rows("SELECT text, status FROM memory_unit WHERE fact_type <> 'observation'")
    return {row["text"]: row["status"] for row in rows}


async def found_by(world: World, word: str) -> list[str]:
    """The facts that have a posting for a word and a vector."""
    [term] = index_terms(word)
    rows = await world.rows(
        "SELECT u.text FROM memory_unit u JOIN posting p ON p.bank = u.bank AND p.document = u.document_number"
        " AND p.position = u.position JOIN embedding e ON e.bank = u.bank AND e.document = u.document_number"
        " AND e.position = u.position WHERE p.term = %s ORDER BY u.text",
        term,
    )
    return [row["text"] for row in rows]


async def observe(world: World, text: str) -> UUID:
    """Let an observation stand on a fact."""
    observation = uuid4()
    async with world.database.transaction() as connection:
        for sql in (
            "INSERT INTO memory_unit (id, bank, audience_id, document_number, position, fact_type, text, created_at,"
            " updated_at) SELECT %(id)s, bank, audience_id, nextval('document_number'), %(place)s, 'observation',"
            " 'Observed: ' || text, now(), now() FROM memory_unit WHERE text = %(text)s",
            "INSERT INTO observation_source (observation, source, bank, audience_id)"
            " SELECT %(id)s, id, bank, audience_id FROM memory_unit WHERE text = %(text)s",
            "INSERT INTO unit_entity (unit, entity, bank) SELECT DISTINCT %(id)s::uuid, ue.entity, ue.bank"
            " FROM unit_entity ue JOIN memory_unit u ON u.id = ue.unit WHERE u.text = %(text)s",
            "UPDATE memory_unit SET consolidated_at = now() WHERE text = %(text)s",
        ):
            await connection.execute(sql, {"id": observation, "text": text, "place": OBSERVED})
    return observation
