"""What becomes a finding: cases from the field."""

from datetime import UTC, date, datetime

import pytest

from memorybank.llm.extractive import extract
from memorybank.llm.extractive.engine import MAX_FACT_CHARS

SUNDAY = datetime(2026, 3, 1, 9, tzinfo=UTC)


def texts(text: str) -> list[str]:
    return [finding.text for finding in extract(text, SUNDAY)]


def test_a_definitive_rule_is_kept_whole() -> None:
    rule = "House rule for the pottery studio: kiln A runs at cone 6, never higher. This is final."
    assert texts(rule) == [rule]


def test_acts_of_the_agent_are_its_experience_and_those_of_users_are_not() -> None:
    text = (
        "[user] I adopted a greyhound last week.\n[assistant] I ran the import script and fixed the encoding."
    )
    user, agent = extract(text, SUNDAY)
    assert (user.text, user.fact_type) == ("user: I adopted a greyhound last week.", "world")
    assert (agent.text, agent.fact_type) == (
        "assistant: I ran the import script and fixed the encoding.",
        "experience",
    )
    assert user.entities == agent.entities == ()


def test_what_an_agent_says_of_the_world_is_no_experience() -> None:
    (found,) = extract("assistant: The lock of the shed needs oil.", SUNDAY)
    assert found.fact_type == "world"


def test_a_text_without_speaker_gets_no_narrator() -> None:
    (found,) = extract("I prefer dark roast.", SUNDAY)
    assert (found.text, found.speaker, found.entities) == ("I prefer dark roast.", None, ())


def test_relative_times_count_from_the_anchor_and_the_words_stay() -> None:
    (found,) = extract("We shipped the beta last Friday.", SUNDAY)
    assert found.text == "We shipped the beta last Friday."
    assert found.occurred is not None and found.occurred.start.date().isoformat() == "2026-02-27"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("We must ship v2 by 15 January 2026.", None, date(2026, 1, 15)),
        ("Omar stays until 30 June 2026.", None, date(2026, 6, 30)),
        ("Omar has lived in Porto since May 2024.", date(2024, 5, 1), None),
        ("Omar was in Porto from 3 May 2024 to 5 June 2024.", date(2024, 5, 3), date(2024, 6, 5)),
        ("Omar came by yesterday.", date(2026, 2, 28), date(2026, 2, 28)),
        ("The talk is not on 3 March 2026 but on 5 March 2026.", date(2026, 3, 5), date(2026, 3, 5)),
    ],
)
def test_what_is_due_or_lasts_has_one_end(text: str, first: date | None, last: date | None) -> None:
    (found,) = extract(text, SUNDAY)
    assert found.occurred is not None
    assert tuple(each and each.date() for each in found.occurred.bounds) == (first, last)


@pytest.mark.parametrize("text", ["We shipped the beta last Friday.", "The lease ends one year from now."])
def test_without_an_anchor_relative_times_stay_open(text: str) -> None:
    (found,) = extract(text, None)
    assert (found.text, found.occurred) == (text, None)


def test_years_before_our_era_and_beyond_do_no_harm() -> None:
    text = "The aqueduct was begun in 312 BC; the observatory plan runs to the year 12000."
    (found,) = extract(text, SUNDAY)
    assert found.text == text


def test_restatements_of_one_speaker_are_one_fact() -> None:
    text = (
        "assistant: The poll interval is back to 2 seconds. Anyway, the dashboard is green.\n"
        "assistant: I set the poll interval back to 2 seconds.\n"
        "assistant: As I said, the poll interval is back to 2 seconds."
    )
    assert sum("poll interval" in found for found in texts(text)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The alarm code for the shed is 4711.", "The alarm code for the shed is 4712."),
        ("Uma likes the colour teal very much.", "Uma no longer likes the colour teal very much."),
        ("The kiln in the studio belongs to Ines.", "The kiln in the studio belongs to Petra."),
    ],
)
def test_what_differs_in_a_number_a_name_or_a_no_is_not_the_same(one: str, other: str) -> None:
    assert texts(f"{one}\n{other}") == [one, other]


