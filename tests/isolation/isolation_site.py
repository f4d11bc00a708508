"""One installation in this process, asked over HTTP with real keys: for hundreds of worlds in one database.

Its model repeats whatever it is shown, so that an answer tells all that went into it.
"""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
import uvicorn
from psycopg.conninfo import make_conninfo

from memorybank import assembly
from memorybank.llm.client import ChatReply, ChatRequest, ModelProfile, ToolCall
from memorybank.memory import MemoryBank
from memorybank.model import TokenUsage
from memorybank.serve.http.app import build
from memorybank.settings import Settings, Stage, load
from memorybank.storage.pool import Database
from memorybank.testing.embedder import HashingEmbedder
from memorybank.testing.scripted_answers import fact
from memorybank.testing.scripted_model import ScriptedModel

T = TypeVar("T")
#: A secret word: made up, one place where it was said each.
WORD = re.compile(rb"zq[a-z]{6}x", re.IGNORECASE)
UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Echo:
    """The model: extraction, consolidation and documents by rule; to a question it says every secret it has seen."""

    def __init__(self) -> None:
        self._scripted = ScriptedModel(answer=_facts, judge=_all_kept)

    def profile(self, stage: Stage) -> ModelProfile:
        return self._scripted.profile(stage)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self._scripted.requests.clear()
        if request.schema is not None:
            return await self._scripted.complete(request)
        shown = json.dumps([request.user, *request.messages], ensure_ascii=False).encode()
        said = " ".join(sorted({word.decode() for word in WORD.findall(shown)})) or "nothing"
        if not request.tools:
            return ChatReply(said, "", "stop", TokenUsage(10, 5), "echo")
        done = ToolCall("call00001", "done", json.dumps({"answer": said, "memory_ids": [1, 2, 3]}))
        return ChatReply("", "", "tool_calls", TokenUsage(10, 5), "echo", tool_calls=(done,))


def _facts(content: str) -> Any:
    return {"facts": [fact(line) for line in content.split("\n") if line.strip()]}


def _all_kept(user: str) -> Any:
    """Return that a draft keeps all directives."""
    asked = [
        json.loads(line) for line in user.splitlines() if line.startswith('{"id"') and '"directive"' in line
    ]
    return {"verdicts": [{"id": one["id"], "ok": True, "words": [], "facts": []} for one in asked]}


def settings_for(conninfo: str) -> Settings:
    return load(
        environ={
            # Hundreds of worlds, none of which has to outlive the machine.
            "MEMORYBANK_DATABASE__URL": make_conninfo(conninfo, options="-c synchronous_commit=off"),
            "MEMORYBANK_LLM__MODEL": "echo/echo",
            "MEMORYBANK_CONSOLIDATION__MAX_WAIT_SECONDS": "0",
        }
    )


class Site:
    """The application with its database; `loop` is where it lives, so that tests without one can ask it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, conninfo: str, home: Path) -> None:
        self._loop = loop
        self._settings = settings_for(conninfo)
        self._home = home
        self.operator = ""
        self._client: httpx.AsyncClient
        self.memory: MemoryBank
        self.app: Any
        self._closing: Any

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    @property
    def database(self) -> Database:
        return self.memory.database

    @asynccontextmanager
    async def _lived(self) -> AsyncIterator[None]:
        async with MemoryBank.opened(self._settings, self._home) as memory:

            @asynccontextmanager
            async def opened() -> AsyncIterator[MemoryBank]:
                yield memory

            self.memory = memory
            self.app = build(self._settings, opened)
            transport = httpx.ASGITransport(app=self.app)
            async with (
                httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as self._client,
                self.app.router.lifespan_context(self.app),
            ):
                made = await self.ask("PUT", "/v1/default/directory", None, {"people": [{"id": "first"}]})
                self.operator = next(key["key"] for key in made.json()["keys"] if key["kind"] == "operator")
                yield

    async def open(self) -> None:
        self._closing = self._lived()
        await self._closing.__aenter__()

    async def close(self) -> None:
        await self._closing.__aexit__(None, None, None)

    async def ask(
        self, method: str, path: str, key: str | None, body: Any = None, **options: Any
    ) -> httpx.Response:
        """Send one request; an answer of 500 fails at once."""
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        answer = await self._client.request(method, path, json=body, headers=headers, **options)
        assert answer.status_code != 500, f"{method} {path}: {answer.text}"
        return answer

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Be asked over a real socket for as long as the block lasts."""
        server = uvicorn.Server(uvicorn.Config(self.app, lifespan="off", log_config=None, ws="none"))
        # A socket that names TCP, or each answer waits for an acknowledgement.
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            serving = asyncio.create_task(server.serve([listening]))
            inside, url = self._client, f"http://127.0.0.1:{listening.getsockname()[1]}"
            try:
                async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as self._client:
                    yield
            finally:
                self._client, server.should_exit = inside, True
                await serving

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """Read the tables themselves: what is there, whoever may see it."""
        async with self.database.connection() as connection:
            return await (await connection.execute(sql, values)).fetchall()

    async def moved(self, bank_id: str, audience: int, names: list[str]) -> None:
        """Put models and folders of these names, and the operations that build them, into another audience."""
        async with self.database.transaction() as connection:
            for table in ("knowledge_folder", "mental_model"):
                await connection.execute(
                    f"UPDATE {table} t SET audience_id = %s FROM bank b"  # noqa: S608
                    " WHERE b.id = t.bank AND b.bank_id = %s AND t.name = ANY(%s)",
                    [audience, bank_id, names],
                )
            await connection.execute(
                "UPDATE operation o SET audience_id = %s FROM bank b WHERE b.id = o.bank AND b.bank_id = %s"
                " AND o.kind = 'refresh_mental_model' AND o.status = 'pending'"
                " AND o.audience_id = (SELECT a.id FROM audience a WHERE a.bank = b.id AND a.kind = 'bank')",
                [audience, bank_id],
            )


def without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the echo in place of a provider, and hashes in place of an embedding model."""

    async def embedder(own: Any, database: Database) -> HashingEmbedder:
        made = HashingEmbedder(64)
        async with database.transaction() as connection:
            await assembly.models.embedding_model(connection, made.model, made.dimensions)
        return made

    monkeypatch.setattr(assembly, "LitellmModel", lambda stages: Echo())
    monkeypatch.setattr(assembly, "_embedder", embedder)
