"""A worker that dies at any moment of a refresh leaves the old content whole, or the new one; the next one ends it."""

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import QUICK, WHEN_ASKED, Client, Installation, eventually

from memorybank.testing.scripted_llm import ScriptedLLM
from memorybank_eval.nursery import Nursery

#: Moments at which the worker is killed: after so many seconds, drawn anew for each.
KILLS, LONGEST = 20, 0.5


@pytest.fixture
def model() -> Iterator[ScriptedLLM]:
    with ScriptedLLM() as running:
        yield running


def content(bank: Client) -> list[str]:
    found: str = bank.call("GET", "/mental-models/page")["content"]
    return [line.removeprefix("- ") for line in found.splitlines() if line.startswith("- ")]


def test_20_kills_leave_the_old_content_or_the_new(tmp_path: Path, model: ScriptedLLM) -> None:
    place = Installation(
        tmp_path,
        MEMORYBANK_LLM__MODEL="openai/scripted",
        MEMORYBANK_LLM__BASE_URL=model.base_url,
        MEMORYBANK_LLM__API_KEY="none",
        **QUICK,
        **WHEN_ASKED,
    )
    chance, ends = random.Random(5), []
    try:
        with Nursery() as nursery:
            bank = Client(place.serve().url(), "killed")
            facts = ["Ines: Crate 0 stands on shelf 700."]
            bank.retain(*facts)
            asked: dict[str, Any] = {
                "name": "Page",
                "id": "page",
                "source_query": "Which crate stands where?",
            }
            made = bank.call("POST", "/mental-models", asked | {"trigger": {"mode": "delta"}})
            worker = nursery(place.environ, tmp_path / "workers.err")
            bank.ended(made["operation_id"])
            for number in range(1, KILLS + 1):
                old = content(bank)
                facts.append(f"Ines: Crate {number} stands on shelf {number + 700}.")
                bank.retain(facts[-1])
                queued = bank.call("POST", "/mental-models/page/refresh")
                time.sleep(chance.uniform(0, LONGEST))
                worker.send_signal(signal.SIGKILL)
                worker.wait()
                ends.append(bank.operation(queued["operation_id"])["status"])
                assert content(bank) in (old, [*old, facts[-1]])
                worker = nursery(place.environ, tmp_path / "workers.err")
                assert bank.ended(queued["operation_id"])["status"] == "completed"
                assert content(bank) == facts
            history = bank.call("GET", "/mental-models/page/history")
            assert [entry["previous_content"].count("- ") for entry in history] == list(range(KILLS, 0, -1))
            assert len(set(ends)) >= 2, "the kills fell at different moments"
            worker.send_signal(signal.SIGTERM)
            eventually(lambda: not worker.running, "the worker does not end")
    finally:
        model.release()
        place.end()
