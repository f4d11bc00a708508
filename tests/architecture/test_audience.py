"""Every statement that reads remembered rows stands under a viewer, or on the short list with its reason."""

import re

import pytest
import sqlglot
from sqlglot import exp

from memorybank.storage import queries

#: Tables whose rows belong to an audience.
GUARDED = ("memory_unit", "chunk", "document", "posting", "embedding", "operation")
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


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


def _guards(block: exp.Expression) -> set[str]:
    """Aliases whose audience this block compares with the viewer's, or with that of an alias which is."""
    comparisons = [
        (found.this, found.expression) for found in block.find_all(exp.EQ) if _is_audience(found.this)
    ]
    aliases = {column.table for column, other in comparisons if isinstance(other, exp.Any)}
    for column, other in comparisons:
        if _is_audience(other) and {column.table, other.table} & aliases:
            aliases |= {column.table, other.table}
    return aliases


READS = [query for query in queries.load().values() if "audience:" not in query.description]


@pytest.mark.parametrize("query", READS, ids=lambda query: query.name)
def test_every_scan_stands_under_the_viewer(query: queries.Query) -> None:
    for table, alias, block in _scans(_statement(query)):
        if isinstance(block, exp.Insert):
            continue
        assert _guards(block) & {alias, ""}, (
            f"{query.name}: {table} {alias} is read without the viewer's audiences"
        )


def test_exceptions_give_their_reason() -> None:
    for query in queries.load().values():
        reason = query.description.partition("audience:")[2] if "audience:" in query.description else None
        assert reason is None or len(reason.split()) >= 4, f"{query.name}: say why no viewer is needed"
