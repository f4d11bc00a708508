"""A fact that is said again: one fact, counted by the chunks that say it, and kept as long as one of them is left."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from retain_world import AT, World, item, lines

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.model import EntityInput, Fact
from memorybank.operations import Status
from memorybank.retain.stage import Retain
from memorybank.retain.work import ChunkWork, Extraction
from memorybank.storage import documents, forget, listings
from memorybank.storage.listings import MemoryFilter, Page, TagFilter
from memorybank.text.guards import same_key

FLORIST = "The spare key is with the florist."
POOL = [FLORIST, *(f"Ada counted {number} herons at the weir." for number in range(9))]
OPERATOR = Viewer.operator()
ALL = Page(limit=1000)


class Lines:
    """Each line of a chunk is a fact, and its first word a name."""

    async def extract(self, works: Sequence[ChunkWork]) -> Sequence[Extraction]:
        return [
            Extraction(
                tuple(
                    Fact(line, entities=(EntityInput(line.split()[0]),))
                    for line in work.text.splitlines()
                    if line.strip()
                )
            )
            for work in works
        ]


@pytest.fixture
async def said(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    await world.configure(retain_chunk_size=100)
    stage = Retain(world.database, world.embedder, lambda _: Lines(), world.settings)
    monkeypatch.setattr(World, "retain", stage)
    return world


async def facts(world: World) -> list[dict[str, Any]]:
    return await world.rows(
        "SELECT u.id, u.text, u.proof_count, d.id AS document, u.mentioned_at, u.context, u.tags FROM memory_unit u"
        " JOIN document d ON d.number = u.document ORDER BY u.id"
    )


async def delete(world: World, document_id: str) -> int | None:
    async with world.database.transaction() as connection:
        return await documents.delete(connection, world.bank.id, document_id, OPERATOR)


@pytest.mark.parametrize("first", ["a", "b"])
async def test_a_fact_of_two_documents_is_one_and_stays_until_both_are_gone(said: World, first: str) -> None:
    for document in ("a", "b"):
        await said.keep(item(FLORIST.lower() if document == "b" else FLORIST, document_id=document))
    [fact] = await facts(said)
    assert (fact["document"], fact["proof_count"]) == ("a", 2)
    assert await delete(said, first) == 0, "nothing went"
    [left] = await facts(said)
    assert (left["id"], left["proof_count"]) == (fact["id"], 1)
    assert left["document"] == {"a": "b", "b": "a"}[first]
    await said.consistent()
    assert await delete(said, str(left["document"])) == 1
    for table in ("memory_unit", "unit_mention", "posting", "embedding", "entity", "unit_entity"):
        assert await said.count(table) == 0, table


async def test_the_oldest_mention_is_the_next_home(said: World) -> None:
    for days, document in enumerate(("a", "c", "b")):
        when = AT + timedelta(days=[0, 9, 4][days])
        await said.keep(item(FLORIST, document_id=document, timestamp=when, context=f"in {document}"))
    await delete(said, "a")
    [fact] = await facts(said)
    assert (fact["document"], fact["context"], fact["proof_count"]) == ("b", "in b", 2)
    assert fact["mentioned_at"] == AT + timedelta(days=4)


async def test_what_is_sent_again_or_stands_in_one_chunk_twice_does_not_count(said: World) -> None:
    for _ in range(3):
        await said.keep(item(lines(FLORIST, "Ben knows.", FLORIST), document_id="a"))
    assert [(fact["text"], fact["proof_count"]) for fact in await facts(said)] == [
        (FLORIST, 1),
        ("Ben knows.", 1),
    ]


async def test_chunks_of_one_document_and_documents_of_one_batch_count(said: World) -> None:
    filler = [f"Ben filed letter number {number} under the letter of its sender." for number in range(3)]
    record = await said.keep(
        item(lines(FLORIST, *filler, FLORIST), document_id="a"), item(FLORIST, document_id="b")
    )
    assert {fact["text"]: fact["proof_count"] for fact in await facts(said)} == {
        FLORIST: 3, **dict.fromkeys(filler, 1),
    }  # fmt: skip
    assert record.result["unit_ids_count"] == 6, "what was kept counts, known or not"


@pytest.mark.parametrize(
    "other",
    [{"tags": ("x",)}, {"metadata": {"k": "v"}}, {"observation_scopes": "shared"}],
    ids=lambda other: next(iter(other)),
)
async def test_the_same_text_with_other_labels_is_another_fact(said: World, other: dict[str, Any]) -> None:
    await said.keep(item(FLORIST, document_id="a"), item(FLORIST, document_id="b", **other))
    assert [fact["proof_count"] for fact in await facts(said)] == [1, 1]


async def test_names_add_up(said: World) -> None:
    await said.keep(item(FLORIST, document_id="a", entities=(EntityInput("Ada"),)))
    await said.keep(item(FLORIST, document_id="b", entities=(EntityInput("Ada"), EntityInput("Ben"))))
    rows = await said.rows(
        "SELECT DISTINCT e.name FROM unit_entity ue JOIN entity e ON e.id = ue.entity ORDER BY e.name"
    )
    assert [row["name"] for row in rows] == ["Ada", "Ben", "The"]


async def test_what_only_a_deleted_document_named_goes_with_it(said: World) -> None:
    for number in range(6):
        names = (EntityInput(f"Name{number} Xylo"), EntityInput("Ada"))
        await said.keep(item(FLORIST, document_id=f"k{number}", entities=names))
    for gone, left in (("k1", "02345"), ("k0", "2345"), ("k5", "234"), ("k3", "24")):
        await delete(said, gone)
        names = [*("Ada", "The"), *(f"Name{number} Xylo" for number in left)]
        [fact] = await said.rows("SELECT entity_names(id, audience_id) AS names FROM memory_unit")
        assert set(fact["names"]) == set(await said.entity_names()) == set(names)


async def test_names_of_a_document_that_is_sent_again_are_those_it_has_now(said: World) -> None:
    for name in ("Wrong Person", "Right Person"):
        await said.keep(item("Ana left Graz.", document_id="a", entities=(EntityInput(name),)))
        await said.reprocess("a")
        assert await said.entity_names() == ["Ana", name]


async def test_a_part_keeps_only_the_names_of_its_chunks(said: World) -> None:
    for document in "abc":
        await said.keep(item(FLORIST, document_id=document, entities=(EntityInput(f"Of {document}"),)))
    async with said.database.transaction() as connection:
        assert await documents.set_tags(connection, said.bank.id, "a", ["final"], OPERATOR, clock.now())
    rows = await said.rows(
        "SELECT tags, entity_names(id, audience_id) AS names FROM memory_unit ORDER BY tags"
    )
    assert [row["names"] for row in rows] == [["Of b", "Of c", "The"], ["Of a", "The"]]


async def test_other_tags_of_a_document_part_it_from_what_others_say(said: World) -> None:
    for document in ("a", "b", "c"):
        await said.keep(item(FLORIST, document_id=document, tags=("draft",)))
    async with said.database.transaction() as connection:
        assert await documents.set_tags(connection, said.bank.id, "a", ["final"], OPERATOR, clock.now())
    held = {(fact["document"], *fact["tags"]): fact["proof_count"] for fact in await facts(said)}
    assert held == {("b", "draft"): 2, ("a", "final"): 1}
    await said.consistent()
    assert await said.count("unit_entity") == 3, "one of each chunk"
    await said.keep(item(FLORIST, document_id="c", tags=("late",)))
    assert sorted(tuple(fact["tags"]) for fact in await facts(said)) == [("draft",), ("final",), ("late",)]
    await said.consistent()


async def test_another_context_alone_parts_nothing(said: World) -> None:
    for document, context in (("a", "first"), ("b", "second"), ("b", "third")):
        await said.keep(item(FLORIST, document_id=document, context=context))
    [fact] = await facts(said)
    assert (fact["context"], fact["proof_count"]) == ("first", 2)
    await delete(said, "a")
    [fact] = await facts(said)
    assert fact["context"] == "third"


async def test_two_that_say_the_same_at_once_make_one_fact(said: World) -> None:
    submitted = [
        await said.submit(item(lines(*POOL), document_id=document), interactive=True) for document in "abcdef"
    ]
    done = await asyncio.gather(*(said.work(one.children[0]) for one in submitted))
    assert set(done) == {Status.COMPLETED}
    assert Counter(fact["text"] for fact in await facts(said)) == Counter(POOL)
    assert {fact["proof_count"] for fact in await facts(said)} == {6}


async def test_writers_and_deleters_of_the_same_facts_never_wait_in_a_circle(said: World) -> None:
    chance = random.Random(5)

    async def write(name: str) -> None:
        for _ in range(6):
            text = lines(*chance.sample(POOL, 6))
            [operation] = (await said.submit(item(text, document_id=name), interactive=True)).children
            assert await said.work(operation) is Status.COMPLETED

    async def forget_some() -> None:
        for _ in range(12):
            await delete(said, chance.choice("abcd"))
            await asyncio.sleep(0.02)

    await asyncio.gather(*map(write, "abcd"), forget_some())
    await said.consistent()
    texts = [fact["text"] for fact in await facts(said)]
    assert len(texts) == len(set(texts))


@dataclass
class Shelf:
    """What the documents of one audience say: id -> lines and tags. The simple truth that the bank is compared with."""

    audience: int
    held: dict[str, tuple[list[str], tuple[str, ...]]] = field(default_factory=dict)

    def statements(self) -> set[tuple[str, tuple[str, ...]]]:
        return {(same_key(line), tags) for texts, tags in self.held.values() for line in texts}


@dataclass
class Walk:
    """Random steps over two audiences of one bank. Where tags change later, two facts may come to be equal."""

    world: World
    chance: random.Random
    shelves: list[Shelf]
    retags: bool

    async def step(self) -> None:
        shelf = self.chance.choice(self.shelves)
        steps = [self.write, self.write, self.replace, self.append, self.resend, self.drop, self.read_again]
        await self.chance.choice(steps + [self.retag] * self.retags)(shelf)

    def some_lines(self) -> list[str]:
        chosen = self.chance.sample(POOL, self.chance.randint(1, 5))
        return [self.chance.choice((line, line.lower(), line.rstrip("."))) for line in chosen]

    def known(self, shelf: Shelf) -> str:
        return self.chance.choice(sorted(shelf.held) or [f"{shelf.audience}-0"])

    async def keep(self, shelf: Shelf, name: str, texts: list[str], tags: tuple[str, ...], mode: str) -> None:
        submitted = await self.world.retain.submit(
            self.world.bank,
            shelf.audience,
            [item(lines(*texts), document_id=name, tags=tags, update_mode=mode)],
            interactive=True,
        )
        assert await self.world.work(submitted.children[0]) is Status.COMPLETED

    async def write(self, shelf: Shelf) -> None:
        name, texts = f"{shelf.audience}-{self.chance.randrange(5)}", self.some_lines()
        tags = shelf.held[name][1] if name in shelf.held else self.chance.choice(((), ("x",)))
        shelf.held[name] = (texts, tags)
        await self.keep(shelf, name, texts, tags, "replace")

    async def replace(self, shelf: Shelf) -> None:
        """Send a document again with a line more, a line less and in another order."""
        name = self.known(shelf)
        texts, tags = shelf.held.get(name, ([], ()))
        texts = [*texts[1:], *self.some_lines()[:1]]
        self.chance.shuffle(texts)
        shelf.held[name] = (texts, tags)
        await self.keep(shelf, name, texts, tags, "replace")

    async def append(self, shelf: Shelf) -> None:
        name, more = self.known(shelf), self.some_lines()
        texts, tags = shelf.held.get(name, ([], ()))
        shelf.held[name] = ([*texts, *more], tags)
        await self.keep(shelf, name, more, tags, "append")

    async def resend(self, shelf: Shelf) -> None:
        """The same text again; with other tags where chance will have it."""
        name = self.known(shelf)
        if name in shelf.held and len(shelf.held[name][0]) < 6:
            texts, tags = shelf.held[name]
            other = self.chance.choice((tags, ("x",), ("x", "y"))) if self.retags else tags
            shelf.held[name] = (texts, other)
            await self.keep(shelf, name, texts, other, "replace")

    async def read_again(self, shelf: Shelf) -> None:
        name = self.known(shelf)
        if name in shelf.held:
            assert (await self.world.reprocess(name)).status is Status.COMPLETED

    async def drop(self, shelf: Shelf) -> None:
        name = self.known(shelf)
        gone = shelf.held.pop(name, None)
        assert (await delete(self.world, name) is None) == (gone is None)

    async def retag(self, shelf: Shelf) -> None:
        name = self.known(shelf)
        tags = self.chance.choice((("x",), ("x", "y"), ()))
        if name in shelf.held:
            shelf.held[name] = (shelf.held[name][0], tags)
        async with self.world.database.transaction() as connection:
            await documents.set_tags(connection, self.world.bank.id, name, tags, OPERATOR, clock.now())

    async def check(self) -> None:
        for shelf in self.shelves:
            await self.check_statements(shelf)
            await self.check_documents(shelf)
        await self.check_rows()

    async def check_statements(self, shelf: Shelf) -> None:
        """Each statement of a living document is found, no other is, and it counts once for each chunk that says it."""
        rows = await self.world.rows(
            "SELECT text, tags, proof_count FROM memory_unit WHERE audience_id = %s", shelf.audience
        )
        stored = [(same_key(row["text"]), tuple(row["tags"])) for row in rows]
        assert set(stored) == shelf.statements()
        assert self.retags or len(stored) == len(set(stored))
        counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for key, row in zip(stored, rows, strict=True):
            counts[key] += row["proof_count"]
        chunks = await self.world.rows("SELECT text, tags FROM chunk WHERE audience_id = %s", shelf.audience)
        said = [
            (key, tuple(sorted(chunk["tags"])))
            for chunk in chunks
            for key in {same_key(line) for line in chunk["text"].splitlines() if line.strip()}
        ]
        assert counts == Counter(said)

    async def check_documents(self, shelf: Shelf) -> None:
        """A document's list and count hold what it says, wherever that lives."""
        viewer, bank = Viewer((shelf.audience,)), self.world.bank.id
        async with self.world.database.connection() as connection:
            listed = await listings.list_documents(connection, bank, viewer, None, TagFilter(), ALL)
            assert {row["id"] for row in listed.rows} == shelf.held.keys()
            for row in listed.rows:
                conditions = MemoryFilter(document_id=row["id"])
                found = await listings.list_memories(connection, bank, viewer, conditions, ALL)
                texts = {same_key(line) for line in shelf.held[row["id"]][0]}
                assert {same_key(fact["text"]) for fact in found.rows} == texts
                assert row["memory_unit_count"] == found.total
                one = await listings.get_document(connection, bank, viewer, row["id"])
                assert sum(one["nodes_by_fact_type"].values()) == found.total

    async def check_rows(self) -> None:
        """No row is left over, misplaced or doubled."""
        await self.world.consistent()
        left_over = (
            "SELECT 1 FROM entity e WHERE NOT EXISTS (SELECT 1 FROM unit_entity ue WHERE ue.entity = e.id)",
            "SELECT 1 FROM unit_mention m JOIN memory_unit u ON u.id = m.unit WHERE u.chunk = m.chunk"
            " OR u.audience_id <> m.audience_id",
            "SELECT 1 FROM unit_entity ue JOIN memory_unit u ON u.id = ue.unit WHERE u.chunk <> ue.chunk AND NOT EXISTS"
            " (SELECT 1 FROM unit_mention m WHERE m.unit = ue.unit AND m.chunk = ue.chunk)",
            "SELECT 1 FROM memory_unit u WHERE proof_count <>"
            " 1 + (SELECT count(*) FROM unit_mention m WHERE m.unit = u.id)",
            "SELECT 1 FROM memory_unit u JOIN chunk c ON c.id = u.chunk WHERE c.document <> u.document"
            " OR c.audience_id <> u.audience_id",
            "SELECT 1 FROM unit_mention m JOIN chunk c ON c.id = m.chunk JOIN memory_unit u ON"
            " u.document = c.document AND u.position = c.ordinal * 1024 + m.place",
        )
        for question in left_over:
            assert await self.world.rows(question) == [], question


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_is_done_the_bank_holds_what_its_documents_say(said: World, seed: int) -> None:
    [other] = await said.rows(
        "INSERT INTO audience (bank, kind, place) VALUES (%s, 'place', %s) RETURNING id",
        said.bank.id,
        UUID(int=7),
    )
    walk = Walk(said, random.Random(seed), [Shelf(said.audience), Shelf(other["id"])], seed % 2 == 1)
    for _ in range(20):
        await walk.step()
        await walk.check()
    async with said.database.transaction() as connection:
        await forget.clear(connection, said.bank.id, None, Viewer((said.audience,)), clock.now())
    walk.shelves[0].held.clear()
    await walk.check()
