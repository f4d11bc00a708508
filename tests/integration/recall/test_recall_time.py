"""Recall and time: windows, dates of all kinds, what was said later, the same words of two times."""

from datetime import UTC, datetime

from recall_world import Unit, World

from memorybank.recall.query import Window


def at(year: int, month: int, day: int = 1) -> datetime:
    return datetime(year, month, day, 12, tzinfo=UTC)


async def test_the_same_text_of_two_periods_is_two_hits(world: World) -> None:
    bank, audience = await world.bank()
    spring, autumn = (at(2026, 1), at(2026, 3)), (at(2026, 9), at(2026, 11))
    for period in (spring, autumn):
        await world.document(bank, audience, [Unit("Uma is on the Atlas team.", occurred=period)])
    hits = (await world.ask(bank, audience, "Is Uma on the Atlas team?")).hits
    assert sorted(hit.occurred_start or at(1, 1) for hit in hits) == [spring[0], autumn[0]]


async def test_the_same_words_of_two_days_are_two_hits_where_the_days_were_told(world: World) -> None:
    bank, audience = await world.bank()
    days = (at(2026, 1), at(2026, 2))
    for day in (*days, days[0]):
        await world.document(bank, audience, [Unit("I ran ten miles today.", mentioned_at=day)])
    assert {hit.mentioned_at for hit in (await world.ask(bank, audience, "Who ran?")).hits} == set(days)
    assert len(await world.texts(bank, audience, "Who ran?")) == 2
    async with world.database.connection() as connection:
        await connection.execute("UPDATE memory_unit SET mentioned_at_assumed = true")
    assert len(await world.texts(bank, audience, "Who ran?")) == 1


async def test_the_month_of_the_question_wins(world: World) -> None:
    bank, audience = await world.bank()
    march = Unit(
        "We decided to rent the hall.",
        mentioned_at=at(2026, 3, 12),
        occurred=(at(2026, 3, 12), at(2026, 3, 12)),
    )
    july = Unit(
        "We decided to sell the van.",
        mentioned_at=at(2026, 7, 15),
        occurred=(at(2026, 7, 15), at(2026, 7, 15)),
    )
    for unit in (july, march):
        await world.document(bank, audience, [unit])
    asked = at(2026, 7, 17)
    result = await world.ask(bank, audience, "what did we decide in March", query_timestamp=asked)
    assert [hit.text for hit in result.hits] == [march.text, july.text]
    assert "temporal" in result.stages
    window = Window(at(2026, 7, 1), at(2026, 7, 31))
    texts = await world.texts(
        bank, audience, "what did we decide", temporal_window=window, query_timestamp=asked
    )
    assert texts[0] == july.text


async def test_what_has_only_an_end_is_found_at_it(world: World) -> None:
    bank, audience = await world.bank()
    due = Unit("The van is to be booked.", occurred=(None, at(2026, 5, 18)))
    other = Unit("The van is to be washed.", occurred=(at(2026, 3, 1), at(2026, 3, 1)))
    for unit in (other, due):
        await world.document(bank, audience, [unit])
    result = await world.ask(bank, audience, "the van on 18 May 2026", query_timestamp=at(2026, 7))
    assert [hit.text for hit in result.hits] == [due.text, other.text]
    assert (result.hits[0].occurred_start, result.hits[0].occurred_end) == (None, at(2026, 5, 18))


async def test_a_window_may_be_open_to_the_beginning_of_time(world: World) -> None:
    bank, audience = await world.bank()
    early = Unit("The hall was rented.", mentioned_at=at(1999, 5))
    late = Unit("The hall was sold.", mentioned_at=at(2026, 6))
    for unit in (late, early):
        await world.document(bank, audience, [unit])
    texts = await world.texts(bank, audience, "the hall before 2020", query_timestamp=at(2026, 7))
    assert texts == [early.text, late.text]
    ends = Window(datetime.min, datetime.max)
    assert len(await world.texts(bank, audience, "the hall", temporal_window=ends)) == 2


async def test_a_year_only_date_costs_nothing(world: World) -> None:
    bank, audience = await world.bank()
    fair = Unit(
        "Lena spoke at the 2026 Basel archive fair.",
        occurred=(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 31, 23, 59, tzinfo=UTC)),
    )
    font = Unit("On 20 Aug 2026 Lena chose a serif font.", occurred=(at(2026, 8, 20), at(2026, 8, 20)))
    for unit in (font, fair):
        await world.document(bank, audience, [unit])
    texts = await world.texts(bank, audience, "Where did Lena speak?", query_timestamp=at(2026, 8, 25))
    assert texts == [fair.text, font.text]


async def test_a_date_that_python_cannot_hold_does_not_fail_the_search(world: World) -> None:
    bank, audience = await world.bank()
    await world.document(bank, audience, ["The aqueduct was begun long ago."])
    async with world.database.connection() as connection:
        await connection.execute(
            "UPDATE memory_unit SET occurred_start = '0312-01-01 BC', mentioned_at = 'infinity'"
        )
    (hit,) = (await world.ask(bank, audience, "When was the aqueduct begun in 2020?")).hits
    assert (hit.occurred_start, hit.mentioned_at) == (None, None)


async def test_what_was_said_after_a_question_of_the_past_is_not_its_answer(world: World) -> None:
    bank, audience = await world.bank()
    said = [("I sold the piano.", at(2026, 1)), ("I bought the piano.", at(2025, 1)), ("Rain again.", None)]
    await world.document(bank, audience, [Unit(text, mentioned_at=when) for text, when in said])
    asked = "Where is the piano I sold?"
    assert (await world.texts(bank, audience, asked))[0] == said[0][0]
    assert (await world.texts(bank, audience, asked, query_timestamp=at(2025, 6)))[0] == said[1][0]
