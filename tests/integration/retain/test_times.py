"""When facts happened and were said, in the database: zones, ranges, anchors, and no date where none is known."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from retain_world import AT, World, item

from memorybank import clock
from memorybank.model import RetainItem
from memorybank.testing.scripted_model import ScriptedModel

BETA = "We shipped the beta last Friday."


async def dates(world: World) -> list[tuple[str, str, str]]:
    """The text of each fact with its first day and the day it was said, as UTC says them."""
    rows = await world.rows("SELECT text, occurred_start, mentioned_at FROM memory_unit ORDER BY position")
    return [(row["text"], _day(row["occurred_start"]), _day(row["mentioned_at"])) for row in rows]


def _day(moment: datetime | None) -> str:
    return moment.astimezone(UTC).date().isoformat() if moment else ""


async def test_old_words_mean_their_own_day_however_late_they_are_read(
    world: World,
) -> None:
    await world.keep(item(BETA, document_id="beta"))
    first = await dates(world)
    assert first == [("We shipped the beta last Friday (2026-02-27).", "2026-02-27", "2026-03-01")]
    with clock.fixed(clock.now() + timedelta(days=365)):
        await world.reprocess("beta")
    assert await dates(world) == first


async def test_words_without_a_date_count_from_their_arrival_and_say_so(world: World) -> None:
    await world.keep(item(BETA, timestamp_assumed=True))
    assert [day for _, day, _ in await dates(world)] == ["2026-02-27"]
    [row] = await world.rows("SELECT text, mentioned_at_assumed FROM memory_unit")
    assert row["mentioned_at_assumed"] and "(2026-02-27)" in row["text"]


async def test_relative_words_count_from_the_day_in_the_zone_that_was_written(world: World) -> None:
    sunday = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    await world.keep(item("We buried him yesterday.", timestamp=sunday, document_id="d"))
    expected = [("We buried him yesterday (2026-02-28).", "2026-02-28", "2026-03-02")]
    assert await dates(world) == expected
    assert await world.rows("SELECT utc_offset, mentioned_at FROM chunk") == [
        {"utc_offset": -480, "mentioned_at": sunday}
    ]
    await world.reprocess("d")
    assert await dates(world) == expected
    [document] = await world.rows("SELECT retain_params FROM document")
    assert document["retain_params"]["event_date"] == "2026-03-02T07:30:00+00:00"


async def test_a_model_is_told_the_day_in_the_zone_that_was_written(world: World) -> None:
    world.model = ScriptedModel()
    sunday = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    await world.keep(item("We buried him yesterday.", timestamp=sunday, document_id="d"))
    await world.reprocess("d")
    said = [re.findall("Date: .*", request.user) for request in world.model.requests]
    assert said == [["Date: 2026-03-01 (Sunday)"]] * 2


async def test_what_is_due_by_a_day_has_only_an_end(world: World) -> None:
    due = {"what": "Ada books the van", "when": "by Friday", "occurred_end": "2026-03-06"}
    world.model = ScriptedModel(lambda _: {"facts": [{**due, "fact_kind": "event", "fact_type": "world"}]})
    await world.keep(item("Ada has to book the van by Friday."))
    [row] = await world.rows("SELECT text, occurred_start, occurred_end FROM memory_unit")
    assert row["text"] == "Ada books the van | When: by Friday (2026-03-06)"
    assert (row["occurred_start"], _day(row["occurred_end"])) == (None, "2026-03-06")


@pytest.fixture(params=["America/Los_Angeles", "Asia/Tokyo"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("zone")
async def test_the_zone_of_the_machine_changes_nothing(world: World) -> None:
    at = datetime(2026, 7, 25, 2, tzinfo=UTC)
    await world.keep(item("The harbour froze yesterday.", timestamp=at, document_id="d"))
    await world.reprocess("d")
    assert await dates(world) == [("The harbour froze yesterday (2026-07-24).", "2026-07-24", "2026-07-25")]
    assert await world.rows("SELECT utc_offset FROM chunk") == [{"utc_offset": None}]


async def test_years_before_our_era_and_far_ahead_do_no_harm(world: World) -> None:
    told = "The aqueduct was begun in 312 BC; the observatory plan runs to the year 12000."
    await world.keep(item(told))
    assert {(day, said) for _, day, said in await dates(world)} == {("", "2026-03-01")}


async def test_without_a_date_of_the_text_relative_words_give_none(world: World) -> None:
    await world.keep(RetainItem("The lease ends one year from now.", None))
    assert await dates(world) == [("The lease ends one year from now.", "", "")]


async def test_lines_and_turns_with_stamps_are_said_when_they_were(world: World) -> None:
    await world.keep(
        item(
            "[2026-02-02 10:00] Ada: The contract was signed.\n[2026-02-05 16:00] Ben: The order was cancelled."
        ),
        item(
            '[{"role": "user", "content": "The mill burned down yesterday.", "timestamp": "2026-01-05T10:00:00Z"}]'
        ),
    )
    found = {text: (day, said) for text, day, said in await dates(world)}
    assert [said for text, (_, said) in found.items() if "signed" in text] == ["2026-02-02"]
    assert [said for text, (_, said) in found.items() if "cancelled" in text] == ["2026-02-05"]
    assert [days for text, days in found.items() if "mill" in text] == [("2026-01-04", "2026-01-05")]


async def test_a_year_is_a_range(world: World) -> None:
    await world.keep(item("Lena spoke at the 2026 Basel archive fair.", timestamp=AT))
    [row] = await world.rows("SELECT occurred_start, occurred_end FROM memory_unit")
    assert row["occurred_start"] == datetime(2026, 1, 1, tzinfo=UTC)
    assert row["occurred_end"] == datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
