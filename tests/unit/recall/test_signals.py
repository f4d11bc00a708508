"""Who speaks and who only asks, each only where the units really show it."""

import numpy as np
import pytest

from memorybank.recall.signals import only_asks, speaker, spoken_by_named

TALK = ["Ann: I saw it.", "Bo: Me too.", "Ann: When?", "Bo: At noon.", "Ann: Ah."]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Caroline: Hey Mel!", "caroline"),
        ("Jean-Luc Picard: Engage.", "jean-luc picard"),
        ("[2026-02-02 10:00] Ann: signed.", "ann"),
        ("林晓雨: 你好", "林晓雨"),
        ("10:30 is fine", ""),
        ("http://example.org", ""),
    ],
)
def test_speakers(text: str, name: str) -> None:
    assert speaker(text) == name


def test_the_one_speaker_whom_the_question_names() -> None:
    assert spoken_by_named("What did Ann see?", TALK).tolist() == [1, 0, 1, 0, 1]
    assert spoken_by_named("what did BO see?", TALK).tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("question", ["What was seen?", "Did Ann or Bo see it?", "What did Annette see?"])
def test_no_speaker_or_two_say_nothing(question: str) -> None:
    assert not spoken_by_named(question, TALK).any()


def test_a_name_before_one_colon_is_no_speaker() -> None:
    assert not spoken_by_named("Which warning?", ["Warning: hot.", *TALK]).any()
    assert not spoken_by_named("Which warning?", []).any()


def test_only_short_turns_with_an_answer_after_them_only_ask() -> None:
    texts = ["Did you?", "Yes.", "Look? [a photo of a dog]", "你去吗？", "x " * 300 + "right?", "And you?"]
    answered = np.array([True, True, True, True, True, False])
    assert only_asks(texts, answered).tolist() == [1, 0, 1, 1, 0, 0]
