"""The project's own question set is sound: what it claims of its turns and questions can be checked, and is."""

import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memorybank_eval import datasets

FOLDER = Path(__file__).parents[3] / "eval" / "datasets" / "own"
FILES = sorted(FOLDER.glob("*.jsonl"))
CATEGORIES = {"single-hop", "multi-hop", "temporal", "updates", "first-person", "unknowable"}


def _entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _session(turn_id: str) -> str:
    return turn_id.rpartition("-")[0]


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def entries(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return _entries(request.param)


def test_ids_count_up_and_name_their_conversation_and_session(entries: list[dict[str, Any]]) -> None:
    name, session, turn, question = entries[0]["conversation"], 0, 0, 0
    for entry in entries[1:]:
        if "session" in entry:
            session, turn = session + 1, 0
            assert entry["session"] == f"{name}-s{session:02d}"
        elif "turn" in entry:
            turn += 1
            assert entry["turn"] == f"{name}-s{session:02d}-t{turn:02d}"
        else:
            question += 1
            assert entry["question"] == f"{name}-q{question:02d}"
    assert 6 <= session <= 15


def test_sessions_are_dated_in_order_and_questions_come_after(entries: list[dict[str, Any]]) -> None:
    dates = [datetime.fromisoformat(entry["at"]) for entry in entries if "session" in entry]
    dates.append(datetime.fromisoformat(entries[0]["asked_at"]))
    assert dates == sorted(set(dates))


def test_evidence_is_there_and_fits_its_category(entries: list[dict[str, Any]]) -> None:
    turns = {entry["turn"] for entry in entries if "turn" in entry}
    for asked in (entry for entry in entries if "question" in entry):
        evidence, outdated = asked["evidence"], asked.get("outdated", [])
        assert asked["category"] in CATEGORIES and asked["answer"], asked
        assert len(set(evidence + outdated)) == len(evidence + outdated), asked
        assert set(evidence + outdated) <= turns, asked
        assert bool(evidence) == (asked["category"] != "unknowable"), asked
        assert bool(outdated) == (asked["category"] == "updates"), asked
        if asked["category"] == "multi-hop":
            assert 2 <= len(evidence) <= 4, asked
            assert len({_session(turn) for turn in evidence}) >= 2, asked
        if asked["category"] == "updates":
            assert len(evidence) == 1 and max(outdated) < evidence[0], asked


def test_no_text_twice_and_no_question_in_a_turn(entries: list[dict[str, Any]]) -> None:
    questions = [_plain(entry["text"]) for entry in entries if "question" in entry]
    turns = [_plain(entry["text"]) for entry in entries if "turn" in entry]
    long = [turn for turn in turns if len(turn) > 40]
    assert len(set(questions)) == len(questions) and len(set(long)) == len(long)
    assert not [(asked, turn) for asked in questions for turn in turns if asked in turn]


def test_first_person_questions_are_asked_in_chats_with_an_assistant() -> None:
    for file in FILES:
        head, *entries = _entries(file)
        speakers = {entry["turn"]: entry["speaker"] for entry in entries if "turn" in entry}
        for asked in entries:
            if asked.get("category") == "first-person":
                assert head["kind"] == "assistant"
                assert {speakers[turn] for turn in asked["evidence"]} == {"user"}, asked


def test_the_readme_counts_what_is_there() -> None:
    counted = Counter(entry["category"] for file in FILES for entry in _entries(file) if "question" in entry)
    turns = sum("turn" in entry for file in FILES for entry in _entries(file))
    told = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| ([a-z-]+) \| (\d+) \|", told, re.M)) == {
        category: str(number) for category, number in counted.items()
    }
    assert f"{len(FILES)} conversations, {turns:,} turns, {counted.total()} questions" in told


def test_the_loader_reads_every_turn_and_leaves_out_what_nobody_said() -> None:
    for conversation, file in zip(datasets.own(FOLDER), FILES, strict=True):
        entries = _entries(file)
        said = [f"{entry['speaker']}: {entry['text']}" for entry in entries if "turn" in entry]
        assert [turn.text for turn in conversation.turns] == said
        assert [turn.at for turn in conversation.turns] == sorted({turn.at for turn in conversation.turns})
        assert {turn.session for turn in conversation.turns} == set(
            range(1, 1 + sum("session" in entry for entry in entries))
        )
        answered = [entry["text"] for entry in entries if entry.get("evidence")]
        assert [asked.text for asked in conversation.questions] == answered
