"""Fills banks of a running server past retain: the rows are those that retain would write, and storage's own functions
write them, from several processes, with the foreign keys of the search tables proven once at the end.

What is left out: operations and their events, for there was none. A load that was cut off goes on where it ended.
"""

import argparse
import asyncio
import multiprocessing
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from memorybank import clock
from memorybank.ids import new_id
from memorybank.indexing import index_terms, text_hash
from memorybank.model import Fact as Stated
from memorybank.retain.facts import statement
from memorybank.settings import defaults
from memorybank.storage import banks, documents, entities, links, models, units, vector_index
from memorybank.storage.documents import NewDocument
from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.entities import Identity, Known, Said
from memorybank.storage.links import SEMANTIC, Link
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.units import POSITIONS, NewUnit
from memorybank.text import name_key
from memorybank_eval import crowd, report
from memorybank_eval.crowd import Fact, Page, Source

#: Facts of a chunk.
CHUNK_FACTS = 5
#: Facts before a new one among which retain looks for its like.
LINK_WINDOW = 2048
#: Pages of one job of a process: a job opens its own connection.
JOB_PAGES = 25
PERSON = "person"


@dataclass(frozen=True)
class Plan:
    """Banks called `prefix-0`, `prefix-1`, …, with so many facts each; how many processes write them."""

    prefix: str
    banks: int
    facts_each: int
    processes: int

    def bank_id(self, number: int) -> str:
        """Return the id of one of the banks."""
        return f"{self.prefix}-{number}"


@dataclass(frozen=True)
class Loaded:
    """What a load did; `check_seconds` is for foreign keys and statistics."""

    facts: int
    seconds: float
    check_seconds: float


@dataclass(frozen=True)
class _Job:
    """Some pages of one bank, for one process."""

    conninfo: str
    plan: Plan
    number: int
    pages: tuple[int, ...]
    source: Source


def load(conninfo: str, plan: Plan, source: Source, say: Callable[[str], None]) -> Loaded:
    """Fill the banks of a migrated database; pages that are there already stay."""
    began = time.perf_counter()
    jobs = asyncio.run(_prepare(conninfo, plan, source))
    if jobs is None:
        return Loaded(0, 0.0, 0.0)
    facts = 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(plan.processes, context) as pool:
        for done in as_completed([pool.submit(_run, job) for job in jobs]):
            facts += done.result()
            say(f"{facts:,} facts in {time.perf_counter() - began:.0f} s")
    checking = time.perf_counter()
    asyncio.run(_finish(conninfo, plan, source))
    return Loaded(facts, checking - began, time.perf_counter() - checking)


@asynccontextmanager
async def opened(conninfo: str) -> AsyncIterator[Database]:
    """Give an open database; no statement of a load is too slow for it."""

    async def where() -> str:
        return conninfo

    settings = defaults().database
    database = Database(where, settings.model_copy(update={"statement_timeout_seconds": 0}))
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@cache
def statements() -> Mapping[str, str]:
    """Return the statements of bulk.sql by name."""
    text = Path(__file__).with_name("bulk.sql").read_text("utf-8")
    _, *parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


async def _prepare(conninfo: str, plan: Plan, source: Source) -> list[_Job] | None:
    """Make the banks, take the keys away and return what is to be written; None where all is done."""
    async with opened(conninfo) as database, database.connection() as connection:
        jobs: list[_Job] = []
        for number in range(plan.banks):
            bank = await banks.ensure(connection, plan.bank_id(number), clock.now())
            cursor = await connection.execute(statements()["loaded"], {"bank": bank.id})
            held = {int(row["page"]) for row in await cursor.fetchall()}
            missing = [page for page in crowd.pages(plan.facts_each) if page not in held]
            for start in range(0, len(missing), JOB_PAGES):
                jobs.append(_Job(conninfo, plan, number, tuple(missing[start : start + JOB_PAGES]), source))
        cursor = await connection.execute(statements()["checked"])
        [row] = await cursor.fetchall()
        if not jobs and row["checked"]:
            return None
        await connection.execute(statements()["uncheck"])
        return jobs


async def _finish(conninfo: str, plan: Plan, source: Source) -> None:
    """Prove the keys and bring the statistics up to date, as autovacuum would within minutes.

    Banks beyond exact search are queued for an index of their own, which a worker builds.
    """
    async with opened(conninfo) as database, database.connection() as connection:
        await connection.execute(statements()["check"])
        await connection.execute("VACUUM (ANALYZE, PARALLEL 2)")
        name, dimensions = defaults().embeddings.model, source.vectors.shape[1]
        model = await models.embedding_model(connection, name, dimensions)
        for number in range(plan.banks):
            bank = await banks.get(connection, plan.bank_id(number))
            audience = await banks.default_audience(connection, bank.id)
            async with connection.transaction():
                await vector_index.queue(connection, bank.id, audience, model, defaults().recall.exact_units)


def _run(job: _Job) -> int:
    return asyncio.run(_write_pages(job))


