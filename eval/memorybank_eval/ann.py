"""Does the vector search of a large bank find what an exact one finds, whatever filter is asked, and in what time?

Facts are those of `crowd`: real vectors with seeded noise, asked by the vectors of real questions. Each filter is read
as recall reads it; a unit counts as found if it is as near as the tenth nearest of all that pass, by brute force here.
Its time is that of reading what the arms score from, the keywords left out, the best of a few.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import numpy as np

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.ids import new_id
from memorybank.indexing import text_hash
from memorybank.model import Bank
from memorybank.recall import question
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.large import reading as large
from memorybank.recall.large.reading import Reading
from memorybank.recall.query import RecallQuery
from memorybank.recall.ranking import Criteria, tagged_addresses
from memorybank.recall.space import key
from memorybank.settings import defaults
from memorybank.storage import banks, models, units, vector_index
from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.migrate import migrate
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.search import FirstTrip
from memorybank.storage.units import POSITIONS, NewUnit
from memorybank.storage.vector_copies import VectorCopies
from memorybank.tags import TagLeaf
from memorybank_eval import bulk, crowd, machine, report
from memorybank_eval.crowd import Fact, Page, Source
from memorybank_eval.offline import Array, Vectors

SIZES = (1_000, 10_000, 20_000, 50_000, 100_000)
#: Hits that are judged, and how much farther than the last of them is still as near: halves differ by so much.
CUT, TIE = 10, 1e-4
#: Questions of each filter, and how often each is timed.
QUESTIONS, REPEATED = 100, 3
#: Every so many questions an exact search is timed too.
EXACT_EACH = 5
#: Of what share of the units each tag is one, by chance.
TAGS = {"half": 0.5, "tenth": 0.1, "hundredth": 0.01}
#: A tag of units that are near each other: the tenth nearest to one of them. What a filter by subject asks.
SUBJECT, SUBJECT_SHARE = "subject", 0.1
#: Shares of the documents that belong to each audience.
AUDIENCES = (0.89, 0.1, 0.01)
SEED = 5


@dataclass(frozen=True)
class Held:
    """A bank in memory, in order of address: keys, vectors, and of which audience and tags each unit is (n,)."""

    bank: Bank
    model: int
    keys: Array
    vectors: Array
    audiences: Array
    tags: Mapping[str, Array]
    build_seconds: float


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare `ann`."""
    parser = commands.add_parser("ann", help="does vector search at size find what an exact one finds?")
    parser.add_argument("--facts", type=int, action="append", help=f"sizes of banks; else {SIZES}")
    parser.add_argument("--vectors", type=Path, help="keep the vectors of the turns in this file")
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    vectors = Vectors(given.vectors)
    source, asked = crowd.source(vectors), list(crowd.questions())
    asked = asked[:: max(1, len(asked) // QUESTIONS)][:QUESTIONS]
    wanted = vectors.of(asked)
    vectors.save()
    described = machine.describe()
    with tempfile.TemporaryDirectory(prefix="memorybank-ann-", ignore_cleanup_errors=True) as home:
        server = EmbeddedServer(Path(home))
        try:
            rows = list(_measured(server.ensure(), source, wanted, given.facts or SIZES))
        finally:
            server.stop()
    result = {"kind": "ann", **described, "questions": len(wanted), "rows": rows}
    print(table(rows))
    if given.out:
        report.write_json(given.out, result)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows as text."""
    head = ("facts", "filter", "passing", "way", "recall@10", "ms", "exact ms", "build s")
    return report.table(
        head,
        [
            [
                f"{row['facts']:,}", row["filter"], f"{row['passing']:,}", row["way"], f"{row['recall']:.3f}",
                f"{row['ms']:.1f}", f"{row['exact_ms']:.1f}", f"{row['build_seconds']:.0f}",
            ]
            for row in rows
        ],
    )  # fmt: skip


def _measured(conninfo: str, source: Source, wanted: Array, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    asyncio.run(migrate(conninfo))
    for number, facts in enumerate(sizes):
        report.say(f"{facts:,} facts")
        yield from asyncio.run(_measure(conninfo, source, wanted, number, facts))


async def _measure(
    conninfo: str, source: Source, wanted: Array, number: int, facts: int
) -> list[dict[str, Any]]:
    async with bulk.opened(conninfo) as database:
        held = await _fill(database, source, number, facts)
        everything = Viewer.operator()
        audiences = zip(AUDIENCES, np.unique(held.audiences).tolist(), strict=True)
        rows = []
        for name, viewer, tag in [
            ("none", everything, None),
            *((f"tag: {tag}", everything, tag) for tag in held.tags),
            *((f"audience: {share:.0%}", Viewer((one,)), None) for share, one in audiences),
        ]:
            row = await _judge(database, held, wanted, viewer, tag)
            rows.append({"facts": facts, "filter": name, **row, "build_seconds": held.build_seconds})
        return rows


async def _judge(
    database: Database, held: Held, wanted: Array, viewer: Viewer, tag: str | None
) -> dict[str, Any]:
    """Return how much of the nearest is found, in what time, and in what an exact search takes."""
    passing = np.ones(len(held.keys), np.bool_) if tag is None else held.tags[tag]
    if not viewer.sees_all:
        passing = passing & np.isin(held.audiences, viewer.audiences)
    found, seconds, exact_seconds, ways = [], [], [], set()
    whole = replace(held, bank=replace(held.bank, indexed_model=None))
    for number, vector in enumerate(wanted):
        nearest, took, way = await _ask(database, held, vector, viewer, tag)
        if number % EXACT_EACH == 0:
            exact_seconds.append((await _ask(database, whole, vector, viewer, tag))[1])
        ways.add(way)
        seconds.append(took)
        distances = 1.0 - held.vectors[passing] @ vector
        count = min(CUT, len(distances))
        last = np.partition(distances, count - 1)[count - 1] if count else 0.0
        found.append(float(np.count_nonzero(nearest[:count] <= last + TIE)) / max(1, count))
    return {
        "passing": int(np.count_nonzero(passing)),
        "way": " or ".join(sorted(ways)),
        "recall": round(float(np.mean(found)), 4),
        "ms": round(median(seconds) * 1000, 2),
        "exact_ms": round(median(exact_seconds) * 1000, 2),
    }


async def _ask(
    database: Database, held: Held, vector: Array, viewer: Viewer, tag: str | None
) -> tuple[Array, float, str]:
    """Return the distances that were read of units that pass, the nearest first, the best time, and the way taken."""
    group = None if tag is None else TagLeaf((tag,), "any_strict")
    own = defaults().recall
    asked = Criteria(
        question.read(RecallQuery("what?"), clock.now()),
        own.weights,
        Bm25(own.bm25_k1, own.bm25_b),
        tags=group,
    )
    wanted = FirstTrip(60.0, vector, defaults().embeddings.model, (), 1, 1, tags=group)
    reading = Reading(held.bank, viewer, wanted, asked, own.exact_units, VectorCopies(database, 0, 0))
    best = float("inf")
    for _ in range(REPEATED):
        async with database.snapshot() as connection:
            began = time.perf_counter()
            gathered = await large.gather(connection, reading)
            best = min(best, time.perf_counter() - began)
    distances, way = gathered.distances.distances, "exact" if gathered.sample is None else "index"
    if gathered.tagged is not None and tag:
        passing = key(tagged_addresses(gathered.tagged, group))
        distances = distances[np.isin(key(gathered.distances.addresses), passing)]
        if gathered.sample and len(passing) == np.count_nonzero(held.tags[tag]):
            way = "filter first"
    return np.sort(distances), best, way


async def _fill(database: Database, source: Source, number: int, facts: int) -> Held:
    """Make a bank with its index."""
    pages = [crowd.page(source, number, one, facts) for one in crowd.pages(facts)]
    dice = np.random.default_rng([SEED, facts])
    tags = {name: dice.random(facts) < share for name, share in TAGS.items()}
    vectors = np.concatenate([page.vectors for page in pages]).astype(np.float16).astype(np.float32)
    near = vectors @ vectors[dice.integers(facts)]
    tags[SUBJECT] = near >= np.quantile(near, 1 - SUBJECT_SHARE)
    async with database.connection() as connection:
        bank = await banks.ensure(connection, f"ann-{facts}", clock.now())
        model = await models.embedding_model(connection, defaults().embeddings.model, vectors.shape[1])
        own = await banks.default_audience(connection, bank.id)
        others = await (
            await connection.execute(bulk.statements()["audiences"], {"bank": bank.id})
        ).fetchall()
        audiences = [own, *(int(row["id"]) for row in others)]
        columns, first = [], 0
        for page in pages:
            async with connection.transaction():
                columns.append(
                    await _write(connection, bank.id, model, page, _Marks(tags, first, audiences, dice))
                )
            first += len(page.vectors)
        await connection.execute("VACUUM ANALYZE")
    began = time.perf_counter()
    await vector_index.build(database, bank.id, model)
    seconds = time.perf_counter() - began
    async with database.transaction() as connection:
        await vector_index.adopt(connection, bank.id, model)
        bank = await banks.get(connection, bank.bank_id)
    keys, owners = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Held(bank, model, keys, vectors, owners, tags, round(seconds, 1))


@dataclass(frozen=True)
class _Marks:
    """Tags of all units, where those of a page begin, and the audiences to draw from."""

    tags: Mapping[str, Array]
    first: int
    audiences: Sequence[int]
    dice: np.random.Generator


async def _write(
    connection: Connection, bank: int, model: int, page: Page, marks: _Marks
) -> tuple[Array, Array]:
    """Write a page; returns the key and the audience of each unit."""
    drawn = marks.dice.choice(marks.audiences, len(page.documents), p=AUDIENCES)
    parameters = {"bank": bank, "audiences": drawn.tolist()}
    written = await (await connection.execute(bulk.statements()["documents"], parameters)).fetchall()
    made: list[NewUnit] = []
    for document, row in zip(page.documents, written, strict=True):
        for place, fact in enumerate(document):
            at = marks.first + len(made)
            tags = tuple(sorted(tag for tag, flags in marks.tags.items() if flags[at]))
            made.append(_unit(fact, row["number"], row["chunk"], place, tags))
    owners = np.repeat(drawn, [len(document) for document in page.documents])
    for audience in marks.audiences:
        mine = np.flatnonzero(owners == audience)
        chosen = [made[at] for at in mine.tolist()]
        await units.add(connection, bank, audience, chosen, clock.now())
        await units.add_vectors(connection, bank, audience, model, chosen, page.vectors[mine])
    places = np.array([unit.position for unit in made])
    return np.array([unit.document for unit in made]) << 32 | places, owners


def _unit(fact: Fact, document: int, chunk: UUID, place: int, tags: tuple[str, ...]) -> NewUnit:
    """Return a fact without its words: only vectors are asked for here."""
    hashed = text_hash(fact.text)
    return NewUnit(
        id=new_id(),
        document=document,
        chunk=chunk,
        position=place * POSITIONS,
        fact_type="world",
        text=fact.text,
        text_hash=hashed,
        statement=hashed,
        terms={},
        form=fact.form,
        tags=tags,
    )