def test_the_same_words_of_two_days_or_two_speakers_stay_two_facts() -> None:
    assert (
        len(
            texts(
                "[2026-01-02 10:00] Ada: I am on the Atlas team.\n[2026-09-02 10:00] Ada: I am on the Atlas team."
            )
        )
        == 2
    )
    assert len(texts("Ada: I am on the Atlas team.\nBen: I am on the Atlas team.")) == 2


def test_loops_and_blobs_are_dropped_and_the_rest_stays() -> None:
    assert (
        texts("same reason as before. " * 900 + "Ines prefers aisle seats.")[-1]
        == "Ines prefers aisle seats."
    )
    assert texts("word " * 58_000) == []
    assert texts("a" * 300_000) == []
    assert texts("字" * 30_000) == []


def test_a_roster_is_no_loop_and_what_is_lost_is_told() -> None:
    assert texts(" ".join(f"Ada Stone met run{number} Q." for number in range(12))) != []
    lost: list[str] = []
    extract("word " * 58_000 + ".\n\nInes prefers aisle seats.", None, lost=lost)
    assert len(lost) == 1


def test_no_fact_is_longer_than_the_bound() -> None:
    words = " ".join(f"item{number}, thing{number}" for number in range(2_000))
    found = texts(f"Mara: {words}")
    assert len(found) > 1
    assert max(map(len, found)) <= MAX_FACT_CHARS + len("Mara: ")


def test_a_sentence_that_leans_on_its_neighbour_is_joined_with_it() -> None:
    assert texts("Mara: Pepper is our greyhound. She is afraid of thunder. The kiln is new.") == [
        "Mara: Pepper is our greyhound. She is afraid of thunder.",
        "Mara: The kiln is new.",
    ]


def test_an_answer_of_a_few_words_keeps_its_question() -> None:
    text = "Mara: Where do you live now?\nJoel: In Graz.\nMara: Which locker is yours?\nJoel: 41"
    assert texts(text) == [
        "Mara: Where do you live now?\nJoel: In Graz.",
        "Mara: Which locker is yours?\nJoel: 41",
    ]


def test_greetings_questions_and_filler_are_dropped_in_any_language() -> None:
    assert texts("Ada: Hi Ben! How are you?\nBen: Danke dir! Gute Nacht!\nAda: haha ok") == []


def test_people_who_write_small_are_understood() -> None:
    assert texts("kit: i moved to porto. do you like it? lol") == ["kit: i moved to porto."]


def test_nothing_is_translated_and_names_stay_whole() -> None:
    (found,) = extract("我和林晓雨在“蓝鲸书店”见面。", SUNDAY)
    assert found.text == "我和林晓雨在“蓝鲸书店”见面。"
    assert found.entities == ("林晓雨", "蓝鲸书店")


@pytest.mark.parametrize(
    "text",
    [
        "鈴は青い自転車を修理に出した",
        "우리 팀은 화요일마다 회고를 한다",
        "用 pgvector 做检索",
        "Door code marker ZX-48211-Q.",
    ],
)
def test_short_facts_of_all_scripts_are_kept(text: str) -> None:
    assert texts(text) == [text]


def test_names_that_differ_in_a_digit_are_two() -> None:
    found = extract("Locker 41 holds skis. Locker 42 holds tents.", SUNDAY)
    assert [finding.entities for finding in found] == [("Locker 41",), ("Locker 42",)]


def test_the_context_lends_names_and_nothing_else() -> None:
    (found,) = extract("Hale hums today.", SUNDAY, context="A talk with Hale about bread.")
    assert (found.text, found.entities) == ("Hale hums today.", ("Hale",))


def test_odd_bytes_do_no_harm() -> None:
    assert texts("Total\x00: 40 EUR \ud83d for Mara.") == ["Total: 40 EUR for Mara."]
    assert extract("", SUNDAY) == extract(" \n\t\n", SUNDAY) == []


@pytest.mark.parametrize(
    "part", ["(", '"', "A.", "a-", "Mara: ", "<memories>", "[2026-01-01] ", "de la ", "田中", "カ", "张", "“"]
)
def test_repeated_marks_and_pieces_end_quickly(part: str) -> None:
    # Thirty thousand characters would take minutes if any pattern were quadratic in them.
    extract(part * (30_000 // len(part)), SUNDAY)
