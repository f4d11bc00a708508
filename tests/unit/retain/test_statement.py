"""Which facts say the same: one key, in a chunk and in a bank. What may tell two statements apart always does."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memorybank.model import Fact, FactType
from memorybank.retain.facts import statement
from memorybank.text.guards import same_key

DAY = datetime(2026, 3, 1, tzinfo=UTC)

SAME = [
    ("The spare key is with the florist.", "the spare key is with the florist"),
    ("The spare key is with the florist.", "The  spare key\nis with the florist"),
    ("The spare key is with the florist", " The spare key is with the florist. "),
    ("THE SPARE KEY IS WITH THE FLORIST", "The spare key is with the florist."),
    ("Ada likes teal!", "Ada likes teal."),
    ("Ada likes teal...", "Ada likes teal"),
    ("Ada likes teal…", "Ada likes teal"),
    ("ada likes teal", "Ada likes teal"),
    ("“Teal” is Ada’s colour", '"Teal" is Ada\'s colour'),
    ("It is −5 degrees", "It is -5 degrees"),
    ("Open 9–17", "Open 9-17"),
    ("Café Roux is closed", "Cafe\u0301 Roux is closed"),
    ("Ada ist umgezogen。", "Ada ist umgezogen"),
    ("艾达搬到了里斯本。", "艾达搬到了里斯本"),
    ("艾达很高兴！", "艾达很高兴"),
    ("Élodie aime le thé.", "élodie aime le thé"),
    ("Ada moved to Rome. | When: in May", "ada moved to Rome | When: in May."),
    ("Version 3.1 is out.", "version 3.1 is out"),
    ("Really?!", "really?"),
    ("A dog lives here", "a dog lives here"),
    ("(Ada) knows", "(ada) knows"),
    ("O'Hara called", "O’Hara called"),
]

OTHER = [
    ("The tool is written in C", "The tool is written in C++"),
    ("The tool is written in C", "The tool is written in C#"),
    ("The tool is written in C++", "The tool is written in C#"),
    ("It runs on .NET", "It runs on NET"),
    ("It is -5 degrees", "It is 5 degrees"),
    ("It is +5 degrees", "It is -5 degrees"),
    ("It is +5 degrees", "It is 5 degrees"),
    ("Version 3.1 is out", "Version 31 is out"),
    ("It costs 1.500", "It costs 1,500"),
    ("It costs 1,5", "It costs 15"),
    ("It costs 5%", "It costs 5"),
    ("It costs $5", "It costs €5"),
    ("It costs 5 $", "It costs 5"),
    ("Open 9-17", "Open 917"),
    ("Open 9-17", "Open 9 17"),
    ("The ratio is 3/4", "The ratio is 34"),
    ("The ratio is 3:4", "The ratio is 34"),
    ("Write to ada@home.org", "Write to ada home.org"),
    ("Room #5", "Room 5"),
    ("Ben & Co pays", "Ben Co pays"),
    ("x² is 4", "x2 is 4"),
    ("10² rooms", "102 rooms"),
    ("x < 3", "x > 3"),
    ("x = 3", "x 3"),
    ("x != 3", "x = 3"),
    ("n is 5!", "n is 5"),
    ("The file is in ~/a", "The file is in /a"),
    ("a*b", "a b"),
    ("a_b is set", "a b is set"),
    ("The limit is 5 MW", "The limit is 5 mW"),
    ("The link has 10 MB", "The link has 10 Mb"),
    ("She works in IT", "She works in it"),
    ("They told US", "They told us"),
    ("The code is aB3x", "The code is ab3x"),
    ("The key is XK9", "The key is xk9"),
    ("getUser fails", "getuser fails"),
    ("It is plan B", "It is plan b"),
    ("Ada likes teal", "Ada likes teal?"),
    ("Ada likes teal", "Ada no longer likes teal"),
    ("Ada likes teal", "Ada likes teal no more"),
    ("Ada hit Ben", "Ben hit Ada"),
    ("Ben, who left, knows", "Ben who left knows"),
    ("Let's eat, Ben", "Let's eat Ben"),
    ('Her "friend" called', "Her friend called"),
    ("In Maßen trinken", "In Massen trinken"),
    ("El año pasado", "El ano pasado"),
    ("Tag 1", "Tag ①"),
    ("The resume is here", "The résumé is here"),
    ("we'll go", "well go"),
    ("re-sign the paper", "resign the paper"),
    ("Ada moved | When: in May", "Ada moved | When: in June"),
    ("Not: Ada", "Not Ada"),
    ("Paid [x]", "Paid [ ]"),
    ("Ada (not Ben) paid", "Ada not Ben paid"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same(one: str, other: str) -> None:
    assert same_key(one) == same_key(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other(one: str, other: str) -> None:
    assert same_key(one) != same_key(other)


def test_a_statement_is_of_a_kind_a_time_and_a_place() -> None:
    said = Fact("Uma is on the Atlas team", occurred_start=DAY, occurred_end=DAY, place_name="Kiel")
    assert statement(said) == statement(replace(said, text="uma is on the atlas team.", place_name="kiel"))
    assert statement(said) == statement(replace(said, occurred_end=None)), "a start alone is a moment"
    assert statement(said) == statement(replace(said, mentioned_at=DAY, tags=("a",))), (
        "tags are compared apart"
    )
    others = [
        replace(said, fact_type=FactType.EXPERIENCE),
        replace(said, occurred_start=None, occurred_end=None),
        replace(said, occurred_end=DAY.replace(month=9)),
        replace(said, place_name=None),
        replace(said, place_name="Rome"),
    ]
    assert len({statement(fact) for fact in [said, *others]}) == len(others) + 1
