"""Is anything lost silently when a model answers badly? Documents go through the whole of retain, with litellm, to a
scripted endpoint that goes wrong in one way after the other.

Each document is one chunk with a known number of facts. What is missing afterwards must be counted: as unreadable, or
under an error that names the chunk. Every call that the endpoint saw must stand in the ledger.
"""

import argparse
import asyncio
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.memory import MemoryBank
from memorybank.model import RetainItem
from memorybank.settings import Settings, load
from memorybank.storage import chunks as stored_chunks
from memorybank.storage import listings, operations
from memorybank.storage.listings import MemoryFilter, Page
from memorybank.storage.operations import OperationRecord
from memorybank.testing.scripted_llm import ScriptedLLM
from memorybank_eval import machine, report

#: Characters of a chunk at most; documents are longer than half of it, so that none share a call.
CHUNK_CHARACTERS = 1_800
#: Lines of a document, each one fact: so many at least and at most.
LINES = (7, 12)
#: The endpoint cuts its answer about more characters than these; the user's part of a prompt has that many besides.
CUT_ABOVE, AROUND = 1_200, 150
#: Every so many chunks one is refused.
REFUSED_EVERY = 20
SEED = 20
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
_CRATE = re.compile(r"crate (\d+-\d+) ")
_COUNTED = re.compile(r"(\d+) (\w+)")

#: What is told to the endpoint before a run over so many chunks.
Script = Callable[[ScriptedLLM, int], None]


def _always(kind: str, **how: Any) -> Script:
    return lambda model, _: model.fail(kind, **{"times": None, **how})


def _refusals(model: ScriptedLLM, count: int) -> None:
    for number in range(3, count, REFUSED_EVERY):
        model.fail("refusal", times=None, when=_marker(number))


def _mixture(model: ScriptedLLM, count: int) -> None:
    """Let each chunk go wrong in a way of its own."""
    for number in range(count):
        kind, how = _MIXED[number % len(_MIXED)]
        model.fail(kind, **{"times": None, "when": _marker(number), **how})


