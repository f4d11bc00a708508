"""Normal forms: what may be stored, and what identifies a name."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.text import fold, name_key, normalize

ANY_TEXT = st.text(st.characters(), max_size=200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("Total\x00: 40 EUR", "Total: 40 EUR"),
        ("lone \ud83d here", "lone  here"),
        ("whole \U0001f600 stays", "whole \U0001f600 stays"),
        ("bell\x07 esc\x1b del\x7f c1\x85", "bell  esc  del  c1 "),
        ("a\r\nb\rc\nd\te", "a\nb\nc\nd\te"),
        ("\ufeff[1, 2]", "[1, 2]"),
        ("Cafe\u0301", "Café"),
        ("", ""),
    ],
)
def test_normalize(text: str, expected: str) -> None:
    assert normalize(text) == expected


@given(ANY_TEXT)
def test_normalized_text_can_be_stored_and_stays_as_it_is(text: str) -> None:
    clean = normalize(text)
    clean.encode("utf-8")
    assert not any(unicodedata.category(char) == "Cc" and char not in "\n\t" for char in clean)
    assert normalize(clean) == clean


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("İstanbul ofisi", "istanbul ofisi"),
        ("ISPARTA", "ısparta"),
        ("Café", "Cafe\u0301"),
        ("J. Okafor", "j okafor"),
        ("O'Brien", "O’Brien"),
        ("KL-644", "kl 644"),
        (" Blue\tWhale \n Books ", "blue whale books"),
        ("STRASSE", "Straße"),
        ("ＡＢＣ", "abc"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_the_same_name(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Locker 41", "Locker 42"),
        ("KL644", "KL645"),
        ("Q3 Budget 2025", "Q3 Budget 2026"),
        ("v1.2", "v12"),
        ("C", "C++"),
        ("C", "C#"),
        ("Jose", "José"),
        ("!!!", "???"),
    ],
)
def test_different_names(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@given(ANY_TEXT)
def test_a_key_is_its_own_key(text: str) -> None:
    key = name_key(text)
    assert name_key(key) == key
    assert bool(key) == bool(fold(normalize(text)).split())


def test_a_long_name_has_a_key_too() -> None:
    assert name_key("A b " * 1_000) == " ".join(["a b"] * 1_000)


@given(ANY_TEXT)
def test_fold_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)
