"""Migrating makes the same schema alone, in a race and after a failure; it is safe to repeat."""

import asyncio
from dataclasses import replace

import psycopg
import pytest

from memorybank.errors import DatabaseUnavailable
from memorybank.storage import migrate as migrate_module
from memorybank.storage.migrate import migrate, migrations

#: Everything a schema consists of, as PostgreSQL itself describes it.
CATALOG = """
SELECT 'column', c.relname || '.' || a.attname,
       format_type(a.atttypid, a.atttypmod) || a.attnotnull || a.attstorage::text
       || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL
SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL
SELECT 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL
SELECT 'function', p.proname, pg_get_functiondef(p.oid) FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND NOT EXISTS (
    SELECT 1 FROM pg_depend e WHERE e.objid = p.oid AND e.deptype = 'e')
"""


def _described(conninfo: str) -> set[tuple[str, str, str]]:
    with psycopg.connect(conninfo) as connection:
        rows = connection.execute(CATALOG).fetchall()
    return {(kind, name, text) for kind, name, text in rows if "schema_migration" not in name}


async def test_migrating_again_changes_nothing(conninfo: str) -> None:
    before = _described(conninfo)
    assert await migrate(conninfo) == []
    assert _described(conninfo) == before


async def test_processes_that_start_together_migrate_once(conninfo: str, empty: str) -> None:
    applied = await asyncio.gather(*(migrate(empty) for _ in range(4)))
    assert sorted(len(steps) for steps in applied) == [0, 0, 0, len(migrations())]
    assert _described(empty) == _described(conninfo)


async def test_what_breaks_is_undone_and_the_next_start_goes_on_from_there(
    conninfo: str, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = migrations()
    broken = replace(steps[2], sql=f"{steps[2].sql}; SELECT 1 / 0")
    with monkeypatch.context() as patched:
        patched.setattr(migrate_module, "migrations", lambda: [*steps[:2], broken, *steps[3:]])
        with pytest.raises(psycopg.errors.DivisionByZero):
            await migrate(empty)
    assert await migrate(empty) == steps[2:]
    assert _described(empty) == _described(conninfo)


async def test_a_schema_with_another_past_is_refused(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("UPDATE schema_migration SET name = 'initial' WHERE version = 1")
    with pytest.raises(DatabaseUnavailable, match="another memorybank: its migration 1 is `initial`"):
        await migrate(conninfo)


async def test_a_server_that_is_not_there_is_said_clearly() -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot connect to PostgreSQL"):
        await migrate("host=127.0.0.1 port=1 dbname=nowhere connect_timeout=2")


async def test_missing_pgvector_names_the_remedy(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate_module, "MINIMUM_PGVECTOR", (99, 0))
    with pytest.raises(DatabaseUnavailable, match="ALTER EXTENSION vector UPDATE"):
        await migrate(empty)


async def test_an_old_server_is_refused(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate_module, "MINIMUM_POSTGRES", 990_000)
    with pytest.raises(DatabaseUnavailable, match="PostgreSQL 16 or newer"):
        await migrate(empty)
