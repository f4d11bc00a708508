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


def test_escaped_fence_tags_come_back_and_long_names_are_no_names() -> None:
    [draft] = drafts({"what": "Ada typed &lt;content id=1>", "entities": ["x" * 121, "Ada"]})
    assert (draft.what, draft.entities) == ("Ada typed <content id=1>", (EntityInput("Ada"),))
