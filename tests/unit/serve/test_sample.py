"""Files of conversations in the forms that people have them."""

import json
from pathlib import Path
from typing import Any

import pytest

from memorybank import paths
from memorybank.errors import BadRequest
from memorybank.serve.sample import Sample, read

SAID = "Ana: The invoice is 1,240 euros.\nBen: I paid it."


def written(folder: Path, content: Any, name: str = "chat.txt") -> Sample:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path)


def contents(sample: Sample) -> list[str]:
    return [item["content"] for item in sample.items]


@pytest.mark.parametrize(
    "content",
    [
        SAID,
        SAID.replace("\n", "\r\n"),
        SAID.encode("utf-8-sig"),
        SAID.encode("utf-16"),
        json.dumps(
            [{"speaker": "Ana", "text": "The invoice is 1,240 euros."}, {"name": "Ben", "text": "I paid it."}]
        ),
        json.dumps(
            [
                {"role": "Ana", "content": "The invoice is 1,240 euros."},
                {"from": "Ben", "value": "I paid it."},
            ]
        ),
        json.dumps(
            {"messages": [{"role": "Ana", "content": "The invoice is 1,240 euros."}, "Ben: I paid it."]}
        ),
        json.dumps({"turns": SAID.split("\n")}),
        json.dumps({"sessions": [SAID]}),
        json.dumps({"sessions": [{"turns": SAID.split("\n")}]}),
        json.dumps(
            [
                {"role": "Ana", "content": [{"type": "text", "text": "The invoice is 1,240 euros."}]},
                "Ben: I paid it.",
            ]
        ),
        '{"speaker": "Ana", "text": "The invoice is 1,240 euros."}\n\n{"speaker": "Ben", "text": "I paid it."}\n',
    ],
)
def test_the_same_conversation_in_many_forms(tmp_path: Path, content: str | bytes) -> None:
    assert contents(written(tmp_path, content)) == [SAID]


def test_an_encoding_of_old_is_read(tmp_path: Path) -> None:
    assert contents(written(tmp_path, "Zoë: Das kostet 5 €.".encode("cp1252"))) == ["Zoë: Das kostet 5 €."]


def test_what_is_no_conversation_is_kept_as_it_stands(tmp_path: Path) -> None:
    assert contents(written(tmp_path, '{"a": 1}')) == ['{"a": 1}']
    assert contents(written(tmp_path, "42")) == ["42"]
    assert contents(written(tmp_path, '{"text": "broken')) == ['{"text": "broken']
    assert contents(written(tmp_path, '[{"mood": "good"}, "Ana: Hello there."]')) == [
        '{"mood": "good"}\nAna: Hello there.'
    ]


def test_sessions_are_documents_with_their_time_and_context(tmp_path: Path) -> None:
    sessions = [
        {"id": "first", "timestamp": "2026-03-02T10:00:00Z", "context": "planning", "turns": ["Ana: One."]},
        {"turns": [{"speaker": "Ana", "text": "Two.", "timestamp": "2026-03-03 09:30"}]},
        {"timestamp": "Monday", "turns": ["Ana: Three."]},
        {"turns": []},
    ]
    found = written(tmp_path, json.dumps({"sessions": sessions, "questions": ["What is one?"]}), "trip.json")
    assert found == Sample(
        "trip",
        (
            {
                "document_id": "trip/first",
                "context": "planning",
                "content": "Ana: One.",
                "timestamp": "2026-03-02T10:00:00+00:00",
            },
            {
                "document_id": "trip/2",
                "content": "[2026-03-03 09:30] Ana: Two.",
                "timestamp": "2026-03-03T09:30:00+00:00",
            },
            {"document_id": "trip/3", "content": "Ana: Three."},
        ),
        ("What is one?",),
    )


@pytest.mark.parametrize("content", ["", " \n\t\n", "[]", '{"sessions": []}', '{"turns": [""]}'])
def test_a_file_that_holds_nothing_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadRequest, match="is empty"):
        written(tmp_path, content)


@pytest.mark.parametrize("content", ["\x00", "PK\x03\x04\x00\x00Anna moved."])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadRequest, match="no text"):
        written(tmp_path, content)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="No such file"):
        read(tmp_path / "none.txt")
    with pytest.raises(BadRequest, match="Is a directory"):
        read(tmp_path)


def test_our_own_sample_is_as_promised() -> None:
    sample = read(paths.configs() / "samples" / "harbour.json")
    assert len(sample.items) >= 8
    assert len({item["timestamp"] for item in sample.items}) == len(sample.items)
    assert len(sample.questions) >= 3
