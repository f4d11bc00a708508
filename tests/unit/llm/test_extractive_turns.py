"""How a chunk is read: transcripts, stamps, JSON, prose."""

from datetime import UTC, datetime

import pytest

from memorybank.llm.extractive import Finding, extract

SUNDAY = datetime(2026, 3, 1, 9, tzinfo=UTC)


def texts(found: list[Finding]) -> list[str]:
    return [finding.text for finding in found]


def test_a_transcript_keeps_its_speakers() -> None:
    found = extract("Mara: I moved to Porto.\nJoel: I still live in Hull.", SUNDAY)
    assert texts(found) == ["Mara: I moved to Porto.", "Joel: I still live in Hull."]
    assert [finding.speaker for finding in found] == ["Mara", "Joel"]
    assert found[0].entities == ("Mara", "Porto")


def test_lines_without_a_label_belong_to_the_turn_above() -> None:
    found = extract(
        "Mara:\nI moved to Porto.\n\nThe flat has a balcony.\nJoel: I envy you, I live in a cellar.", SUNDAY
    )
    assert [finding.speaker for finding in found] == ["Mara", "Mara", "Joel"]


@pytest.mark.parametrize(
    "text",
    [
        "House rule for the pottery studio: kiln A runs at cone 6, never higher.",
        "Reminder: the rent is due on the fifth.",
        "工作室规定：窑炉最高温度是一千二百度。",
        "スタジオのルール：窯の温度は千二百度まで。",
        "See https://example.org: it explains the kiln.",
    ],
)
def test_not_every_colon_makes_a_speaker(text: str) -> None:
    found = extract(text, SUNDAY)
    assert texts(found) == [text]
    assert found[0].speaker is None


def test_stamps_of_lines_date_what_is_said_in_them() -> None:
    text = "[2026-02-02 10:00] Ada: We signed yesterday.\n[2026-02-05 16:00] Ben: They cancelled yesterday."
    first, second = extract(text, SUNDAY)
    assert (first.text, second.text) == ("Ada: We signed yesterday.", "Ben: They cancelled yesterday.")
    assert [finding.mentioned for finding in (first, second)] == [
        datetime(2026, 2, 2, 10, tzinfo=UTC),
        datetime(2026, 2, 5, 16, tzinfo=UTC),
    ]
    assert first.occurred is not None and first.occurred.start.date().isoformat() == "2026-02-01"
    assert second.occurred is not None and second.occurred.start.date().isoformat() == "2026-02-04"


def test_a_date_on_its_own_line_holds_for_the_lines_below() -> None:
    text = "## Session 1 (3 March 2026)\nMara: I left yesterday.\n\n## 9 March 2026\nMara: I came back yesterday."
    found = extract(text, SUNDAY)
    days = [finding.occurred.start.date().isoformat() for finding in found if finding.occurred]
    assert days == ["2026-03-02", "2026-03-08"]
    assert texts(found) == ["Mara: I left yesterday.", "Mara: I came back yesterday."]


NOTED = '{"role": "assistant", "content": "I noted that."}'


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "My cat is called Miso."}, ' + NOTED + "]",
        '{"role": "user", "content": "My cat is called Miso."}\n' + NOTED,
        '{"messages": [{"speaker": "user", "text": "My cat is called Miso."}, ' + NOTED + "]}",
        '[{"role": "user", "content": [{"type": "text", "text": "My cat is called Miso."}]}, ' + NOTED + "]",
    ],
)
def test_turns_as_json(text: str) -> None:
    found = extract(text, SUNDAY)
    assert texts(found) == ["user: My cat is called Miso.", "assistant: I noted that."]
    assert [finding.fact_type for finding in found] == ["world", "experience"]
    assert found[0].entities == ("Miso",)


def test_json_turns_have_names_and_times_of_their_own() -> None:
    text = '[{"role": "user", "name": "Mara", "content": "I moved yesterday.", "timestamp": "2026-02-03T10:00:00Z"}]'
    (found,) = extract(text, SUNDAY)
    assert (found.text, found.entities) == ("Mara: I moved yesterday.", ("Mara",))
    assert found.mentioned == datetime(2026, 2, 3, 10, tzinfo=UTC)
    assert found.occurred is not None and found.occurred.start.date().isoformat() == "2026-02-02"


