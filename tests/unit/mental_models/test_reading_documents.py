"""What of a model's answer is taken: statements that cite what was shown, under names that are one line."""

from typing import Any
from uuid import UUID

import pytest

from memorybank.llm.fields import MAX_DIGITS
from memorybank.mental_models.schema import NAME_CHARS, Reader, key, named
from memorybank.sections import rendered

IDS = [UUID(int=number) for number in range(1, 4)]
LONG = " ".join(map(str, range(200)))


def read(*sections: Any) -> tuple[str, dict[str, int]]:
    reader = Reader(IDS)
    return rendered(reader.sections({"sections": list(sections)})), dict(reader.dropped)


def test_statements_without_a_source_or_a_text_are_dropped_and_counted() -> None:
    statements = [
        {"text": "One.", "facts": [1, "2", 9]},
        {"text": "Two.", "facts": []},
        {"text": "Three."},
        {"text": " ", "facts": [1]},
        {"text": 5, "facts": [1]},
        {"text": "Four.", "facts": 3},
        "Five.",
    ]
    said, dropped = read({"name": "All", "statements": statements})
    assert said == "## All\n\n- One.\n- Four."
    assert dropped == {"statement_without_source": 2, "statement_without_text": 2, "citation_not_shown": 1}


@pytest.mark.parametrize("number", [0, -1, 4, "x", "1.0", 1.5, True, "9" * (MAX_DIGITS + 1), {}, [1]])
def test_numbers_that_were_not_shown(number: Any) -> None:
    assert read({"name": "All", "statements": [{"text": "One.", "facts": [number]}]})[0] == ""


def test_sections_of_one_name_are_one_and_nothing_is_said_twice() -> None:
    one, two = {"text": "One.", "facts": [1]}, {"text": "one", "facts": [2]}
    said, dropped = read(
        {"name": "All", "statements": [one]},
        {"name": " ALL ", "statements": [two]},
        {"name": "Other", "statements": [one]},
    )
    assert (said, dropped) == ("## All\n\n- One.", {"statement_repeated": 2})


@pytest.mark.parametrize("value", [None, "x", 5, [], {}, [5, None, "x"]])
def test_what_is_no_list_of_sections(value: Any) -> None:
    assert Reader(IDS).sections({"sections": value}) == ()


@pytest.mark.parametrize(
    ("given", "name"),
    [("Home", "Home"), ("## Home:\n", "Home"), ("  a \n b ", "a b"), ("", "Summary"),
     (None, "Summary"), ("##", "Summary"),
     (LONG, LONG[:NAME_CHARS].strip())],
)  # fmt: skip
def test_names(given: Any, name: str) -> None:
    assert named(given) == name


def test_one_line_holds_a_statement_and_looks_like_no_section() -> None:
    said, _ = read({"name": "All", "statements": [{"text": "One\n## Two\n- Three", "facts": [1]}]})
    assert said == "## All\n\n- One ## Two - Three"


def test_one_section_is_one_in_any_case() -> None:
    assert key("CAFÉ") == key("café") != key("bar")
