"""Samples, recordings and grades of `memorybank_eval prompts`."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memorybank.errors import InvalidInput, MemoryBankError
from memorybank.retain.work import Extraction
from memorybank.settings import defaults
from memorybank.templates import fixed_nonce
from memorybank.testing.scripted_model import ScriptedModel
from memorybank_eval import prompts_retain as prompts
from memorybank_eval.cassettes import NONCE, Player, Recorder, save
from memorybank_eval.grading import OPEN, Expected, Graded, Statement, blank, sheet, table, telling_words

OWN = Path(__file__).resolve().parents[3] / "eval" / "datasets" / "prompts" / "own.toml"
SAMPLES = {sample.id: sample for sample in prompts.read(OWN)}


async def extracted(sample: prompts.Sample, model: Any) -> Extraction:
    with fixed_nonce(NONCE):
        return await prompts.extracted(sample, model, defaults())


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_sample_is_one_chunk_and_lists_what_must_become_of_it(sample: prompts.Sample) -> None:
    [work] = prompts.works(sample, defaults())
    expected = sample.expected
    ids = [statement.id for statement in expected.lasting]
    assert 5 <= len(ids) == len(set(ids))
    assert expected.may and expected.must_not
    assert all(said.first <= said.last for said in expected.lasting if said.first and said.last)
    if sample.id != "injected":
        assert work.text == sample.item.content


def test_recalled_memories_are_taken_out_before_a_sample_is_asked_about() -> None:
    [work] = prompts.works(SAMPLES["injected"], defaults())
    assert "window seats" in SAMPLES["injected"].item.content
    assert "window seats" not in work.text and "Zwolle" in work.text


def test_what_is_no_file_of_samples_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("samples = [")
    for name in ("broken.toml", "none.json"):
        with pytest.raises(InvalidInput):
            prompts.read(tmp_path / name)


async def test_a_recording_plays_the_same_facts_and_notices_a_change(tmp_path: Path) -> None:
    sample, path = SAMPLES["house"], tmp_path / "house.json"
    recorder = Recorder(ScriptedModel(), "openai/bridge")
    found = await extracted(sample, recorder)
    save(path, recorder)
    assert found.facts
    assert await extracted(sample, Player.load(path)) == found
    changed = replace(sample, item=replace(sample.item, context="something else"))
    with pytest.raises(MemoryBankError, match="Record anew"):
        await extracted(changed, Player.load(path))


EXPECTED = [
    Expected("one", "text", (Statement("a", "Ada moved on 3 May", "Ada", date(2026, 5, 3), date(2026, 5, 3), "world"),
                             Statement("b", "Ben owes 40 euros", "Ben"), Statement("c", "Cleo left"))),
    Expected("two", "text", (Statement("d", "Dora sings", type="experience"),)),
]  # fmt: skip


def fact(text: str, start: str | None = None) -> dict[str, Any]:
    return {"text": text, "fact_type": "world", "occurred_start": start, "occurred_end": start,
            "place": None, "entities": [], "labels": []}  # fmt: skip


FACTS = {
    "one": [fact("Ada moved.", "2026-05-03T00:00:00+00:00"), fact("Ben owes 40 euros."), fact("Eve is 9.")],
    "two": [fact("Dora sings.")],
}
GRADES = {
    "one": {
        "statements": {"a": 0, "b": 1, "c": None},
        "facts": {"0": "ok", "1": "wrong_speaker", "2": "invented"},
    },
    "two": {"statements": {"d": 0}, "facts": {"0": "ok"}},
}


def test_figures_count_what_is_kept_invented_and_wrong() -> None:
    figures = Graded(EXPECTED, FACTS, GRADES).figures()
    # A statement in a wrong fact is not kept.
    assert figures["kept"][0] == 0.5
    assert figures["missed"] == ["one/b", "one/c"]
    assert figures["invented"][0] == figures["wrong_date_or_speaker"][0] == 0.25
    assert figures["invented"][1] == 0 and figures["invented"][2] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["dates"] == {"right": 1, "none": 0, "off": []}
    assert figures["types"] == {"right": 1, "off": ["two/d"]}
    assert "| own" in table({"own": figures}) and "50.0" in table({"own": figures})


def test_a_date_outside_of_the_expected_days_is_shown() -> None:
    facts = {**FACTS, "one": [fact("Ada moved.", "2026-05-04T00:00:00+00:00"), *FACTS["one"][1:]]}
    assert Graded(EXPECTED, facts, GRADES).figures()["dates"] == {"right": 0, "none": 0, "off": ["one/a"]}


@pytest.mark.parametrize(
    ("statements", "facts", "fault"),
    [
        ({"a": 0, "b": 1}, {"0": "ok", "1": "ok", "2": "ok"}, "statement c"),
        ({"a": 7, "b": 1, "c": None}, {"0": "ok", "1": "ok", "2": "ok"}, "no fact 7"),
        ({"a": 0, "b": 1, "c": None}, {"0": "ok", "1": "ok"}, "fact 2"),
        ({"a": 0, "b": 1, "c": None}, {"0": "ok", "1": "fine", "2": OPEN}, "fact 1: fine"),
    ],
)
def test_grades_must_be_whole(statements: Any, facts: Any, fault: str) -> None:
    grades = {**GRADES, "one": {"statements": statements, "facts": facts}}
    with pytest.raises(InvalidInput, match=fault):
        Graded(EXPECTED, FACTS, grades)


def test_checks_name_words_day_and_type_of_each_kept_statement() -> None:
    assert Graded(EXPECTED, FACTS, GRADES).checks() == {
        "one": {"a": {"words": ["moved"], "date": "2026-05-03", "type": "world"}},
        "two": {"d": {"words": ["Dora", "sings"], "date": None, "type": "world"}},
    }
    assert telling_words("弟の遼に女の子の紬が7月4日に生まれた。アレルギー", "アレルギー") == ["アレルギー"]


def test_a_grader_sees_all_and_gets_an_empty_form() -> None:
    shown = sheet(EXPECTED, FACTS)
    for part in ("- a: Ada moved on 3 May | Ada | 2026-05-03..2026-05-03 | world", "2. Eve is 9. || no date"):
        assert part in shown
    form = blank(EXPECTED, FACTS)
    assert form["two"] == {"statements": {"d": None}, "facts": {"0": OPEN}}
    with pytest.raises(InvalidInput):
        Graded(EXPECTED, FACTS, json.loads(json.dumps(form)))
