"""The postings of a bank stay what an index made anew would be, and their scores those of the reference scorer,
whatever is kept, changed, appended, moved, tagged, said twice, read again or deleted.
"""

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from rank_bm25 import BM25Okapi
from retain_world import World, forget, item

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.recall.arms import lexical
from memorybank.recall.query import RecallQuery
from memorybank.recall.stage import Recall
from memorybank.storage import documents
from memorybank.storage.queries import fetch_row
from memorybank.storage.units import EVERY_UNIT
from memorybank.text import term_hash, terms

#: Words that meet often, and forms that are kept whole.
WORDS = [
    *("kettle", "shelf", "river", "lantern", "harbour", "violin", "tulip", "garage", "meadow", "running"),
    *(
        "ZX-48211-Q",
        "v1.2.3",
        "1,000,000",
        "ana.b@example.com",
        "自転車を修理",
        "库存系统",
        "회고를",
        "Häuser",
    ),
]
STEPS = 14


@dataclass
class Writer:
    """Writes to a world at random; knows which documents there are and what they hold."""

    world: World
    dice: random.Random
    held: dict[str, list[str]] = field(default_factory=dict)

    async def step(self) -> None:
        acts: list[Callable[[], Awaitable[None]]] = [self.keep, self.edit, self.append, self.tag, self.repeat]
        acts += [self.reread, self.delete]
        await (self.dice.choice(acts) if self.held else self.keep)()

    async def keep(self) -> None:
        name = f"d{self.dice.randrange(1000)}"
        self.held[name] = [self._paragraph() for _ in range(self.dice.randint(1, 6))]
        await self._write(name)

    async def edit(self) -> None:
        name = self._any()
        parts = self.held[name]
        kept = [part for part in parts if self.dice.random() < 0.7]
        self.dice.shuffle(kept)
        kept.insert(self.dice.randint(0, len(kept)), self._paragraph())
        self.held[name] = kept
        await self._write(name)

    async def append(self) -> None:
        name, new = self._any(), self._paragraph()
        self.held[name].append(new)
        await self.world.keep(item(new, document_id=name, update_mode="append"))

    async def tag(self) -> None:
        async with self.world.database.transaction() as connection:
            tags = self.dice.sample(["red", "blue", "green"], self.dice.randint(0, 2))
            await documents.set_tags(
                connection, self.world.bank.id, self._any(), tags, Viewer.operator(), clock.now()
            )

    async def repeat(self) -> None:
        """Another document says what one says already."""
        name = f"r{self.dice.randrange(1000)}"
        self.held[name] = [*self.held[self._any()], self._paragraph()]
        await self._write(name)

    async def reread(self) -> None:
        await self.world.reprocess(self._any())

    async def delete(self) -> None:
        name = self._any()
        del self.held[name]
        await forget(self.world, name)

    async def _write(self, name: str) -> None:
        await self.world.keep(item("\n\n".join(self.held[name]), document_id=name))

    def _any(self) -> str:
        return self.dice.choice(list(self.held))

    def _paragraph(self) -> str:
        return " ".join(self.dice.choices(WORDS, k=self.dice.randint(4, 9)))


async def stored(world: World) -> list[tuple[int, ...]]:
    """What stands in the index."""
    rows = await world.rows("SELECT document, position, term, tf, length, audience_id FROM posting")
    return sorted(tuple(row.values()) for row in rows)


async def anew(world: World) -> list[tuple[int, ...]]:
    """What would stand in an index made from the texts."""
    found = []
    for row in await world.rows("SELECT * FROM memory_unit WHERE status = 'active'"):
        counts = Counter(map(term_hash, terms(row["text"])))
        address = (row["document_number"], row["position"])
        found += [
            (*address, term, tf, max(1, counts.total()), row["audience_id"])
            for term, tf in [*counts.items(), (EVERY_UNIT, 1)]
        ]
    return sorted(found)


async def counted(world: World) -> tuple[int, int]:
    """Units and their length, by the index."""
    units = [row for row in await stored(world) if row[2] == EVERY_UNIT]
    return len(units), sum(row[4] for row in units)


async def size(world: World) -> tuple[int, int]:
    """Units and their length, as BM25 reads them."""
    async with world.database.connection() as connection:
        row = await fetch_row(
            connection, "search.statistics", {"bank": world.bank.id, **Viewer.operator().parameters()}
        )
    return row["units"], row["length"]


async def reference(world: World, query: str) -> dict[str, float]:
    """The score of each text that holds a term of the query, by rank-bm25 with our weight of a term."""
    rows = await world.rows("SELECT id, text FROM memory_unit WHERE status = 'active'")
    texts = [terms(row["text"]) for row in rows]
    scorer = BM25Okapi(texts, k1=world.settings.recall.bm25_k1, b=world.settings.recall.bm25_b)
    scorer.idf = {
        term: float(lexical.idf(len(texts), sum(term in text for text in texts))) for term in scorer.idf
    }
    scores = scorer.get_scores(list(dict.fromkeys(terms(query))))
    return {str(row["id"]): score for row, score in zip(rows, scores.tolist(), strict=True) if score > 0}


async def asked(world: World, query: str) -> dict[str, float]:
    """The keyword score of each hit that has one."""
    recall = Recall(world.database, world.embedder, world.settings)
    wanted = RecallQuery(query, budget="high", max_tokens=100_000)
    found = await recall(world.bank, world.settings.bank, wanted, Viewer.operator())
    return {str(hit.id): hit.scores.keyword for hit in found.hits if hit.scores.keyword}


@pytest.mark.parametrize("seed", range(4))
async def test_postings_stay_exact_and_score_as_the_reference_does(world: World, seed: int) -> None:
    dice = random.Random(seed)
    await world.configure(retain_extraction_mode="chunks", retain_chunk_size=70)
    writer = Writer(world, dice)
    for _ in range(STEPS):
        await writer.step()
        assert await stored(world) == await anew(world)
        assert await counted(world) == await size(world)
    await writer.keep()
    for _ in range(4):
        query = " ".join(dice.sample(WORDS, 3))
        expected = await reference(world, query)
        found = await asked(world, query)
        # Facts with the same text are one hit.
        assert found and found == pytest.approx({key: expected[key] for key in found}, rel=1e-6)
        assert sorted(set(map(_rounded, expected.values()))) == sorted(set(map(_rounded, found.values())))


def _rounded(score: float) -> float:
    return round(score, 6)
