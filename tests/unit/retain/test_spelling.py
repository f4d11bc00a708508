"""One name in many spellings: which keys a form shares, and which it never does."""

import pytest

from memorybank.retain.spelling import CONCEPT, PERSON, Form, another_person, said_aliases, sense_of


def form(name: str, kind: str = CONCEPT) -> Form:
    return Form.of(name, kind)


@pytest.mark.parametrize(
    ("name", "kind", "same"),
    [
        ("Jude Okafor", PERSON, ()),
        ("Dr. Okafor", PERSON, ("okafor",)),
        ("Prof. Amara Nwosu", CONCEPT, ("amara nwosu",)),
        ("田中さん", CONCEPT, ("田中",)),
        ("김민수 씨", CONCEPT, ("김민수",)),
        ("Kestrel GmbH", CONCEPT, ("kestrel",)),
        ("Roth AG", PERSON, ()),
        ("Zoë Brandt", PERSON, ("zoe brandt",)),
        ("Jürgen Müller", PERSON, ("jurgen muller", "juergen mueller")),
        ("Işıl Kaya", PERSON, ("isil kaya",)),
        ("がっこう", CONCEPT, ()),
        ("Андрей", PERSON, ()),
        ("Locker 41", CONCEPT, ()),
    ],
)
def test_keys_that_are_as_good_as_its_own(name: str, kind: str, same: tuple[str, ...]) -> None:
    assert form(name, kind).same == same


@pytest.mark.parametrize(
    ("name", "kind", "parts"),
    [
        ("Jude Okafor", PERSON, {"jude", "okafor", "j okafor"}),
        ("Dr. Jude Okafor", PERSON, {"jude", "okafor", "j okafor"}),
        (
            "Jean-Luc Moreau",
            PERSON,
            {"jean", "moreau", "j moreau", "jean luc", "jean moreau", "j l moreau"},
        ),
        ("林晓雨", PERSON, {"林晓", "晓雨"}),
        ("Jude", PERSON, set()),
        ("J. Okafor", PERSON, set()),
        ("Apple Watch", "PRODUCT", set()),
        ("Locker 41", PERSON, set()),
        ("The Long Road Home To Okafor", PERSON, set()),
    ],
)
def test_what_a_person_may_be_called_for_short(name: str, kind: str, parts: set[str]) -> None:
    assert set(form(name, kind).parts) == parts


@pytest.mark.parametrize(
    ("name", "kind", "is_person"),
    [
        ("Okafor", PERSON, True),
        ("Dr. Okafor", CONCEPT, True),
        ("J. Okafor", CONCEPT, True),
        ("Okafor", CONCEPT, False),
        ("T-Mobile", CONCEPT, False),
        ("Dr. Pepper", "PRODUCT", False),
    ],
)
def test_what_says_that_it_is_a_person(name: str, kind: str, is_person: bool) -> None:
    assert form(name, kind).is_person is is_person


@pytest.mark.parametrize(
    ("name", "one", "other", "may_be"),
    [
        ("Mercury", "PRODUCT", "LOCATION", False),
        ("Jordan", PERSON, "country", False),
        ("Mercury", "CONCEPT", "PLANET", True),
        ("Atlas", "company", "ORG", True),
        ("Atlas", "CHEMICAL", "PROJECT", False),
        ("Café Solros", "ORGANIZATION", "LOCATION", True),
        ("Amazon", "ORGANIZATION", "LOCATION", False),
    ],
)
def test_kinds_that_clash(name: str, one: str, other: str, may_be: bool) -> None:
    assert form(name, one).may_be(sense_of(other)) is may_be


def test_husband_and_wife_are_two() -> None:
    assert another_person(form("Mr. Holm"), form("Mrs. Holm"))
    assert not another_person(form("Dr. Holm"), form("Mrs. Holm"))
    assert not another_person(form("Mr. Holm"), form("Mrs. Berg"))


@pytest.mark.parametrize(
    ("content", "names", "pairs"),
    [
        (
            "Robert Chen (aka Bob) called. Bob is late.",
            ["Bob", "Robert Chen", "Chen"],
            [("Robert Chen", "Bob")],
        ),
        ("Bob, also known as Robert Chen, called", ["Bob", "Robert Chen"], [("Robert Chen", "Bob")]),
        (
            "Elizabeth Stone, whom everybody calls Liz",
            ["Liz", "Elizabeth Stone"],
            [("Elizabeth Stone", "Liz")],
        ),
        (
            "the National Rail Agency (NRA) bought",
            ["National Rail Agency", "NRA"],
            [("National Rail Agency", "NRA")],
        ),
        ("Robert Chen (CFO) called", ["Robert Chen", "CFO"], []),
        ("Bob called Robert Chen", ["Bob", "Robert Chen"], []),
        ("Bob (Robert Chen's brother)", ["Bob", "Robert Chen"], []),
    ],
)
def test_what_a_text_equates(content: str, names: list[str], pairs: list[tuple[str, str]]) -> None:
    assert said_aliases(content, names) == pairs
