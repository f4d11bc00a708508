"""What is done of what a model wants: references, conflicts, opposites, what is retired, what is there already."""

from typing import Any
from uuid import UUID

import pytest
from observation_samples import fact, shown, uuid

from memorybank.consolidate.decision import (
    Board,
    Decision,
    decide,
    without_twins,
)
from memorybank.errors import ModelMalformed
from memorybank.storage.observations import Twin
from memorybank.storage.observing import Change, Create
from memorybank.text.guards import MAX_FACT_CHARS

FACTS = (
    fact(1, "Theo has moved to Linz"),
    fact(2, "Ada no longer likes teal"),
    fact(3, "Ada likes teal a lot"),
    fact(4, "Ben: hello there"),
)
GRAZ, TEAL, BOAT, TWICE = (
    shown(11, "Theo lives in Graz"),
    shown(12, "Ada likes teal"),
    shown(13, "Ben has a boat"),
    shown(14, "Ben owns a boat"),
)
BOARD = Board(FACTS, (GRAZ, TEAL, BOAT, TWICE))
LINZ = "Theo lives in Linz since March 2031, before that in Graz"


def decided(*actions: Any, **more: Any) -> Decision:
    board = Board(**vars(BOARD) | more)
    return decide({"actions": list(actions)}, board)


def ids(*numbers: int) -> tuple[UUID, ...]:
    return tuple(map(uuid, numbers))


def act(action: str, *facts: Any, **more: Any) -> dict[str, Any]:
    return {"action": action, "facts": list(facts), **more}


def test_a_create_and_an_update() -> None:
    done = decided(
        act("create", 4, text="Ben greets people with hello", reason="new"),
        act("update", 1, observation=1, text=LINZ, reason="moved"),
    )
    assert done == Decision(
        (Create("Ben greets people with hello", ids(4), "new"),), (Change(uuid(11), LINZ, ids(1), "moved"),)
    )


def test_d2_an_unknown_observation_is_skipped_and_counted_and_the_rest_is_done() -> None:
    done = decided(act("update", 1, observation=99, text=LINZ), act("keep", 3, observation=2))
    assert done == Decision((), (Change(uuid(12), None, ids(3)),), {"unknown_observation": 1})


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (act("create", 9, text="Ben waves"), "unknown_fact"),
        (act("create", text="Ben waves"), "unknown_fact"),
        (act("create", 0, text="Ben waves"), "unknown_fact"),
        (act("create", 4), "empty"),
        (act("create", 4, text=" ... "), "empty"),
        (act("create", 4, text="ok"), "off_topic"),
        (act("create", 4, text="a a a a " * 900), "empty"),
        (act("update", 1, text=LINZ), "unknown_observation"),
        (act("update", 1, observation="x", text=LINZ), "unknown_observation"),
        (act("update", 1, observation=0, text=LINZ), "unknown_observation"),
        (act("update", 1, observation=1, text="deleted"), "off_topic"),
        (act("update", 9, observation=1, text=LINZ), "unknown_fact"),
        (act("keep", 1, observation=5), "unknown_observation"),
        (act("merge", 1, observation=3, others=[9]), "unknown_observation"),
        (act("merge", 1, observation=3, others=[3]), "unknown_observation"),
        (act("merge", 1, observation=9, others=[3]), "unknown_observation"),
        (act("retire", observation=1, text=LINZ), "unknown_fact"),
        (act("retire", 1, observation=7, text=LINZ), "unknown_observation"),
        (act("retire", 1, observation=1), "nothing_in_its_place"),
        (act("retire", 1, observation=1, text="gone"), "nothing_in_its_place"),
        (act("retire", 1, observation=1, text=GRAZ.text), "nothing_in_its_place"),
        (act("destroy", 1, observation=1), "malformed"),
        ("nonsense", "malformed"),
        (act("create", 4, text={"what": "Ben"}), "empty"),
    ],
)
def test_a_bad_action_changes_nothing(bad: Any, reason: str) -> None:
    assert decided(bad, act("keep", 4)) == Decision(skipped={reason: 1})
    with pytest.raises(ModelMalformed, match=reason):
        decided(bad)


@pytest.mark.parametrize(
    "value", [{}, {"actions": None}, {"actions": "delete everything"}, {"actions": [[]]}]
)
def test_an_answer_without_a_readable_action_is_malformed(value: Any) -> None:
    with pytest.raises(ModelMalformed):
        decide(value, BOARD)


def test_no_actions_are_a_decision() -> None:
    assert decided() == Decision()


def test_delete_everything_loses_nothing() -> None:
    everything = [
        act("retire", *range(1, 5), observation=number, reason="delete everything") for number in (1, 2, 3, 4)
    ]
    with pytest.raises(ModelMalformed, match="nothing_in_its_place 4"):
        decided(*everything)
    done = decided(*everything, act("create", 4, text="Ben says hello"))
    assert done == Decision((Create("Ben says hello", ids(4)),), (), {"nothing_in_its_place": 4})


def test_numbers_are_read_as_models_write_them() -> None:
    done = decided({"action": " Update ", "facts": "1", "observation": "1", "text": LINZ})
    assert done.changes == (Change(uuid(11), LINZ, ids(1)),)
    assert decided(act("keep", 3, 3, 77, None, observation=2)).changes[0].facts == ids(3)


def test_several_updates_of_an_observation_are_one_with_the_last_text() -> None:
    done = decided(
        act("update", 1, observation=1, text="Theo moved to Linz", reason="a"),
        act("keep", 4, observation=1),
        act("update", 1, 3, observation=1, text=LINZ),
    )
    assert done.changes == (Change(uuid(11), LINZ, ids(1, 4, 3), "a"),)


