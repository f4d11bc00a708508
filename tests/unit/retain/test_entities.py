"""Which names are one: exact keys, learned aliases, what the text says, longer forms of a person's name."""

from uuid import UUID, uuid4

import pytest

from memorybank.retain.entities import (
    CONCEPT,
    PERSON,
    Form,
    Mention,
    Resolution,
    is_longer_form,
    resolve,
    said_aliases,
)
from memorybank.storage.entities import Known
from memorybank.text import name_key


def person(name: str, document: int = 1, exact: bool = False) -> Mention:
    return Mention(document, name, PERSON, exact)


def thing(name: str, document: int = 1) -> Mention:
    return Mention(document, name)


def known(name: str, document: int | None = None, alias: str | None = None, kind: str = CONCEPT) -> Known:
    return Known(uuid4(), name_key(name), name, kind, document, alias)


def keys(*mentions: Mention, known: tuple[Known, ...] = (), present: tuple[Known, ...] = ()) -> list[str]:
    found = resolve(mentions, known, present, {})
    return [found.key_of[mention] for mention in mentions]


def form(name: str, kind: str = PERSON) -> Form:
    return Form(name_key(name), name, kind)


def test_three_forms_of_one_person_are_one_entity() -> None:
    mentions = (person("J. Okafor"), person("Okafor"), person("Jude Okafor"))
    found = resolve(mentions, (), (), {})
    assert {found.key_of[mention] for mention in mentions} == {"jude okafor"}
    assert [name.name for name in found.names] == ["Jude Okafor"]
    assert {alias for alias, _, target in found.learned if target == "jude okafor"} == {"j okafor", "okafor"}


def test_two_people_of_one_family_keep_the_short_form_apart() -> None:
    assert keys(person("Okafor"), person("Jude Okafor"), person("Ada Okafor")) == [
        "okafor",
        "jude okafor",
        "ada okafor",
    ]


def test_forms_in_another_document_mean_nothing() -> None:
    assert keys(person("Okafor", 1), person("Jude Okafor", 2)) == ["okafor", "jude okafor"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Locker 41", "Locker 42"),
        ("KL644", "KL645"),
        ("Q3 Budget 2025", "Q3 Budget 2026"),
        ("Bob", "Robert Chen"),
    ],
)
def test_other_digits_and_nicknames_never_merge(one: str, other: str) -> None:
    assert keys(person(one), person(other)) == [name_key(one), name_key(other)]


@pytest.mark.parametrize(
    ("one", "other"), [("York", "New York"), ("Apple", "Apple Watch"), ("Berlin", "Berlin Philharmonic")]
)
def test_what_is_not_known_to_be_a_person_never_merges(one: str, other: str) -> None:
    assert keys(thing(one), thing(other)) == [name_key(one), name_key(other)]


@pytest.mark.parametrize(
    ("long", "short", "same"),
    [
        ("Jude Okafor", "Okafor", True),
        ("Jude Okafor", "Jude", True),
        ("Jude Okafor", "J. Okafor", True),
        ("Jude Okafor", "Dr. Okafor", True),
        ("Jude Michael Okafor", "Jude Okafor", True),
        ("Jude Okafor", "K. Okafor", False),
        ("J. Okafor", "Jude Okafor", False),
        ("Jude Okafor", "Jude Okafor", False),
        ("Jude Okafor", "J", False),
        ("Jude Okafor", "udeO", False),
        ("The Long Road Home To Okafor", "Okafor", False),
    ],
)
def test_longer_forms(long: str, short: str, same: bool) -> None:
    assert is_longer_form(form(long), form(short)) is same


def test_a_title_or_an_initial_says_that_it_is_a_person_and_kinds_may_not_clash() -> None:
    assert is_longer_form(form("Jude Okafor", CONCEPT), form("Dr. Okafor", CONCEPT))
    assert is_longer_form(form("Jude Okafor", CONCEPT), form("J. Okafor", CONCEPT))
    assert not is_longer_form(form("Jude Okafor", CONCEPT), form("Okafor", CONCEPT))
    assert not is_longer_form(form("Mercury Okafor", "PLANET"), form("Mercury", PERSON))


def test_an_entity_of_its_own_goes_before_an_alias() -> None:
    jude, own = known("Jude Okafor", alias="okafor"), known("Okafor")
    assert keys(thing("Okafor"), known=(jude,)) == ["jude okafor"]
    assert keys(thing("Okafor"), known=(jude, own)) == ["okafor"]


def test_what_the_document_says_goes_before_an_alias() -> None:
    jude = known("Jude Okafor", alias="okafor")
    assert keys(person("Okafor"), person("Ada Okafor"), known=(jude,)) == ["ada okafor", "ada okafor"]


def test_exact_mentions_are_taken_as_they_are() -> None:
    jude = known("Jude Okafor", alias="okafor")
    assert keys(person("Okafor", exact=True), person("Jude Okafor"), known=(jude,)) == [
        "okafor",
        "jude okafor",
    ]


def test_a_longer_form_in_a_later_chunk_takes_the_mentions_of_the_shorter_one() -> None:
    short = known("Okafor", document=1, kind=PERSON)
    found = resolve([person("Jude Okafor")], (), [short], {})
    assert found.moved == ((1, short.id, "jude okafor"),)
    assert found.learned == (("okafor", "Okafor", "jude okafor"),)
    elsewhere = resolve([person("Jude Okafor", 2)], (), [short], {})
    assert elsewhere.moved == ()


def test_a_shorter_form_in_a_later_chunk_means_the_longer_one() -> None:
    assert keys(person("Okafor"), present=(known("Jude Okafor", document=1),)) == ["jude okafor"]


def test_what_the_text_equates_is_one_and_the_longer_name_counts() -> None:
    said = said_aliases("Robert Chen (aka Bob) called. Bob is late.", ["Bob", "Robert Chen", "Chen"])
    assert said == [("Robert Chen", "Bob")]
    assert said_aliases("Bob, also known as Robert Chen, called", ["Bob", "Robert Chen"]) == [
        ("Robert Chen", "Bob")
    ]
    assert said_aliases("Bob called Robert Chen", ["Bob", "Robert Chen"]) == []
    mentions = (thing("Bob"), thing("Robert Chen"))
    found = resolve(mentions, (), (), {1: said})
    assert [found.key_of[mention] for mention in mentions] == ["robert chen"] * 2


def test_one_name_in_many_spellings_is_one_key() -> None:
    assert keys(thing("İstanbul ofisi"), thing("istanbul ofisi")) == ["istanbul ofisi"] * 2
    assert len(set(keys(thing("Café"), thing("Cafe\u0301")))) == 1


def test_a_name_without_a_key_is_left_out() -> None:
    assert resolve([thing(" ")], (), (), {}) == Resolution()
    assert isinstance(known("x").id, UUID)
