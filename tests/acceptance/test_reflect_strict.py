"""A server whose model takes no tools, where a violation is an error and a reflect may make few calls."""

import json
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from bank_calls import Bank, good, running
from directive_cases import CANARY
from test_reflect_calls import parsed

from memorybank.directives.enforcing import UNVERIFIED, WITHHELD
from memorybank.testing.scripted_answers import STEP, VERDICT
from memorybank.testing.scripted_llm import ScriptedLLM

ASKED = {"query": "Where does Ana live?", "include": {"facts": {}, "tool_calls": {"output": True}}}
#: Calls that a reflect may make.
MOST = 6


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, model: ScriptedLLM) -> Iterator[Bank]:
    environment = {
        "MEMORYBANK_LLM__MODEL": "openai/scripted",
        "MEMORYBANK_LLM__BASE_URL": model.base_url,
        "MEMORYBANK_LLM__API_KEY": "none",
        "MEMORYBANK_LLM__BACKOFF_SECONDS": "0.01",
        "MEMORYBANK_REFLECT__ON_VIOLATION": "error",
        "MEMORYBANK_REFLECT__MAX_CALLS": str(MOST),
    }
    for up in running(tmp_path_factory.mktemp("strict"), **environment):
        with httpx.Client(base_url=up.url, timeout=60, trust_env=False) as client:
            bank = Bank(client, f"bank-{uuid4()}")
            bank.retain("Ana lives in Graz.", "Bert lives in Linz.")
            yield bank


@pytest.fixture
def bank(strict: Bank, model: ScriptedLLM) -> Iterator[Bank]:
    model.reset()
    model.fail("no_tools", times=None)
    yield strict
    model.reset()
    for one in strict.get("/directives")["items"]:
        good(strict.call("DELETE", f"/directives/{one['id']}"))


def drafting(model: ScriptedLLM, draft: str) -> None:
    step = {"calls": [{"tool": "done", "answer": draft}]}
    model.fail("says", times=None, text=json.dumps(step), asks=STEP)
    model.fail("says", times=None, text=draft, asks="")


def test_a_model_without_tools_is_asked_in_words(bank: Bank, model: ScriptedLLM) -> None:
    answer = good(bank.call("POST", "/reflect", ASKED))
    assert answer["text"] == "Ana lives in Graz."
    assert [one["text"] for one in answer["based_on"]["memories"]] == ["Ana lives in Graz."]
    model.requests.clear()
    assert good(bank.call("POST", "/reflect", ASKED))["text"] == answer["text"]
    assert [bool(asked.get("tools")) for asked in model.requests] == [False], "the refusal is remembered"


def test_who_searches_on_and_on_ends_within_the_calls(bank: Bank, model: ScriptedLLM) -> None:
    step = {"calls": [{"tool": "recall", "query": "and then?", "reason": "r"}]}
    model.fail("says", times=None, text=json.dumps(step), asks=STEP)
    for budget in ("low", "high"):
        model.requests.clear()
        answer = good(bank.call("POST", "/reflect", ASKED | {"budget": budget}))
        made = [one["scope"] for one in answer["trace"]["llm_calls"]]
        assert made[-1] == "final" and answer["text"] == "Ana lives in Graz." and len(made) <= MOST
        assert answer["usage"]["total_tokens"] > 0 and model.calls == len(made)


@pytest.mark.parametrize(
    ("draft", "judged", "detail"),
    [
        (f"Ana of {CANARY} is a fool.", {}, WITHHELD),
        (f"Ana of {CANARY} is a nurse.", {"kind": "verdict_in_words"}, UNVERIFIED),
        (f"Ana of {CANARY} is a nurse.", {"kind": "server_error"}, UNVERIFIED),
    ],
)
def test_a_violation_is_an_error_without_a_word_of_the_draft(
    bank: Bank, model: ScriptedLLM, draft: str, judged: dict[str, str], detail: str
) -> None:
    good(bank.call("POST", "/directives", {"name": "rule", "content": "Be kind to everybody."}))
    drafting(model, draft)
    if judged:
        model.fail(**judged, asks=VERDICT, times=None)  # type: ignore[arg-type]
    plain = bank.call("POST", "/reflect", ASKED)
    assert plain.status_code == 422 and detail in plain.text
    stream = bank.call("POST", "/reflect/stream", ASKED)
    *steps, (name, error) = parsed(stream.text)
    assert {step for step, _ in steps} == {"step"} and name == "error" and error["status"] == 422
    for seen in (plain.content, stream.content):
        assert not [word for word in (CANARY, "nurse", "fool", "kind to") if word.encode() in seen]


def test_a_page_that_breaks_one_or_that_nobody_judged_is_not_seen(bank: Bank, model: ScriptedLLM) -> None:
    good(bank.call("POST", "/directives", {"name": "rule", "content": "Be kind to everybody."}))
    page = {
        "sections": [{"name": "Ana", "statements": [{"text": f"Ana of {CANARY} is a fool.", "facts": [1]}]}]
    }
    model.fail("says", times=None, text=json.dumps(page), asks="mental_model_document")
    made = good(bank.call("POST", "/mental-models", {"name": "Ana", "source_query": "What of Ana?"}))
    ended = [bank.ended(made["operation_id"])]
    path = f"/mental-models/{made['mental_model_id']}"
    page["sections"][0]["statements"][0]["text"] = f"Ana of {CANARY} is a nurse."  # type: ignore[index]
    model.reset()
    model.fail("says", times=None, text=json.dumps(page), asks="mental_model_document")
    model.fail("empty", asks=VERDICT, times=None)
    ended.append(bank.ended(good(bank.call("POST", f"{path}/refresh"))["operation_id"]))
    assert [done["status"] for done in ended] == ["failed", "failed"]
    seen = json.dumps(
        [*ended, bank.get(path), bank.get("/operations"), good(bank.call("POST", f"{path}/dry-run-refresh"))]
    )
    assert CANARY not in seen and "nurse" not in seen and "fool" not in seen
