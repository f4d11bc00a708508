"""The answer of extraction, as models really write it."""

from typing import Any

import pytest

from memorybank.model import EntityInput
from memorybank.retain.schema import Draft, read


def drafts(*facts: Any) -> tuple[Draft, ...]:
    return read({"facts": list(facts)}).drafts


def test_a_full_fact_is_read() -> None:
    [draft] = drafts(
        {
            "what": "Ravi moved the backup",
            "when": "N/A",
            "where": "Kiel",
            "who": ["Ravi", "Uma"],
            "why": None,
            "fact_kind": "Event",
            "occurred_start": "2026-03-01",
            "occurred_end": "null",
            "fact_type": "assistant",
            "entities": ["Ravi", {"text": "Kiel"}, {"name": "Uma"}, "Ravi", "", 7],
            "causal_relations": None,
        }
    )
    assert draft == Draft(
        0, "Ravi moved the backup", where="Kiel", who="Ravi, Uma", is_event=True, occurred_start="2026-03-01",
        is_own_act=True, entities=(EntityInput("Ravi"), EntityInput("Kiel"), EntityInput("Uma")),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["fact", "text", "statement", "memory"])
def test_other_names_of_what_and_plain_strings_are_taken(name: str) -> None:
    assert drafts({name: "Rent is due"})[0].what == drafts("Rent is due")[0].what == "Rent is due"


def test_what_cannot_be_read_is_counted_by_reason() -> None:
    answer = read({"facts": [{"what": "good"}, {"when": "today"}, 7, None, {"what": "..."}, {"what": ""}]})
    assert [draft.what for draft in answer.drafts] == ["good"]
    assert answer.dropped == {"malformed": 3, "empty": 2}
    assert answer.malformed_share == 0.75


def test_no_facts_is_a_good_answer() -> None:
    assert (read({"facts": []}).drafts, read({"facts": []}).malformed_share) == ((), 0.0)


def test_only_earlier_facts_are_causes_and_at_most_two() -> None:
    relations = [{"target_index": n, "relation_type": "caused_by"} for n in (0, 3, 2, 2, 1, -1, True)]
    assert drafts("a", "b", "c", {"what": "d", "causal_relations": relations})[3].causes == (0, 2)


def test_causes_may_be_plain_numbers() -> None:
    assert drafts("a", "b", {"what": "c", "caused_by": [1, 0, 2, "x"]})[2].causes == (1, 0)


@pytest.mark.parametrize(
    ("written", "name", "kind"),
    [
        ("Mercury (product)", "Mercury", "PRODUCT"),
        ("Mercury (Place)", "Mercury", "PLACE"),
        ("林晓雨（person）", "林晓雨", "PERSON"),
        ("Sea Fund [organisation]", "Sea Fund", "ORGANIZATION"),
        ("Dune (Part Two) (work)", "Dune (Part Two)", "WORK"),
        ("Okafor (guest)", "Okafor (guest)", "CONCEPT"),
        ("Q3 (other)", "Q3", "CONCEPT"),
        ({"text": "Kiel", "type": "PLACE"}, "Kiel", "PLACE"),
        ({"name": "Expo", "type": "event"}, "Expo", "EVENT"),
        ({"text": "Kiel", "type": "harbour"}, "Kiel", "CONCEPT"),
    ],
)
def test_a_name_may_carry_its_kind(written: Any, name: str, kind: str) -> None:
    assert drafts({"what": "x", "entities": [written]})[0].entities == (EntityInput(name, kind),)


def test_one_name_of_two_kinds_is_two_names_and_whoever_speaks_is_none() -> None:
    names = ["Mercury (product)", "Mercury (place)", "user (person)", "The assistant", "I"]
    assert [name.type for name in drafts({"what": "x", "entities": names})[0].entities] == [
        "PRODUCT",
        "PLACE",
    ]


@pytest.mark.parametrize(
    ("fields", "is_event"),
    [
        ({"fact_kind": "event"}, True),
        ({"fact_kind": "conversation", "occurred_start": "2026-03-01"}, False),
        ({"occurred_start": "2026-03-01"}, True),
        ({"occurred_start": "N/A"}, False),
        ({}, False),
    ],
)
def test_a_date_says_that_it_is_an_event_where_the_kind_is_left_out(fields: Any, is_event: bool) -> None:
    assert drafts({"what": "x"} | fields)[0].is_event is is_event


def test_of_a_text_that_is_kept_whole_entries_need_no_words() -> None:
    answer = read({"facts": [{"entities": ["Ada"], "occurred_start": "2026-03-01"}, {}, 7]}, whole=True)
    assert [(draft.what, draft.is_event) for draft in answer.drafts] == [("", True), ("", False)]
    assert answer.dropped == {"malformed": 1}


def test_escaped_fence_tags_come_back_and_long_names_are_no_names() -> None:
    [draft] = drafts({"what": "Ada typed &lt;content id=1>", "entities": ["x" * 121, "Ada"]})
    assert (draft.what, draft.entities) == ("Ada typed <content id=1>", (EntityInput("Ada"),))
