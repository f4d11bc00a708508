"""Observations without a model: repeats, the latest of several lines, and nothing that takes understanding."""

import pytest
from observation_samples import fact, shown, source, uuid

from memorybank.consolidate import extractive
from memorybank.consolidate.decision import Decision
from memorybank.storage.observations import Pending, Shown
from memorybank.storage.observing import Change, Create


def made(*facts: Pending, older: tuple[Pending, ...] = (), stands: tuple[Shown, ...] = ()) -> Decision:
    return extractive.decide(facts, older, stands)


def test_a_fact_that_was_said_again_is_said_to_be_so() -> None:
    assert made(fact(1, "The key is with the florist", proof_count=3)) == Decision(
        (Create("The key is with the florist (said 3 times, last on 2031-03-01)", (uuid(1),)),)
    )


def test_the_same_text_in_two_facts_is_a_repeat() -> None:
    [create] = made(fact(1, "Rent is due"), fact(4, "rent is due."), fact(3, "Rent is paid")).creates
    assert create == Create("rent is due. (said 2 times, last on 2031-03-04)", (uuid(1), uuid(4)))


def test_the_latest_of_several_lines_of_a_speaker_holds() -> None:
    lines = [fact(1, "Ana: city: Graz"), fact(5, "Ana: City: Linz"), fact(3, "Ana: city: Wels")]
    [create] = made(*lines, fact(2, "Ben: city: Oslo")).creates
    assert create.text == "Ana: City: Linz (latest of 3 statements, 2031-03-05; before that: Wels, Graz)"
    assert set(create.facts) == {uuid(1), uuid(3), uuid(5)}


def test_five_old_lines_do_not_outvote_a_newer_one() -> None:
    """D4 without a model."""
    old = [fact(number, "Theo: home: Graz") for number in range(1, 6)]
    [create] = made(*old, fact(9, "Theo: home: Linz")).creates
    assert create.text == "Theo: home: Linz (latest of 6 statements, 2031-03-09; before that: Graz)"


def test_an_older_fact_that_was_looked_at_before_counts_and_its_observation_is_changed() -> None:
    older = (fact(1, "Ana: city: Graz"), fact(2, "Ana: city: Linz"))
    stands = shown(20, "Ana: city: Linz (latest of 2 …)", source(2, "Ana: city: Linz"))
    done = made(fact(7, "Ana: city: Wels"), older=older, stands=(stands,))
    [change] = done.changes
    assert change == Change(
        uuid(20),
        "Ana: city: Wels (latest of 3 statements, 2031-03-07; before that: Linz, Graz)",
        (uuid(7), uuid(1), uuid(2)),
        "counted anew",
    )
    late = made(fact(1, "Ana: city: Graz"), older=(fact(7, "Ana: city: Wels"),)).creates
    assert late[0].text == "Ana: city: Wels (latest of 2 statements, 2031-03-07; before that: Graz)"


def test_what_would_say_the_same_is_left() -> None:
    said = "Rent is due (said 2 times, last on 2031-03-01)"
    stands = shown(20, said, source(1, "Rent is due"))
    assert made(fact(1, "Rent is due", proof_count=2), stands=(stands,)) == Decision()


@pytest.mark.parametrize(
    "texts",
    [
        ("Ana: city: Graz",),
        ("Ana: city: Graz", "Ben: city: Linz"),
        ("Ana likes teal", "Ana no longer likes teal"),
        ("Ana: Note: the door is green.", "Ana: Note: the gate is shut."),
        ("Ana: note: green", "Ana: note: blue"),
        ("Ana: the reason why we went home: rain", "Ana: the reason why we went home: snow"),
        ("city: Graz", "city: Linz"),
        ("Ana: 10: 30", "Ana: 10: 45"),
        ("Ana: at 10:30", "Ana: at 10:45"),
    ],
)
def test_nothing_is_made_of_what_is_no_repeat(texts: tuple[str, ...]) -> None:
    assert made(*(fact(number, said) for number, said in enumerate(texts, 1))) == Decision()


def test_without_a_date_there_is_no_latest() -> None:
    assert made(fact(1, "Ana: city: Graz"), fact(2, "Ana: city: Linz", said=None)) == Decision()


def test_old_facts_alone_make_nothing() -> None:
    older = (fact(1, "Rent is due"), fact(2, "Rent is due"))
    assert made(fact(3, "Ana sails"), older=older) == Decision()


def test_lines_are_looked_up_by_how_they_open() -> None:
    facts = [fact(1, "Ana: city: Graz"), fact(2, "Ana: city: Linz"), fact(3, "Ana sails"), fact(4, "x: y")]
    assert extractive.openings(facts) == ["Ana: city: "]
