"""The two pure rules of background work: how a round ends, and how parts add up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.operations import Ending, Part, RoundEnd, Standing, Status, roll_up, settle

ENDINGS = st.sampled_from(Ending)


@given(ENDINGS, st.integers(0, 9), st.booleans(), st.integers(1, 4))
def test_spent_attempts_never_wait(ending: Ending, attempts: int, cancelled: bool, most: int) -> None:
    settled = settle(RoundEnd(ending, "m"), Standing(attempts, cancelled), most)
    assert settled.status is not Status.PROCESSING
    if ending is Ending.TROUBLE and attempts >= most:
        assert settled.status.terminal
    if settled.status is Status.PENDING:
        assert not cancelled
        assert settled.attempts < max(attempts, 1) or ending is Ending.TROUBLE


@pytest.mark.parametrize(
    ("ending", "status"),
    [(Ending.DONE, "completed"), (Ending.HOPELESS, "failed"), (Ending.MORE, "cancelled"), (Ending.WAIT, "cancelled"),
     (Ending.TROUBLE, "cancelled")],
)  # fmt: skip
def test_a_cancel_wins_over_all_but_an_end(ending: Ending, status: str) -> None:
    assert settle(RoundEnd(ending), Standing(1, True), 1).status == status


def test_a_completed_round_keeps_its_result_and_message() -> None:
    settled = settle(RoundEnd(Ending.DONE, "1 of 3 lost", result={"kept": 2}), Standing(1, False), 3)
    assert (settled.message, settled.result) == ("1 of 3 lost", {"kept": 2})


def part(status: Status = Status.COMPLETED, error: str | None = None, **result: object) -> Part:
    return Part(status, error, result)


def test_parts_add_up_by_the_type_of_their_values() -> None:
    total = roll_up(
        [
            part(
                calls=1,
                cost=0.5,
                dropped={"a": 1},
                sample=["x"] * 4,
                sub_batch_index=1,
                items_count=3,
                mode="m",
            ),
            part(
                calls=2,
                cost=0.25,
                dropped={"b": 2},
                sample=["y"] * 4,
                sub_batch_index=2,
                items_count=4,
                mode="n",
            ),
            part(calls=4, done=True),
            part(done=True),
        ]
    )
    assert total.result == {
        "calls": 7, "cost": 0.75, "dropped": {"a": 1, "b": 2}, "sample": ["x"] * 4 + ["y"], "mode": "m", "done": True,
    }  # fmt: skip
    assert total.status is Status.COMPLETED


@given(st.lists(st.sampled_from([Status.COMPLETED, Status.FAILED, Status.CANCELLED]), min_size=1))
def test_a_batch_is_as_bad_as_its_worst_part(statuses: list[Status]) -> None:
    total = roll_up([part(status, "e" if status is Status.FAILED else None) for status in statuses])
    assert total.status in statuses
    assert (total.status is Status.COMPLETED) == (set(statuses) == {Status.COMPLETED})
    assert (total.status is Status.FAILED) == (Status.FAILED in statuses)
    assert (total.message == "e") == (Status.FAILED in statuses)


def test_a_batch_with_losses_in_completed_parts_says_so() -> None:
    total = roll_up([part(error="1 chunk lost"), part()])
    assert (total.status, total.message) == (Status.COMPLETED, "1 chunk lost")
