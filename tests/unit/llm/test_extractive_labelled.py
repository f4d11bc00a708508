"""The goals of the engine on turns labelled by hand. It is deterministic, so its figures are a regression test."""

import pytest

from memorybank.llm.extractive import kind
from memorybank_eval.extractive import DATASETS, LABELLED, Counts, load, measure


@pytest.fixture(scope="module")
def measured() -> dict[str, Counts]:
    return measure(load(DATASETS / "turns.jsonl"))


def test_the_labelled_turns_are_those_of_the_goal() -> None:
    turns = load(DATASETS / "turns.jsonl")
    by_language = {
        code: sum(turn["language"] == code for turn in turns) for code in ("en", "de", "fr", "es", "zh", "ja")
    }
    assert by_language == {"en": 60, "de": 12, "fr": 12, "es": 12, "zh": 12, "ja": 12}


@pytest.mark.parametrize("name", LABELLED)
def test_labels_are_pieces_of_their_text(name: str) -> None:
    for turn in load(DATASETS / name):
        assert all(label in turn["text"] for label in turn["names"]), turn["id"]
        assert all(part["text"] in turn["text"] for part in turn["sentences"]), turn["id"]


def test_goals_on_the_labelled_turns(measured: dict[str, Counts]) -> None:
    shares = measured["all"].shares
    assert shares["names precision"] >= 0.85
    assert shares["names recall"] >= 0.75
    assert shares["stored precision"] >= 0.85
    assert shares["stored recall"] >= 0.75
    assert shares["others dropped"] >= 0.95
    assert shares["statements kept"] >= 0.95


@pytest.mark.parametrize("code", ["en", "de", "fr", "es", "zh", "ja"])
def test_no_language_is_left_behind(code: str, measured: dict[str, Counts]) -> None:
    shares = measured[code].shares
    assert shares["names precision"] >= 0.85, measured[code].errors
    assert shares["names recall"] >= 0.75, measured[code].errors
    assert shares["others dropped"] >= 0.85, measured[code].errors
    assert shares["statements kept"] >= 0.9, measured[code].errors


@pytest.mark.parametrize("name", LABELLED[1:])
def test_goals_on_the_other_sets(name: str) -> None:
    shares = measure(load(DATASETS / name))["all"].shares
    assert shares["names precision"] >= 0.85
    assert shares["names recall"] >= 0.75
    assert shares["others dropped"] >= 0.9
    assert shares["statements kept"] >= 0.95


@pytest.mark.parametrize(("wanted", "share"), [("kept", 0.98), ("dropped", 0.98)])
def test_short_sentences_of_chats(wanted: str, share: float) -> None:
    rows = [
        line.split("\t") for line in (DATASETS / "sentences.tsv").read_text(encoding="utf-8").splitlines()
    ]
    chosen = [(code, text) for code, what, text in rows if what == wanted]
    wrong = [text for code, text in chosen if (kind(text, code) == "statement") != (wanted == "kept")]
    assert len(wrong) <= (1 - share) * len(chosen), wrong
