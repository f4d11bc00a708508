"""The window that a question names."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.timeline import iso, query_window

ANCHOR = datetime(2026, 7, 17, 9, tzinfo=UTC)
#: The beginning and the anchor, where a window is open.
OPEN, NOW = "0001-01-01", "now"


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("what did we decide in March", "2026-03-01", "2026-03-31"),
        ("What did we do in May?", "2026-05-01", "2026-05-31"),
        ("what did we do in august", "2025-08-01", "2025-08-31"),
        ("What will we do in March", "2027-03-01", "2027-03-31"),
        ("What's the plan for December?", "2026-12-01", "2026-12-31"),
        ("What did I do on Friday", "2026-07-17", "2026-07-17"),
        ("What did I do on Saturday", "2026-07-11", "2026-07-11"),
        ("What will I do on Saturday", "2026-07-18", "2026-07-18"),
        ("What am I doing next week?", "2026-07-20", "2026-07-26"),
        ("What did Ines do on 7 May 2023?", "2023-05-07", "2023-05-07"),
        ("What did Ines do on 20 August?", "2025-08-20", "2025-08-20"),
        ("Where did we hike in the summer of 2024", "2024-06-01", "2024-08-31"),
        ("what happened in the second week of November?", "2025-11-08", "2025-11-14"),
        ("What happened in 2019?", "2019-01-01", "2019-12-31"),
        ("What happened in 2019 or on 3 May 2020?", "2020-05-03", "2020-05-03"),
        ("what happened between March and May", "2026-03-01", "2026-05-31"),
        ("What happened from 5 March to last week?", "2026-03-05", "2026-07-12"),
        ("what changed since last Monday", "2026-07-13", NOW),
        ("What has she said since 2024?", "2024-01-01", NOW),
        ("What did she say before 2024?", OPEN, "2023-12-31"),
        ("events after 7 May 2025", "2025-05-08", NOW),
        ("what did I write until June", OPEN, "2026-06-30"),
        ("Who ate yesterday?", "2026-07-16", "2026-07-16"),
        ("Who came by yesterday?", "2026-07-16", "2026-07-16"),
        ("What was put off until 3 August 2026?", "2026-08-03", "2026-08-03"),
        ("Who had been here before in May?", "2026-05-01", "2026-05-31"),
        ("会议改到2026年7月9日", "2026-07-09", "2026-07-09"),
        ("Was haben wir im März entschieden?", "2026-03-01", "2026-03-31"),
        ("Was ist seit Mai 2025 passiert?", "2025-05-01", NOW),
        ("Was war vor drei Tagen?", "2026-07-14", "2026-07-14"),
        ("Was war vor dem 5. Mai 2026?", OPEN, "2026-05-04"),
        ("Qu'est-ce qu'on a décidé en mars ?", "2026-03-01", "2026-03-31"),
        ("Que s'est-il passé depuis lundi ?", "2026-07-13", NOW),
        ("¿Qué decidimos en marzo?", "2026-03-01", "2026-03-31"),
        ("¿Qué pasó entre marzo y mayo de 2025?", "2025-03-01", "2025-05-31"),
        ("Cosa abbiamo deciso a marzo?", "2026-03-01", "2026-03-31"),
        ("O que decidimos em março?", "2026-03-01", "2026-03-31"),
        ("我们三月决定了什么", "2026-03-01", "2026-03-31"),
        ("2023年以来有什么变化", "2023-01-01", NOW),
        ("从三月到五月发生了什么", "2026-03-01", "2026-05-31"),
        ("3月に何を決めた？", "2026-03-01", "2026-03-31"),
        ("先週から何が変わった？", "2026-07-06", NOW),
        ("3월에 무엇을 결정했나요?", "2026-03-01", "2026-03-31"),
        ("지난주부터 무엇이 바뀌었나요?", "2026-07-06", NOW),
    ],
)
def test_window(query: str, first: str, last: str) -> None:
    window = query_window(query, ANCHOR)
    assert window is not None
    end = iso(ANCHOR) if last == NOW else f"{last}T23:59:59.999999+00:00"
    assert (iso(window.start), iso(window.end)) == (f"{first}T00:00:00+00:00", end)


@pytest.mark.parametrize(
    "query",
    [
        "may I ask what she said",
        "what do we like, me and you",
        "May we march on Rome?",
        "Where did Lena speak?",
        "how many of the 2000 tiles are left",
        "what runs on v2023.05 at 5:30",
        "who built the aqueduct in 312 BC",
        "what does she do every Friday",
        "",
        "\ud83d\x00",
    ],
)
def test_no_window(query: str) -> None:
    assert query_window(query, ANCHOR) is None


def test_a_naive_anchor_is_utc() -> None:
    assert query_window("since 2024", datetime(2026, 7, 17, 9)) == query_window("since 2024", ANCHOR)


@given(st.text(st.characters(), max_size=100), st.datetimes(timezones=st.just(UTC)))
def test_any_question_has_a_sound_answer(query: str, anchor: datetime) -> None:
    window = query_window(query, anchor)
    assert window is None or window.start <= window.end


PIECES = """
    since before after until between and from to 2023 March last week 7 May 9999 1 tomorrow 前 以来 到 3月 seit vor
"""


@given(st.lists(st.sampled_from(PIECES.split()), max_size=8), st.datetimes(timezones=st.just(UTC)))
def test_any_words_of_time_have_a_sound_answer(words: list[str], anchor: datetime) -> None:
    window = query_window(" ".join(words), anchor)
    assert window is None or window.start <= window.end
