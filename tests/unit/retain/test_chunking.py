"""Chunking: whole turns, hard maximum, nothing lost, stable when repeated."""

import json
import random
import re
from base64 import b64encode

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
    long = {"role": "user", "timestamp": "2026-03-01", "content": "long 'word'.\n" * 60, "n": 7}
    turns = [{"content": "before"}, long, {"content": "after"}]
    pieces = [json.loads(piece) for piece in chunk(json.dumps(turns), SIZE)]
    assert (pieces[0], pieces[-1]) == ([turns[0]], [turns[2]])
    parts = [part for [part] in pieces[1:-1]]
    assert len(parts) > 3
    assert all(part | {"content": long["content"]} == long for part in parts)
    assert _squeezed("".join(part["content"] for part in parts)) == _squeezed(str(long["content"]))


@pytest.mark.parametrize(
    ("turn", "header"),
    [
        ("[2026-03-01 10:00] Ada: " + "It is so. " * 80, "[2026-03-01 10:00] Ada: It is so. "),
        ("**Ada:** " + "word " * 80, "**Ada:** word "),
        ("林晓雨：" + "好的。" * 100, "林晓雨： 好的。"),
        ("Ada:\n" + "line " * 80, "Ada: line "),
        ("[user] " + "x" * 500, "[user] xxx"),
    ],
)
def test_each_part_of_a_cut_turn_of_a_transcript_names_its_speaker(turn: str, header: str) -> None:
    text = "\n".join(["Ben: hello", "Ben: so", turn, "Ben: bye"])
    pieces = chunk(text, SIZE)
    parts = pieces[1:-1]
    assert len(parts) > 1 and all(part.startswith(header) for part in parts)
    assert (pieces[0], pieces[-1]) == ("Ben: hello\nBen: so", "Ben: bye")
    assert max(map(len, pieces)) <= SIZE.text
    name = turn[
        : len(header.split("word")[0].split("It")[0].split("xxx")[0].split("好")[0].split("line")[0].rstrip())
    ]
    body = "".join(part.removeprefix(name) for part in parts)
    assert _squeezed(name + body) == _squeezed(turn)


def test_a_json_turn_with_several_long_texts_or_with_parts_gives_objects() -> None:
    turn = {"role": "user", "ask": "why? " * 60, "content": [{"type": "text", "text": "é😀 " * 80}]}
    pieces = [json.loads(piece) for piece in chunk("[" + json.dumps(turn) + "]", SIZE)]
    assert {piece["role"] for [piece] in pieces} == {"user"}
    assert _squeezed("".join(piece["ask"] for [piece] in pieces)) == "why?" * 60
    assert _squeezed("".join(piece["content"][0]["text"] for [piece] in pieces)) == "é😀" * 80


def test_a_json_turn_of_many_short_fields_is_cut_as_prose_behind_its_speaker() -> None:
    turn = {"speaker": "Ada", "time": "10:02"} | {f"field {n}": n for n in range(60)}
    first, *others = chunk(json.dumps(turn), SIZE)
    header = '{"speaker": "Ada", "time": "10:02"}\n'
    assert others and all(part.startswith(header) for part in others)
    assert _squeezed(first + "".join(part.removeprefix(header) for part in others)) == _squeezed(
        json.dumps(turn)
    )


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
    ("text", "repeated"),
    [
        ("a" * 300_000, ""),
        (json.dumps({"k": "b" * 300_000}), '{"k": ""}'),
        ("[" + json.dumps({"k": "c" * 300_000}), ""),
        ("字" * 300_000, ""),
        (b64encode(bytes(range(256)) * 900).decode(), ""),
        ("Ada: hi\nBen: yo\nAda: " + "a" * 300_000, "Ada: "),
    ],
)
def test_no_separator_still_has_a_hard_maximum(text: str, repeated: str) -> None:
    pieces = chunk(text, ChunkSize(3000, 3000))
    assert max(map(len, pieces)) <= 3000
    assert len(pieces) <= len(text) / (3000 - len(repeated)) + 2
    assert _is_within(_squeezed(text), _squeezed("".join(pieces)))
    assert sum(map(len, pieces)) <= len(text) + len(repeated) * len(pieces)


def _is_within(text: str, longer: str) -> bool:
    """Whether all characters of a text stand in a longer one, in their order."""
    rest = iter(longer)
    return all(char in rest for char in text)


_WORDS = st.text(alphabet="ab .\n,é字", max_size=300)
_PROSE = st.text(alphabet=st.sampled_from('ab .\n,;!?:[]{}"1é字。'), max_size=600)
_OBJECTS = st.lists(
    st.dictionaries(
        st.sampled_from(["role", "content", "n"]), _WORDS | st.integers() | st.lists(_WORDS, max_size=3)
    ),
    max_size=12,
)
_JSON = _OBJECTS.map(json.dumps)
_JSON_LINES = _OBJECTS.map(lambda objects: "\n".join(map(json.dumps, objects)))
_LINES = st.lists(
    st.tuples(st.sampled_from(["Ada: ", "[10:02] Ben: ", ""]), st.text(alphabet="ab .", max_size=90)).map(
        "".join
    ),
    max_size=15,
).map("\n".join)
_TEXTS = _PROSE | _JSON | _JSON_LINES | _LINES
_SIZES = st.builds(ChunkSize.of, st.integers(1, 120), st.integers(1, 240) | st.none())


