"""What says the same, and what says the opposite: the guards behind every model and every cosine."""

import pytest

from memorybank.consolidate.agreement import opposed, related, same

SAME = [
    ("Ada likes teal", "Ada likes teal."),
    ("Ada likes teal", "ada likes the teal"),
    ("The kiln is hot", "A kiln is very hot"),
    ("Ada doesn't like teal", "Ada does not like teal"),
    ("Ada cannot swim", "Ada can't swim"),
    ("Das Haus ist rot und sehr alt", "Ein Haus ist rot und alt"),
]
OPPOSED = [
    ("Ada likes teal", "Ada no longer likes teal"),
    ("Ada likes teal", "Ada doesn't like teal"),
    ("Ada can swim", "Ada cannot swim"),
    ("Ada never eats meat on Fridays", "Ada eats meat on Fridays"),
    ("Locker 41 holds skis", "Locker 42 holds skis"),
    ("The rent is 1,200 euros", "The rent is 1,250 euros"),
    ("Theo lives in Graz", "Theo lives in Linz"),
    ("Ada lent the drill to Ben", "Ada lent the drill to Cleo"),
    ("Ada mag Tee", "Ada mag keinen Tee"),
    ("Ada kann schwimmen", "Ada kann nicht schwimmen"),
    ("Ada aime beaucoup le thé", "Ada n'aime pas beaucoup le thé"),
    ("小林喜欢茶", "小林不喜欢茶"),
    ("Вера любит чай", "Вера не любит чай"),
    ("チームは毎週会議をする", "チームは毎週会議をしない"),
]
#: Neither: about other things, or saying more; a model may know how they belong together.
NEITHER = [
    ("Theo lives in Graz", "Theo has moved to Linz"),
    ("Theo lives in Graz", "Theo lived in Graz"),
    ("Sales grew by a lot in the north", "Sales shrank by a lot in the north"),
    ("Ada beat Ben", "Ben beat Ada"),
    ("Ada left before Ben ate", "Ada left after Ben ate"),
    ("Ada enjoys long walks", "Ada is fond of long walks"),
    ("Since 5 May 2031 Ada no longer likes teal; she liked it before", "Ada no longer likes teal"),
    ("The tool is written in C++", "The tool is written in C#"),
    ("IT is down", "It is down"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same(one: str, other: str) -> None:
    assert (same(one, other), same(other, one)) == (True, True)
    assert not opposed(one, other)


@pytest.mark.parametrize(("one", "other"), OPPOSED)
def test_opposed(one: str, other: str) -> None:
    assert (opposed(one, other), opposed(other, one)) == (True, True)
    assert not same(one, other)


@pytest.mark.parametrize(("one", "other"), NEITHER)
def test_what_is_near_is_not_the_same(one: str, other: str) -> None:
    assert not same(one, other)


@pytest.mark.parametrize(("one", "other"), NEITHER[:6])
def test_guards_leave_to_the_model_what_they_cannot_judge(one: str, other: str) -> None:
    assert not opposed(one, other)


@pytest.mark.parametrize(
    ("said", "about", "expected"),
    [
        ("Ada likes blue", ("Ada likes teal",), True),
        ("Ben sails", ("Ada likes teal", "Ben has a boat"), True),
        ("ok", ("Ada likes teal",), False),
        ("Everything was deleted", ("Ada likes teal",), False),
        ("小林喜欢绿茶", ("小林不喝咖啡",), True),
        ("...", ("Ada likes teal",), True),
    ],
)
def test_related(said: str, about: tuple[str, ...], expected: bool) -> None:
    assert related(said, *about) == expected
