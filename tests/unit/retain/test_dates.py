"""Dates of facts: what the text supports is kept, the rest is no date."""

from datetime import UTC, date, datetime

import pytest

from memorybank.retain.dates import Evidence
from memorybank.retain.schema import Draft

SUNDAY = datetime(2026, 3, 1, 9, tzinfo=UTC)


def days(source: str, anchor: datetime | None = SUNDAY, **draft: str) -> tuple[date, date] | None:
    found = Evidence(source, anchor).occurred(Draft(0, draft.pop("what", "x"), is_event=True, **draft))
    return (found.start.date(), found.end.date()) if found.start and found.end else None


def day(*parts: int) -> tuple[date, date]:
    return date(*parts), date(*parts)


def test_a_date_that_the_words_mean_is_kept() -> None:
    assert days("We shipped the beta last Friday.", occurred_start="2026-02-27") == day(2026, 2, 27)


@pytest.mark.parametrize("claimed", ["2019-07-04", "2026-09-01", "1999"])
def test_a_date_that_nothing_supports_is_dropped(claimed: str) -> None:
    assert days("The aqueduct is old.", occurred_start=claimed) is None


def test_a_dropped_date_gives_way_to_the_one_the_text_names() -> None:
    assert days(
        "We shipped the beta last Friday.", what="shipped last Friday", occurred_start="2019-07-04"
    ) == day(2026, 2, 27)


@pytest.mark.parametrize("claimed", ["-0312-01-01", "12000-01-01", "0000-00-00", "soon", "312 BC"])
def test_impossible_dates_do_no_harm(claimed: str) -> None:
    text = "The aqueduct was begun in 312 BC; the observatory plan runs to the year 12000."
    assert days(text, occurred_start=claimed, occurred_end=claimed) is None


def test_without_a_date_of_its_own_relative_words_mean_nothing() -> None:
    assert days("The lease ends one year from now.", None, when="one year from now") is None
    assert days("The lease ends one year from now.", None, occurred_start="2027-03-01") is None


def test_a_fact_of_the_day_itself_is_kept() -> None:
    assert days("Ada has arrived.", occurred_start="2026-03-01") == day(2026, 3, 1)


def test_the_day_of_a_month_near_the_text_is_kept() -> None:
    assert days("I booked the ferry for the 15th.", occurred_start="2026-03-15") == day(2026, 3, 15)
    assert days("I paid 15 euros.", occurred_start="2030-06-15") is None


def test_a_year_is_a_range_even_where_the_model_says_its_first_day() -> None:
    fair = "Lena spoke at the fair in 2026."
    assert days(fair, occurred_start="2026-01-01") == (date(2026, 1, 1), date(2026, 12, 31))
    assert days(fair, occurred_start="2026-01-01", occurred_end="2026-12-31") == (
        date(2026, 1, 1),
        date(2026, 12, 31),
    )


def test_a_named_first_of_january_stays_a_day() -> None:
    assert days("Lena moved on January 1, 2026.", occurred_start="2026-01-01") == day(2026, 1, 1)


def test_the_end_is_kept_where_it_is_supported_and_not_before_the_start() -> None:
    stay = "Ada was in Oslo from 2026-02-03 to 2026-02-06."
    assert days(stay, occurred_start="2026-02-03", occurred_end="2026-02-06") == (
        date(2026, 2, 3),
        date(2026, 2, 6),
    )
    assert days(stay, occurred_start="2026-02-03", occurred_end="2025-01-01") == day(2026, 2, 3)


def test_a_state_has_no_date() -> None:
    draft = Draft(0, "Ada lives in Oslo", occurred_start="2026-03-01")
    assert Evidence("Ada lives in Oslo.", SUNDAY).occurred(draft).start is None


TRANSCRIPT = (
    "[2026-02-02 10:00] Ada: the contract was signed yesterday.\n"
    "[2026-02-05 16:00] Ben: the order was cancelled."
)


def test_a_fact_was_said_when_its_line_was() -> None:
    evidence = Evidence(TRANSCRIPT, SUNDAY)
    assert evidence.said_at("The contract was signed") == datetime(2026, 2, 2, 10, tzinfo=UTC)
    assert evidence.said_at("Ben said that the order was cancelled") == datetime(2026, 2, 5, 16, tzinfo=UTC)
    assert Evidence("no stamps", SUNDAY).said_at("x") is None


def test_relative_words_count_from_their_line() -> None:
    assert days(TRANSCRIPT, what="the contract was signed yesterday") == day(2026, 2, 1)
    assert days(TRANSCRIPT, what="the contract was signed", occurred_start="2026-02-01") == day(2026, 2, 1)
