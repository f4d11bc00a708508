"""Time stamps in requests and transcripts."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.timeline import iso, line_stamps, parse_stamp, parse_timestamp


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00+00:00"),
        ("2026-03-01T09:00:00z", "2026-03-01T09:00:00+00:00"),
        ("2026-03-01T09:00:00+02:00", "2026-03-01T07:00:00+00:00"),
        ("2026-03-01T09:00:00-0530", "2026-03-01T14:30:00+00:00"),
        ("2026-03-01T09:00:00+02", "2026-03-01T07:00:00+00:00"),
        ("2026-03-01 09:00", "2026-03-01T09:00:00+00:00"),
        ("2026-03-01T09:00:00.5", "2026-03-01T09:00:00.500000+00:00"),
        ("2026-03-01T09:00:00.123456789Z", "2026-03-01T09:00:00.123456+00:00"),
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("20260301T090000Z", "2026-03-01T09:00:00+00:00"),
        (" 2026-03-01 ", "2026-03-01T00:00:00+00:00"),
        ("0001-01-01", "0001-01-01T00:00:00+00:00"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00"),
    ],
)
def test_parse_timestamp(value: str, expected: str) -> None:
    assert iso(parse_timestamp(value)) == expected
    assert parse_timestamp(expected) == parse_timestamp(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "0000-01-01",
        "-0044-03-15",
        "12000-01-01",
        "2026-03-01T25:00",
        "2026-03-01T09:00:00+99:00",
        "0001-01-01T00:00:00+02:00",
        "9999-12-31T23:59:59-02:00",
        "2026-03-01T09:00:00Z trailing",
        "unset",
        "1772355600",
        "\ud83d",
        "2026-03-01\x00",
    ],
)
def test_no_timestamp(value: str) -> None:
    with pytest.raises(ValueError):
        parse_timestamp(value)


def test_parse_stamp_keeps_the_zone_that_was_written() -> None:
    stamp = parse_stamp("2026-03-02T01:00:00+09:00")
    assert stamp == datetime(2026, 3, 1, 16, tzinfo=UTC)
    assert (stamp.day, stamp.utcoffset()) == (2, timedelta(hours=9))


@given(st.datetimes(), st.integers(-14 * 60, 14 * 60))
def test_iso_is_read_back(local: datetime, minutes: int) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    try:
        text = iso(moment)
    except OverflowError:
        return
    assert parse_timestamp(text) == moment
    assert text.endswith("+00:00")


@given(st.text(st.characters(), max_size=60))
def test_any_value_is_a_time_or_a_value_error(value: str) -> None:
    try:
        assert parse_timestamp(value).tzinfo is UTC
    except ValueError:
        return


def test_iso_takes_naive_as_utc() -> None:
    assert iso(datetime(2026, 3, 1)) == "2026-03-01T00:00:00+00:00"
    assert iso(datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1)))) == "2026-02-28T23:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[2026-02-02 10:00] A: signed.\nB: fine\n[2026-02-05 16:00] A: cancelled.",
            [(0, "2026-02-02T10:00"), (2, "2026-02-05T16:00")],
        ),
        ("2026-02-02T10:00:00+02:00 A: hi", [(0, "2026-02-02T08:00")]),
        ("2026-02-02 10:00:03.123 UTC - A: hi", [(0, "2026-02-02T10:00:03.123000")]),
        ("(2026-02-02, 9:05) A: hi", [(0, "2026-02-02T09:05")]),
        ("[2026-02-02] A: hi", [(0, "2026-02-02T00:00")]),
        (
            "25/05/26, 10:15 - A: hi\n02/06/26, 10:16 - B: ho",
            [(0, "2026-05-25T10:15"), (1, "2026-06-02T10:16")],
        ),
        ("[5/25/26, 1:15:03 PM] A: hi", [(0, "2026-05-25T13:15:03")]),
        ("02.05.2026 10:15 A: hi", [(0, "2026-05-02T10:15")]),
        ("02/05/26, 10:15 - A: hi", []),
        (
            "02/05/26, 10:15 - A: hi\n01/06/26, 10:15 - A: hi",
            [(0, "2026-05-02T10:15"), (1, "2026-06-01T10:15")],
        ),
        ("1:56 pm on 8 May, 2023 | A: hi", [(0, "2023-05-08T13:56")]),
        ("12:05 am on 8 May, 2023\nA: hi", [(0, "2023-05-08T00:05")]),
        ("May 8, 2023 13:56 A: hi", [(0, "2023-05-08T13:56")]),
        ("[10:15] A: hi\nA: at 2026-02-02 10:00 we met\n2026-02-31 10:00 A: hi\n2026-02-02 is a day", []),
        ("", []),
    ],
)
def test_line_stamps(text: str, expected: list[tuple[int, str]]) -> None:
    assert line_stamps(text) == [
        (at, datetime.fromisoformat(when).replace(tzinfo=UTC)) for at, when in expected
    ]


@given(st.text(st.sampled_from("[]()0123456789-/.: ,TZpmMay\n"), max_size=80))
def test_any_transcript_can_be_read(text: str) -> None:
    lines = text.count("\n") + 1
    assert all(0 <= at < lines and stamp.tzinfo for at, stamp in line_stamps(text))


@pytest.mark.parametrize(
    "text", ["1" * 300_000, "1/1/1" * 50_000, "\n" * 300_000, "[2026-02-02 10:00] A\n" * 10_000]
)
def test_huge_texts_take_linear_time(text: str) -> None:
    begun = time.perf_counter()
    line_stamps(text)
    assert time.perf_counter() - begun < 3.0
