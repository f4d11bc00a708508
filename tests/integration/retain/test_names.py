"""Names as stored: one entity for one thing, in any order, beside each other; told apart where kinds clash."""

import asyncio
import random

import pytest
from retain_world import World, forget, item

from memorybank import clock
from memorybank.ids import new_id
from memorybank.model import EntityInput
from memorybank.operations import Status
from memorybank.storage import entities
from memorybank.storage.entities import Identity
from memorybank.testing.scripted_model import ScriptedModel

NAMES = [f"Person {chr(65 + n // 6)}{chr(97 + n % 6)}" for n in range(30)]


def named(*people: str) -> ScriptedModel:
    return ScriptedModel(
        lambda text: {"facts": [{"what": text, "who": ", ".join(people), "entities": list(people)}]}
    )


async def test_sixteen_retains_of_the_same_names_in_any_order_all_end(world: World) -> None:
    def shuffled(text: str) -> object:
        names = random.Random(text).sample(NAMES, len(NAMES))
        return {"facts": [{"what": f"{text} {name}", "entities": [name, *names[:3]]} for name in names]}

    world.model = ScriptedModel(shuffled)
    submitted = [await world.submit(item(f"text {n}"), interactive=True) for n in range(16)]
    statuses = await asyncio.gather(*(world.work(one.children[0]) for one in submitted))
    assert statuses == [Status.COMPLETED] * 16
    assert await world.entity_names() == sorted(NAMES, key=str.lower)
    assert await world.count("memory_unit") == 16 * 30


async def test_three_forms_in_one_document_are_one_entity_and_new_mentions_follow(world: World) -> None:
    world.model = named("J. Okafor", "Okafor", "Jude Okafor")
    await world.keep(item("J. Okafor, that is Jude Okafor, called. Okafor was late.", document_id="a"))
    assert await world.entity_names() == ["Jude Okafor"]
    assert await world.count("unit_entity") == 1
    world.model = named("Okafor")
    await world.keep(item("Okafor sold the boat.", document_id="b"))
    assert await world.entity_names() == ["Jude Okafor"]
    assert await world.count("unit_entity") == 2


async def test_a_longer_form_in_a_later_chunk_takes_the_mentions_along(world: World) -> None:
    world.model = named("Okafor")
    await world.keep(item("Okafor called.", document_id="a"))
    world.model = named("Jude Okafor")
    await world.keep(item("It was Jude Okafor.", document_id="a", update_mode="append"))
    assert await world.entity_names() == ["Jude Okafor"]
    assert await world.count("unit_entity") == 2


async def test_an_alias_that_comes_to_mean_two_people_means_none(world: World) -> None:
    for document, first in (("a", "Jude"), ("b", "Ada")):
        world.model = named(f"{first} Okafor", "Okafor")
        await world.keep(item(f"{first} Okafor called. Okafor was late.", document_id=document))
    world.model = named("Okafor")
    await world.keep(item("Okafor sold the boat.", document_id="c"))
    assert await world.entity_names() == ["Ada Okafor", "Jude Okafor", "Okafor"]


async def test_exact_names_stay_as_they_are(world: World) -> None:
    world.model = named("Jude Okafor", "Okafor")
    await world.keep(item("Jude Okafor called. Okafor was late.", resolve_entities=False))
    assert await world.entity_names() == ["Jude Okafor", "Okafor"]


@pytest.mark.parametrize("tag", [True, False])
async def test_a_document_that_is_read_again_keeps_no_label_of_before(world: World, tag: bool) -> None:
    await world.configure(entity_labels=[{"key": "mood", "values": ["happy", "sad"], "tag": tag}])
    for mood in ("happy", "sad"):
        world.model = ScriptedModel(
            lambda text, mood=mood: {"facts": [{"what": text, "entities": ["Ana"], "labels": {"mood": mood}}]}
        )
        await world.keep(item("Ana left Graz.", document_id="a"))
        await world.reprocess("a")
        assert await world.entity_names() == ["Ana", f"mood:{mood}"]
        rows = await world.rows("SELECT tags, entity_names(id, audience_id) AS names FROM memory_unit")
        assert rows == [{"tags": [f"mood:{mood}"] if tag else [], "names": ["Ana", f"mood:{mood}"]}]


async def test_who_speaks_is_a_person(world: World) -> None:
    world.model = ScriptedModel(lambda text: {"facts": [{"what": text, "entities": ["Mira Holm", "Mira"]}]})
    await world.keep(item("Mira Holm: I baked bread.\nMira: It burned."))
    assert await world.entity_names() == ["Mira Holm"]
    await world.keep(item("Mira and Mira Holm baked bread."))
    assert await world.entity_names() == ["Mira Holm"]


