"""Recall never crosses a wall: banks, audiences and filters; and each filter says the same in Python and in SQL."""

from datetime import UTC, datetime
from itertools import product
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from recall_world import Unit, World

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.model import Scores
from memorybank.recall.query import Include
from memorybank.storage import vector_copies
from memorybank.storage.vector_copies import Copy
from memorybank.tags import MODES, TagLeaf, parse_groups, passing

MARK = "the harbour crane"
AT, NOW = datetime(2023, 5, 3, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)


async def test_a_small_bank_gets_its_own_nearest_units(world: World) -> None:
    crowd, crowd_audience = await world.bank("crowd")
    small, audience = await world.bank("small")
    await world.document(
        crowd, crowd_audience, [f"Crane {number} stands near {MARK}." for number in range(60)]
    )
    texts = [f"Gull {number} sits on {MARK}." for number in range(7)]
    await world.document(small, audience, texts[:3])
    await world.document(small, audience, [Unit(text, tags=["rare"]) for text in texts[3:]])
    result = await world.ask(small, Viewer.operator(), f"What sits on {MARK}?")
    assert {hit.text for hit in result.hits} == set(texts)
    rare = await world.ask(small, audience, f"What sits on {MARK}?", tags=("rare",), tags_match="any_strict")
    encode = world.recall.embedder.encode  # type: ignore[union-attr]
    question = encode([f"What sits on {MARK}?"])[0]
    exact = {text: float(encode([text])[0] @ question) for text in texts[3:]}
    assert {hit.text: hit.scores.semantic for hit in rare.hits} == pytest.approx(exact, abs=2e-3)


async def test_nothing_of_another_audience_is_seen(world: World) -> None:
    bank, everybody = await world.bank()
    private = await world.audience(bank.id, "dm", uuid4())
    await world.document(bank, everybody, [Unit(f"Mara painted {MARK}.", entities=["Mara"])], "open")
    secret = Unit(f"Mara bought {MARK} with Odile.", entities=["Mara", "Odile"])
    await world.document(bank, private, [secret], "secret")
    include = Include(entities_max_tokens=500, chunks_max_tokens=500)
    seen = await world.ask(bank, everybody, f"Who bought {MARK}, Odile?", include=include, trace=True)
    told = repr((seen.hits, seen.entities, seen.chunks, seen.trace and seen.trace["retrieval_results"]))
    assert len(seen.hits) == 1 and "Odile" not in told and "bought" not in told and "secret" not in told
    assert [hit.text for hit in (await world.ask(bank, private, f"Who bought {MARK}?")).hits] == [secret.text]
    both = await world.ask(bank, Viewer((everybody, private)), f"Who bought {MARK}?", include=include)
    assert len(both.hits) == 2 and both.hits[0].text == secret.text
    assert (await world.ask(bank, Viewer(()), MARK)).hits == ()
    assert len((await world.ask(bank, Viewer.operator(), MARK)).hits) == 2


#: What is asked before and after something unseen is said: a word of both, one of the unseen alone, a name, a day.
QUESTIONS = (
    f"Who painted {MARK}?",
    "zeppelin",
    "What did Odile say?",
    "What was in May 2023?",
    "Mara and Odile",
)


@pytest.mark.parametrize("named", [(), ("Mara",)], ids=["no graph of theirs", "a graph of theirs"])
async def test_nothing_unseen_moves_an_answer(world: World, named: tuple[str, ...]) -> None:
    """Whoever can say a word, and sees its score move with what others say, knows that they say it."""
    bank, everybody = await world.bank()
    private = await world.audience(bank.id, "dm", uuid4())
    seen = [Unit(f"Mara painted {MARK} on day {day}.", AT, entities=named) for day in range(4)]
    await world.document(
        bank, everybody, [*seen, Unit("A zeppelin hums over the painted shelf.", AT)], "open"
    )

    async def told() -> list[Any]:
        include = Include(entities_max_tokens=500, chunks_max_tokens=500, source_facts_max_tokens=500)
        with clock.fixed(NOW):
            found = [
                await world.ask(bank, everybody, asked, include=include, trace=True, **more)
                for asked in QUESTIONS
                for more in ({}, {"tags": ("work",)})
            ]
        return [_timeless(vars(each)) for each in found]

    before = await told()
    for number in range(3):
        secret = f"Odile: Mara flew the zeppelin with Odile over {MARK}, {number}."
        units = [Unit(secret, AT, (AT, AT), ("Mara", "Odile", "zeppelin"), ("work",))] * 3
        facts = await world.document(bank, private, units, f"secret {number}")
        await world.observe(bank, private, f"Mara flies the zeppelin {number}.", facts)
    assert await told() == before
    mine = (await world.ask(bank, Viewer((everybody, private)), "zeppelin")).hits
    assert len(mine) > len(before[0]["hits"])


def _timeless(told: Any) -> Any:
    """Return an answer without how long it took."""
    if isinstance(told, dict):
        return {key: _timeless(value) for key, value in told.items() if "duration" not in key}
    return [_timeless(value) for value in told] if isinstance(told, list | tuple) else told


