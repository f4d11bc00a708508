"""What consolidation stores: observations with all that makes them units, and nothing twice, late or half."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from observation_world import AT, OPERATOR, World, broken, changing, creating, vector

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.ids import new_id
from memorybank.storage import banks, clearing, entities, forget, observations, observing
from memorybank.storage.entities import Identity, Known, Said
from memorybank.storage.observations import Wait
from memorybank.storage.observing import FACT_CHANGED, OBSERVATION_GONE, Decided
from memorybank.storage.pool import Database

NOBODY = Viewer(())


@pytest.fixture
async def world(database: Database) -> Any:
    world = await World.made(database)
    yield world
    async with database.connection() as connection:
        assert await broken(connection, world.bank) == []


async def test_an_observation_is_a_unit_with_the_dates_and_number_of_its_facts(world: World) -> None:
    facts = await world.keep("d", "Ana runs", "Ana runs daily", tags=["b", "a"])
    await world.observe("Ana is a runner", facts)
    [row] = await world.rows("SELECT * FROM memory_unit WHERE fact_type = 'observation'")
    assert (row["text"], row["tags"], row["proof_count"]) == ("Ana is a runner", ["a", "b"], 2)
    assert (row["kept_by_kind"], row["document"], row["chunk"]) == ("consolidation", None, None)
    days = AT + timedelta(days=1), AT + timedelta(days=2), AT + timedelta(days=2)
    assert (row["occurred_start"], row["occurred_end"], row["mentioned_at"]) == days
    assert await world.pending() == []
    [told] = await world.rows("SELECT * FROM document_event")
    assert (told["kind"], told["operation"]) == ("consolidation", world.operation)


async def test_times_that_contradict_each_other_leave_an_observation_without_an_end(world: World) -> None:
    facts = await world.keep("d", "Ana moved", "Ana rented")
    await world.run("UPDATE memory_unit SET occurred_end = NULL WHERE id = %s", facts[1])
    await world.run(
        "UPDATE memory_unit SET occurred_start = NULL, occurred_end = %s WHERE id = %s", AT, facts[0]
    )
    await world.observe("Ana lives there", facts)
    rows = await world.rows("SELECT * FROM memory_unit WHERE fact_type = 'observation'")
    assert (rows[0]["occurred_start"], rows[0]["occurred_end"]) == (AT + timedelta(days=2), None)
    await world.run(
        "DELETE FROM memory_unit WHERE fact_type = 'observation'"
    )  # the world's rule is for others


async def test_it_names_what_its_facts_name_by_the_same_keys(world: World) -> None:
    facts = await world.keep("d", "Ana runs", "Annie runs")
    ana = Identity("ana")
    async with world.database.transaction() as connection:
        ids = await entities.ensure(connection, world.bank, {ana: "Ana"}, AT)
        chunk_of = {row["id"]: row["chunk"] for row in await world.rows("SELECT id, chunk FROM memory_unit")}
        said = [
            Said(fact, chunk_of[fact], key, ana, ana)
            for fact, key in zip(facts, ("ana", "annie"), strict=True)
        ]
        await entities.mention(connection, world.bank, said, ids)
        known = [Known("ana", "own", ana, "Ana", ""), Known("annie", "alias", ana, "Annie", "")]
        await entities.learn(connection, world.bank, world.audience, known, ids)
    observation = await world.observe("Ana runs", facts)
    [row] = await world.rows("SELECT * FROM unit_entity WHERE unit = %s", observation)
    assert (sorted(row["keys"]), row["via"]) == (["ana", "annie"], [ids[ana]] * 2)
    await world.delete_document("d")
    assert await world.rows("SELECT 1 FROM entity_name UNION ALL SELECT 1 FROM entity") == []


async def test_a_changed_text_is_searched_and_the_one_before_is_its_history(world: World) -> None:
    facts = await world.keep("d", "Theo lives in Graz", "Theo moved to Linz", "Theo likes Linz")
    observation = await world.observe("Theo lives in Graz", facts[:1])
    [newer, _] = await world.pending()
    change = changing(observation, newer.id, text="Theo lives in Linz, before in Graz")
    applied = await world.consolidate([newer], Decided(changes=(change,)))
    assert (applied.updated, applied.done) == (1, {newer.id})
    await world.consolidate(await world.pending(), Decided(changes=(changing(observation, facts[2]),)))
    [row] = await world.rows(
        "SELECT u.text, u.proof_count, e.text_hash FROM memory_unit u"
        " JOIN embedding e ON e.document = u.document_number WHERE u.id = %s",
        observation,
    )
    assert (row["text"], row["proof_count"]) == ("Theo lives in Linz, before in Graz", 3)
    terms = await world.rows(
        "SELECT sum(p.tf) AS n FROM posting p JOIN memory_unit u ON u.document_number = p.document WHERE u.id = %s",
        observation,
    )
    assert terms[0]["n"] > 3
    async with world.database.connection() as connection:
        [before] = await observations.versions(connection, observation, OPERATOR)
        assert await observations.versions(connection, observation, NOBODY) == []
        sources = await observations.sources(connection, observation, OPERATOR)
    assert (before["text"], before["reason"], before["version"]) == ("Theo lives in Graz", "newer", 1)
    # The last one joined without a change of the text.
    assert [(row["text"], row["version"]) for row in sources] == [
        ("Theo likes Linz", 1), ("Theo moved to Linz", 1), ("Theo lives in Graz", 0),
    ]  # fmt: skip


async def test_only_the_last_fifty_states_are_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "VERSIONS", 3)
    facts = await world.keep("d", *(f"fact {n}" for n in range(6)))
    observation = await world.observe("said 0", facts[:1])
    for number, fact in enumerate(await world.pending(), 1):
        change = changing(observation, fact.id, text=f"said {number}")
        await world.consolidate([fact], Decided(changes=(change,)))
    async with world.database.connection() as connection:
        kept = await observations.versions(connection, observation, OPERATOR)
    assert [row["text"] for row in kept] == ["said 4", "said 3", "said 2"]


async def test_merged_ones_hand_over_what_they_stand_on_each_once(world: World) -> None:
    facts = await world.keep("d", "one", "two", "three")
    first = await world.observe("first", facts[:2])
    await world.run("UPDATE memory_unit SET consolidated_at = NULL")
    second = await world.observe("second", facts[1:])
    await world.run("UPDATE memory_unit SET consolidated_at = NULL")
    waiting = await world.pending()
    both = changing(first, facts[2], text="both", gone=[second])
    applied = await world.consolidate(waiting, Decided(changes=(both,)))
    assert (applied.updated, applied.deleted) == (1, 1)
    rows = await world.rows("SELECT text, proof_count FROM memory_unit WHERE fact_type = 'observation'")
    assert rows == [{"text": "both", "proof_count": 3}]
    assert await world.pending() == [], "what was merged takes nothing back"


async def test_what_is_written_twice_is_written_once(world: World) -> None:
    facts = await world.keep("d", "one", "two")
    waiting = await world.pending()
    decided = Decided(creates=(creating("said", *facts),))
    await world.consolidate(waiting, decided)
    again = await world.consolidate(waiting, decided)
    assert (again.created, again.done, again.skipped) == (0, frozenset(), {FACT_CHANGED: 1})


@pytest.mark.parametrize(
    "change",
    [
        "text = 'another'", "context = 'another'", "tags = '{x}'", "status = 'invalidated'", "fact_type = 'experience'",
        "occurred_start = NULL, occurred_end = NULL", "mentioned_at = now()", "observation_scopes = '\"shared\"'",
    ],
)  # fmt: skip
async def test_what_was_decided_on_a_fact_that_changed_is_not_written(world: World, change: str) -> None:
    facts = await world.keep("d", "one", "two", "three")
    waiting = await world.pending()
    await world.change(change, facts[0])
    creates = (creating("of the changed", *facts[:2]), creating("of the other", facts[2]))
    applied = await world.consolidate(waiting, Decided(creates=creates))
    assert (applied.created, applied.skipped) == (1, {FACT_CHANGED: 1})
    assert applied.done == {facts[2]}, "the second fact waits on, with what it was to say"


@pytest.mark.parametrize("change", ["pinned_at = now()", 'metadata = \'{"k": "v"}\''])
async def test_what_consolidation_does_not_read_may_change(world: World, change: str) -> None:
    facts = await world.keep("d", "one")
    waiting = await world.pending()
    await world.change(change, facts[0])
    applied = await world.consolidate(waiting, Decided(creates=(creating("said", *facts),)))
    assert applied.done == set(facts)
    await world.change(change, facts[0])
    assert await world.pending() == []


async def test_a_change_of_an_observation_that_is_gone_is_not_written(world: World) -> None:
    facts = await world.keep("d", "one", "two", "three")
    first, second = await world.observe("first", facts[:1]), await world.observe("second", facts[1:2])
    waiting = [fact for fact in await world.pending() if fact.id == facts[2]]
    await world.change("text = 'another'", facts[1])
    for change in (changing(second, facts[2]), changing(first, facts[2], text="both", gone=[second])):
        applied = await world.consolidate(waiting, Decided(changes=(change,)))
        assert (applied.updated, applied.done, applied.skipped) == (0, frozenset(), {OBSERVATION_GONE: 1})


async def test_what_loses_a_source_goes_and_its_other_sources_wait_again(world: World) -> None:
    facts = await world.keep("d", "one", "two", "three", "four")
    await world.observe("of two", facts[:2])
    await world.observe("of others", facts[2:])
    await world.delete_chunk(facts[0])
    assert [fact.id for fact in await world.pending()] == [facts[1]]
    rows = await world.rows("SELECT text FROM memory_unit WHERE fact_type = 'observation'")
    assert rows == [{"text": "of others"}]


async def test_a_fact_of_several_scopes_is_done_with_the_last(world: World) -> None:
    facts = await world.keep("d", "one", tags=["a", "b"], scopes="per_tag")
    waiting = await world.pending()
    await world.consolidate(waiting, Decided(creates=(creating("for a", *facts),)), ("a",))
    [still] = await world.pending()
    assert still.done == {("a",)}
    assert (await world.consolidate(waiting, Decided(), ("a",))).done == frozenset(), "done in that scope"
    await world.consolidate([still], Decided(creates=(creating("for b", *facts),)), ("b",))
    assert await world.pending() == []
    async with world.database.connection() as connection:
        assert await observations.scopes(connection, world.bank, OPERATOR) == {("a",): 1, ("b",): 1}
        assert await observations.scopes(connection, world.bank, NOBODY) == {}


async def test_only_the_scope_of_what_fell_is_done_again(world: World) -> None:
    facts = await world.keep("d", "one", tags=["a", "b"], scopes="per_tag")
    [other] = await world.keep("e", "two", tags=["a"], scopes="per_tag")
    await world.observe("for a", [*facts, other], ("a",))
    await world.observe("for b", facts, ("b",))
    assert await world.pending() == []
    await world.change("text = 'another'", other)
    waiting = {fact.id: fact.done for fact in await world.pending()}
    assert waiting == {facts[0]: {("b",)}, other: frozenset()}


@pytest.mark.parametrize(
    ("tags", "form", "asked", "waits"),
    [
        (["a", "b"], None, ("a", "b"), True),
        (["a", "b"], "combined", ("a",), False),
        (["a", "b"], "per_tag", ("b",), True),
        (["a", "b"], "per_tag", ("a", "b"), False),
        ([], "per_tag", (), True),
        (["a", "b"], "shared", (), True),
        (["a", "b"], "shared", ("a",), False),
        (["a", "b"], "all_combinations", ("a", "b"), True),
        (["a", "b"], "all_combinations", ("b",), True),
        (["a", "b"], "all_combinations", (), False),
        ([], "all_combinations", (), True),
        (["a", "b"], [["b", "c"], []], ("b", "c"), True),
        (["a", "b"], [["b", "c"], []], (), True),
        (["a", "b"], [["b", "c"]], ("a", "b"), False),
    ],
)
async def test_a_run_over_scopes_takes_the_facts_that_have_them(
    world: World, tags: list[str], form: Any, asked: tuple[str, ...], waits: bool
) -> None:
    await world.keep("d", "one", tags=tags, scopes=form)
    assert bool(await world.pending(scopes=[asked])) is waits
    assert bool(await world.pending(scopes=[("z",), asked])) is waits
    assert await world.pending(scopes=[]) == []


async def test_facts_that_few_may_see_wait_for_a_fuller_batch_or_their_time(world: World) -> None:
    place = (
        await world.rows(
            "INSERT INTO audience (bank, kind, place) VALUES (%s, 'place', gen_random_uuid()) RETURNING id",
            world.bank,
        )
    )[0]["id"]
    await world.keep("d", "one", "two", audience=place)
    await world.keep("e", "three", tags=["a"], audience=place)
    await world.keep("f", "four")
    later = (clock.now() - AT).total_seconds() + 60

    async def texts(wait: Wait) -> list[str]:
        return [fact.text for fact in await world.pending(wait=wait)]

    assert await texts(Wait(batch=3, seconds=later)) == ["four"]
    assert await texts(Wait(batch=2, seconds=later)) == ["one", "two", "four"]
    assert await texts(Wait(batch=3, seconds=0)) == ["one", "two", "three", "four"]


@pytest.mark.parametrize(("rare", "named"), [(3, True), (2, False)])
async def test_what_shares_a_name_that_few_have_is_shown_beside_the_nearest(
    world: World, monkeypatch: pytest.MonkeyPatch, rare: int, named: bool
) -> None:
    monkeypatch.setattr(observations, "RARE", rare)
    texts = ["Ana sleeps", *(f"boat {n}" for n in range(5))]
    *facts, asked = await world.keep("d", *texts, "Ana wakes")
    await mention(world, "ana", facts[0], asked)
    for fact, said in zip(facts, texts, strict=True):
        await world.observe(said, [fact])
    async with world.database.connection() as connection:
        shown = await observations.candidates(connection, world.shelf(), [asked], 2)
    nearest = sorted(texts, key=lambda said: -float(vector(said) @ vector("Ana wakes")))
    assert "Ana sleeps" not in nearest[:2]
    assert {one.text for one in shown} == {nearest[0], "Ana sleeps" if named else nearest[1]}


async def mention(world: World, key: str, *facts: Any) -> None:
    """Let facts name an entity."""
    named = Identity(key)
    chunk_of = {row["id"]: row["chunk"] for row in await world.rows("SELECT id, chunk FROM memory_unit")}
    async with world.database.transaction() as connection:
        ids = await entities.ensure(connection, world.bank, {named: key}, AT)
        said = [Said(fact, chunk_of[fact], key, named, named) for fact in facts]
        await entities.mention(connection, world.bank, said, ids)


async def test_each_fact_is_shown_what_is_nearest_to_it_inside_its_walls(world: World) -> None:
    facts = await world.keep("d", *(f"thing {n}" for n in range(8)))
    for number in range(6):
        await world.observe(f"thing {number}", facts[number : number + 1])
    tagged = await world.keep("e", "tagged", tags=["a"])
    await world.observe("thing 6", tagged)
    async with world.database.connection() as connection:
        shelf = world.shelf()
        shown = await observations.candidates(connection, shelf, [facts[1], facts[4]], 4)
        assert {one.text for one in shown[:2]} == {"thing 1", "thing 4"}
        assert len(shown) <= 4
        assert shown[0].nearness > 0.99
        assert [source.id for source in shown[0].sources] == [facts[int(shown[0].text[-1])]]
        assert await observations.candidates(connection, shelf, [], 4) == []
        other = replace(shelf, audience=shelf.audience + 1)
        assert await observations.candidates(connection, other, facts, 4) == []
        assert await observations.count(connection, shelf) == 6
        assert await observations.count(connection, world.shelf("a")) == 1
        asked = np.stack([vector("new"), vector("thing 3")])
        [twin] = await observations.twins(connection, shelf, asked, 0.97)
        assert (twin.place, twin.text) == (1, "thing 3")
        assert await observations.twins(connection, shelf, asked[:0], 0.97) == []


async def test_facts_without_an_answer_wait_until_somebody_asks(world: World) -> None:
    facts = await world.keep("d", "one", "two")
    waiting = await world.pending()
    await world.change("text = 'another'", facts[1])
    async with world.database.transaction() as connection:
        assert await observing.mark_failed(connection, world.shelf(), waiting, AT) == {facts[0]}
    assert [fact.id for fact in await world.pending()] == [facts[1]]
    async with world.database.transaction() as connection:
        assert await clearing.recover(connection, world.bank, NOBODY) == 0
        assert await clearing.recover(connection, world.bank, OPERATOR) == 1
    assert len(await world.pending()) == 2


async def test_clearing_lets_every_fact_wait_again(world: World) -> None:
    facts = await world.keep("d", "one", "two", tags=["a", "b"], scopes="per_tag")
    await world.observe("for a", facts[:1], ("a",))
    await world.observe("for b", facts[:1], ("b",))
    async with world.database.transaction() as connection:
        assert await clearing.clear(connection, world.bank, NOBODY, AT) == 0
        assert await forget.clear(connection, world.bank, "observation", OPERATOR, AT) == 2
    assert [fact.done for fact in await world.pending()] == [frozenset(), frozenset()]
    kinds = await world.rows("SELECT kind FROM document_event ORDER BY id")
    assert [row["kind"] for row in kinds] == ["consolidation", "observations_cleared"]


async def test_clearing_what_stands_on_one_fact_leaves_the_rest(world: World) -> None:
    facts = await world.keep("d", "one", "two", "three")
    await world.observe("of two", facts[:2])
    await world.observe("of one", facts[2:])
    async with world.database.transaction() as connection:
        with pytest.raises(NotFound):
            await clearing.clear(connection, world.bank, NOBODY, AT, facts[0])
        with pytest.raises(NotFound):
            await clearing.clear(connection, world.bank, OPERATOR, AT, new_id())
        assert await clearing.clear(connection, world.bank, OPERATOR, AT, facts[0]) == 1
    assert [fact.id for fact in await world.pending()] == facts[:2]


async def test_a_bank_goes_with_its_observations(world: World) -> None:
    await world.observe("of two", await world.keep("d", "one", "two"))
    async with world.database.transaction() as connection:
        assert (await banks.delete(connection, "b")).units == 3
    for table in ("memory_unit", "observation_source", "posting", "embedding"):
        assert await world.rows(f"SELECT 1 FROM {table}") == []  # noqa: S608
