"""Facts as numbered lines, and citations back to facts."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memorybank.model import FactType, Hit, Scores
from memorybank.reflect.citations import cited, numbered, period, plain, shortened
from memorybank.text import count_tokens

SPRING, SUMMER = datetime(2026, 3, 4, 10, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)


def fact(text: str, **more: object) -> Hit:
    return Hit(uuid4(), text, FactType.WORLD, Scores(0.5), **more)  # type: ignore[arg-type]


def test_facts_are_numbered_lines_with_dates_and_source() -> None:
    told = [
        fact('She said "no".\nTwice.', occurred_start=SPRING, occurred_end=SUMMER, document_id="d"),
        fact("Bare."),
        fact("Noted.", mentioned_at=SPRING, context="stand-up"),
    ]
    assert [json.loads(line) for line in numbered(told).splitlines()] == [
        {"id": 1, "text": 'She said "no".\nTwice.', "occurred": "2026-03-04 to 2026-07-01", "source": "d"},
        {"id": 2, "text": "Bare."},
        {"id": 3, "text": "Noted.", "mentioned": "2026-03-04", "source": "stand-up"},
    ]


def test_a_period_of_one_day_is_a_day() -> None:
    assert (period(SPRING, SPRING), period(SPRING, None), period(None, None)) == (
        "2026-03-04",
        "2026-03-04",
        "",
    )


def test_what_has_only_an_end_is_told_up_to_it() -> None:
    assert period(None, SPRING) == "up to 2026-03-04"


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("Ana moved it [2], Bo agreed [1][2].", [2, 1]),
        ("Both agree [1, 3] and [3; 2].", [1, 3, 2]),
        ("Nothing is cited.", []),
        ("No such fact [9] [0].", []),
        ("A link [1](http://example.org) is none, an item a[1] is one.", [1]),
    ],
)
def test_citations_lead_back_to_facts(answer: str, numbers: list[int]) -> None:
    facts = [fact("one"), fact("two"), fact("three")]
    assert cited(answer, facts) == tuple(facts[number - 1] for number in numbers)


def test_the_answer_is_shown_without_numbers() -> None:
    assert plain("Ana moved it [2], Bo agreed [1][2].\n- [3] Cy") == "Ana moved it, Bo agreed.\n- Cy"
    assert plain("See [1](http://example.org).") == "See [1](http://example.org)."


def test_an_answer_that_is_too_long_ends_with_a_sentence() -> None:
    answer = "The kiln is hot. The clay is dry. The glaze is blue and not yet mixed."
    assert shortened(answer, 100) == answer
    assert shortened(answer, 12) == "The kiln is hot. The clay is dry."
    assert count_tokens(shortened("tea " * 100, 12)) <= 12