async def test_copied_vectors_show_each_viewer_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Viewer] = []
    real = Copy.distances
    monkeypatch.setattr(Copy, "distances", lambda *given: measured.append(given[2]) or real(*given))
    bank, everybody = await world.bank()
    private = await world.audience(bank.id, "dm", uuid4())
    await world.document(bank, everybody, [f"Mara painted {MARK} on day {day}." for day in range(5)], "open")
    await world.document(bank, private, ["Mara met Odile.", "Odile: The crane?", "It hums."], "secret")
    viewers = [Viewer.operator(), *map(Viewer, [(everybody,), (private,), (everybody, private), ()])]

    async def all_hits() -> list[dict[str, Scores]]:
        found = [await world.ask(bank, viewer, f"Odile, what of {MARK}?") for viewer in viewers]
        return [{hit.text: hit.scores for hit in each.hits} for each in found]

    before = await all_hits()
    assert measured == [] and [len(each) for each in before] == [8, 5, 3, 8, 0]
    monkeypatch.setattr(vector_copies, "ASKED", 1)
    await all_hits()
    if world.recall._copies._making:
        await world.recall._copies._making
    measured.clear()
    by_copy = await all_hits()
    assert measured == viewers
    for hits, same in zip(before, by_copy, strict=True):
        assert hits.keys() == same.keys()
        for text, scores in hits.items():
            assert vars(scores) == pytest.approx(vars(same[text]), abs=1e-5)
    await world.document(bank, everybody, [f"Odile moved {MARK}."], "new")
    assert [len(each) for each in await all_hits()] == [9, 6, 3, 9, 0]


async def test_only_names_of_speakers_that_the_viewer_may_see_are_taken_out(world: World) -> None:
    bank, audience = await world.bank()
    other = await world.audience(bank.id, "dm", uuid4())
    await world.document(bank, other, ["Ann: I saw a comet.", "Ann: It was green."])
    for sees, encoded in ((audience, "What did Ann see?"), (other, "What did see?")):
        trace = (await world.ask(bank, sees, "What did Ann see?", trace=True)).trace
        expected = world.recall.embedder.encode([encoded])[0]  # type: ignore[union-attr]
        assert trace and np.allclose(trace["query"]["query_embedding"], expected)


async def test_unseen_neighbours_lend_nothing(world: World) -> None:
    bank, everybody = await world.bank()
    private = await world.audience(bank.id, "dm", uuid4())
    await world.document(bank, everybody, ["Shelf one.", "Shelf two."], "d")
    before = {hit.text: hit.scores for hit in (await world.ask(bank, everybody, "zeppelin shelf")).hits}
    await world.document(bank, private, ["The zeppelin has landed."], "e")
    async with world.database.connection() as connection:
        await connection.execute(
            "UPDATE memory_unit SET document_number = (SELECT number FROM document WHERE id = 'd'),"
            " document = (SELECT number FROM document WHERE id = 'd'), position = 512 WHERE text LIKE 'The zeppelin%'"
        )
    after = (await world.ask(bank, everybody, "zeppelin shelf", trace=True)).trace
    assert after is not None
    blends = {entry["text"]: entry["rrf_score"] for entry in after["rrf_merged"]}
    assert np.isclose(blends["Shelf one."], blends["Shelf two."], atol=0.5) and set(blends) == set(before)


@pytest.mark.parametrize("mode", MODES)
async def test_tags_filter_as_the_table_says(world: World, mode: str) -> None:
    bank, audience = await world.bank()
    held = [(), ("a",), ("b",), ("a", "b"), ("a", "b", "c")]
    await world.document(
        bank, audience, [Unit(f"Cup {'+'.join(tags) or 'none'}", tags=tags) for tags in held]
    )
    for asked in ((), ("a",), ("a", "b"), ("z",)):
        leaf = TagLeaf(asked, mode)  # type: ignore[arg-type]
        passed = passing([frozenset(tags) for tags in held], leaf)
        expected = {
            f"Cup {'+'.join(tags) or 'none'}" for tags, passes in zip(held, passed, strict=True) if passes
        }
        assert set(await world.texts(bank, audience, "cup", tags=asked, tags_match=mode)) == expected


async def test_the_table_is_the_same_in_sql(world: World) -> None:
    sets = [(), ("a",), ("b",), ("a", "b"), ("a", "b", "c")]
    async with world.database.connection() as connection:
        for held, asked, mode in product(sets, sets, MODES):
            cursor = await connection.execute(
                "SELECT tags_match(%s::text[], %s::text[], %s) AS passes", [list(held), list(asked), mode]
            )
            row = await cursor.fetchone()
            expected = bool(passing([frozenset(held)], TagLeaf(asked, mode))[0])  # type: ignore[arg-type]
            assert row == {"passes": expected}, (held, asked, mode)


async def test_groups_of_tags_say_everything_but(world: World) -> None:
    bank, audience = await world.bank()
    rows = {
        "x": ["proj:x"],
        "archived": ["proj:x", "archived"],
        "ab": ["proj:x", "a", "b"],
        "other": ["a", "b"],
    }
    await world.document(bank, audience, [Unit(f"Cup {name}", tags=tags) for name, tags in rows.items()])
    groups = parse_groups(
        [
            {"tags": ["proj:x"], "match": "any_strict"},
            {"not": {"tags": ["archived"]}},
            {"or": [{"tags": ["a", "b"], "match": "all_strict"}, {"and": [{"not": {"tags": ["a"]}}]}]},
        ]
    )
    assert set(await world.texts(bank, audience, "cup", tag_groups=groups)) == {"Cup x", "Cup ab"}
