"""Distances by a copy are those that the database would measure, for every viewer, whatever was written meanwhile."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from observation_world import OPERATOR, World, vector
from test_evidence import ACTS, Life

from memorybank.audience import Viewer
from memorybank.errors import DatabaseUnavailable
from memorybank.ids import new_id
from memorybank.settings import Settings
from memorybank.storage import models, search, vector_copies
from memorybank.storage.found import Distances
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection, fetch_row
from memorybank.storage.search import FirstTrip
from memorybank.storage.vector_copies import Copy, VectorCopies

MODELS = ("tiny-8", "other-8")
ROOM = 1_000_000
#: What recall reads of vectors, of all models.
HELD = """
SELECT document, position, audience_id, model, speaker, traits, vector::text AS vector FROM embedding WHERE bank = %s
"""
#: Vectors and postings without units: only what names their version is looked at.
LOOSE = """
ALTER TABLE embedding DROP CONSTRAINT embedding_bank_document_position_audience_id_fkey;
ALTER TABLE posting DROP CONSTRAINT posting_bank_document_position_audience_id_fkey
"""
ADD = """
WITH posted AS (
    INSERT INTO posting (bank, term, document, position, audience_id, tf, length)
    VALUES (%(bank)s, 0, %(at)s, 1, 1, 1, 1)
)
INSERT INTO embedding (bank, document, position, audience_id, model, text_hash, vector)
VALUES (%(bank)s, %(at)s, 1, 1, %(model)s, '', '[1,2,3,4,5,6,7,8]')
"""
WRITES = (
    ADD,
    "UPDATE embedding SET audience_id = audience_id + 1 WHERE bank = %(bank)s AND document = %(at)s - 1",
    "UPDATE embedding SET speaker = speaker + 1 WHERE bank = %(bank)s AND document = %(at)s - 2",
    "DELETE FROM embedding WHERE bank = %(bank)s AND document = %(at)s - 3",
    "DELETE FROM posting WHERE bank = %(bank)s AND document = %(at)s - 2",
)


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    """A copy is made at the first question, and measured in a thread where it has more than three units."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vector_copies, "ASKED", 1)
        patched.setattr(vector_copies, "LOOP_UNITS", 3)
        yield


@dataclass
class Asker:
    """Asks with copies and without, and looks at what each version holds."""

    world: World
    copies: VectorCopies
    versions: dict[int, Any] = field(default_factory=dict)

    async def ask(self, viewer: Viewer = OPERATOR, model: str = MODELS[0]) -> bool:
        """Ask in a snapshot of its own."""
        async with self.world.database.snapshot() as connection:
            return await self.ask_in(connection, viewer, model)

    async def ask_in(self, connection: Connection, viewer: Viewer = OPERATOR, model: str = MODELS[0]) -> bool:
        """Compare the two ways in one snapshot; return whether a copy gave the answer."""
        wanted = FirstTrip(5.0, vector("what?"), model, (), 1, 1)
        measured = await search.gather(connection, self.world.bank, viewer, wanted)
        with _counting() as counts:
            found = await self.copies.gather(connection, self.world.bank, viewer, wanted)
        assert _table(found.distances) == pytest.approx(_table(measured.distances), abs=1e-6, nan_ok=True)
        return counts == {"copy": 1, "trips": 1}

    async def settle(self) -> None:
        """Wait for the copy that is being made."""
        if self.copies._making:
            await self.copies._making

    async def check(self) -> None:
        """What a version holds is what it always held."""
        async with self.world.database.snapshot() as connection:
            size = await fetch_row(
                connection, "search.statistics", {"bank": self.world.bank, **Viewer.operator().parameters()}
            )
            rows = await (await connection.execute(HELD, [self.world.bank])).fetchall()
        held = frozenset(tuple(row.values()) for row in rows)
        assert self.versions.setdefault(size["version"], held) == held


def _table(found: Distances) -> dict[tuple[str, int, int], float]:
    at = list(zip(found.addresses.documents.tolist(), found.addresses.positions.tolist(), strict=True))
    columns = {"distance": found.distances, "speaker": found.speakers, "traits": found.traits}
    assert len(set(at)) == len(at)
    return {(name, *at[n]): float(v) for name, column in columns.items() for n, v in enumerate(column)}


class _counting:
    """Count what is measured by copies, and the trips to the database."""

    def __enter__(self) -> dict[str, int]:
        self.counts = {"copy": 0, "trips": 0}
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(Copy, "distances", self._counted("copy", Copy.distances))
        self.patched.setattr(search, "gather", self._counted("trips", search.gather))
        return self.counts

    def __exit__(self, *_: object) -> None:
        self.patched.undo()

    def _counted(self, name: str, real: Any) -> Any:
        def counted(*given: Any) -> Any:
            self.counts[name] += 1
            return real(*given)

        return counted


