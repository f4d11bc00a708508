"""A batch of `memorybank_eval prompts --stage consolidation` goes through the real stage, and can be played again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from memorybank.errors import ModelRefused
from memorybank.settings import Settings
from memorybank.storage.pool import Database
from memorybank.templates import fixed_nonce
from memorybank.testing.embedder import HashingEmbedder
from memorybank.testing.scripted_answers import rows
from memorybank.testing.scripted_model import ScriptedModel
from memorybank_eval import prompts_consolidation as judged
from memorybank_eval.cassettes import NONCE, Player, Recorder, save
from memorybank_eval.decisions import Batch, lost

OWN = Path(judged.__file__).resolve().parents[1] / "datasets" / "consolidation" / "own.toml"
BATCH = next(batch for batch in judged.read(OWN) if batch.id == "k08-merge")


async def consolidated(database: Database, settings: Settings, model: Any, batch: Batch = BATCH) -> Any:
    embedder = HashingEmbedder(64)
    asked = judged.by_itself(settings)
    with fixed_nonce(NONCE):
        return await judged.consolidated(database, asked, embedder, batch, model)


def join(user: str) -> Any:
    """Make one of the two that say the same, and something new."""
    shown = {row["text"]: row["id"] for row in rows("observations", user)}
    one, other, _ = (shown[known.text] for known in BATCH.observations)
    second = "The Millbrook compost team meets on the first Saturday of a month."
    return {
        "actions": [
            {"action": "merge", "observation": one, "others": [other], "facts": [1]},
            {"action": "create", "text": second, "facts": [2]},
        ]
    }


async def test_the_outcome_names_what_was_given(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    recorder = Recorder(ScriptedModel(decide=join), "openai/bridge")
    outcome = await consolidated(database, settings, recorder)
    assert {(one["was"], tuple(one["sources"])) for one in outcome["facts"]} == {
        ("o1", ("a1", "a2", "a3", "n1")),
        ("o3", ("a4",)),
        (None, ("n2",)),
    }
    assert set(outcome["states"].values()) == {"done"} and not outcome["error"]
    assert lost(BATCH, outcome) == []
    save(tmp_path / "k08.json", recorder)
    elsewhere = replace(BATCH, id="again")
    again = await consolidated(database, settings, Player.load(tmp_path / "k08.json"), elsewhere)
    assert (again["facts"], again["states"]) == (outcome["facts"], outcome["states"])


async def test_a_model_that_refuses_is_the_error_of_the_batch(database: Database, settings: Settings) -> None:
    refusing = ScriptedModel(decide=lambda _: ModelRefused("no"))
    outcome = await consolidated(database, settings, refusing)
    assert outcome["error"] and [one["was"] for one in outcome["facts"]] == ["o1", "o2", "o3"]
    assert {name.rpartition("/")[2] for name in lost(BATCH, outcome)} == {"n1", "n2"}