_FRESH, _LONG = {"fresh": True}, {"longer_than": CUT_ABOVE + AROUND}
_MIXED: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("fenced", {}), ("bare_list", {}), ("thinking", {}), ("thought_only", _FRESH), ("schema_echo", _FRESH),
    ("bad_escapes", {}), ("other_fields", {}), ("unclosed", _FRESH), ("partly_malformed", {}), ("refusal", {}),
    ("prose", _FRESH), ("trailing_commas", {}), ("python", {}), ("unreadable_item", {}), ("length", _LONG),
    ("empty", _FRESH), ("doubly_encoded", {}), ("rate_limited", {"times": 1, "seconds": 0.02}), ("prose", {}),
)  # fmt: skip
#: `_FRESH` modes end when the model is told what was wrong; the others last.
MODES: Mapping[str, Script] = {
    "as asked": lambda model, _: None,
    "fenced": _always("fenced"),
    "prose around, back-ticks in values": _always("fenced_code"),
    "bare list": _always("bare_list"),
    "thinking before it": _always("thinking"),
    "nothing but thinking": _always("thought_only", **_FRESH),
    "schema echoed": _always("schema_echo", **_FRESH),
    "bad escapes": _always("bad_escapes"),
    "other field names": _always("other_fields"),
    "cut at length": _always("length", **_LONG),
    "never closed": _always("unclosed", **_FRESH),
    "a third of the facts broken": _always("partly_malformed"),
    "one item that does not read": _always("unreadable_item"),
    "schema ignored": _always("ignores_schema"),
    "refusal of some chunks": _refusals,
    "rate limits": lambda model, count: model.fail("rate_limited", times=count // 2, seconds=0.02),
    "all of these by turns": _mixture,
}


@dataclass
class Row:
    """One mode: calls as the endpoint saw them, and where the facts are."""

    mode: str
    chunks: int
    calls: int = 0
    ledger: int = 0
    facts: int = 0
    kept: int = 0
    unreadable: int = 0
    lost_by_name: int = 0
    lost_silently: int = 0
    dropped_by_reason: dict[str, int] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether nothing was lost silently, no call is missing in the ledger, and there were few of them."""
        return not self.lost_silently and self.calls == self.ledger and self.calls <= 2 * self.chunks


def documents(count: int) -> list[tuple[str, ...]]:
    """Return documents as the lines they are made of, the same ones every time."""
    chance = random.Random(SEED)
    return [tuple(_line(number, line) for line in range(chance.randint(*LINES))) for number in range(count)]


def _line(number: int, line: int) -> str:
    hall = 7 * number + line
    return (
        f"Ada told Ben that {_marker(number, line)}stands in hall {hall} of the long depot, behind the green door"
        f" near gate {line} of the eastern yard, next to lamp {number}."
    )


def _marker(number: int, line: int = 0) -> str:
    return f"crate {number:03}-{line:02} "


async def measure(count: int, home: Path, environ: Mapping[str, str] | None = None) -> list[Row]:
    """Run every mode over `count` chunks, each mode with a fresh engine that has learned nothing."""
    with ScriptedLLM() as model:
        settings = _settings(model, environ or {})
        rows = []
        for place, (mode, script) in enumerate(MODES.items()):
            model.reset()
            script(model, count)
            async with MemoryBank.opened(settings, home) as memory:
                rows.append(await _row(memory, model, f"mode-{place}", Row(mode, count)))
        return rows


def _settings(model: ScriptedLLM, environ: Mapping[str, str]) -> Settings:
    place = {"MODEL": "openai/scripted", "BASE_URL": model.base_url, "API_KEY": "none"}
    models = {
        f"MEMORYBANK_{use}__{name}": value for use in ("LLM", "EMBEDDINGS") for name, value in place.items()
    }
    own = {
        "MEMORYBANK_EMBEDDINGS__PROVIDER": "litellm",
        "MEMORYBANK_LLM__BACKOFF_SECONDS": "0.01",
        "MEMORYBANK_BANK__RETAIN_CHUNK_SIZE": str(CHUNK_CHARACTERS),
    }
    return load(environ={**models, **own, **environ})


async def _row(memory: MemoryBank, model: ScriptedLLM, bank: str, row: Row) -> Row:
    """Retain the documents and account for every fact."""
    texts = documents(row.chunks)
    items = [RetainItem("\n".join(lines), AT, document_id=f"d{at:03}") for at, lines in enumerate(texts)]
    began = time.perf_counter()
    submitted = await memory.submit(bank, items)
    done = [await _finished(memory, bank, child) for child in submitted.children]
    row.seconds = round(time.perf_counter() - began, 1)
    errors = [error for child in submitted.children for error in await _errors(memory, child)]
    kept = await _kept(memory, bank)
    row.calls = sum("messages" in request for request in model.requests)
    row.ledger = sum(int(one.result["llm_calls"]) for one in done)
    row.statuses = dict(Counter(str(one.status) for one in done))
    row.dropped_by_reason = dict(sum((Counter(one.result["dropped_by_reason"]) for one in done), Counter()))
    for at, lines in enumerate(texts):
        said = [error for error in errors if error.startswith(f"document d{at:03},")]
        _account(row, {_CRATE.findall(line)[0] for line in lines}, kept, said)
    return row


def _account(row: Row, expected: set[str], kept: set[str], errors: Sequence[str]) -> None:
    """Add one document: a missing fact is counted as unreadable, or lost with a part that was named; else silently."""
    missing = len(expected - kept)
    counted = Counter(
        {reason: int(count) for count, reason in _COUNTED.findall("".join(errors).split(": ", 1)[-1])}
    )
    unreadable = min(missing, counted["malformed"])
    named = missing - unreadable if "model_" in "".join(errors) else 0
    row.facts += len(expected)
    row.kept += len(expected) - missing
    row.unreadable += unreadable
    row.lost_by_name += named
    row.lost_silently += missing - unreadable - named


async def _finished(memory: MemoryBank, bank: str, operation: UUID) -> OperationRecord:
    """Work on an operation until it has ended."""
    while True:
        await memory.work(operation)
        async with memory.reading(bank) as (connection, found):
            record = await operations.get(connection, found.id, operation, Viewer.operator())
        assert record is not None
        if record.status.terminal:
            return record
        await asyncio.sleep(0.05)


async def _errors(memory: MemoryBank, operation: UUID) -> Sequence[str]:
    async with memory.database.connection() as connection:
        return (await stored_chunks.counts(connection, operation)).errors


async def _kept(memory: MemoryBank, bank: str) -> set[str]:
    """Return the crates that the bank's memories speak of."""
    async with memory.reading(bank) as (connection, found):
        every = Page(limit=1_000_000)
        listed = await listings.list_memories(connection, found.id, Viewer.operator(), MemoryFilter(), every)
    return {crate for row in listed.rows for crate in _CRATE.findall(row["text"])}


def shown(rows: Sequence[Row]) -> str:
    """Return the rows as a table."""
    head = (
        "mode",
        "chunks",
        "calls",
        "in the ledger",
        "facts",
        "kept",
        "unreadable",
        "lost by name",
        "lost silently",
    )
    cells = [
        (
            row.mode,
            *map(str, (row.chunks, row.calls, row.ledger, row.facts, row.kept, row.unreadable)),
            *map(str, (row.lost_by_name, row.lost_silently)),
        )
        for row in rows
    ]
    return report.table(head, cells)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `malformed` to the commands of the harness."""
    bad = commands.add_parser("malformed", help="is anything lost silently when a model answers badly?")
    bad.add_argument("--chunks", type=int, default=200, help="chunks in each mode")
    bad.add_argument("--out", type=Path, help="write the result as JSON")
    bad.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    described = machine.describe()
    with tempfile.TemporaryDirectory(prefix="memorybank-eval-", ignore_cleanup_errors=True) as home:
        rows = asyncio.run(measure(given.chunks, Path(home)))
    print(shown(rows))
    if given.out:
        modes = [vars(row) | {"sound": row.sound} for row in rows]
        report.write_json(given.out, {"kind": "malformed", **described, "modes": modes})
    if not all(row.sound for row in rows):
        raise SystemExit(1)
