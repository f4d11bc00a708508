"""Answers as a person reads them."""

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

CONSOLE = Console()
Answer = Mapping[str, Any]


def render(call: str, answer: Answer) -> None:
    """Print the answer of a call; one without a form of its own is printed as JSON."""
    form = _FORMS.get(call)
    if form is None:
        CONSOLE.print_json(data=answer)
    else:
        form(answer)


def when(fact: Answer) -> str:
    """Return a fact's date, or its range of dates, as days."""
    start, end = (fact.get("occurred_start") or "")[:10], (fact.get("occurred_end") or "")[:10]
    if start and end and start != end:
        return f"{start} – {end}"
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


def _operations(answer: Answer) -> None:
    table = Table("operation", "type", "status", "items", "created", "error", box=None, header_style="bold")
    for operation in answer["operations"]:
        status, error = operation["status"], operation["error_message"]
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


_FORMS: Mapping[str, Callable[[Answer], None]] = {
    "recall_memories": _recall,
    "reflect": _reflect,
    "list_banks": _banks,
    "list_operations": _operations,
    "retain_memories": _retain,
}
