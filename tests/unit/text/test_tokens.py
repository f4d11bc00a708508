"""Counting tokens and cutting to a number of them."""

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybank.text import count_tokens, cut_to_tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello world", 2), ("<|endoftext|>", 7), ("Ana moved the backup to 03:00.", 10), ("好", 1)],
)
def test_count(text: str, count: int) -> None:
    assert count_tokens(text) == count


def test_pieces_count_like_the_whole_when_cut_at_spaces() -> None:
    assert count_tokens("buzz " * 60_000) == 60_001


@pytest.mark.parametrize("text", ["a" * 300_000, " " * 300_000, "中" * 300_000, "\n" * 300_000])
def test_long_repeats_take_linear_time(text: str) -> None:
    count_tokens("loaded before the clock starts")
    begun = time.perf_counter()
    assert count_tokens(text) > 0
    assert cut_to_tokens(text, 5) == text[: len(cut_to_tokens(text, 5))]
    assert time.perf_counter() - begun < 3.0


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one two three", 2, "one two"),
        ("one two three", 3, "one two three"),
        ("one two three", 99, "one two three"),
        ("one two three", 0, ""),
        ("one two three", -1, ""),
        ("", 5, ""),
    ],
)
def test_cut(text: str, limit: int, expected: str) -> None:
    assert cut_to_tokens(text, limit) == expected


@settings(max_examples=200)
@given(st.text(st.characters(), max_size=80), st.integers(0, 30))
def test_a_cut_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    cut = cut_to_tokens(text, limit)
    assert text.startswith(cut)
    assert count_tokens(cut) <= limit
    if count_tokens(text) <= limit:
        assert cut == text


def test_a_cut_uses_what_it_may_over_pieces() -> None:
    text = "buzz " * 60_000
    assert count_tokens(cut_to_tokens(text, 50_000)) == 50_000


def test_threads_count_alike() -> None:
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(count_tokens("one two three"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [3] * 8