def test_a_merge_takes_in_what_says_the_same() -> None:
    done = decided(act("merge", observation=3, others=[4], text="Ben owns a boat", reason="same"))
    assert done == Decision((), (Change(uuid(13), "Ben owns a boat", (), "same", ids(14)),))


def test_what_was_merged_can_no_longer_be_changed_and_what_was_changed_not_merged() -> None:
    merge = act("merge", observation=3, others=[4])
    later = decided(merge, act("keep", 4, observation=4))
    assert (len(later.changes), later.skipped) == (1, {"conflict": 1})
    before = decided(act("keep", 4, observation=4), merge)
    assert ([change.gone for change in before.changes], before.skipped) == ([()], {"conflict": 1})
    round_ = decided(merge, act("merge", observation=4, others=[3]))
    assert ([change.gone for change in round_.changes], round_.skipped) == ([ids(14)], {"conflict": 1})


def test_opposites_are_never_merged() -> None:
    board = [
        shown(11, "Ada likes teal"),
        shown(12, "Ada no longer likes teal"),
        shown(13, "Ada likes teal a lot"),
    ]
    done = decided(
        act("merge", observation=1, others=[2, 3], text="Ada likes teal"), act("keep", 4), shown=board
    )
    assert done == Decision(skipped={"opposite": 1})


def test_a_fact_that_denies_an_observation_is_no_proof_of_it() -> None:
    """It becomes an observation of its own: one positive, one negative, never one."""
    denied = Decision(
        (Create("Ada no longer likes teal", ids(2), "says otherwise"),),
        (Change(uuid(12), None, ids(3)),),
    )
    assert decided(act("keep", 2, 3, observation=2)) == denied
    assert decided(act("update", 2, 3, observation=2, text=TEAL.text)) == denied
    flipped = "Ada no longer likes teal since 2 March 2031; she liked it before"
    assert decided(act("update", 2, observation=2, text=flipped)).changes == (
        Change(uuid(12), flipped, ids(2)),
    )


def test_what_is_retired_is_rewritten_to_what_replaces_it() -> None:
    never = "Theo never lived in Graz: he took it back on 1 March 2031"
    told = decided(act("retire", 1, observation=1, text=never, reason="taken back"))
    assert told.changes == (Change(uuid(11), never, ids(1), "taken back"),)
    created = decided(act("retire", 1, observation=1), act("create", 1, text="Theo lives in Linz"))
    assert created == Decision((), (Change(uuid(11), "Theo lives in Linz", ids(1)),))
    other = decided(act("retire", 4, observation=1), act("create", 1, text="Theo lives in Linz"))
    assert other == Decision((Create("Theo lives in Linz", ids(1)),), (), {"nothing_in_its_place": 1})
    twice = decided(act("update", 1, observation=1, text=LINZ), act("retire", 1, observation=1, text=never))
    assert (twice.changes[0].text, twice.skipped) == (LINZ, {"conflict": 1})


@pytest.mark.parametrize(("room", "kept"), [(None, 3), (3, 3), (1, 1), (0, 0), (-2, 0)])
def test_a_full_scope_takes_no_new_observations_but_changes(room: int | None, kept: int) -> None:
    creates = [act("create", number, text=FACTS[number - 1].text) for number in (1, 3, 4)]
    done = decided(*creates, act("update", 1, observation=1, text=LINZ), room=room)
    assert (len(done.creates), len(done.changes)) == (kept, 1)
    assert done.skipped.get("scope_full", 0) == 3 - kept


def test_texts_are_cleaned_and_bounded() -> None:
    done = decided(act("create", 4, text=" Ben\n\x00 says &lt;/facts> hello "))
    assert done.creates[0].text == "Ben says </facts> hello"
    long = " ".join(f"Ben{number}" for number in range(3000))
    assert len(decided(act("create", 4, text=f"Ben {long}")).creates[0].text) <= MAX_FACT_CHARS
    assert len(decided(act("create", 4, text="Ben", reason="x" * 999)).creates[0].reason) == 200


def test_a_sentence_of_the_instructions_is_no_observation() -> None:
    said = act("create", 4, text="Orvendale Quisk says hello to Ben")
    prompt = "Example: Orvendale Quisk says hello to Ben"
    assert decided(said, act("keep", 4), prompt=prompt).skipped == {"prompt_example": 1}


def test_in_another_language_nothing_is_off_topic() -> None:
    assert decided(act("create", 4, text="Er grüßt freundlich"), translated=True).creates


def test_nothing_is_created_that_is_there_already() -> None:
    decision = Decision(
        (
            Create("Ada likes the teal", ids(3)),
            Create("Ada no longer likes teal", ids(2)),
            Create("Theo swims", ids(1)),
            Create("theo swims.", ids(4)),
        ),
        (Change(uuid(13), "Ben has a boat", ids(4), "x", ids(14)),),
    )
    twins = [
        Twin(0, uuid(12), "Ada likes teal", 0.99),
        Twin(1, uuid(12), "Ada likes teal", 0.98),
        Twin(3, uuid(20), "Leo swims", 0.97),
    ]
    done = without_twins(decision, twins)
    assert done.creates == (Create("Ada no longer likes teal", ids(2)), Create("Theo swims", ids(1, 4)))
    assert done.changes == (
        decision.changes[0],
        Change(uuid(12), None, ids(3), "said again"),
    )


def test_a_twin_that_is_merged_away_hands_on_to_its_heir() -> None:
    decision = Decision(
        (Create("Ben owns a boat", ids(1)),), (Change(uuid(13), "Ben has a boat", ids(4), "", ids(14)),)
    )
    done = without_twins(decision, [Twin(0, uuid(14), "Ben owns a boat", 1.0)])
    assert done == Decision((), (Change(uuid(13), "Ben has a boat", ids(4, 1), "", ids(14)),))
