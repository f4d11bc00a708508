"""The size of a bank's index is exact in every snapshot, and nobody who writes waits for another."""

import asyncio
import random

from memorybank.audience import Viewer
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection, fetch_row

#: Postings without units: only what counts them is looked at here.
LOOSE = "ALTER TABLE posting DROP CONSTRAINT posting_bank_document_position_audience_id_fkey"
ADD = """
INSERT INTO posting (bank, term, document, position, audience_id, tf, length)
SELECT %(bank)s, term, %(document)s, position, 1, 1, %(length)s FROM generate_series(1, %(units)s) AS position, unnest('{0,7}'::bigint[]) AS term
"""  # noqa: E501
REMOVE = "DELETE FROM posting WHERE bank = %(bank)s AND document = %(document)s AND position = %(position)s"
COUNTED = (
    "SELECT count(*) AS units, coalesce(sum(length), 0) AS length FROM posting WHERE bank = %s AND term = 0"
)
WRITERS, WRITES = 6, 25


async def _bank(connection: Connection) -> int:
    cursor = await connection.execute(
        "INSERT INTO bank (bank_id, name, created_at, updated_at) VALUES ('b', 'b', now(), now()) RETURNING id"
    )
    return int((await cursor.fetchall())[0]["id"])


async def _add(connection: Connection, bank: int, document: int, units: int, length: int) -> None:
    await connection.execute(ADD, {"bank": bank, "document": document, "units": units, "length": length})


async def _exact(database: Database, bank: int) -> int:
    """Compare the size with a count in one snapshot; return the units."""
    async with database.snapshot() as connection:
        size = await fetch_row(
            connection, "search.statistics", {"bank": bank, **Viewer.operator().parameters()}
        )
        counted = (await (await connection.execute(COUNTED, [bank])).fetchall())[0]
    assert (size["units"], size["length"]) == (counted["units"], counted["length"])
    return int(size["units"])


async def _write(database: Database, bank: int, writer: int, dice: random.Random) -> None:
    """Add and remove at random; a fifth of it is rolled back."""
    for number in range(WRITES):
        document = writer * 1000 + number
        async with database.transaction() as connection:
            await connection.execute("SET LOCAL lock_timeout = '2s'")
            await _add(connection, bank, document, dice.randint(1, 5), dice.randint(1, 9))
            for position in range(1, dice.randint(1, 4)):
                where = {"bank": bank, "document": document - dice.randint(0, 2), "position": position}
                await connection.execute(REMOVE, where)
            await asyncio.sleep(dice.random() / 200)
            if dice.random() < 0.2:
                await connection.execute("ROLLBACK")
                await connection.execute("BEGIN")


async def test_it_is_exact_while_many_write(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(LOOSE)
        bank = await _bank(connection)
    writers = asyncio.gather(*(_write(database, bank, n, random.Random(n)) for n in range(WRITERS)))
    while not writers.done():
        await _exact(database, bank)
    await writers
    assert await _exact(database, bank) > 0


async def test_who_writes_does_not_wait_for_who_has_not_committed(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(LOOSE)
        bank = await _bank(connection)
        await _add(connection, bank, 1, 3, 4)
    async with database.transaction() as slow:
        await _add(slow, bank, 2, 2, 5)
        async with database.transaction() as quick:
            await quick.execute("SET LOCAL lock_timeout = '100ms'")
            await _add(quick, bank, 3, 1, 6)
            await quick.execute(REMOVE, {"bank": bank, "document": 1, "position": 1})
        assert await _exact(database, bank) == 3
    assert await _exact(database, bank) == 5


async def test_what_deletions_leave_is_taken_in_by_the_next_that_adds(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(LOOSE)
        bank = await _bank(connection)
        await _add(connection, bank, 1, 50, 4)
        for position in range(1, 41):
            await connection.execute(REMOVE, {"bank": bank, "document": 1, "position": position})
        await _add(connection, bank, 2, 1, 4)
        rows = await (await connection.execute("SELECT units FROM bank_size")).fetchall()
        assert [row["units"] for row in rows] == [11]
        await connection.execute("DELETE FROM posting")
        assert await _exact(database, bank) == 0


async def test_each_audience_has_a_size_of_its_own_which_units_take_along(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(LOOSE)
        bank = await _bank(connection)
        await _add(connection, bank, 1, 3, 4)
        await _add(connection, bank, 2, 2, 5)
        await connection.execute("UPDATE posting SET audience_id = 2 WHERE document = 2")

        async def size(*audiences: int) -> tuple[int, int, int]:
            asked = {"bank": bank, **Viewer(audiences).parameters()}
            row = await fetch_row(connection, "search.statistics", asked)
            return row["units"], row["length"], row["held"]

        assert [await size(1), await size(2), await size(1, 2), await size()] == [
            (3, 12, 5), (2, 10, 5), (5, 22, 5), (0, 0, 5),
        ]  # fmt: skip
    assert await _exact(database, bank) == 5
