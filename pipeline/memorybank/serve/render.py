"""Answers as a person reads them."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memorybank.serve.remote import Remote

#: Columns where nobody looks through a terminal, which would have its own: room for a fact on one line.
PIPE_COLUMNS = 160
Answer = Mapping[str, Any]


def _console() -> Console:
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if known else PIPE_COLUMNS, highlight=False)


CONSOLE = _console()


def show(call: str, answer: Answer, *, as_json: bool) -> None:
    """Print the answer of a call for a program, or for a person."""
    if as_json:
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        render(call, answer)


def show_status(remote: Remote, as_json: bool) -> None:
    """Print what answers at an address, and what it holds."""
    health, version = remote.request("GET", "/health"), remote.request("GET", "/version")
    banks = remote.request("GET", "/v1/default/banks", query={"limit": 1})
    found = {"url": remote.url, "version": version["api_version"], "banks": banks["total"], **health}
    show("status", found, as_json=as_json)


def render(call: str, answer: Answer) -> None:
    """Print the answer of a call; one without a form of its own is printed as JSON."""
    form = _FORMS.get(call)
    if form is None:
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        form(answer)


def when(fact: Answer) -> str:
    """Return a fact's date, or its range of dates, as days."""
    start, end = (fact.get("occurred_start") or "")[:10], (fact.get("occurred_end") or "")[:10]
    if end and start != end:
        return f"{start} – {end}".strip()
    return start or (fact.get("mentioned_at") or "")[:10]


def facts(rows: list[Any], *, scores: bool = False) -> Table:
    """Return facts as a table: date, text, entities, and for hits their score."""
    table = Table(show_header=True, header_style="bold", box=None, pad_edge=False)
    if scores:
        table.add_column("score", justify="right")
    table.add_column("date", no_wrap=True)
    table.add_column("fact", ratio=3)
    table.add_column("entities", ratio=1)
    for row in rows:
        entities = row.get("entities") or []
        names = entities if isinstance(entities, str) else ", ".join(entities)
        cells = [Text(when(row)), Text(row["text"]), Text(names, style="cyan")]
        table.add_row(*([f"{row['scores']['final']:.2f}"] if scores else []), *cells)
    return table


def _recall(answer: Answer) -> None:
    if not answer["results"]:
        CONSOLE.print("nothing is remembered about that")
        return
    CONSOLE.print(facts(answer["results"], scores=True))


def _reflect(answer: Answer) -> None:
    CONSOLE.print(Text(answer["text"]))


def _banks(answer: Answer) -> None:
    table = Table("bank", "name", "facts", "last written", box=None, header_style="bold")
    for bank in answer["banks"]:
        table.add_row(
            Text(bank["bank_id"]),
            Text(bank["name"]),
            str(bank["fact_count"]),
            bank.get("last_write_at") or "",
        )
    CONSOLE.print(table)


def _directives(answer: Answer) -> None:
    table = Table("directive", "name", "content", "priority", "tags", "active", box=None, header_style="bold")
    for one in answer["items"]:
        table.add_row(
            one["id"],
            Text(one["name"]),
            Text(one["content"]),
            str(one["priority"]),
            Text(", ".join(one["tags"])),
            "yes" if one["is_active"] else "no",
        )
    CONSOLE.print(table)


def _operations(answer: Answer) -> None:
    table = Table("operation", "type", "status", "items", "created", "error", box=None, header_style="bold")
    for operation in answer["operations"]:
        status, error = operation["status"], operation.get("error_message")
        table.add_row(
            operation["id"],
            operation["task_type"],
            "completed with errors" if status == "completed" and error else status,
            str(operation["items_count"]),
            operation["created_at"][:19],
            Text(error or ""),
        )
    CONSOLE.print(table)


def _retain(answer: Answer) -> None:
    if answer["async"]:
        CONSOLE.print(f"queued {answer['items_count']} item(s) as operation {answer['operation_id']}")
        return
    usage = answer.get("usage") or {}
    CONSOLE.print(f"kept {answer['items_count']} item(s); {usage.get('total_tokens', 0)} tokens")


def _files(answer: Answer) -> None:
    for id_ in answer["operation_ids"]:
        CONSOLE.print(f"queued as operation {id_}")


def _status(answer: Answer) -> None:
    CONSOLE.print(
        f"memorybank {answer['version']} is {answer['status']} at {answer['url']}"
        f" (engine: {answer['engine']}, banks: {answer['banks']})"
    )


_FORMS: Mapping[str, Callable[[Answer], None]] = {
    "recall_memories": _recall,
    "reflect": _reflect,
    "list_banks": _banks,
    "list_directives": _directives,
    "list_operations": _operations,
    "retain_memories": _retain,
    "file_retain": _files,
    "status": _status,
}