@settings(max_examples=150, deadline=None)
@given(_TEXTS, _SIZES)
def test_pieces_cover_the_text_obey_the_sizes_and_repeat(text: str, size: ChunkSize) -> None:
    pieces = chunk(text, size)
    assert all(piece.strip() for piece in pieces)
    assert len(text) <= size.text or all(len(piece) <= max(size.text, size.structured) for piece in pieces)
    assert [again for piece in pieces for again in chunk(piece, size)] == pieces
    _covers(pieces, text)


def _covers(pieces: list[str], text: str) -> None:
    """Nothing of a text is missing in its pieces, in order; at a cut of a JSON text, white space is two letters."""
    for turn in json_turns(text) or [text]:
        told, kept = (_squeezed(one.replace("\\n", "")) for one in (turn, "".join(pieces)))
        assert _is_within(told, kept)


@settings(max_examples=150, deadline=None)
@given(_TEXTS, _TEXTS, _SIZES, st.integers(0, 600), st.integers(0, 600))
def test_pieces_that_stand_stay_whatever_was_put_in_or_taken_out(
    text: str, put_in: str, size: ChunkSize, start: int, taken: int
) -> None:
    known = chunk(text, size)
    assert chunk(text, size, known) == known
    changed = text[:start] + put_in + text[start + taken :]
    pieces = chunk(changed, size, known)
    _covers(pieces, changed)
    assert all(len(piece) <= max(size.text, size.structured) for piece in pieces)
    assert chunk(changed, size, pieces) == pieces


def _paragraph(chance: random.Random) -> str:
    sentences = [
        " ".join(
            "lorem"[: chance.randint(1, 5)] + str(chance.randrange(999)) for _ in range(chance.randint(5, 25))
        )
        for _ in range(chance.choice((1, 2, 3, 4, 5, 6, 8)))
    ]
    return " ".join(f"{sentence.capitalize()}{chance.choice('...!?')}" for sentence in sentences)


def test_a_paragraph_put_in_or_taken_out_anywhere_costs_at_most_two_pieces() -> None:
    chance, size = random.Random(5), ChunkSize(3000, 3000)
    costs: list[int] = []
    for _ in range(50):
        paragraphs = [_paragraph(chance)]
        while sum(map(len, paragraphs)) < 60_000:
            paragraphs.append(_paragraph(chance))
        known = chunk("\n\n".join(paragraphs), size)
        assert len(known) <= 25
        for turn, at in enumerate((0, 0, 0, *(chance.randrange(len(paragraphs)) for _ in range(20)))):
            taken, put_in = ((0, 1), (1, 0), (1, 1))[turn % 3]
            changed = [
                *paragraphs[:at],
                *(_paragraph(chance) for _ in range(put_in)),
                *paragraphs[at + taken :],
            ]
            costs.append(len(set(chunk("\n\n".join(changed), size, known)) - set(known)))
    assert max(costs) == 2 and sum(costs) > len(costs)


@pytest.mark.parametrize("form", ["[{}]", "{}", "spoken"])
def test_a_chat_that_grows_costs_its_new_turns_only(form: str) -> None:
    size = ChunkSize(400, 400)
    spoken = [f"{'Ada' if at % 2 else 'Ben'}: turn {at} is of shelf {at * 7}." for at in range(30)]
    objects = [json.dumps({"role": turn[:3], "content": turn[5:]}) for turn in spoken]
    # Two lines are no transcript yet.
    known = ["\n".join(spoken[:2])] if form == "spoken" else []
    for end in range(3 if known else 1, 31):
        turns = spoken[:end] if form == "spoken" else objects[:end]
        text = f"[{', '.join(turns)}]" if form == "[{}]" else "\n".join(turns)
        pieces = chunk(text, size, known)
        assert pieces[:-1] == known and turns[-1] in pieces[-1] and len(pieces[-1]) <= len(turns[-1]) + 2
        known = pieces


def test_no_sentence_is_torn_by_a_piece_that_stands() -> None:
    text = "One is here. " * 20 + "\n\n" + "Two was there. " * 20
    known = chunk(text, SIZE)
    assert (
        chunk(text.replace("Two", "But two", 1), SIZE, known)[: len(known) // 2] == known[: len(known) // 2]
    )
    changed = chunk("Perhaps " + text, SIZE, known)
    assert changed[0].startswith("Perhaps One is here. One")
    lines = [f"Line {n} is of shelf {n * 7}" + ", and told" * 8 + " with care." for n in range(20)]
    known = chunk("\n".join(lines[3:]), SIZE)
    assert chunk("\n".join(lines), SIZE, known) == lines