class Watched(Life):
    """A bank to which everything is done that changes what a search reads."""

    async def another_model(self) -> None:
        """The vectors of another model, as a new one is built beside the old."""
        async with self.world.database.transaction() as connection:
            model = await models.embedding_model(connection, MODELS[1], 8)
            await connection.execute(
                "INSERT INTO embedding SELECT bank, document, position, audience_id, %s, speaker, traits, text_hash,"
                " vector FROM embedding WHERE bank = %s AND model <> %s ON CONFLICT DO NOTHING",
                [model, self.world.bank, model],
            )

    async def no_vector(self) -> None:
        """A vector of zeros."""
        await self.world.run(
            "UPDATE embedding SET vector = '[0,0,0,0,0,0,0,0]' WHERE (bank, document, position) IN"
            " (SELECT bank, document, position FROM embedding WHERE bank = %s LIMIT 1)",
            self.world.bank,
        )

    async def roll_back(self) -> None:
        """What is not committed changes nothing."""
        async with (
            self.world.database.connection() as connection,
            connection.transaction(force_rollback=True),
        ):
            await connection.execute("DELETE FROM memory_unit WHERE bank = %s", [self.world.bank])


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    acts=st.lists(
        st.sampled_from([*ACTS, "another_model", "no_vector", "roll_back"]), min_size=10, max_size=30
    ),
    seed=st.integers(min_value=0, max_value=2**32),
)
def test_a_copy_answers_as_the_database_does_whatever_is_done(
    conninfo: str, settings: Settings, acts: list[str], seed: int
) -> None:
    async def live() -> None:
        async with _asker(conninfo, settings) as asker:
            world, dice = asker.world, random.Random(seed)
            [place] = await world.rows(
                "INSERT INTO audience (bank, kind, place) VALUES (%s, 'place', gen_random_uuid()) RETURNING id",
                world.bank,
            )
            places = (world.audience, place["id"])
            life = Watched(world, random.Random(seed), places)
            viewers = [OPERATOR, Viewer(()), Viewer(places), *(Viewer((each,)) for each in places)]
            for act in ("keep", *acts):
                await getattr(life, act)()
                await asker.check()
                for _ in range(dice.randint(0, 3)):
                    await asker.ask(dice.choice(viewers), dice.choice(MODELS))
                    if dice.random() < 0.7:
                        await asker.settle()
            await asker.ask()
            await asker.settle()
            held = await world.rows(
                "SELECT 1 FROM embedding WHERE model = %s AND bank = %s", world.model, world.bank
            )
            assert await asker.ask() == bool(held)

    asyncio.run(live())


@asynccontextmanager
async def _asker(conninfo: str, settings: Settings) -> AsyncIterator[Asker]:
    async def where() -> str:
        return conninfo

    database = Database(where, settings.database)
    await database.open()
    copies = VectorCopies(database, ROOM, 1_000)
    try:
        yield Asker(await World.made(database, str(new_id())), copies)
    finally:
        await copies.close()
        await database.close()


@pytest.fixture
async def asker(conninfo: str, settings: Settings) -> AsyncIterator[Asker]:
    async with _asker(conninfo, settings) as made:
        yield made


async def _write(connection: Connection, scope: dict[str, int], dice: random.Random) -> None:
    """Write at random in one transaction; a part of it, or all, is taken back."""
    await connection.execute("SET LOCAL lock_timeout = '2s'")
    for sql in dice.sample(WRITES, dice.randint(1, 4)):
        await asyncio.sleep(dice.random() / 500)
        async with connection.transaction(force_rollback=dice.random() < 0.2):
            await connection.execute(sql, scope)
    if dice.random() < 0.2:
        await connection.execute("ROLLBACK")
        await connection.execute("BEGIN")


async def test_a_version_is_of_one_state_while_many_write(asker: Asker) -> None:
    """Who began first need not be the first to commit."""
    world = asker.world
    await world.run(LOOSE)

    async def write(number: int) -> None:
        dice = random.Random(number)
        for turn in range(12):
            scope = {"bank": world.bank, "at": number * 1000 + turn, "model": world.model}
            async with world.database.transaction() as connection:
                await _write(connection, scope, dice)

    writers = asyncio.gather(*map(write, range(4)))
    while not writers.done():
        await asker.check()
        await asker.ask()
    await writers
    await asker.check()
    assert len(asker.versions) > 5
    await asker.ask()
    await asker.settle()
    assert await asker.ask()


