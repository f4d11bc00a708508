"""From an answer to facts: text, kinds, guards, causes."""

from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from memorybank.model import EntityInput, Fact, FactType
from memorybank.retain import facts, schema
from memorybank.retain.facts import Source, build
from memorybank.settings.labels import Labels
from memorybank.text.guards import MAX_FACT_CHARS

TEXT = {"key": "size", "type": "text"}
ANCHOR = datetime(2026, 3, 1, 9, tzinfo=UTC)


def built(
    *answer: Any, text: str = "We shipped the beta last Friday.", prompt: str = ""
) -> tuple[list[Fact], dict[str, int]]:
    [(made, dropped)] = build(schema.read({"facts": list(answer)}), [Source(text, ANCHOR, prompt)]).parts
    return list(made), dict(dropped)


def test_the_text_says_what_when_who_and_why_but_not_where() -> None:
    [fact], _ = built(
        {
            "what": "The beta was shipped",
            "when": "last Friday",
            "where": "Kiel",
            "who": "Ada (lead)",
            "why": "a deadline",
            "fact_kind": "event",
            "occurred_start": "2026-02-27",
        }
    )
    assert (
        fact.text
        == "The beta was shipped | When: last Friday (2026-02-27) | Involving: Ada (lead) | a deadline"
    )
    assert fact.place_name == "Kiel"


def test_a_time_phrase_carries_its_date_once() -> None:
    shipped = {"what": "It was shipped last Friday", "when": "last Friday"}
    [fact], _ = built(shipped)
    assert fact.text == "It was shipped last Friday (2026-02-27)"
    [told], _ = built({**shipped, "when": "last Friday (2026-02-27)"})
    assert told.text == "It was shipped last Friday | When: last Friday (2026-02-27)"


def test_a_part_that_what_says_already_is_not_said_again() -> None:
    [fact], _ = built({"what": "Ada shipped the beta in May", "when": "in May", "who": "ada", "why": "N/A"})
    assert fact.text == "Ada shipped the beta in May"


def test_a_looping_reason_is_dropped_and_the_fact_kept() -> None:
    [fact], dropped = built({"what": "Ines prefers aisle seats", "why": "ha ha " * 900})
    assert (fact.text, dropped) == ("Ines prefers aisle seats", {})
    [said_once], _ = built({"what": "Ines prefers aisle seats", "why": "same reason as before. " * 900})
    assert said_once.text == "Ines prefers aisle seats | same reason as before."


def test_no_fact_is_longer_than_the_bound() -> None:
    words = " ".join(f"word{n}" for n in range(6000))
    [fact], _ = built({"what": words, "why": words})
    assert len(fact.text) <= MAX_FACT_CHARS
    [short], _ = built({"what": "Ines prefers aisle seats", "why": words})
    assert short.text == "Ines prefers aisle seats"


def test_a_fact_that_only_loops_is_dropped_with_its_reason() -> None:
    assert built({"what": "buzz " * 3000}) == ([], {"degenerate": 1})


def test_the_agents_own_acts_are_experience() -> None:
    made, _ = built(
        {"what": "The assistant ran the import", "fact_type": "assistant"}, {"what": "The user adopted a dog"}
    )
    assert [fact.fact_type for fact in made] == [FactType.EXPERIENCE, FactType.WORLD]


def test_repeats_inside_an_answer_are_one_fact() -> None:
    made, dropped = built(
        "The poll interval is back to 2 s.", "the poll interval is back to 2 s", "Ada knows."
    )
    assert [fact.text for fact in made] == ["The poll interval is back to 2 s.", "Ada knows."]
    assert dropped == {"duplicate": 1}


def test_a_sentence_of_the_prompt_is_dropped() -> None:
    echo = "Tavrith moved to Port Zundelmoor"
    assert built(echo, prompt=f"Example: {echo}") == ([], {"prompt_example": 1})


def test_causes_follow_the_facts_that_were_kept() -> None:
    def because(what: str, *targets: int) -> dict[str, Any]:
        return {
            "what": what,
            "causal_relations": [{"target_index": n, "relation_type": "caused_by"} for n in targets],
        }

    made, _ = built(
        {"no": "fact"},
        "It rained",
        "it rained.",
        because("The match was off", 0, 2),
        because("Ada slept", 3, 1),
    )
    assert [fact.causes for fact in made] == [(), (0,), (0, 1)]


def test_names_among_the_people_involved_are_persons() -> None:
    [fact], _ = built(
        {
            "what": "Ada met Okafor in Kiel",
            "who": "Ada, Okafor (guest)",
            "entities": ["Ada", "Okafor", "Kiel"],
        }
    )
    assert fact.entities == (
        EntityInput("Ada", "PERSON"),
        EntityInput("Okafor", "PERSON"),
        EntityInput("Kiel"),
    )


def test_a_kind_that_the_model_gives_stands() -> None:
    [fact], _ = built({"what": "Ada runs on Mercury", "who": "Mercury", "entities": ["Mercury (product)"]})
    assert fact.entities == (EntityInput("Mercury", "PRODUCT"),)


def test_labels_are_names_and_tags_of_the_fact() -> None:
    groups = TypeAdapter(Labels).validate_python([{"key": "mood", "values": ["Glad"], "tag": True}, TEXT])
    answer = schema.read({"facts": [{"what": "Ada smiled", "labels": {"mood": "glad", "size": "tall"}}]})
    [([fact], _)] = build(answer, [Source("Ada smiled", ANCHOR, labels=groups)]).parts
    assert fact.entities == (
        EntityInput("mood:Glad", "label", is_label=True),
        EntityInput("size:tall", "label", is_label=True),
    )
    assert fact.tags == ("mood:Glad",)


def test_a_chunk_has_no_more_facts_than_addresses() -> None:
    made, dropped = built(*(f"Fact number {n}" for n in range(facts.MAX_FACTS + 5)))
    assert (len(made), dropped) == (facts.MAX_FACTS, {"too_many": 5})
    kept, lost = facts.once([Fact("a b"), Fact("A b."), Fact("c")])
    assert ([fact.text for fact in kept], lost) == (["a b", "c"], {"duplicate": 1})