async def _write_pages(job: _Job) -> int:
    model = defaults().embeddings.model
    async with opened(job.conninfo) as database, database.connection() as connection:
        await connection.execute(statements()["unsynced"])
        bank = await banks.get(connection, job.plan.bank_id(job.number))
        audience = await banks.default_audience(connection, bank.id)
        known = await models.embedding_model(connection, model, job.source.vectors.shape[1])
        writer = _Writer(bank.id, audience, known)
        written = 0
        for number in job.pages:
            page = crowd.page(job.source, job.number, number, job.plan.facts_each)
            async with connection.transaction():
                written += await writer.write(connection, page)
        return written


class _Writer:
    """Writes pages of one bank; remembers what new facts are like."""

    def __init__(self, bank: int, audience: int, model: int) -> None:
        self._bank, self._audience, self._model = bank, audience, model
        self._last: dict[int, tuple[int, UUID]] = {}
        self._count = 0

    async def write(self, connection: Connection, page: Page) -> int:
        """Write one page in the caller's transaction; return its facts."""
        now = clock.now()
        facts = [fact for document in page.documents for fact in document]
        made: list[NewUnit] = []
        chunks: list[tuple[Any, ...]] = []
        for place, document in enumerate(page.documents):
            number = await self._document(connection, f"{page.number:06d}-{place:02d}", document)
            for ordinal, piece in enumerate(_pieces(document)):
                chunk, text = new_id(), _text(piece)
                row = (chunk, self._bank, number, ordinal, self._audience, text, text_hash(text))
                chunks.append((*row, piece[0].said_at, "extracted", now))
                at = ordinal * POSITIONS
                made += [_unit(fact, number, chunk, at + index) for index, fact in enumerate(piece)]
        async with connection.cursor() as cursor, cursor.copy(statements()["chunks"]) as copy:
            for row in chunks:
                await copy.write_row(row)
        await units.add(connection, self._bank, self._audience, made, now)
        await units.add_vectors(connection, self._bank, self._audience, self._model, made, page.vectors)
        await self._names(connection, list(zip(facts, made, strict=True)))
        await links.add(connection, self._bank, list(self._links(facts, made)))
        return len(made)

    async def _document(self, connection: Connection, name: str, facts: Sequence[Fact]) -> int:
        """Write a document; return its number."""
        text, now = "\n\n".join(map(_text, _pieces(facts))), clock.now()
        document = NewDocument(name, text, len(text), sha256(text.encode()).hexdigest(), now)
        return await documents.put(connection, self._bank, self._audience, document, now)

    async def _names(self, connection: Connection, written: Sequence[tuple[Fact, NewUnit]]) -> None:
        names = {Identity(name_key(name)): name for fact, _ in written for name in fact.names}
        held = await entities.ensure(connection, self._bank, names, clock.now())
        said = [
            Said(unit.id, unit.chunk, identity.key, identity, identity)
            for fact, unit in written
            for identity in (Identity(name_key(name)) for name in fact.names)
        ]
        await entities.mention(connection, self._bank, said, held)
        learned = [Known(one.key, "own", one, name, PERSON) for one, name in names.items()]
        await entities.learn(connection, self._bank, self._audience, learned, held)

    def _links(self, facts: Sequence[Fact], made: Sequence[NewUnit]) -> Iterator[Link]:
        """Yield a link from each fact to the last one of the same turn, where that is not long ago."""
        for fact, unit in zip(facts, made, strict=True):
            self._count += 1
            at, like = self._last.get(fact.turn, (-LINK_WINDOW, unit.id))
            if self._count - at < LINK_WINDOW:
                yield Link(unit.id, like, SEMANTIC, 0.8)
            self._last[fact.turn] = (self._count, unit.id)


def _pieces(facts: Sequence[Fact]) -> list[Sequence[Fact]]:
    """Return the facts of a document by chunk."""
    return [facts[at : at + CHUNK_FACTS] for at in range(0, len(facts), CHUNK_FACTS)]


def _text(facts: Sequence[Fact]) -> str:
    return "\n".join(fact.text for fact in facts)


def _unit(fact: Fact, document: int, chunk: UUID, position: int) -> NewUnit:
    return NewUnit(
        id=new_id(),
        document=document,
        chunk=chunk,
        position=position,
        fact_type="world",
        text=fact.text,
        text_hash=text_hash(fact.text),
        statement=text_hash(statement(Stated(fact.text))),
        terms=index_terms(fact.text),
        form=fact.form,
        mentioned_at=fact.said_at,
    )


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare `load`."""
    parser = commands.add_parser("load", help="fill banks of a running server with made-up facts, fast")
    parser.add_argument("--home", type=Path, required=True, help="MEMORYBANK_HOME of the running server")
    parser.add_argument("--facts", type=int, required=True, help="facts of each bank")
    parser.add_argument("--banks", type=int, default=1)
    parser.add_argument("--prefix", default="crowd", help="banks are called PREFIX-0, PREFIX-1, …")
    parser.add_argument("--vectors", type=Path, help="keep the vectors of the turns in this file")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.set_defaults(run=_load)


def _load(given: argparse.Namespace) -> None:
    source = crowd.source_kept(given.vectors)
    plan = Plan(given.prefix, given.banks, given.facts, given.processes)
    conninfo = EmbeddedServer(given.home).conninfo()
    done = load(conninfo, plan, source, report.say)
    print(f"{done.facts:,} facts in {done.seconds:.0f} s, keys and statistics in {done.check_seconds:.0f} s")
