"""Every statement that reads remembered rows stands under a viewer, or on the short list with its reason."""

import re
from collections.abc import Collection

import pytest
import sqlglot
from sqlglot import exp

from memorybank.storage import queries

#: Tables whose rows belong to an audience.
GUARDED = (
    "memory_unit",
    "remembered",
    "chunk",
    "document_event",
    "document",
    "posting",
    "embedding",
    "operation",
    "upload",
    "llm_call",
    "entity_name",
    "unit_mention",
    "observation_source",
    "mental_model",
    "knowledge_folder",
)
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
#: How a statement names the viewer's audiences: as an array, or, where it looks up row by row, as a set made once.
_VIEWERS = ("ANY(CAST(%(audiences)s AS BIGINT[]))", "IN (SELECT UNNEST(CAST(%(audiences)s AS BIGINT[])))")


def _statement(query: queries.Query) -> exp.Expression:
    # The parser knows `:name`, not psycopg's placeholders.
    return sqlglot.parse_one(_PLACEHOLDER.sub(r":\1", query.sql), dialect="postgres")


def _scans(statement: exp.Expression) -> list[tuple[str, str, exp.Expression]]:
    """Each scan of a guarded table: its table, its alias and the query block it stands in."""
    found = []
    for table in statement.find_all(exp.Table):
        if table.name in GUARDED:
            block = table.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Insert)
            found.append((table.name, table.alias_or_name, block or statement))
    return found


def _is_audience(column: exp.Expression) -> bool:
    return isinstance(column, exp.Column) and column.name == "audience_id"


def _guards(block: exp.Expression, shown: Collection[str] = ()) -> set[str]:
    """Aliases whose audience this block compares with the viewer's, or with that of an alias which is.

    `shown`: aliases of queries around this one which give only what the viewer may see.
    """
    comparisons = [
        (found.this, found.expression) for found in block.find_all(exp.EQ) if _is_audience(found.this)
    ]
    members = [(found.this, found) for found in block.find_all(exp.In) if _is_audience(found.this)]
    aliases = {
        column.table for column, other in [*comparisons, *members] if other.sql("postgres").endswith(_VIEWERS)
    }
    for column, other in comparisons:
        if _is_audience(other) and {column.table, other.table} & {*aliases, *shown}:
            aliases |= {column.table, other.table}
    return aliases


def _unguarded(query: queries.Query) -> list[str]:
    """Scans of guarded tables that no comparison with the viewer's audiences covers."""
    statement = _statement(query)
    laterals = statement.find_all(exp.Lateral)
    shown = (
        {one.alias for one in laterals if _guards(one.this.this)} if "%(sees_all)s" in query.sql else set()
    )
    return [
        f"{table} {alias}"
        for table, alias, block in _scans(statement)
        if not isinstance(block, exp.Insert) and not _guards(block, shown) & {alias, ""}
    ]


READS = [query for query in queries.load().values() if "audience:" not in query.description]


@pytest.mark.parametrize("query", READS, ids=lambda query: query.name)
def test_every_scan_stands_under_the_viewer(query: queries.Query) -> None:
    assert _unguarded(query) == []


def test_a_statement_stands_under_the_viewer_or_has_a_reason() -> None:
    """Never both: a reason would cover scans that the viewer should."""
    for query in queries.load().values():
        assert "audience:" not in query.description or "%(sees_all)s" not in query.sql, query.name


def test_keys_are_read_in_one_room() -> None:
    """Who reads hashes could compare with them; who reads the directory asks for names, never for keys."""
    secret = re.compile(r"\b(api_key|session)\b")
    for query in queries.load().values():
        assert query.name.startswith("keys.") or not secret.search(query.sql), query.name


@pytest.mark.parametrize("file", ["audiences", "keys", "directory"])
def test_who_is_asking_is_found_without_what_is_remembered(file: str) -> None:
    """Before there is a viewer nothing that has an audience is looked at, so nothing of it can be learned."""
    for query in queries.load().values():
        if query.name.startswith(f"{file}.") and query.name != "directory.orphan":
            assert _scans(_statement(query)) == [], query.name


def test_exceptions_give_their_reason() -> None:
    for query in queries.load().values():
        reason = query.description.partition("audience:")[2] if "audience:" in query.description else None
        assert reason is None or len(reason.split()) >= 4, f"{query.name}: say why no viewer is needed"