@pytest.mark.parametrize("sql", WRITES[1:4])
async def test_vectors_alone_change_the_version(asker: Asker, sql: str) -> None:
    world = asker.world
    await world.run(LOOSE)
    scope = {"bank": world.bank, "at": 1, "model": world.model}
    for at in range(1, 6):
        async with world.database.transaction() as connection:
            await connection.execute(ADD, scope | {"at": at})
    await asker.check()
    await asker.ask()
    await asker.settle()
    for at in range(4, 7):
        assert await asker.ask()
        async with world.database.transaction() as connection:
            assert (await connection.execute(sql, scope | {"at": at})).rowcount == 1
        await asker.check()
        assert not await asker.ask()
        await asker.settle()


async def test_a_copy_of_what_was_written_while_it_was_made_is_thrown_away(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = asker.world
    await world.keep("d", "Ana sings.", "Theo dances.")

    connection = world.database.connection

    @asynccontextmanager
    async def late() -> AsyncIterator[Connection]:
        monkeypatch.setattr(world.database, "connection", connection)
        await world.keep("e", "Uma reads.")
        async with connection() as lent:
            yield lent

    async with world.database.snapshot() as lent:
        wanted = FirstTrip(5.0, vector("what?"), MODELS[0], (), 1, 1)
        await asker.copies.gather(lent, world.bank, OPERATOR, wanted)
        monkeypatch.setattr(world.database, "connection", late)
        await asker.settle()
        assert not await asker.ask_in(lent)
        assert len(await world.rows("SELECT 1 FROM embedding WHERE bank = %s", world.bank)) == 3


async def test_a_copy_is_made_of_what_is_asked_again_and_not_written(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_copies, "ASKED", 3)
    await asker.world.keep("d", "Ana sings.", "Theo dances.")
    for number in range(5):
        assert not await asker.ask()
        await asker.settle()
        if number % 2:
            await asker.world.keep(f"d{number}", f"Uma reads {number}.")
    assert [await asker.ask() for _ in range(2)] == [False, False]
    await asker.settle()
    assert await asker.ask()
    await asker.world.keep("e", "Ana rests.")
    assert not await asker.ask()


@pytest.mark.parametrize(("room", "most"), [(0, 1_000), (ROOM, 1), (2 * (8 * 4 + 24) - 1, 1_000)])
async def test_none_is_made_of_a_bank_that_is_too_large(asker: Asker, room: int, most: int) -> None:
    await asker.world.keep("d", "Ana sings.", "Theo dances.")
    asker.copies = VectorCopies(asker.world.database, room, most)
    for _ in range(3):
        assert not await asker.ask()
        await asker.settle()


async def test_those_last_asked_stay_in_the_room_that_there_is(asker: Asker) -> None:
    database = asker.world.database
    asker.copies = VectorCopies(database, 2 * (8 * 4 + 24), 1_000)
    askers = [asker] + [Asker(await World.made(database, name), asker.copies) for name in ("b1", "b2")]
    for each in askers:
        await each.world.keep("d", "Ana sings.")
        await each.ask()
        await each.settle()
    assert [await each.ask() for each in reversed(askers)] == [True, True, False]


async def test_a_bank_without_vectors_of_the_model_is_left_to_the_database(asker: Asker) -> None:
    await asker.world.keep("d", "Ana sings.")
    for _ in range(3):
        assert not await asker.ask(model=MODELS[1])
        await asker.settle()


async def test_without_a_database_no_copy_is_made_and_it_is_tried_again(
    asker: Asker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await asker.world.keep("d", "Ana sings.")

    def gone() -> None:
        raise DatabaseUnavailable("gone")

    with monkeypatch.context() as broken:
        broken.setattr(asker.world.database, "connection", gone)
        asker.copies._note((asker.world.bank, MODELS[0]), search.Statistics(1, 1, version=1), 8)
        await asker.settle()
    assert "no copy was made" in caplog.text
    assert not await asker.ask()
    await asker.settle()
    assert await asker.ask()


def test_a_copy_says_what_it_takes() -> None:
    numbers = np.arange(3, dtype=np.int32)
    packed = vector_copies.copying.halfvec_bytes(np.stack([vector(str(n)) for n in range(3)])).tobytes()
    row = {"packed": packed, "audiences": numbers.astype(np.int64)} | dict.fromkeys(
        ("documents", "positions", "speakers", "traits"), numbers
    )
    copy = Copy.of(row, 8)
    arrays = [copy.vectors, copy.addresses.documents, copy.addresses.positions, copy.audiences]
    assert copy.size == sum(array.nbytes for array in (*arrays, copy.speakers, copy.traits))
