"""What a reader decided on the batches of consolidation, played again through the real stage: the same stands today.

The batches and what must become of them: eval/datasets/consolidation. `checks.json`: what stood when it was graded.
"""

import json
from pathlib import Path

import pytest

from memorybank.llm.embedding import Embedder
from memorybank.settings import Settings
from memorybank.storage.pool import Database
from memorybank.templates import fixed_nonce
from memorybank_eval import decisions
from memorybank_eval import prompts_consolidation as judged
from memorybank_eval.cassettes import NONCE, Player
from memorybank_eval.offline import default_model

RECORDINGS = Path(__file__).with_name("recordings")
OWN = Path(judged.__file__).resolve().parents[1] / "datasets" / "consolidation" / "own.toml"
BATCHES = {batch.id: batch for batch in judged.read(OWN)}
CHECKS = json.loads((RECORDINGS / "checks.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The model that was used when it was recorded: it says which observations are shown, and in which order."""
    return default_model()


@pytest.mark.parametrize("name", BATCHES)
async def test_what_stood_stands(
    database: Database, settings: Settings, embedder: Embedder, name: str
) -> None:
    batch, played = BATCHES[name], Player.load(RECORDINGS / f"{name}.json")
    with fixed_nonce(NONCE):
        outcome = await judged.consolidated(database, judged.by_itself(settings), embedder, batch, played)
    assert outcome["error"] is None
    assert decisions.lost(batch, outcome) == []
    assert decisions.opposites(batch, outcome["facts"]) == []
    assert decisions.standing(outcome["facts"]) == CHECKS[name]
