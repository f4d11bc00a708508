"""What models write, and what is read out of it."""

import pytest

from memorybank.errors import ModelMalformed
from memorybank.llm.parsing import parse, without_thinking
from memorybank.llm.retry import Unclosed

SCHEMA = {
    "type": "object",
    "required": ["facts"],
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"what": {"type": "string"}, "why": {}, "entities": {"type": "array"}},
            },
        }
    },
}
ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "fact_ids": {"type": "array", "items": {"type": "integer"}}},
}


def one(what: str, **more: object) -> dict[str, object]:
    return {"facts": [{"what": what, **more}]}


TAKEN = {
    "plain": ('{"facts":[{"what":"a"}]}', one("a")),
    "no facts is an answer": ('{"facts":[]}', {"facts": []}),
    "fence between prose": (
        'Sure! Here you go:\n```json\n{"facts":[{"what":"Rent is due on the 5th"}]}\n```\nHope that helps.',
        one("Rent is due on the 5th"),
    ),
    "back-ticks inside a value": (
        '```json\n{"facts":[{"what":"run ```make``` first"}]}\n```',
        one("run ```make``` first"),
    ),
    "footnote before the JSON": ('See [1] and {this}: {"facts":[{"what":"a"}]}', one("a")),
    "bare list": (
        '[{"what":"Ravi moved the nightly backup to 03:00","entities":["Ravi"]}]',
        one("Ravi moved the nightly backup to 03:00", entities=["Ravi"]),
    ),
    "bare item": ('{"what":"a","entities":["R"]}', one("a", entities=["R"])),
    "items one after another": ('{"what":"a"}\n{"what":"b"}', {"facts": [{"what": "a"}, {"what": "b"}]}),
    "list of wrapped lists": (
        '[{"facts":[{"what":"a"}]},{"facts":[{"what":"b"}]}]',
        {"facts": [{"what": "a"}, {"what": "b"}]},
    ),
    "another name for the list": ('{"memories":[{"what":"a"}]}', one("a")),
    "wrapped": ('{"extracted_facts":{"facts":[{"what":"a"}]}}', one("a")),
    "data inside the schema": (
        '{"type":"object","properties":{"facts":[{"what":"a"}]},"required":["facts"]}',
        one("a"),
    ),
    "JSON in a JSON string": ('"{\\"facts\\":[{\\"what\\":\\"a\\"}]}"', one("a")),
    "draft in a think block": (
        '<think>maybe {"facts":[]}?</think>{"facts":[{"what":"Lab closes at 18:00"}]}',
        one("Lab closes at 18:00"),
    ),
    "thinking that was opened by the template": (
        'maybe {"facts":[]}?\n</think>\n{"facts":[{"what":"a"}]}',
        one("a"),
    ),
    "draft, then the answer": ('{"facts":[]} On second thought: {"facts":[{"what":"a"}]}', one("a")),
    "think tag inside a value": ('{"facts":[{"what":"the <think>tag</think> is odd"}]}',
                                 one("the <think>tag</think> is odd")),
    "bad escapes": (
        r'{"facts":[{"what":"He typed grep \"C:\\new\" and a\d+ and \x1b[31m, it\'s \u00e9 \q"}]}',
        one('He typed grep "C:\\new" and a\\d+ and \\x1b[31m, it\'s é \\q'),
    ),
    "raw line break and tab": ('{"facts":[{"what":"a\nb\tc"}]}', one("a\nb\tc")),
    "trailing commas": ('{"facts":[{"what":"a",},],}', one("a")),
    "unescaped quotes": ('{"facts":[{"what":"she said "hi" to me","why":"x"}]}',
                         one('she said "hi" to me', why="x")),
    "Python": ("{'facts': [{'what': 'a', 'why': None}]}", one("a", why=None)),
    "NaN": ('{"facts":[{"what":"a","why":NaN}]}', one("a", why=None)),
    "one item that does not read": (
        '{"facts":[{"what":"a"}, {"what": b c}, {"what":"d"}]}', {"facts": [{"what": "a"}, None, {"what": "d"}]}
    ),
    "NUL and lone surrogate": ('{"facts":[{"what":"a\\u0000b\\ud83d"}]}', one("ab�")),
    "surrogate pair": ('{"facts":[{"what":"\\ud83d\\ude00"}]}', one("😀")),
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), TAKEN.values(), ids=TAKEN)
def test_is_taken(text: str, value: object) -> None:
    assert parse(text, SCHEMA) == value


REFUSED = {
    "empty": "",
    "blank": " \n",
    "prose": "I could not find any facts, sorry.",
    "only thinking": '<think>{"facts":[{"what":"a"}]}',
    "schema echoed": '{"type":"object","properties":{"facts":{"type":"array"}}}',
    "another shape": '{"status":"ok"}',
    "empty object": "{}",
    "number": "42",
    "list of words": '["a","b"]',
    "deep nesting": "[" * 100_000 + "]" * 100_000,
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_is_malformed(text: str) -> None:
    with pytest.raises(ModelMalformed):
        parse(text, SCHEMA)


CUT = {
    "in a string": '{"facts":[{"what":"a"},{"what":"b',
    "between items": '{"facts":[{"what":"a"},',
    "in a fence": '```json\n{"facts":[{"what":"a"},{"wh\n```',
    "after a draft": '{"facts":[]}\nBetter: {"facts":[{"what":"a"',
    "bare list": '[{"what":"a"},{"what":"b"',
    "at the start": "{",
}


@pytest.mark.parametrize("text", CUT.values(), ids=CUT)
def test_what_never_closes_is_cut_and_never_half_taken(text: str) -> None:
    with pytest.raises(Unclosed):
        parse(text, SCHEMA)


def test_a_schema_of_several_properties_takes_an_object_with_any_of_them() -> None:
    assert parse('Well: {"answer":"yes","fact_ids":[1]}', ANSWER) == {"answer": "yes", "fact_ids": [1]}
    assert parse('[{"answer":"yes"}]', ANSWER) == {"answer": "yes"}
    with pytest.raises(ModelMalformed):
        parse("[1, 2]", ANSWER)


def test_without_a_schema_the_last_object_or_list_counts() -> None:
    assert parse('{"a":1} then {"b":2}') == {"b": 2}


def test_an_error_quotes_nothing_of_the_reply() -> None:
    with pytest.raises(ModelMalformed) as caught:
        parse('{"secret":"the vault code is 4711"}', SCHEMA)
    assert "vault" not in caught.value.message


def test_many_lonely_brackets_cost_little() -> None:
    with pytest.raises(ModelMalformed):
        parse("{a " * 20_000, SCHEMA)


def test_thinking_is_taken_away_only_where_it_is_thinking() -> None:
    assert without_thinking("<think>a</think><reasoning>b</reasoning>c") == "c"
    assert without_thinking("a </think> b").strip() == "b"
    assert without_thinking('{"a":"</think>"}') == '{"a":"</think>"}'
    assert without_thinking("<think>for ever") == ""
