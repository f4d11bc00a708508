"""Reflect over HTTP with a scripted model: the loop, its stream, its limits, and every way in which it fails."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from bank_calls import Bank, good
from wire_shapes import violations

from memorybank.testing.scripted_llm import ScriptedLLM

ANA, BERT = "Ana lives in Graz.", "Bert lives in Linz."
ASKED = {"query": "Where does Ana live?", "include": {"facts": {}, "tool_calls": {"output": True}}}


@pytest.fixture
def bank(modelled_bank: Bank, model: ScriptedLLM) -> Iterator[Bank]:
    modelled_bank.retain(ANA, BERT)
    model.reset()
    yield modelled_bank
    model.reset()


def events(bank: Bank, **asked: Any) -> list[tuple[str, dict[str, Any]]]:
    answer = bank.http.post(bank.url + "/reflect/stream", json=ASKED | asked)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")
    return parsed(answer.text)


def parsed(text: str) -> list[tuple[str, dict[str, Any]]]:
    made = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n")
        made.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return made


def direct(bank: Bank, content: str) -> str:
    return str(good(bank.call("POST", "/directives", {"name": "rule", "content": content}))["id"])


def test_one_call_answers_from_searches_made_at_once(bank: Bank, model: ScriptedLLM) -> None:
    answer = good(bank.call("POST", "/reflect", ASKED))
    assert list(violations("ReflectResponse", answer)) == []
    assert answer["text"] == "Ana lives in Graz." and model.calls == 1
    assert [fact["text"] for fact in answer["based_on"]["memories"]] == [ANA]
    assert [call["tool"] for call in answer["trace"]["tool_calls"]] == [
        *("search_mental_models", "search_observations", "recall")
    ]
    assert [call["scope"] for call in answer["trace"]["llm_calls"]] == ["agent_1"]
    used = model.stats()["total"]
    assert answer["usage"]["input_tokens"] == used["prompt_tokens"]


def test_steps_come_at_once_and_the_answer_word_by_word(bank: Bank) -> None:
    told = events(bank)
    assert [name for name, _ in told] == [*["step"] * 3, *["token"] * 4, "done"]
    assert [data["tool"] for name, data in told if name == "step"][-1] == "recall"
    assert all(data.keys() == {"tool", "iteration", "duration_ms", "count"} for _, data in told[:3])
    assert "".join(data["text"] for name, data in told if name == "token") == "Ana lives in Graz."
    assert list(violations("ReflectResponse", told[-1][1])) == []
    assert told[-1][1]["based_on"]["memories"][0]["text"] == ANA


def test_no_word_of_a_draft_leaves_before_its_verdict(bank: Bank, model: ScriptedLLM) -> None:
    directive = direct(bank, "Never give the impression that somebody is settled.")
    verdict = {"verdicts": [{"id": 1, "ok": False, "words": ["lives"]}]}
    model.fail("says", times=None, text=json.dumps(verdict), when="settled")
    told = events(bank)
    assert [name for name, _ in told if name != "token"] == [*["step"] * 3, "done"]
    end = told[-1][1]
    assert "withheld" in end["text"] and end["based_on"] == {
        "memories": [],
        "mental_models": [],
        "directives": [],
    }
    assert end["trace"]["violations"] == [{"directive_id": directive, "rule": "model"}]
    assert "Graz" not in json.dumps(told) and "settled" not in json.dumps(told)
    assert [call["scope"] for call in end["trace"]["llm_calls"]] == [
        *("agent_1", "directive_verdict", "repair", "directive_verdict")
    ]


@pytest.mark.parametrize(
    ("fault", "status", "detail"),
    [
        ({"kind": "unauthorized"}, 503, "Incorrect API key"),
        ({"kind": "overloaded"}, 503, "did not answer"),
        ({"kind": "rate_limited", "seconds": 600}, 503, "wait"),
        ({"kind": "policy"}, 502, "policy"),
        ({"kind": "filtered"}, 502, "refused"),
        ({"kind": "refusal"}, 502, "refused"),
        ({"kind": "empty"}, 502, "empty"),
        ({"kind": "not_json"}, 503, "provider"),
        ({"kind": "drop"}, 503, "did not answer"),
        ({"kind": "input_too_long"}, 502, "longer than"),
    ],
)
def test_what_the_model_fails_at_is_said(
    bank: Bank, model: ScriptedLLM, fault: dict[str, Any], status: int, detail: str
) -> None:
    model.fail(**fault, times=None)
    answer = bank.http.post(bank.url + "/reflect", json=ASKED)
    assert answer.status_code == status and detail in answer.json()["detail"]
    if fault["kind"] == "rate_limited":
        assert answer.headers["retry-after"] == "600"
    *steps, last = events(bank)
    assert [name for name, _ in steps] == ["step"] * 3
    assert last[0] == "error" and last[1]["status"] == status and detail in last[1]["detail"]
    assert "Graz" not in answer.text and "Graz" not in json.dumps(last)


@pytest.mark.parametrize("fault", ["prose", "length", "thinking", "thought_only"])
def test_what_is_odd_is_made_up_for(bank: Bank, model: ScriptedLLM, fault: str) -> None:
    model.fail(fault, times=1)
    answer = good(bank.call("POST", "/reflect", ASKED))
    assert ("Graz" in answer["text"]) == (fault != "prose") and answer["text"]


def test_a_model_that_never_calls_tools_has_the_evidence_all_the_same(bank: Bank, model: ScriptedLLM) -> None:
    model.fail("says", times=None, text="Ana lives in Graz [1].")
    answer = good(bank.call("POST", "/reflect", ASKED))
    assert answer["text"] == "Ana lives in Graz." and len(answer["based_on"]["memories"]) == 1
    assert ANA in json.dumps(model.requests[0]["messages"])


def test_tools_of_the_model_are_done_and_shown(bank: Bank, model: ScriptedLLM) -> None:
    asked = [["recall", {"reason": "r", "query": "Bert"}], ["expand", {"reason": "r", "memory_ids": [1]}]]
    model.fail("calls", times=1, text=json.dumps(asked))
    answer = good(bank.call("POST", "/reflect", ASKED | {"budget": "high"}))
    made = [call for call in answer["trace"]["tool_calls"] if call["iteration"] == 1]
    assert [(call["tool"], call["input"]) for call in made] == [(name, given) for name, given in asked]
    assert made[0]["output"]["memories"] and answer["text"] == "Ana lives in Graz."


def test_a_schema_is_filled_or_the_failure_said(bank: Bank, model: ScriptedLLM) -> None:
    schema = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
    answer = good(bank.call("POST", "/reflect", ASKED | {"response_schema": schema}))
    assert answer["structured_output"] == {"town": "ok"} and "structured_output_error" not in answer
    model.fail("says", times=None, text='{"town": 5}', when="<draft")
    answer = good(bank.call("POST", "/reflect", ASKED | {"response_schema": schema}))
    assert answer["text"] and "structured_output" not in answer
    assert "town does not fit" in answer["structured_output_error"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "date"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}},
        {"type": "object", "properties": {}},
    ],
)
@pytest.mark.parametrize("path", ["/reflect", "/reflect/stream"])
def test_a_wrong_schema_is_refused_before_any_call(
    bank: Bank, model: ScriptedLLM, path: str, schema: dict[str, Any]
) -> None:
    answer = bank.call("POST", path, ASKED | {"response_schema": schema})
    assert answer.status_code == 422 and answer.json()["detail"][0]["loc"] == ["body", "response_schema"]
    assert model.calls == 0


@pytest.mark.parametrize("body", [{"query": "?!"}, {}, {"query": "x", "fact_types": []}])
def test_a_wrong_stream_is_refused_as_any_call_is(bank: Bank, body: dict[str, Any]) -> None:
    assert bank.call("POST", "/reflect/stream", body).status_code == 422


def test_who_hangs_up_ends_the_work(bank: Bank, model: ScriptedLLM) -> None:
    model.hold()
    with httpx.stream(
        "POST",
        f"{bank.http.base_url}".rstrip("/") + bank.url + "/reflect/stream",
        json=ASKED,
        trust_env=False,
    ) as stream:
        lines = stream.iter_lines()
        while next(lines) != "event: step":
            pass
        end = time.monotonic() + 30
        while not model.stats()["waiting"]:
            assert time.monotonic() < end
            time.sleep(0.02)
    model.fail("calls", times=None, text='[["recall", {"query": "again"}]]')
    released = threading.Timer(0.5, model.release)
    released.start()
    released.join()
    time.sleep(0.5)
    # The call that was under way came back to nobody, and none came after it.
    assert model.calls == 1


def test_a_bank_that_knows_nothing_says_so_without_a_call(bank: Bank, model: ScriptedLLM) -> None:
    other = Bank(bank.http, bank.id + "-empty")
    direct(other, 'Never say "Project Heron".')
    answer = good(other.call("POST", "/reflect", ASKED))
    assert "do not know" in answer["text"] and "Heron" not in answer["text"] and model.calls == 0
    assert answer["based_on"]["memories"] == [] and len(answer["based_on"]["directives"]) == 1
