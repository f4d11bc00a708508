"""The scripted model's answers are a function of the request."""

import json
from typing import Any

import pytest

from memorybank.testing.scripted_answers import answer, facts, names, units
from memorybank.testing.scripted_faults import KINDS, Fault


def asking(user: str, name: str | None = None, schema: dict[str, Any] | None = None, **more: Any) -> Any:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": user}], **more}
    if name:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": schema or {}},
        }
    said = answer(body)
    return json.loads(said.content) if name else said


def test_one_fact_for_each_turn_and_sentence_of_the_fences() -> None:
    user = (
        'Mission: keep Names. <content id="1">\nAda: I moved to Graz. really.\n[D1:2] Bo Li: Nice!\n'
        '</content>\n<content id="1">\nThe kiln runs at cone 6. It never runs higher.\n</content>'
    )
    found = asking(user, "extracted_facts")["facts"]
    assert [fact["what"] for fact in found] == [
        "Ada: I moved to Graz. really.",
        "[D1:2] Bo Li: Nice!",
        "The kiln runs at cone 6.",
        "It never runs higher.",
    ]
    assert found[0]["entities"] == ["Ada", "Graz"]


def test_turns_in_json_are_turns() -> None:
    turns = json.dumps([{"role": "user", "content": "Hi."}, {"speaker": "Bo", "text": "Yes. No."}])
    assert list(units(turns)) == ["user: Hi.", "Bo: Yes. No."]


def test_text_outside_a_fence_is_no_fact() -> None:
    assert facts("Ada: hello") == []


def test_names_are_capitalised_chains_without_openers() -> None:
    assert names("The Bank of Graz hired Jude Okafor. I met Jude Okafor's aunt.") == [
        "Bank of Graz",
        "Jude Okafor",
    ]


def test_consolidation_creates_and_updates() -> None:
    rows = [
        {"id": 1, "text": "Ada lives in Graz with two cats"},
        {"id": 2, "text": "Bo: hi there"},
        {"id": 3, "text": "Bo sails"},
    ]
    user = "<new_facts>\n" + "\n".join(map(json.dumps, rows)) + "\n</new_facts>\n<observations>\n"
    user += json.dumps({"id": 7, "text": "ada lives in graz with two cats"}) + "\n</observations>"
    decided = asking(user, "consolidation_decision")["actions"]
    assert [(action["action"], action["facts"]) for action in decided] == [("update", [1]), ("create", [3])]
    assert decided[0]["observation"] == 7


def test_any_other_schema_gets_a_minimal_object() -> None:
    schema = {
        "type": "object",
        "required": ["verdict", "names", "inner"],
        "properties": {
            "verdict": {"enum": ["kept", "broken"]},
            "names": {"type": "array"},
            "extra": {"type": "string"},
            "inner": {"$ref": "#/$defs/Inner"},
        },
        "$defs": {"Inner": {"properties": {"n": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}}},
    }
    assert asking("x", "another", schema) == {"verdict": "kept", "names": [], "inner": {"n": 0}}


def test_a_question_is_answered_from_the_facts() -> None:
    rows = [{"id": 4, "text": "Ada keeps bees"}, {"id": 5, "text": "Rent is due"}]
    user = "<facts>\n" + "\n".join(map(json.dumps, rows)) + "\n</facts>\nQuestion: What does Ada keep?"
    assert asking(user).content == "Ada keeps bees [4]"
    assert asking("Question: Who?").content == "I do not know."


def test_tools_are_used_in_order() -> None:
    tools = [{"function": {"name": name}} for name in ("done", "recall", "search_observations")]
    assert asking("Question: Who?", tools=tools).calls[0] == (
        "search_observations",
        {"reason": "look it up", "query": "Who?"},
    )
    forced = {"type": "function", "function": {"name": "done"}}
    assert asking("Question: Who?", tools=tools, tool_choice=forced).calls[0][0] == "done"


def test_a_fault_hits_what_it_is_meant_for_and_no_more() -> None:
    def body(user: str) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": user}]}

    fault = Fault("refusal", times=1, when="bomb", longer_than=4)
    assert fault.fits(body("a bomb")) and not fault.fits(body("bomb")) and not fault.fits(body("a flower"))
    fault.use_up()
    assert not fault.fits(body("a bomb"))


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="known: bad_escapes"):
        Fault("earthquake")
    assert len(KINDS) > 30
