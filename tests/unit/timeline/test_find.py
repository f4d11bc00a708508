"""Time expressions of ten languages, in sentences: a table of cases per language."""

import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorybank.timeline import TimeSpan, dated, find_times, iso
from memorybank.timeline.grammar import CODES, grammar

CASES = Path(__file__).parent / "cases"
ANCHOR = datetime(2026, 3, 4, 9, tzinfo=UTC)


def read_cases() -> list[object]:
    """Lines of `text | first | last | grain` under a line `@ anchor`; every anchor is at 09:00 UTC."""
    cases: list[object] = []
    for path in sorted(CASES.glob("*.txt")):
        anchor = ANCHOR
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("@"):
                anchor = datetime.fromisoformat(line[1:].strip()).replace(hour=9, tzinfo=UTC)
            elif line.strip() and not line.startswith("#"):
                text, *fields = (field.strip() for field in line.split("|"))
                cases.append(pytest.param(anchor, text, fields, id=f"{path.stem}: {text}"))
    return cases


def expected_span(fields: list[str]) -> tuple[datetime, datetime, str]:
    first, last = fields[0], fields[1] if len(fields) > 1 else fields[0]
    start, end = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (first, last))
    if "T" not in last:
        end += timedelta(days=1, microseconds=-1)
    return start, end, fields[2] if len(fields) > 2 else "day"


@pytest.mark.parametrize(("anchor", "text", "fields"), read_cases())
def test_expression(anchor: datetime, text: str, fields: list[str]) -> None:
    found = [(span.start, span.end, span.grain) for span in find_times(text, anchor)]
    assert found == ([expected_span(fields)] if fields else [])


def test_every_language_has_cases() -> None:
    assert {path.stem for path in CASES.glob("*.txt")} == set(CODES)


def test_several_times_come_in_order_with_their_words() -> None:
    spans = find_times("On 7 May 2023 we met, and last week again; see you tomorrow.", ANCHOR)
    assert [span.text for span in spans] == ["On 7 May 2023", "last week", "tomorrow"]


@pytest.mark.parametrize(
    "text", ["yesterday", "last week", "on Friday", "in March", "7 May", "gestern", "上周五", "昨日"]
)
def test_relative_times_need_an_anchor(text: str) -> None:
    assert find_times(text, None) == []
    assert len(find_times(text, ANCHOR)) == 1


@pytest.mark.parametrize(
    "text", ["7 May 2023", "in 2023", "Q3 2025", "2023年5月7日", "2023-05-07", "7. Mai 2023"]
)
def test_absolute_times_need_none(text: str) -> None:
    assert len(find_times(text, None)) == 1


def test_the_day_is_counted_in_the_zone_of_the_anchor() -> None:
    tokyo = datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=9)))
    (span,) = find_times("I saw her yesterday.", tokyo)
    assert iso(span.start) == "2026-03-01T00:00:00+00:00"
    (span,) = find_times("He rang 2 hours ago.", tokyo)
    assert iso(span.start) == "2026-03-01T14:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met her last week.", "I met her last week (2026-02-23–2026-03-01)."),
        ("Ich sah sie letzte Woche.", "Ich sah sie letzte Woche (2026-02-23–2026-03-01)."),
        ("We saw her last Friday.", "We saw her last Friday (2026-02-27)."),
        ("We will be back in three days.", "We will be back in three days (2026-03-07)."),
        ("来週の木曜に行く。", "来週の木曜 (2026-03-12)に行く。"),
        (
            "On 7 May 2023 we met, and again yesterday.",
            "On 7 May 2023 we met, and again yesterday (2026-03-03).",
        ),
        ("Vorgestern (2026-03-02) war Ruhe.", "Vorgestern (2026-03-02) war Ruhe."),
        ("我昨天签了。", "我昨天 (2026-03-03)签了。"),
        ("He rang 2 hours ago.", "He rang 2 hours ago (2026-03-04)."),
    ],
)
def test_the_days_of_relative_words_are_written_behind_them(text: str, expected: str) -> None:
    assert dated(text, ANCHOR) == expected


