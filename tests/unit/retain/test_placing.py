"""Which content a fact of a shared call is from."""

from typing import Any

import pytest

from memorybank.retain import facts, schema
from memorybank.retain.facts import Source
from memorybank.retain.placing import placed

ADA = "Ada: I sold the red canoe to my neighbour.\nBye!"
BEN = "Ben: The kiln runs at cone 6.\nBye!"
CAI = "Cai: Bye!"


def places(*items: Any, contents: tuple[str, ...] = (ADA, BEN)) -> tuple[list[list[str]], set[int]]:
    found = placed(schema.read({"facts": list(items)}), contents)
    return [[draft.what for draft in answer.drafts] for answer in found.answers], set(found.unclear)


def said(what: str, content: Any = None, **more: Any) -> dict[str, Any]:
    return {"what": what, "content": content, **more}


@pytest.mark.parametrize("number", [1, "1", " 1 "])
def test_the_number_of_the_model_counts(number: Any) -> None:
    assert places(said("They said goodbye", number)) == ([["They said goodbye"], []], set())


@pytest.mark.parametrize("number", [None, 0, 3, -1, "two", 1.5, True, "9" * 40, [1]])
def test_without_a_number_the_words_decide(number: Any) -> None:
    kiln, canoe = said("The kiln of Ben runs at cone 6", number), said("Ada sold a canoe", number)
    assert places(kiln, canoe) == ([["Ada sold a canoe"], ["The kiln of Ben runs at cone 6"]], set())


def test_words_of_another_content_alone_set_a_wrong_number_right() -> None:
    # A model that counts from 0.
    assert places(said("Ada sold a red canoe", 0), said("The kiln of Ben runs at cone 6", 1)) == (
        [["Ada sold a red canoe"], ["The kiln of Ben runs at cone 6"]],
        set(),
    )


def test_a_number_stands_where_no_word_speaks_against_it() -> None:
    assert places(said("Das Kanu wurde verkauft", 2)) == ([[], ["Das Kanu wurde verkauft"]], set())


def test_neighbours_decide_where_words_do_not() -> None:
    canoe, kiln = "Ada sold the red canoe", "The kiln runs at cone 6"
    assert places("Bye!", canoe, "Bye!", canoe + " again") == (
        [["Bye!", canoe, "Bye!", canoe + " again"], []],
        set(),
    )
    assert places(kiln, "Bye!") == ([[], [kiln, "Bye!"]], set())


def test_what_stays_unclear_is_said_and_belongs_to_nobody() -> None:
    canoe, kiln = "Ada sold the red canoe", "The kiln runs at cone 6"
    assert places(canoe, "Bye!", kiln, contents=(ADA, BEN, CAI)) == ([[canoe], [kiln], []], {0, 1})
    assert places("Bye!") == ([[], []], {0, 1})


def test_one_content_needs_no_numbers() -> None:
    assert places(said("x", 7), "y", contents=(ADA,)) == ([["x", "y"]], set())


def test_each_part_has_its_own_dates_repeats_and_causes() -> None:
    answer = schema.read(
        {
            "facts": [
                said("Ada sold the red canoe", 1),
                said("The kiln runs at cone 6", 2, caused_by=[0]),
                said("Ben fired the kiln", 2, caused_by=[1]),
                said("Ada sold the red canoe", 1),
                7,
            ]
        }
    )
    built = facts.build(answer, [Source(ADA, None), Source(BEN, None)])
    (first, lost), (second, lost_too) = built.parts
    assert [fact.text for fact in first] == ["Ada sold the red canoe"]
    # A cause in another content is none.
    assert [(fact.text, fact.causes) for fact in second] == [
        ("The kiln runs at cone 6", ()),
        ("Ben fired the kiln", (0,)),
    ]
    assert (lost, lost_too) == ({"duplicate": 1, "malformed": 1}, {})
