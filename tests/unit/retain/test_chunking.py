"""Chunking: whole turns, hard maximum, nothing lost, stable when repeated."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybank.retain.chunking import ChunkSize, chunk, json_turns, spoken_turns

SIZE = ChunkSize(200, 200)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _turns(count: int, words: int = 6) -> list[dict[str, str]]:
    return [
        {"role": "user" if at % 2 else "assistant", "content": f"{at} " + "word " * words}
        for at in range(count)
    ]


def test_text_that_fits_is_one_piece_unchanged() -> None:
    assert chunk("  short, with its spaces  ", SIZE) == ["  short, with its spaces  "]


def test_blank_text_has_no_piece() -> None:
    assert chunk(" \n ", SIZE) == []
    assert chunk(" \n " * 200, SIZE) == []


def test_json_array_is_packed_by_whole_turns_and_each_piece_is_an_array() -> None:
    turns = _turns(20)
    pieces = chunk(json.dumps(turns), SIZE)
    assert len(pieces) > 1
    assert [turn for piece in pieces for turn in json.loads(piece)] == turns
    assert all(len(piece) <= SIZE.text for piece in pieces)


def test_json_turns_keep_their_spelling() -> None:
    assert json_turns(' [ {"n": 1.50} , {"t":"ü"}\n]\n') == ['{"n": 1.50}', '{"t":"ü"}']


@pytest.mark.parametrize("text", ["[]", "[1, 2]", '[{"a": 1}', '[{"a": 1}] more', '{"a": 1}', "plain"])
def test_what_is_no_array_of_objects(text: str) -> None:
    assert json_turns(text) is None


def test_turn_over_the_structured_size_is_cut_and_its_neighbours_stay_whole() -> None:
    turns = [{"content": "before"}, {"content": "long " * 200}, {"content": "after"}]
    pieces = chunk(json.dumps(turns), SIZE)
    assert json.loads(pieces[0]) == [turns[0]]
    assert json.loads(pieces[-1]) == [turns[2]]
    assert all(len(piece) <= SIZE.text for piece in pieces)
    assert _squeezed("".join(pieces[1:-1])) == _squeezed(json.dumps(turns[1]))


def test_turn_between_text_and_structured_size_stays_whole() -> None:
    size = ChunkSize(200, 500)
    turns = [{"content": "before"}, {"content": "x" * 300}, {"content": "after"}]
    assert [json.loads(piece) for piece in chunk(json.dumps(turns), size)] == [[turn] for turn in turns]


def test_json_object_stays_whole_up_to_the_structured_size() -> None:
    text = json.dumps({"note": "x, " * 100})
    assert chunk(text, ChunkSize(200, 400)) == [text]
    assert len(chunk(text, SIZE)) > 1


def test_json_lines_are_packed_by_whole_lines() -> None:
    lines = [json.dumps(turn) for turn in _turns(20)]
    pieces = chunk("\n".join(lines), SIZE)
    assert [line for piece in pieces for line in piece.split("\n")] == lines


TRANSCRIPT = "\n".join(
    f"[2026-02-{day:02} 10:00] {'Ada' if day % 2 else 'Ben'}: day {day} went well.\nAnd more of it."
    for day in range(1, 25)
)


def test_transcript_is_packed_by_whole_turns() -> None:
    pieces = chunk(TRANSCRIPT, SIZE)
    assert all(piece.startswith("[2026-02-") and piece.endswith("And more of it.") for piece in pieces)
    assert "\n".join(pieces) == TRANSCRIPT


@pytest.mark.parametrize(
    "line",
    ["Ada: hi", "Dr. Okafor (10:02): hi", "**Ada:** hi", "[user] hi", "12/03/2026, 10:15 - Ada: hi",
     "[2026-02-02 10:00] Ada: hi", "林晓雨：你好", "(10:02) Ada: hi"],
)  # fmt: skip
def test_lines_that_name_a_speaker(line: str) -> None:
    assert spoken_turns("\n".join([line] * 3)) == [line] * 3


@pytest.mark.parametrize(
    "line", ["https://example.org/a", "10:30", "just prose without a speaker", "a" * 60 + ": b"]
)
def test_lines_that_name_none(line: str) -> None:
    assert spoken_turns("\n".join([line] * 5)) is None


def test_prose_is_cut_at_the_strongest_separator() -> None:
    paragraphs = [f"Paragraph {n}. " + "Some words here. " * 8 for n in range(4)]
    assert chunk("\n\n".join(paragraphs), SIZE) == [paragraph.rstrip() for paragraph in paragraphs]
    sentences = chunk("This is one whole sentence of the text. " * 20, SIZE)
    assert all(piece.endswith(".") and piece.startswith("This") for piece in sentences)


@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, json.dumps({"k": "b" * 300_000}), "[" + json.dumps({"k": "c" * 300_000}), "字" * 300_000],
)
def test_no_separator_still_has_a_hard_maximum(text: str) -> None:
    pieces = chunk(text, ChunkSize(3000, 3000))
    assert _squeezed("".join(pieces)) == _squeezed(text)
    assert max(map(len, pieces)) <= 3000


_PROSE = st.text(alphabet=st.sampled_from('ab .\n,;!?:[]{}"1é字。'), max_size=600)
_JSON = st.lists(
    st.dictionaries(st.sampled_from(["role", "content", "n"]), st.text(max_size=120) | st.integers()),
    max_size=12,
).map(json.dumps)
_LINES = st.lists(
    st.tuples(st.sampled_from(["Ada: ", "Ben: ", ""]), st.text(alphabet="ab .", max_size=90)).map("".join),
    max_size=15,
).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(_PROSE | _JSON | _LINES, st.integers(20, 120), st.integers(20, 240) | st.none())
def test_pieces_cover_the_text_obey_the_sizes_and_repeat(
    text: str, limit: int, structured: int | None
) -> None:
    size = ChunkSize.of(limit, structured)
    pieces = chunk(text, size)
    assert all(piece.strip() for piece in pieces)
    assert len(text) <= limit or all(len(piece) <= max(size.text, size.structured) for piece in pieces)
    assert [again for piece in pieces for again in chunk(piece, size)] == pieces
    turns = json_turns(text) if len(text) > limit else None
    if turns is None:
        assert _squeezed("".join(pieces)) == _squeezed(text)
    else:
        assert all(_squeezed(turn) in _squeezed("".join(pieces)) for turn in turns)
