"""Dates of facts: what the text supports is kept, the rest is no date."""

import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from memorybank.retain.dates import Evidence, Occurred
from memorybank.retain.schema import Draft

SUNDAY = datetime(2026, 3, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
BETA = "We shipped the beta last Friday, on time."


def days(source: str, anchor: datetime | None = SUNDAY, **draft: str) -> tuple[date, date] | None:
    found = Evidence(source, anchor).occurred(Draft(0, draft.pop("what", "x"), is_event=True, **draft))
    return (found.start.date(), found.end.date()) if found.start and found.end else None


def said(what: str, when: str = "", occurred: Occurred | None = None) -> tuple[str, str]:
    kept = Evidence(BETA, SUNDAY).dated(Draft(0, what, when=when), occurred or Occurred())
    return kept.what, kept.when


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


def ends(source: str, **draft: str) -> tuple[date | None, date | None]:
    found = Evidence(source, SUNDAY).occurred(Draft(0, draft.pop("what", "x"), is_event=True, **draft))
    return found.start and found.start.date(), found.end and found.end.date()


@pytest.mark.parametrize(
    ("source", "when"),
    [
        ("I'm in Graz until Friday.", "until Friday (2026-03-06)"),
        ("It has to be booked by Friday.", "by Friday"),
        ("The kiln is down until the 6th.", "until the 6th"),
    ],
)
def test_until_and_by_give_an_end_and_no_beginning(source: str, when: str) -> None:
    assert ends(source, when=when, occurred_end="2026-03-06") == (None, date(2026, 3, 6))
    assert ends(source, when=when, occurred_start="2026-03-01", occurred_end="2026-03-06") == (
        SUNDAY.date(),
        date(2026, 3, 6),
    )


def test_an_end_that_is_claimed_without_support_is_not_known() -> None:
    levy = "The levy is 150 euros a month, from 1 April on, for eighteen months."
    assert ends(levy, occurred_start="2026-04-01", occurred_end="2027-12-31") == (date(2026, 4, 1), None)


@pytest.mark.parametrize(
    ("source", "start", "end"),
    [
        ("The levy is 150 euros a month, from 1 April on, for eighteen months.", "2026-04-01", "2027-09-30"),
        ("La derrama será durante dieciocho meses, a partir de abril de 2026.", "2026-04-01", "2027-09-30"),
        ("Die Sperrung beginnt am 4. Mai und dauert siebzehn Wochen.", "2026-05-04", "2026-08-30"),
        ("工事は5月4日から18か月続く。", "2026-05-04", "2027-11-04"),
        ("The lease runs until September 2027.", "2026-03-01", "2027-09-30"),
    ],
)
def test_an_end_is_kept_where_the_text_says_how_long_or_until_when(source: str, start: str, end: str) -> None:
    found = (date.fromisoformat(start), date.fromisoformat(end))
    assert ends(source, occurred_start=start, occurred_end=end) == found


SECOND, NINTH = date(2026, 3, 2), date(2026, 3, 9)


@pytest.mark.parametrize(
    ("when", "span"),
    [
        ("between 2026-03-02 and 2026-03-09", (SECOND, NINTH)),
        ("between Monday and the 9th (2026-03-02 to 2026-03-09)", (SECOND, NINTH)),
        ("zwischen dem 2. März 2026 und dem 9. März 2026", (SECOND, NINTH)),
        ("desde el 2 hasta el 9 de marzo de 2026", (SECOND, NINTH)),
        ("2026年3月2日から9日まで", (SECOND, NINTH)),
        ("since 2026-03-02", (SECOND, None)),
        ("from Monday on (2026-03-02)", (SECOND, None)),
        ("seit Montag (2026-03-02)", (SECOND, None)),
        ("frühestens am 2. März 2026", (SECOND, None)),
        ("depuis le 2 mars 2026", (SECOND, None)),
        ("2026年3月2日から", (SECOND, None)),
        ("until the 9th (2026-03-09)", (None, NINTH)),
        ("by 9 March 2026", (None, NINTH)),
        ("spätestens am 9. März 2026", (None, NINTH)),
        ("hasta el 9 de marzo de 2026", (None, NINTH)),
        ("2026-03-02", (SECOND, SECOND)),
        ("on 2 March 2026 and on 9 March 2026", (SECOND, SECOND)),
    ],
)
def test_an_edge_is_not_the_day(when: str, span: tuple[date | None, date | None]) -> None:
    source = f"The kiln is down {when}."
    assert ends(source, when=when) == span
    start, end = span
    claimed = start or end
    if claimed and not (start and end):
        assert ends(source, when=when, occurred_start=claimed.isoformat()) == span
        assert ends(source, when=when, occurred_start=str(claimed), occurred_end=str(claimed)) == span


def test_one_end_of_a_range_without_the_other_is_no_day() -> None:
    assert ends("The kiln is down.", when="between 2026-03-02 and 2031-03-09") == (None, None)


@pytest.mark.parametrize(
    ("written", "hour"), [("2026-03-02T18:30", 9), ("2026-03-02 18:30", 9), ("2026-03-02T18:30Z", 18)]
)
def test_a_clock_time_without_a_zone_is_in_that_of_the_text(written: str, hour: int) -> None:
    told = datetime(2026, 3, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    evidence = Evidence("The call is on Monday at 18:30.", told)
    for draft in (
        Draft(0, "x", is_event=True, occurred_start=written),
        Draft(0, "x", is_event=True, when=written),
    ):
        found = evidence.occurred(draft)
        assert found.start == found.end == datetime(2026, 3, 2, hour, 30, tzinfo=UTC)


def test_a_moment_is_written_with_its_day_where_it_was_told() -> None:
    told = datetime(2026, 3, 1, 9, tzinfo=CALIFORNIA)
    evidence = Evidence("The call is on Monday at 18:30.", told)
    draft = Draft(0, "They call", when="on Monday", is_event=True, occurred_start="2026-03-02T18:30")
    found = evidence.occurred(draft)
    assert found.start == datetime(2026, 3, 3, 2, 30, tzinfo=UTC)
    assert evidence.dated(draft, found).when == "on Monday (2026-03-02)"


@pytest.mark.parametrize(
    ("source", "claimed"),
    [
        # A Friday that is not the nearest, a day whose year is not the nearest, and one of next year.
        ("We fly on Saturday in two weeks. From Wednesday on we have the van.", "2026-03-18"),
        ("My passport expires on the 2nd of December.", "2026-12-02"),
        ("The fair is on 3 March, the next one too.", "2027-03-03"),
        ("The release stays on the 31st.", "2026-03-31"),
    ],
)
def test_where_the_words_leave_it_open_the_model_may_choose(source: str, claimed: str) -> None:
    assert days(source, occurred_start=claimed) == (date.fromisoformat(claimed),) * 2


@pytest.mark.parametrize(
    ("source", "claimed"),
    [
        ("From Wednesday on we have the van.", "2026-03-19"),
        ("From Wednesday on we have the van.", "2026-09-02"),
        ("My passport expires on the 2nd of December.", "2026-11-20"),
        ("My passport expires on the 2nd of December.", "2029-12-02"),
    ],
)
def test_but_not_what_they_do_not_mean(source: str, claimed: str) -> None:
    assert days(source, occurred_start=claimed) is None


def test_no_day_is_reckoned_for_words_that_leave_it_open() -> None:
    van = "From Wednesday on we have the van."
    assert days(van, when="from Wednesday on") is None
    assert days(van, when="from Wednesday on", occurred_start="2026-07-30") is None


@pytest.mark.parametrize(
    ("source", "when", "claimed"),
    [
        ("I moved on the first of October, Breda is history.", "on the first of October", "2026-10-01"),
        ("Since January I eat no nuts. He stopped at New Year.", "at New Year (2026-01-01)", "2026-01-01"),
        ("Ich bin am ersten Oktober umgezogen.", "am ersten Oktober", "2025-10-01"),
    ],
)
def test_a_named_day_stays_a_day_beside_its_month(source: str, when: str, claimed: str) -> None:
    assert days(source, when=when, occurred_start=claimed, occurred_end=claimed) == (
        (date.fromisoformat(claimed),) * 2
    )


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


def test_what_stands_behind_a_stamp_belongs_to_it() -> None:
    told = TRANSCRIPT + "\nIt had been placed last week."
    assert days(told, what="the order had been placed last week") == (date(2026, 1, 26), date(2026, 2, 1))


def test_a_fact_that_shares_no_word_with_any_line_is_of_none() -> None:
    assert Evidence(TRANSCRIPT, SUNDAY).said_at("Der Vertrag gilt") is None


@pytest.mark.parametrize("key", ["timestamp", "created_at", "date"])
@pytest.mark.parametrize("framed", ["[{}]", '{{"messages": [{}]}}'])
def test_turns_in_json_have_their_own_dates(key: str, framed: str) -> None:
    turns = [
        {"role": "user", "content": "The contract was signed yesterday.", key: "2026-02-02T10:00:00Z"},
        {
            "role": "user",
            "content": "The order was cancelled.\nIt came last week.",
            key: "2026-02-05T16:00:00Z",
        },
    ]
    told = framed.format(", ".join(map(json.dumps, turns)))
    evidence = Evidence(told, SUNDAY)
    assert evidence.said_at("The order was cancelled") == datetime(2026, 2, 5, 16, tzinfo=UTC)
    assert days(told, what="the contract was signed yesterday") == day(2026, 2, 1)
    assert days("\n".join(map(json.dumps, turns)), what="the contract was signed yesterday") == day(
        2026, 2, 1
    )


CALIFORNIA = timezone(timedelta(hours=-8))


def test_relative_words_count_from_the_day_that_was_written() -> None:
    sunday = datetime(2026, 3, 1, 23, 30, tzinfo=CALIFORNIA)
    assert days("We shipped it yesterday.", sunday, what="shipped yesterday") == day(2026, 2, 28)
    line = "[2026-03-01T23:30:00-08:00] Ada: we shipped it yesterday."
    assert days(line, SUNDAY, what="we shipped it yesterday") == day(2026, 2, 28)


def test_a_stamp_without_a_zone_is_in_that_of_the_text() -> None:
    evidence = Evidence("[2026-03-01 23:30] Ada: hello there.", datetime(2026, 3, 2, 9, tzinfo=CALIFORNIA))
    assert evidence.said_at("Ada said hello there") == datetime(2026, 3, 2, 7, 30, tzinfo=UTC)


def test_a_text_carries_the_days_that_its_words_mean() -> None:
    assert said("It was shipped last Friday") == ("It was shipped last Friday (2026-02-27)", "")
    assert said("It was shipped", when="last Friday") == ("It was shipped", "last Friday (2026-02-27)")
    assert said("It was shipped two years ago") == ("It was shipped two years ago", "")
    assert Evidence(BETA, None).dated(Draft(0, "It was shipped last Friday"), Occurred()).what == (
        "It was shipped last Friday"
    )


@pytest.mark.parametrize(
    ("what", "when", "first"),
    [
        # Said once is enough.
        ("It was shipped last Friday (2026-02-27)", "", None),
        ("It was shipped last Friday", "last Friday (2026-02-27)", SUNDAY - 2 * DAY),
        # The model counts otherwise, and it has read the whole.
        ("It was shipped last Friday", "last Friday (2026-02-20)", SUNDAY - 9 * DAY),
        ("It was shipped last Friday", "", SUNDAY - 9 * DAY),
        ("It was shipped on Friday", "Friday (2026-02-27)", SUNDAY - 2 * DAY),
    ],
)
def test_no_day_is_written_twice_or_against_the_model(what: str, when: str, first: datetime | None) -> None:
    kept = said(what, when=when, occurred=Occurred(first, first))
    assert kept == (what, when)


def test_a_phrase_carries_the_days_on_which_it_happened() -> None:
    friday = Occurred(SUNDAY + 5 * DAY, SUNDAY + 5 * DAY)
    assert said("They ship", when="on Friday, 16:50", occurred=friday)[1] == "on Friday, 16:50 (2026-03-06)"
    assert said("They ship", when="until Friday", occurred=Occurred(None, friday.end))[1] == (
        "until Friday (2026-03-06)"
    )
    assert said("They ship", when="on Friday")[1] == "on Friday"


#: A text in each language, and its date if the model were to make one up.
UNDATED = """
The aqueduct feeds nine fountains and cost $2023 in repairs.
Das Aquädukt speist neun Brunnen, die Reparatur kostete 2023 Euro.
L'aqueduc alimente neuf fontaines et a coûté 2023 euros.
El acueducto alimenta nueve fuentes y costó 2023 euros.
L'acquedotto alimenta nove fontane ed è costato 2023 euro.
O aqueduto alimenta nove fontes e custou 2023 euros.
水道供应九个喷泉，修理花了$2023。
水道は九つの噴水に水を送り、修理は$2023だった。
수로는 아홉 개의 분수에 물을 대고 수리비는 $2023이다.
""".strip().split("\n")


@pytest.mark.parametrize("text", UNDATED)
@pytest.mark.parametrize("claimed", ["2023-06-15", "2019-07-04", "2027-01-01"])
def test_made_up_dates_are_dropped_in_every_language(text: str, claimed: str) -> None:
    assert days(text, occurred_start=claimed) is None


@pytest.mark.parametrize(
    ("text", "claimed", "right"),
    [
        ("Wir haben vorgestern unterschrieben.", "2026-02-27", day(2026, 2, 27)),
        ("Nous avons signé il y a trois jours.", "2026-02-26", day(2026, 2, 26)),
        ("Firmamos en mayo de 2025.", "2025-05-01", (date(2025, 5, 1), date(2025, 5, 31))),
        ("Abbiamo firmato venerdì scorso.", "2026-02-27", day(2026, 2, 27)),
        ("Assinamos em 12 de junho de 2025.", "2025-06-12", day(2025, 6, 12)),
        ("我们上周五签了字。", "2026-02-20", day(2026, 2, 20)),
        ("昨日、署名しました。", "2026-02-28", day(2026, 2, 28)),
        ("작년 가을에 서명했다.", "2025-09-01", (date(2025, 9, 1), date(2025, 11, 30))),
        ("Het huis werd in 2019 gebouwd.", "2019-01-01", (date(2019, 1, 1), date(2019, 12, 31))),
    ],
)
def test_supported_dates_are_kept_in_every_language(
    text: str, claimed: str, right: tuple[date, date]
) -> None:
    assert days(text, occurred_start=claimed) == right


@pytest.mark.parametrize("claimed", ["2026-03-15", "2026-04-15"])
def test_a_price_is_no_day(claimed: str) -> None:
    assert days("I paid 15 euros for it.", occurred_start=claimed) is None
