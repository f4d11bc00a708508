"""What a reader answered to the prompts of retain, played again: every statement that was kept then is kept today.

The samples and what must be kept of them: eval/datasets/prompts. `checks.json` comes from the grades of the recording.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from memorybank.model import Fact
from memorybank.settings import defaults
from memorybank.templates import fixed_nonce
from memorybank_eval import prompts_retain as prompts
from memorybank_eval.cassettes import NONCE, Player

CASSETTES = Path(__file__).with_name("cassettes")
OWN = Path(prompts.__file__).resolve().parents[1] / "datasets" / "prompts" / "own.toml"
SAMPLES = {sample.id: sample for sample in prompts.read(OWN)}
CHECKS = json.loads((CASSETTES / "checks.json").read_text(encoding="utf-8"))


def holds(fact: Fact, check: dict[str, Any]) -> bool:
    day = fact.occurred_start.date().isoformat() if fact.occurred_start else None
    said = fact.text.casefold()
    words = all(word.casefold() in said for word in check["words"])
    return words and (day, str(fact.fact_type)) == (check["date"], check["type"])


@pytest.mark.parametrize("name", SAMPLES)
async def test_what_was_kept_is_kept(name: str) -> None:
    with fixed_nonce(NONCE):
        found = await prompts.extracted(SAMPLES[name], Player.load(CASSETTES / f"{name}.json"), defaults())
    assert found.error is None
    missing = [
        said for said, check in CHECKS[name].items() if not any(holds(fact, check) for fact in found.facts)
    ]
    assert missing == []
