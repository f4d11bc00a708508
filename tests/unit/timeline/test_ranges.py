"""Calendar arithmetic."""

from datetime import date

import pytest

from memorybank.timeline import ranges


@pytest.mark.parametrize(
    ("day", "unit", "count", "expected"),
    [
        ("2024-03-31", "month", -1, "2024-02-29"),
        ("2024-02-29", "year", 1, "2025-02-28"),
        ("2024-01-15", "month", 11, "2024-12-15"),
        ("2024-01-15", "month", -1, "2023-12-15"),
        ("2024-01-15", "quarter", 2, "2024-07-15"),
        ("2024-01-15", "fortnight", 1, "2024-01-29"),
        ("2024-01-15", "decade", -1, "2014-01-15"),
    ],
)
def test_shift(day: str, unit: str, count: int, expected: str) -> None:
    assert ranges.shift(date.fromisoformat(day), unit, count) == date.fromisoformat(expected)


@pytest.mark.parametrize(
    ("unit", "first", "last"),
    [
        ("week", "2024-02-26", "2024-03-03"),
        ("weekend", "2024-03-02", "2024-03-03"),
        ("month", "2024-03-01", "2024-03-31"),
        ("quarter", "2024-01-01", "2024-03-31"),
        ("year", "2024-01-01", "2024-12-31"),
        ("decade", "2020-01-01", "2029-12-31"),
        ("century", "2000-01-01", "2099-12-31"),
    ],
)
def test_unit_of(unit: str, first: str, last: str) -> None:
    days = ranges.unit_of(date(2024, 3, 1), unit)
    assert days[:2] == (date.fromisoformat(first), date.fromisoformat(last))


def test_seasons_belong_to_the_year_they_begin_in() -> None:
    assert ranges.season(2023, "winter")[:2] == (date(2023, 12, 1), date(2024, 2, 29))
    assert ranges.season(2023, "spring")[:2] == (date(2023, 3, 1), date(2023, 5, 31))


@pytest.mark.parametrize("nth", [5, -1])
def test_nth_weekday(nth: int) -> None:
    assert ranges.nth_weekday(2024, 5, 4, nth) == date(2024, 5, 31)


def test_a_month_has_no_fifth_weekday_of_each() -> None:
    with pytest.raises(ValueError):
        ranges.nth_weekday(2024, 5, 0, 5)
    with pytest.raises(ValueError):
        ranges.nth_week(2023, 2, 5)


def test_parts() -> None:
    year = ranges.years(2024)
    thirds = [ranges.part(year, third)[:2] for third in (0, 1, 2)]
    assert thirds[0] == (date(2024, 1, 1), date(2024, 4, 30))
    assert thirds[1] == (date(2024, 5, 1), date(2024, 8, 31))
    assert thirds[2] == (date(2024, 9, 1), date(2024, 12, 31))
    assert ranges.part(ranges.month(2024, 2), 2)[:2] == (date(2024, 2, 21), date(2024, 2, 29))