#: What the anchor does not fix, or says its date itself.
AS_WRITTEN = """
Nothing of time.
Deploy it on Friday.
We met on Monday, we will meet on Thursday.
It stays on the 31st, not on the 26th.
The depot opens on 2 March, not on 16 February as announced.
It was in April, at New Year and in the spring.
We meet next Friday, and last Tuesday we did.
See you this weekend or next weekend.
It is down until the end of the month.
She can assemble it in two hours.
Pay within 30 days of delivery, we will too.
He came two weeks ago, on 18 February.
It was on 3 March 2026 (yesterday).
来月（2026年4月）、引っ越す。
昨日（3月3日）行った。
am Sonntag, im Frühjahr, zum 1. Dezember
""".strip().split("\n")


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_what_the_anchor_does_not_fix_stays_as_it_is(text: str) -> None:
    assert dated(text, ANCHOR) == text


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("on Friday", "week"),
        ("next Friday", "week"),
        ("next Tuesday", None),
        ("this Friday", None),
        ("this Tuesday", "week"),
        ("on the 31st", "month"),
        ("on 2 March", "year"),
        ("in April", "year"),
        ("last summer", None),
        ("this summer", None),
        ("last January", "year"),
        ("Friday of next week", None),
        ("yesterday", None),
        ("2 March 2026", None),
        ("2026-03-02", None),
        ("next weekend", "week"),
    ],
)
def test_what_the_words_leave_open_is_said(text: str, unit: str | None) -> None:
    [span] = find_times(text, ANCHOR)
    assert span.open == unit


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("He left on the first of October 2025.", "2025-10-01"),
        ("He left on the twelfth of May 2025.", "2025-05-12"),
        ("Er ging am ersten Oktober 2025.", "2025-10-01"),
        ("Er ging am zwölften Mai 2025.", "2025-05-12"),
        ("Se fue el primero de octubre de 2025.", "2025-10-01"),
        ("Il est parti le premier octobre 2025.", "2025-10-01"),
        ("He has not smoked since New Year.", "2026-01-01"),
    ],
)
def test_a_day_in_words_is_a_day(text: str, day: str) -> None:
    [span] = find_times(text, ANCHOR)
    assert (span.start.date().isoformat(), span.end.date().isoformat()) == (day, day)


def test_a_naive_anchor_is_utc() -> None:
    assert find_times("yesterday", datetime(2026, 3, 4, 9)) == find_times("yesterday", ANCHOR)


def test_decomposed_accents_are_read() -> None:
    assert len(find_times("Im Ma\u0308rz 2023 war es nass.", ANCHOR)) == 1


@pytest.mark.parametrize(
    "anchor", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)]
)
@pytest.mark.parametrize(
    "text", ["yesterday", "tomorrow", "last week", "next month", "9999 years ago", "in 9999 years"]
)
def test_the_ends_of_time_do_no_harm(anchor: datetime, text: str) -> None:
    for span in find_times(text, anchor):
        assert span.start <= span.end


WORDS = [word for code in CODES for table in grammar(code).words.values() for word in list(table)[:8]]
GLUE = """
    last next this the in on of ago from to before after since 1 7 31 2023 99 - , . vor letzte il y a dernier hace
    pasado fa scorso atrás passado 上 下 个 前 年 月 日 の 後 지난 전 в назад 3rd 90s Q3 (2023) 12:30 every first second
"""


@given(
    st.lists(st.sampled_from([*WORDS, *GLUE.split()]), max_size=12),
    st.booleans(),
    st.datetimes(timezones=st.just(UTC)),
)
def test_any_words_of_time_give_sound_spans(words: list[str], spaced: bool, anchor: datetime) -> None:
    check(find_times((" " if spaced else "").join(words), anchor))


@pytest.mark.parametrize("code", CODES)
@settings(
    max_examples=40, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], deadline=None
)
@given(data=st.data())
def test_whatever_a_rule_matches_gives_sound_spans(code: str, data: st.DataObject) -> None:
    reader = grammar(code).reader(data.draw(st.integers(0, len(grammar(code).rules) - 1)))
    text = data.draw(st.from_regex(reader))
    for anchor in (ANCHOR, None, datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)):
        check(find_times(text, anchor))


@given(st.text(st.characters(), max_size=200), st.one_of(st.none(), st.datetimes(timezones=st.timezones())))
def test_any_text_gives_sound_spans(text: str, anchor: datetime | None) -> None:
    check(find_times(text, anchor))


def check(spans: list[TimeSpan]) -> None:
    for span in spans:
        assert span.start.tzinfo is UTC
        assert span.end.tzinfo is UTC
        assert span.start <= span.end
        assert span.text


@pytest.mark.parametrize(
    "text",
    [
        "may " * 20_000,
        "last week " * 10_000,
        "3月" * 20_000,
        "12/" * 50_000,
        "2023 " * 20_000,
        "a" * 300_000,
        "1-" * 50_000,
    ],
)
def test_huge_texts_take_linear_time(text: str) -> None:
    begun = time.perf_counter()
    find_times(text, ANCHOR)
    assert time.perf_counter() - begun < 5.0
