"""What clients recalled into a text is taken out, and nothing that somebody said goes with it."""

import json
import time

import pytest

from memorybank.retain.recalled import EMPTY_BLOCK, emptied, without_recalled

TAGS = ("memories", "hindsight_memories")


def left_of(text: str) -> str:
    return without_recalled(text, TAGS)[0]


@pytest.mark.parametrize(
    "tag", ["memories", "hindsight_memories", "hindsight\\_memories", "relevant-memories", "Memories"]
)
def test_recalled_blocks_are_taken_out(tag: str) -> None:
    assert without_recalled(f'Hi <{tag} n="2">Ada\'s bike\nis red</{tag}> you', TAGS) == ("Hi   you", 1)


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "<memories> is a tag",
        "the <memory> of it</memory>",
        "<b>x</b>",
        "</memories>a<memories>",
        'The pair `<memories>` and `</memories>` is what we write, and "<memories>x</memories>" too.',
        "We open with <memories> and, said Ben, close with `</memories>`.",
        "Ada: I wrote <memories> once.\nBen: My dog Rex died.\nAda: Then came </memories> and bed.",
        "Ada: look:\n<memories>\nBen: My dog Rex died.\n</memories>\nAda: hm",
        "Notes.\nThe mail says <memories> here.\nBen: My dog died.\nAnd </memories> there.",
        "<msg>Ada has <memories> open.</msg><msg>Ben's dog died </memories>.</msg>",
        "<memories/>Ada lives in Graz.</memories>",
    ],
)
def test_all_else_stays(text: str) -> None:
    assert without_recalled(text, TAGS) == (text, 0)


@pytest.mark.parametrize(
    ("text", "left", "count"),
    [
        ("<memories>A. <memories>B.</memories> C.</memories> D.", "  D.", 1),
        ("a <memories>b <memories>c</memories> d", "a <memories>b   d", 1),
        ("<memories> open <old_memories>b</old_memories> c", "<memories> open   c", 1),
        ("<x_memories>a<memories>b</memories>c</x_memories>d", " d", 1),
        ("<memories>a<x_memories>b</memories>c</x_memories>d", " c</x_memories>d", 1),
        ("<memories>a</memories> b <memories>c</memories>", "  b  ", 2),
        ("<memories>\nAda: tea\nBen: milk\nEva: rum\n</memories>\nAnd now?", " \nAnd now?", 1),
        ("Ada: <memories>old</memories> Hi!\nBen: Hello.", "Ada:   Hi!\nBen: Hello.", 1),
        ('<memories>\n{"text": "old"}\n</memories>\nnew', " \nnew", 1),
    ],
)
def test_blocks_in_blocks_and_turns(text: str, left: str, count: int) -> None:
    assert without_recalled(text, TAGS) == (left, count)


SAID = ["<memories>old</memories> new", "a <memories> b", "c </memories> d", "plain é"]
KEPT = ["  new", "a <memories> b", "c </memories> d", "plain é"]


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize(
    "spell", [lambda raw: raw, lambda raw: raw.replace("/", "\\/").replace("<", "\\u003C")]
)
def test_json_is_stripped_string_by_string(spell: object, ascii_only: bool) -> None:
    assert callable(spell)
    turns = [{"role": "user", "content": said} for said in SAID]
    kept = [{"role": "user", "content": said} for said in KEPT]
    array = spell(json.dumps(turns, ensure_ascii=ascii_only))
    assert json.loads(left_of(array)) == kept
    assert json.loads(left_of(spell(json.dumps({"messages": turns})))) == {"messages": kept}
    assert json.loads(left_of(json.dumps([{"inner": array}])))[0]["inner"] != array
    lines = "\n".join(spell(json.dumps(turn)) for turn in turns)
    assert [json.loads(line) for line in left_of(lines).split("\n")] == kept
    mixed = left_of("A chat:\n" + lines + "\nThe end")
    assert [json.loads(line) for line in mixed.split("\n")[1:-1]] == kept


def test_json_that_is_cut_keeps_its_turns_apart_and_what_holds_no_block_its_spelling() -> None:
    cut = '[{"content": "I type <memories> b"}, {"content": "My dog died </memories> d"}, {"con'
    assert left_of(cut) == cut
    assert left_of('{"a": "x \\/ \\u003cb\\u003e", "k<memories>": 1.50}') == (
        '{"a": "x \\/ \\u003cb\\u003e", "k<memories>": 1.50}'
    )


def test_blocks_in_a_page_are_emptied() -> None:
    page = (
        "<p><hindsight_memories>old <b>x</b></hindsight_memories>new</p><p>a <memories></p><p></memories></p>"
    )
    assert emptied(page, TAGS) == f"<p>{EMPTY_BLOCK}new</p><p>a <memories></p><p></memories></p>"


def test_more_tags_can_be_named_and_case_is_no_matter() -> None:
    assert without_recalled("Hi <Recall>Ada</recall> you", ["recall"]) == ("Hi   you", 1)
    assert left_of("Hi <recall>Ada</recall> you") == "Hi <recall>Ada</recall> you"


@pytest.mark.parametrize(
    "piece",
    ["<memories> ", "\nA: <memories>", "<memories>\nA: </memories>", "<a_memories> <b_memories> </c_memories>", "<",
     '{"a": "\\u003c', "</memories>", "<b><memories>", "\n[{"],
)  # fmt: skip
@pytest.mark.parametrize("closes", [0, 20_000])
def test_hostile_texts_cost_no_time(piece: str, closes: int) -> None:
    start = time.process_time()
    left_of(piece * 40_000 + " </memories>" * closes)
    # Linear reading takes half a second, quadratic reading minutes: the limit only has to lie between them.
    assert time.process_time() - start < 15
