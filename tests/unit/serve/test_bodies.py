"""Reading a request body: what is JSON that can be kept, and what is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.serve.http.bodies import MAX_DEPTH, read_json


def _nested(depth: int, opening: str = "[", closing: str = "]") -> bytes:
    return (opening * depth + closing * depth).encode()


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b"1 2", "Extra data"),
        (b'"\xff"', "not UTF-8"),
        ('"ä"'.encode("utf-16"), "not UTF-8"),
        (b"NaN", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"1e999", "too large"),
        (b"9" * 400, "too large"),
        (b"-" + b"9" * 400, "too large"),
        (_nested(MAX_DEPTH + 1), "nested"),
        (_nested(200, '{"a":[', "]}"), "nested"),
        (_nested(100_000), "nested"),
    ],
)
def test_what_is_refused(body: bytes, part: str) -> None:
    with pytest.raises(json.JSONDecodeError, match=part):
        read_json(body)


def test_what_is_taken() -> None:
    assert read_json(b'\xef\xbb\xbf{"a": "\\ud83d"}') == {"a": "\ud83d"}
    assert read_json(_nested(MAX_DEPTH)) == json.loads(_nested(MAX_DEPTH))
    assert read_json(b"[" + b"[]," * 1000 + b"{}]")[-1] == {}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_it_reads_what_json_writes(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value
