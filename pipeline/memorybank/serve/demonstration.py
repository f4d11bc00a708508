"""The main job, shown: a conversation goes in over HTTP, workers turn it into facts, questions are answered."""

import asyncio
import time
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from memorybank import paths
from memorybank.errors import MemoryBankError
from memorybank.serve.remote import Remote
from memorybank.serve.render import CONSOLE, facts
from memorybank.serve.running import up
from memorybank.serve.sample import Sample, read
from memorybank.settings import Settings

#: Seconds between two looks at the operation.
POLL_SECONDS = 0.1
#: Facts and entities that are printed; the rest is a command away.
SHOWN_FACTS = 40
#: Questions asked of a text that brings none: about the names it mentions most.
ASKED = 3


async def run(settings: Settings, sample: Path | None) -> None:
    """Start everything, show the main job on a sample, and stop; raises MemoryBankError where it fails."""
    conversation = read(sample or paths.configs() / "samples" / "harbour.json")
    answering: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(up(settings, answering.set_result))
    waited: set[asyncio.Future[Any]] = {answering, running}
    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    if not answering.done():
        await running
        return
    try:
        await asyncio.to_thread(_show, Remote(answering.result()), conversation)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def _show(remote: Remote, sample: Sample) -> None:
    bank = f"demo-{sample.name}"
    health = remote.request("GET", "/health")
    CONSOLE.rule(f"[bold]memorybank[/] · engine: {health['engine']} · {remote.url}")
    operation = _retain(remote, bank, sample)
    _facts(remote, bank)
    for question in sample.questions or _questions(remote, bank):
        _recall(remote, bank, question)
    _counts(operation)
    CONSOLE.print(
        f"\nThe API listened at {remote.url} during this demonstration. `make serve` keeps it running;"
        f" bank [bold]{bank}[/] is still there:\n  .venv/bin/memorybank recall {bank} 'your question'"
    )


def _retain(remote: Remote, bank: str, sample: Sample) -> dict[str, Any]:
    """Retain the sample in the background and wait, showing how far it is."""
    path = f"/v1/default/banks/{bank}"
    submitted = remote.request("POST", f"{path}/memories", body={"items": list(sample.items), "async": True})
    columns = (
        TextColumn("retaining"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("chunks"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=CONSOLE) as bar:
        task = bar.add_task("retain", total=None)
        while True:
            operation = remote.request("GET", f"{path}/operations/{submitted['operation_id']}")
            progress = operation.get("progress") or {}
            bar.update(task, completed=progress.get("processed") or 0, total=progress.get("total"))
            if operation["status"] in ("completed", "failed", "cancelled"):
                break
            bar.refresh()
            time.sleep(POLL_SECONDS)
    if operation["status"] != "completed":
        raise MemoryBankError(f"the retain {operation['status']}: {operation['error_message']}")
    return operation


def _facts(remote: Remote, bank: str) -> None:
    found = remote.request("GET", f"/v1/default/banks/{bank}/memories/list", query={"limit": SHOWN_FACTS})
    CONSOLE.rule(f"{found['total']} facts")
    CONSOLE.print(facts(found["items"][::-1]))
    if found["total"] > SHOWN_FACTS:
        CONSOLE.print(f"… and {found['total'] - SHOWN_FACTS} earlier ones")
    entities = remote.request("GET", f"/v1/default/banks/{bank}/entities", query={"limit": SHOWN_FACTS})
    names = ", ".join(
        f"{entity['canonical_name']} ({entity['mention_count']})" for entity in entities["items"]
    )
    CONSOLE.rule(f"{entities['total']} entities")
    CONSOLE.print(Text(names, style="cyan"))


def _questions(remote: Remote, bank: str) -> list[str]:
    entities = remote.request("GET", f"/v1/default/banks/{bank}/entities", query={"limit": ASKED})["items"]
    return [f"What is known about {entity['canonical_name']}?" for entity in entities] or [
        "What is this about?"
    ]


def _recall(remote: Remote, bank: str, question: str) -> None:
    body = {"query": question, "max_tokens": 300}
    answer = remote.request("POST", f"/v1/default/banks/{bank}/memories/recall", body=body)
    CONSOLE.rule(Text(f"recall: {question}"))
    CONSOLE.print(facts(answer["results"][:5], scores=True))


def _counts(operation: dict[str, Any]) -> None:
    CONSOLE.rule(f"operation {operation['status']}")
    result = operation.get("result_metadata") or {}
    CONSOLE.print(", ".join(f"{key} {value}" for key, value in result.items() if isinstance(value, int)))
