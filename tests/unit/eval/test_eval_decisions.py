"""Batches of `memorybank_eval prompts --stage consolidation`, and what code sees in their outcome."""

from pathlib import Path
from typing import Any

import pytest

from memorybank_eval import prompts_consolidation as judged
from memorybank_eval.decisions import Batch, checks, faults, figures, lost, opposites, table
from memorybank_eval.grading import Graded, Json, blank, sheet

OWN = Path(__file__).resolve().parents[3] / "eval" / "datasets" / "consolidation" / "own.toml"
BATCHES = {batch.id: batch for batch in judged.read(OWN)}

TOLD = """
[[batches]]
id = "home"
old = [{ id = "a1", text = "Ada lives in Graz.", said = "2030-01-01" }]
observations = [{ id = "o1", text = "Ada lives in Graz.", sources = ["a1"] },
                { id = "o2", text = "Ada has her home in Graz.", sources = ["a1"] }]
facts = [{ id = "n1", text = "Ada moved to Linz.", said = "2030-05-01", happened = "2030-04-30" },
         { id = "n2", text = "Ida lives in Graz.", said = "2030-05-02" },
         { id = "n3", text = "Ada says hello.", said = "2030-05-02" }]
optional = ["n3"]
never = ["that Ada lives in Graz now"]
apart = [["n1", "n2"]]
[[batches.decisions]]
id = "d1"
says = ["lives in Linz", "lived in Graz"]
sources = ["a1", "n1"]
outdated = ["o1"]
merged = ["o1", "o2"]
[[batches.decisions]]
id = "d2"
says = ["Ida lives in Graz"]
sources = ["n2"]
"""
LINZ = "Ada lives in Linz, before in Graz."


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    (tmp_path / "told.toml").write_text(TOLD)
    [read] = judged.read(tmp_path / "told.toml")
    return read


def observed(text: str, was: str | None, *sources: str) -> Json:
    return {"text": text, "fact_type": "observation", "occurred_start": None, "occurred_end": None, "place": None,
            "entities": [], "labels": [], "was": was, "sources": list(sources)}  # fmt: skip


IDA = observed("Ida lives in Graz.", None, "n2")


def graded(batch: Batch, facts: list[Json], first: int | None = 0, second: int | None = 0) -> Graded:
    """The grades of a reader who finds the pieces of the first decision at these places, and nothing wrong."""
    grades = blank([batch.expected], {batch.id: facts})
    grades[batch.id]["statements"] = {"d1.1": first, "d1.2": second, "d2.1": len(facts) - 1}
    grades[batch.id]["facts"] = {str(place): "ok" for place in range(len(facts))}
    return Graded([batch.expected], {batch.id: facts}, grades)


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_a_batch_says_what_must_become_of_every_fact(batch: Batch) -> None:
    told = {one.id for one in (*batch.old, *batch.new)}
    texts = {one.fact.text for one in (*batch.old, *batch.new)}
    known = {one.id for one in batch.observations}
    assert len(texts) == len(batch.old) + len(batch.new)
    assert told == {name for one in batch.decisions for name in one.sources} | batch.optional
    for decision in batch.decisions:
        allowed = decision.sources | decision.also
        assert allowed <= told and decision.outdated | decision.merged <= known
        assert not any(set(pair) <= allowed for pair in batch.apart)
    assert len({one.id for one in batch.decisions}) == len(batch.decisions)


@pytest.mark.parametrize(
    ("facts", "places", "found"),
    [
        ([observed(LINZ, "o1", "a1", "n1")], (0, 0), []),
        ([observed(LINZ, "o1", "a1", "n1")], (0, None), ["d1.2 is not said"]),
        ([observed(LINZ, "o1", "n1", "n2")], (0, 0), ["a1 is not cited", "n2 is cited"]),
        (
            [observed("Ada lives in Linz.", None, "n1"), observed("Ada lived in Graz.", "o1", "a1")],
            (0, 1),
            ["said in pieces"],
        ),
        (
            [observed(LINZ, None, "a1", "n1"), observed("Ada lives in Graz.", "o1", "a1")],
            (0, 0),
            ["o1 stands as it was"],
        ),
        ([observed(LINZ, "o1", "a1", "n1"), observed("Graz.", "o2", "a1")], (0, 0), ["not merged"]),
    ],
)
def test_a_decision_is_wrong_for_a_reason(batch: Batch, facts: Any, places: Any, found: list[str]) -> None:
    marks = graded(batch, [*facts, IDA], *places)
    assert list(faults(batch.decisions[0], batch, marks)) == found
    assert list(faults(batch.decisions[1], batch, marks)) == []


def test_what_stands_in_a_wrong_observation_is_not_said(batch: Batch) -> None:
    marks = graded(batch, [observed(LINZ, "o1", "a1", "n1"), IDA])
    marks.grades[batch.id]["facts"]["0"] = "must_not"
    assert "d1.1 is not said" in faults(batch.decisions[0], batch, marks)


def test_figures_count_right_decisions_opposites_and_losses(batch: Batch) -> None:
    facts = [observed(LINZ, "o1", "n1", "n2"), observed("Ida lives in Graz.", None, "n2")]
    states = {"a1": "done", "n1": "done", "n2": "done", "n3": "failed"}
    outcome = {"facts": facts, "states": states, "result": {}, "error": None, "answers": ["{}"]}
    assert opposites(batch, facts) == ["home/n1+n2"]
    assert lost(batch, outcome) == ["home/a1", "home/n3"]
    found = figures([batch], {batch.id: outcome}, graded(batch, facts))
    assert checks(graded(batch, facts[::-1])) == {
        "home": [
            {"text": LINZ, "was": "o1", "sources": ["n1", "n2"]},
            {"text": "Ida lives in Graz.", "was": None, "sources": ["n2"]},
        ]
    }
    assert (found["decisions"], found["right"][0], list(found["wrong"])) == (2, 0.5, ["home/d1"])
    shown = table({"own": found})
    assert "home/d1: a1 is not cited; n2 is cited" in shown and "50.0" in shown
    for part in ("n1 (2030-05-01): Ada moved to Linz.", "o1 || cites n1, n2", "error None"):
        assert part in sheet([batch.expected], {batch.id: facts}, {batch.id: judged.notes(outcome)})