async def test_one_name_for_two_kinds_is_two_entities(world: World) -> None:
    world.model = ScriptedModel(lambda text: {"facts": [{"what": text, "entities": []}]})
    for document, kind in (("a", "BOT"), ("b", "PLANET"), ("c", "PLANET"), ("d", "BOT")):
        await world.keep(
            item(f"Mercury {document}", document_id=document, entities=(EntityInput("Mercury", kind),))
        )
    rows = await world.rows(
        "SELECT e.sense, count(*) AS n FROM unit_entity ue JOIN entity e ON e.id = ue.entity GROUP BY 1 ORDER BY 1"
    )
    assert rows == [{"sense": "", "n": 2}, {"sense": "place", "n": 2}]


async def test_labels_are_names_of_their_own_and_exact(world: World) -> None:
    await world.configure(
        entity_labels=[{"key": "mood", "description": "", "type": "value", "values": [{"value": "calm"}]}]
    )
    for label in ("calm", "CALM"):
        world.model = ScriptedModel(
            lambda text, label=label: {
                "facts": [{"what": text, "entities": ["mood calm"], "labels": {"mood": label}}]
            }
        )
        await world.keep(item(f"It was {label}.", document_id=label))
    rows = await world.rows("SELECT name, is_label FROM entity ORDER BY is_label")
    assert rows == [{"name": "mood calm", "is_label": False}, {"name": "mood:calm", "is_label": True}]
    assert await world.count("entity_name") == 1


async def test_what_another_audience_knows_of_a_name_counts_for_nothing(world: World) -> None:
    world.model = named("Jude Okafor", "Okafor")
    await world.keep(item("Jude Okafor called. Okafor was late.", document_id="a"))
    world.model = named("Okafor")
    async with world.database.connection() as connection:
        cursor = await connection.execute(
            "INSERT INTO audience (bank, kind, agent) VALUES (%s, 'agent', %s) RETURNING id",
            [world.bank.id, new_id()],
        )
        world.audience = (await cursor.fetchall())[0]["id"]
    await world.keep(item("Okafor sold the boat.", document_id="b"))
    assert await world.entity_names() == ["Jude Okafor", "Okafor"]


async def test_an_entitys_id_tells_nothing_of_when_it_was_first_named(world: World) -> None:
    """Others may have named it first, and who sees it must not learn that."""
    world.model, ids = named("Robert Chen"), []
    for _ in range(2):
        await world.keep(item("Robert Chen called.", document_id="a"))
        [row] = await world.rows("SELECT id FROM entity")
        ids.append(row["id"])
        await forget(world, "a")
    assert ids[0] == ids[1]


async def test_what_a_deleted_document_taught_is_forgotten(world: World) -> None:
    world.model = named("Robert Chen", "Bob")
    await world.keep(item("Robert Chen (aka Bob) called.", document_id="a"))
    world.model = named("Robert Chen")
    await world.keep(item("Robert Chen left.", document_id="b"))
    await forget(world, "a")
    world.model = named("Bob")
    await world.keep(item("Bob came.", document_id="c"))
    assert await world.entity_names() == ["Bob", "Robert Chen"]
    for document in ("b", "c"):
        await forget(world, document)
    assert [await world.count(table) for table in ("entity", "entity_name", "unit_entity")] == [0, 0, 0]


async def test_names_are_made_and_pruned_side_by_side_without_harm(world: World) -> None:
    """An orphan sweep in a loop while retains mention the same names: no failure, no lost mention."""
    world.model = named("Ada Lovelace")
    done = asyncio.Event()

    async def sweep() -> None:
        while not done.is_set():
            async with world.database.transaction() as connection:
                rows = await (await connection.execute("SELECT id FROM entity")).fetchall()
                await entities.prune(connection, world.bank.id, [row["id"] for row in rows])

    sweeper = asyncio.create_task(sweep())
    for round_ in range(15):
        kept = await asyncio.gather(*(world.keep(item(f"Ada {n}", document_id=f"d{n}")) for n in range(3)))
        assert {one.status for one in kept} == {Status.COMPLETED}, round_
        assert await world.count("unit_entity") == await world.count("memory_unit")
        async with world.database.transaction() as connection:
            await connection.execute("DELETE FROM document")
    done.set()
    await sweeper


async def test_names_are_found_by_key_once(world: World) -> None:
    names = {Identity("ada"): "Ada", Identity("ben"): "Ben"}
    async with world.database.transaction() as connection:
        first = await entities.ensure(connection, world.bank.id, names, clock.now())
        second = await entities.ensure(
            connection, world.bank.id, {**names, Identity("ben"): "BEN"}, clock.now()
        )
        assert first == second
        assert await entities.ensure(connection, world.bank.id, {}, clock.now()) == {}
    assert await world.entity_names() == ["Ada", "Ben"]
