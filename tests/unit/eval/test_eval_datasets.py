"""The loaders on tiny sets of our own, with the traps of the real ones."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorybank.errors import InvalidInput
from memorybank_eval import datasets

LOCOMO = [
    {
        "conversation": {
            "speaker_a": "Mia",
            "speaker_b": "Bo",
            "session_10_date_time": "9:05 am on 2 June, 2023",
            "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Back again."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Mia", "dia_id": "D2:1", "text": " I repaired the boat. "},
                {
                    "speaker": "Bo",
                    "dia_id": "D2:2",
                    "text": "Look!",
                    "blip_caption": "a photo of a blue boat",
                    "query": "boat named Esmeralda",
                },
            ],
            "session_11_date_time": "1:00 pm on 3 June, 2023",
        },
        "qa": [
            {"question": "What was repaired?", "category": 4, "evidence": ["D2:1"], "answer": "boat"},
            {"question": "Two in one string?", "category": 1, "evidence": ["D2:2; D10:01"]},
            {"question": "A colon too many?", "category": 2, "evidence": ["D:2:2", "D9:9"]},
            {"question": "Not there?", "category": 3, "evidence": ["D9:9", "D"]},
            {"question": "Nothing?", "category": 3, "evidence": []},
            {"question": "Made up?", "category": 5, "evidence": ["D10:1"], "adversarial_answer": "no"},
        ],
    }
]


def _write(folder: Path, content: Any, name: str = "set.json.gz") -> Path:
    data = json.dumps(content).encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def test_locomo_turns_are_speaker_text_and_caption_in_order_of_sessions(tmp_path: Path) -> None:
    (conversation,) = datasets.locomo(_write(tmp_path, LOCOMO))
    assert [(turn.id, turn.text, turn.session) for turn in conversation.turns] == [
        ("D2:1", "Mia: I repaired the boat.", 2),
        ("D2:2", "Bo: Look! [shares a photo of a blue boat]", 2),
        ("D10:1", "Bo: Back again.", 10),
    ]
    assert [turn.at for turn in conversation.turns] == [
        datetime(2023, 5, 8, 13, 56, 0, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC),
        datetime(2023, 6, 2, 9, 5, 0, tzinfo=UTC),
    ]
    assert conversation.context == "A conversation between Mia and Bo."
    assert [len(session) for session in conversation.sessions()] == [2, 1]


def test_locomo_never_indexes_the_image_query(tmp_path: Path) -> None:
    (conversation,) = datasets.locomo(_write(tmp_path, LOCOMO))
    assert "Esmeralda" not in "".join(turn.text for turn in conversation.turns)


def test_locomo_repairs_evidence_and_skips_questions_without(tmp_path: Path) -> None:
    (conversation,) = datasets.locomo(_write(tmp_path, LOCOMO, "set.json"))
    assert [(question.category, set(question.evidence)) for question in conversation.questions] == [
        ("4 single-hop", {"D2:1"}),
        ("1 multi-hop", {"D2:2", "D10:1"}),
        ("2 temporal", {"D2:2"}),
        ("5 adversarial", {"D10:1"}),
    ]


def test_longmemeval_pool_is_one_conversation_of_strangers(tmp_path: Path) -> None:
    pool = [
        {"id": "t0", "role": "user", "date": "2023/05/25 (Thu) 00:05", "content": "I moved."},
        {"id": "t1", "role": "assistant", "date": "2023/09/30 (Sat) 08:34", "content": "Noted."},
    ]
    questions = [
        {
            "question": "Moved?",
            "question_date": "2023/10/01 (Sun) 10:00",
            "question_type": "multi-session",
            "evidence": ["t0", "t1"],
        },
        {
            "question": "?",
            "question_date": "2023/10/01 (Sun) 10:00",
            "question_type": "x",
            "evidence": ["t9"],
        },
    ]
    (conversation,) = datasets.longmemeval(_write(tmp_path, {"pool": pool, "questions": questions}))
    assert conversation.pooled
    assert [len(session) for session in conversation.sessions()] == [1, 1]
    assert conversation.turns[1].text == "assistant: Noted."
    assert conversation.turns[0].at == datetime(2023, 5, 25, 0, 5, tzinfo=UTC)
    (question,) = conversation.questions
    assert question.evidence == {"t0", "t1"}
    assert question.asked_at == datetime(2023, 10, 1, 10, 0, tzinfo=UTC)


def _beam_chat(number: int) -> dict[str, Any]:
    messages = [
        {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": f"Plan {number}? ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "The arrow ->-> stays inside a text."},
    ]
    later = [{"role": "user", "id": 2, "time_anchor": "April-05-2024", "content": "Go ->-> 2,N/A"}]
    return {
        "chat": [{"batch_number": 1, "turns": [messages]}, {"batch_number": 2, "turns": [later]}],
        "probing_questions": {
            "abstention": [{"question": "Unanswerable?"}],
            "knowledge_update": [{"question": "Now?", "source_chat_ids": {"old": [0], "new": [2, 77]}}],
            "event_ordering": [{"question": "Order?", "source_chat_ids": [0, [1, 2]]}],
        },
    }


def test_beam_strips_the_mark_and_reads_nested_evidence(tmp_path: Path) -> None:
    (conversation,) = datasets.beam(_write(tmp_path, _beam_chat(1), "chat-1.json.gz"))
    assert [turn.text for turn in conversation.turns] == [
        "user: Plan 1?",
        "assistant: The arrow ->-> stays inside a text.",
        "user: Go",
    ]
    assert [turn.at.date().isoformat() for turn in conversation.turns] == [
        "2024-03-15",
        "2024-03-15",
        "2024-04-05",
    ]
    assert {question.category: set(question.evidence) for question in conversation.questions} == {
        "knowledge_update": {"0", "2"},
        "event_ordering": {"0", "1", "2"},
    }
    assert conversation.id == "chat-1"


def test_beam_takes_a_folder(tmp_path: Path) -> None:
    for number in (2, 1):
        _write(tmp_path, _beam_chat(number), f"chat-{number}.json.gz")
    assert [conversation.id for conversation in datasets.beam(tmp_path)] == ["chat-1", "chat-2"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"missing\.json"):
        datasets.locomo(tmp_path / "missing.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(InvalidInput, match="not JSON"):
        datasets.locomo(broken)
    torn = tmp_path / "torn.json.gz"
    torn.write_bytes(b"no gzip")
    with pytest.raises(InvalidInput, match=r"torn\.json\.gz"):
        datasets.locomo(torn)