def test_system_prompts_are_no_memories() -> None:
    assert extract('[{"role": "system", "content": "You are a helpful assistant."}]', SUNDAY) == []


def test_text_that_only_looks_like_json_is_read_as_text() -> None:
    assert texts(extract("[note] The kiln is broken.", SUNDAY)) == ["[note] The kiln is broken."]
    assert texts(extract("[1, 2, 3] are the lockers of Mara.", SUNDAY)) == [
        "[1, 2, 3] are the lockers of Mara."
    ]


def test_prose_lists_headings_and_code() -> None:
    prose = "Mara moved to Porto. She works there."
    text = f"# Notes\n\n{prose}\n\n- Joel likes tea\n2. Ines likes cake\n\n```\nx = 'secret'\n```\n"
    assert texts(extract(text, SUNDAY)) == [prose, "Joel likes tea", "Ines likes cake"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x = 1\n```\n\nMara moved to Porto last spring.", ["Mara moved to Porto last spring."]),
        ("Mara moved to Porto last spring.\n\n```\nx = 1", ["Mara moved to Porto last spring."]),
        (
            "x = 1\n```\nMara moved to Porto last spring.\n```\ny = 2\n```\nJoel likes tea.",
            ["Mara moved to Porto last spring.", "Joel likes tea."],
        ),
    ],
)
def test_prose_beside_code_that_was_cut_is_kept(text: str, kept: list[str]) -> None:
    found = texts(extract(text, SUNDAY))
    assert [fact for fact in found if "=" not in fact] == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("# Mara moved to Porto in 2024", ["Mara moved to Porto in 2024"]),
        ("# Kiln A never runs above cone 6\n\n---\n", ["Kiln A never runs above cone 6"]),
        ("# Notes", []),
        ("## Session 3 (2 March 2026)", []),
        ("```\nx = the secret of all the kilns\n```", []),
    ],
)
def test_a_text_of_headings_alone_is_not_lost(text: str, kept: list[str]) -> None:
    assert texts(extract(text, SUNDAY)) == kept


@pytest.mark.parametrize(("asks", "tells"), [("Q", "A"), ("Question", "Answer"), ("Frage", "Antwort")])
def test_an_answer_keeps_its_question_and_its_label(asks: str, tells: str) -> None:
    text = f"{asks}: Where does Mara live?\n{tells}: Porto.\n{asks}: What does she ride?\n{tells}: A red bicycle."
    found = extract(text, SUNDAY)
    assert texts(found) == [
        f"{asks}: Where does Mara live?\n{tells}: Porto.",
        f"{asks}: What does she ride?\n{tells}: A red bicycle.",
    ]
    assert tells not in {name for finding in found for name in finding.entities}


def test_the_head_of_a_message_does_not_speak_its_text() -> None:
    head = "Subject: rent\nFrom: Joel\nTo: Mara\n\n"
    assert "The rent is due on the 5th." in texts(extract(f"{head}The rent is due on the 5th.", SUNDAY))


def test_a_day_at_the_start_of_a_sentence_is_no_item_number() -> None:
    assert texts(extract("14. April ist der letzte Termin für den Vertrag.", SUNDAY)) == [
        "14. April ist der letzte Termin für den Vertrag."
    ]


def test_a_label_that_stands_alone_in_notes_is_no_speaker() -> None:
    notes = (
        "Project Heron, kickoff notes\nAttendees: Ravi Menon, Sofie Lindqvist.\nThe budget is 84,000 dollars.\n"
        "We use Postgres.\nThe office moves to Rotterdam.\nThe pilot runs until June."
    )
    assert [found.speaker for found in extract(notes, None)] == [None] * len(extract(notes, None))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The release is not on Friday any more: Ana set it to Monday, 14 December.", "2026-12-14"),
        ("The appointment on Tuesday is cancelled, we take Thursday, 24 September.", "2026-09-24"),
        ("Der Termin am Dienstag klappt nicht, wir machen Donnerstag, den 24. September.", "2026-09-24"),
        ("The fair was on Friday, not on Thursday.", "2026-09-18"),
    ],
)
def test_a_time_that_is_taken_back_dates_nothing(text: str, day: str) -> None:
    (found,) = extract(text, datetime(2026, 9, 20, 10, tzinfo=UTC))
    assert found.occurred is not None
    assert found.occurred.start.date().isoformat() == day
