"""Turns retained per CPU second: a whole conversation, session by session, through extraction, linking and storage."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from memorybank.errors import MemoryBankError
from memorybank_eval.client import Client
from memorybank_eval.datasets import Conversation
from memorybank_eval.processes import Meter, memory
from memorybank_eval.server import RunningServer, running
from memorybank_eval.startup import first_work, megabytes, spread
from memorybank_eval.workload import transcript

#: Seconds the scripted model may take to listen.
MODEL_START_SECONDS = 20.0
POLL_SECONDS = 0.05


def measure(
    conversation: Conversation, rounds: int, environ: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Retain the conversation `rounds` times, each in its own bank, on one server; medians.

    What loads once (embedding weights, the model gateway) is loaded by a first retain that is not counted.
    """
    with running(environ=environ) as server:
        return asyncio.run(_rounds(server, conversation, rounds))


async def _rounds(server: RunningServer, conversation: Conversation, rounds: int) -> dict[str, Any]:
    await first_work(server.url)
    async with Client(server.url) as client:
        done = [
            await _retain(client, server.pid, f"retain-{number}", conversation) for number in range(rounds)
        ]
        engine = (await client.health())["engine"]
    return {
        "engine": engine,
        "turns": len(conversation.turns),
        "facts": done[-1]["facts"],
        "turns_per_cpu_second": spread([one["turns_per_cpu_second"] for one in done], 1),
        "rounds": done,
        "memory_mb": megabytes(memory(server.pid)),
    }


async def _retain(client: Client, pid: int, bank: str, conversation: Conversation) -> dict[str, Any]:
    """Retain each session as one document, one after the other."""
    meter = Meter(pid)
    for number, session in enumerate(conversation.sessions(), start=1):
        item = {
            "content": transcript(session),
            "timestamp": session[0].at.isoformat(),
            "context": conversation.context,
            "document_id": f"session-{number}",
        }
        await client.retain(bank, [item])
    used = meter.stop()
    return {
        "facts": await client.count(bank),
        "turns_per_cpu_second": round(len(conversation.turns) / used.cpu_total, 1),
        "wall_seconds": round(used.wall_seconds, 2),
        "cpu_seconds": {role: round(seconds, 2) for role, seconds in used.cpu_seconds.items()},
        "other_cpu_seconds": round(used.other_cpu_seconds, 2),
    }


@contextmanager
def scripted_model() -> Iterator[str]:
    """Run the scripted model server as a process of its own; yields its base URL."""
    port = _free_port()
    process = subprocess.Popen([sys.executable, "-m", "memorybank.testing.scripted_llm", "--port", str(port)])
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(address, process)
        yield f"{address}/v1"
    finally:
        process.terminate()
        process.wait()


def scripted_environment(base_url: str) -> dict[str, str]:
    """Return the settings that make a server use the scripted model."""
    return {
        "MEMORYBANK_LLM__MODEL": "openai/scripted",
        "MEMORYBANK_LLM__BASE_URL": base_url,
        "MEMORYBANK_LLM__API_KEY": "none",
    }


def calls_of(base_url: str) -> dict[str, Any]:
    """Return the calls and tokens the scripted model has counted."""
    address = base_url.removesuffix("/v1")
    counted: dict[str, Any] = httpx.get(f"{address}/stats", trust_env=False).json()["total"]
    return counted


def _wait_for(address: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + MODEL_START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{address}/stats", trust_env=False).is_success:
                return
        except httpx.HTTPError:
            time.sleep(POLL_SECONDS)
    raise MemoryBankError(f"the scripted model does not answer at {address}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
