"""The main job, shown: a conversation goes in over HTTP, workers turn it into facts, questions are answered."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from memorybank import paths
from memorybank.errors import MemoryBankError
from memorybank.serve.remote import Remote
from memorybank.serve.render import CONSOLE, facts
from memorybank.serve.running import up
from memorybank.serve.sample import Sample, read
from memorybank.settings import Settings

#: Our own conversation.
SAMPLE = "harbour.json"
#: Seconds between two looks at the operation.
POLL_SECONDS = 0.1
#: Facts and entities that are printed; the rest is a command away.
SHOWN_FACTS = 100
#: Hits that are printed of a recall, and the tokens it may return.
SHOWN_HITS, HIT_TOKENS = 5, 300
#: Questions asked; of a text that brings none, about the names it mentions most.
ASKED = 3
#: The counts of an operation that are printed, and in which words.
COUNTS: Mapping[str, str] = {
    "items_count": "items",
    "chunks_in": "chunks in",
    "chunks_out": "extracted",
    "chunks_unchanged": "unchanged",
    "chunks_failed": "failed",
    "facts_kept": "facts kept",
    "facts_dropped": "dropped",
    "links": "links",
    "llm_calls": "model calls",
}


async def run(settings: Settings, sample: Path | None) -> None:
    """Start everything, show the main job on a sample, and stop; raises MemoryBankError where it fails."""
    conversation = read(sample or paths.configs() / "samples" / SAMPLE)
    async with up(settings) as api:
        with Remote(api.url) as remote:
            await _Demonstration(remote, conversation).show()


class _Demonstration:
    """One conversation on one server, in a bank of its own."""

    def __init__(self, remote: Remote, sample: Sample) -> None:
        self._remote = remote
        self._sample = sample
        self._bank = f"demo-{sample.name}"
        self._path = f"/v1/default/banks/{quote(self._bank, safe='')}"

    async def show(self) -> None:
        """Do the main job step by step, and print what comes of it."""
        await self._heading()
        operation = await self._retained()
        await self._facts()
        await self._entities()
        for question in self._sample.questions[:ASKED] or await self._questions():
            await self._recall(question)
        _counts(operation)
        self._farewell()

    async def _ask(self, method: str, path: str, **what: Any) -> dict[str, Any]:
        return await asyncio.to_thread(self._remote.request, method, path, **what)

    async def _heading(self) -> None:
        health = await self._ask("GET", "/health")
        CONSOLE.rule(f"[bold]memorybank[/] · engine: {health['engine']} · {self._remote.url}")

    async def _retained(self) -> dict[str, Any]:
        """Retain the sample in the background and wait, showing how far it is."""
        body = {"items": list(self._sample.items), "async": True}
        submitted = await self._ask("POST", f"{self._path}/memories", body=body)
        columns = (TextColumn("retaining"), BarColumn(), MofNCompleteColumn(), TextColumn("chunks"))
        with Progress(*columns, TimeElapsedColumn(), console=CONSOLE) as bar:
            task = bar.add_task("retain", total=None)
            while True:
                operation = await self._ask("GET", f"{self._path}/operations/{submitted['operation_id']}")
                progress = operation.get("progress") or {}
                bar.update(task, completed=progress.get("processed") or 0, total=progress.get("total"))
                if operation["status"] in ("completed", "failed", "cancelled"):
                    break
                await asyncio.sleep(POLL_SECONDS)
        if operation["status"] != "completed":
            raise MemoryBankError(f"the retain {operation['status']}: {operation.get('error_message')}")
        return operation

    async def _facts(self) -> None:
        found = await self._ask("GET", f"{self._path}/memories/list", query={"limit": SHOWN_FACTS})
        CONSOLE.rule(f"{found['total']} facts")
        CONSOLE.print(facts(found["items"][::-1]))
        if found["total"] > SHOWN_FACTS:
            CONSOLE.print(f"… and {found['total'] - SHOWN_FACTS} earlier ones")

    async def _entities(self) -> None:
        found = await self._ask("GET", f"{self._path}/entities", query={"limit": SHOWN_FACTS})
        names = [f"{entity['canonical_name']} ({entity['mention_count']})" for entity in found["items"]]
        CONSOLE.rule(f"{found['total']} entities")
        CONSOLE.print(Text(", ".join(names), style="cyan"))

    async def _questions(self) -> list[str]:
        """Make up questions for a text that brings none."""
        found = await self._ask("GET", f"{self._path}/entities", query={"limit": ASKED})
        names = [entity["canonical_name"] for entity in found["items"]]
        return [f"What is known about {name}?" for name in names] or ["What is this about?"]

    async def _recall(self, question: str) -> None:
        body = {"query": question, "max_tokens": HIT_TOKENS}
        answer = await self._ask("POST", f"{self._path}/memories/recall", body=body)
        CONSOLE.rule(Text(f"recall: {question}"))
        CONSOLE.print(facts(answer["results"][:SHOWN_HITS], scores=True))

    def _farewell(self) -> None:
        CONSOLE.print(
            f"\nThe API listened at {self._remote.url} during this demonstration. The bank stays: start the server"
            " with `make serve`, then ask in another terminal:"
        )
        CONSOLE.print(Text(f"  .venv/bin/memorybank recall '{self._bank}' 'your question'"))


def _counts(operation: Mapping[str, Any]) -> None:
    """Print what the operation did, and how it ended."""
    error = operation.get("error_message")
    CONSOLE.rule(f"operation {operation['status']}{' with errors' if error else ''}")
    result = operation.get("result_metadata") or {}
    CONSOLE.print(" · ".join(f"{result[key]} {words}" for key, words in COUNTS.items() if key in result))
    if dropped := result.get("dropped_by_reason"):
        CONSOLE.print("dropped: " + ", ".join(f"{reason} {count}" for reason, count in dropped.items()))
    if error:
        CONSOLE.print(Text(str(error), style="red"))
