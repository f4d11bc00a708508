"""Names as stored: one entity for one thing, in any order, beside each other."""

import asyncio
import random

from retain_world import World, item

from memorybank import clock
from memorybank.operations import Status
from memorybank.retain.entities import PERSON
from memorybank.storage import entities
from memorybank.storage.entities import Name
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


async def test_names_are_made_and_pruned_side_by_side_without_harm(world: World) -> None:
    """An orphan sweep in a loop while retains mention the same names: no failure, no lost mention."""
    world.model = named("Ada Lovelace")
    done = asyncio.Event()

    async def sweep() -> None:
        while not done.is_set():
            async with world.database.transaction() as connection:
                known = await entities.find(connection, world.bank.id, world.audience, ["ada lovelace"])
                await entities.prune(connection, world.bank.id, [entity.id for entity in known])

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
    names = [Name("ada", "Ada", PERSON), Name("ben", "Ben")]
    async with world.database.transaction() as connection:
        first = await entities.ensure(connection, world.bank.id, names, clock.now())
        second = await entities.ensure(connection, world.bank.id, [Name("ben", "BEN"), *names], clock.now())
        assert first == second
        assert await entities.ensure(connection, world.bank.id, [], clock.now()) == {}
    assert await world.entity_names() == ["Ada", "Ben"]
