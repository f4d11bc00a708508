"""Sentences of nine languages."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.text import sentences


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Ode met J. R. Pim at 5.30 p.m.", "Then they left."],
        ["He said “Go!” and left.", "“Why?” she asked.", "OK"],
        ["Version 1.2.3 is out.", "See www.example.com.", "It works... mostly.", "Wait… what?", "Yes"],
        ["I paid $3.50 for No. 5, e.g. in Bonn.", "You know?!"],
        ["It was in the U.S.", "The next day came."],
        ["He works at Acme Inc. and Bolt Ltd.", "The end."],
        ["Das ist z.B. am 3. Mai passiert.", "Dann ging er.", "Der 2. Platz war gut."],
        ["Sie kauft Brot, Milch usw.", "Danach kocht sie."],
        ["M. Petit habite ici.", "« Ah bon ? »", "Oui !"],
        ["La Sra. Paz vive aquí.", "¿Qué?", "¡No!", "Luego se fue."],
        ["Il dott. Neri arriva.", "Che bello!", "Ciao."],
        ["O Sr. Melo chegou.", "Que bom!", "Até já."],
        ["上周我们把系统迁移了。", "然后呢？", "很好！", "“好。”", "他说"],
        ["鈴は自転車を修理に出した。", "「明日。」", "取りに行く。"],
        ["안녕하세요.", "저는 회고를 합니다.", "네!"],
        ["Мы пришли.", "Что дальше?"],
    ],
)
def test_sentences(expected: list[str]) -> None:
    unspaced = any(char in "。「" for char in "".join(expected))
    assert sentences(("" if unspaced else " ").join(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A: hi\nB: hello\n\n- one\n- two", ["A: hi", "B: hello", "- one", "- two"]),
        (
            "This line is long enough to have been wrapped by an editor in the\nmiddle. And on.",
            ["This line is long enough to have been wrapped by an editor in the\nmiddle.", "And on."],
        ),
        (
            "This line is long enough to have been wrapped by an editor, and\nIt starts anew.",
            ["This line is long enough to have been wrapped by an editor, and", "It starts anew."],
        ),
        ("", []),
        ("  \n ", []),
        ("One. ... \n", ["One."]),
    ],
)
def test_lines(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.sampled_from("aB.!?… \n。！”\"'（1Dr"), max_size=80))
def test_sentences_are_slices_in_order_and_lose_no_word(text: str) -> None:
    at = 0
    for sentence in sentences(text):
        assert sentence == sentence.strip() != ""
        at = text.index(sentence, at) + len(sentence)
    kept = "".join(char for char in "".join(sentences(text)) if char.isalnum())
    assert kept == "".join(char for char in text if char.isalnum())


@given(st.text(st.characters(), max_size=200))
def test_any_text_can_be_cut(text: str) -> None:
    assert all(sentence.strip() for sentence in sentences(text))


@pytest.mark.parametrize(
    "text",
    [". " * 100_000, "?! " * 80_000, "Dr. " * 60_000, "." * 300_000, "." * 300_000 + "a", "a" * 300_000],
)
def test_huge_texts_take_linear_time(text: str) -> None:
    begun = time.perf_counter()
    sentences(text)
    assert time.perf_counter() - begun < 3.0
