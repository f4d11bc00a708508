"""The policy: what follows which failure."""

import pytest

from memorybank import errors
from memorybank.llm.client import AnswerFormat
from memorybank.llm.retry import (
    Budget,
    Change,
    OutOfRoom,
    Patience,
    Step,
    Tried,
    Unclosed,
    counted,
    next_step,
)

LONGEST = Patience(0.5, 10.0)


def test_a_rate_limit_waits_as_told() -> None:
    told = errors.ModelRateLimited("wait", retry_after=7.5)
    assert next_step(told, Tried(), LONGEST) == Step(Change.SAME, 7.5)


def test_a_longer_wait_than_the_budget_has_gives_the_work_back() -> None:
    assert next_step(errors.ModelRateLimited("wait", retry_after=600), Tried(), LONGEST) is None


@pytest.mark.parametrize("error", [errors.ModelRateLimited("wait"), errors.ModelUnavailable("down")])
def test_untold_waits_double_and_spread(error: errors.ModelError) -> None:
    steps = [next_step(error, Tried(waited=waited), LONGEST) for waited in range(6)]
    assert [step and step.wait for step in steps] == [0.5, 1, 2, 4, 8, None]
    assert next_step(error, Tried(), LONGEST, chance=0.5) == Step(Change.SAME, 0.625)


MALFORMED, CUT, UNCLOSED = errors.ModelMalformed("bad"), errors.ModelTruncated("cut"), Unclosed("cut")


@pytest.mark.parametrize(
    ("error", "divisible", "changes"),
    [
        (MALFORMED, False, [Change.REPAIR, Change.PLAIN, Change.PLAIN]),
        (MALFORMED, True, [Change.REPAIR, None]),
        (CUT, False, [Change.SHORTER, None]),
        (CUT, True, [None]),
        (UNCLOSED, False, [Change.REPAIR, Change.SHORTER, None]),
        (UNCLOSED, True, [Change.REPAIR, None]),
    ],
)
def test_what_can_be_divided_is_given_back_and_the_rest_is_asked_for_in_another_way(
    error: errors.ModelError, divisible: bool, changes: list[Change | None]
) -> None:
    tried, seen = Tried(divisible=divisible), []
    for _ in changes:
        step = next_step(error, tried, LONGEST)
        seen.append(step and step.change)
        tried = counted(tried, error)
    assert seen == changes


def test_nothing_is_plainer_than_a_prompt_or_than_text() -> None:
    for tried in (
        Tried(malformed=1, answer_format=AnswerFormat.PROMPT),
        Tried(malformed=1, structured=False),
    ):
        assert next_step(errors.ModelMalformed("bad"), tried, LONGEST) == Step(Change.REPAIR)


def test_a_refused_format_steps_down_until_there_is_none() -> None:
    error = errors.ModelFormatUnsupported("no")
    assert next_step(error, Tried(), LONGEST) == Step(Change.PLAINER)
    assert next_step(error, Tried(answer_format=AnswerFormat.PROMPT), LONGEST) is None


def test_thinking_without_an_answer_gets_more_room_once() -> None:
    error = OutOfRoom("thought")
    assert next_step(error, Tried(), LONGEST) == Step(Change.ROOMIER)
    assert next_step(error, counted(Tried(), error), LONGEST) is None


@pytest.mark.parametrize(
    "error",
    [errors.ModelRefused("no"), errors.ModelMisconfigured("key")],
    ids=lambda error: error.code,
)
def test_what_asking_again_cannot_help_is_given_up(error: errors.ModelError) -> None:
    assert next_step(error, Tried(), LONGEST) is None


def test_a_budget_counts_down() -> None:
    budget = Budget(attempts=2)
    budget.spent += 3
    assert budget.left == 0
    budget.regain()
    assert budget.left == 0
    budget.regain()
    assert budget.left == 1
