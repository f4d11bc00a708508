"""A server with a model: work that waits, is cancelled, fails in part, or loses its caller."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from bank_calls import PATIENCE, Bank, Running, good
from hindsight_client import Hindsight
from wire_shapes import violations

from memorybank.testing.scripted_llm import ScriptedLLM

TEXTS = ["Ana lives in Graz.", "Bert lives in Linz."]


@pytest.fixture
def bank(modelled_bank: Bank) -> Bank:
    return modelled_bank


def until(true: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def held(model: ScriptedLLM) -> Iterator[ScriptedLLM]:
    """The model, which answers no call until it is released."""
    model.hold()
    yield model
    model.release()


def _queue(bank: Bank, *texts: str) -> str:
    body = {"items": [{"content": text} for text in texts], "async": True}
    operation: str = good(bank.call("POST", "/memories", body))["operation_id"]
    return operation


def test_the_model_is_named(bank: Bank) -> None:
    assert good(bank.http.get("/health"))["engine"] == "openai/scripted"
    assert good(bank.http.get("/version"))["engine"] == "openai/scripted"


def test_usage_is_what_the_calls_used(bank: Bank, model: ScriptedLLM) -> None:
    usage = bank.retain(*TEXTS)["usage"]
    total = model.stats()["total"]
    assert usage["input_tokens"] == total["prompt_tokens"] > 0
    assert usage["output_tokens"] == total["completion_tokens"] > 0
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert sorted(bank.texts()) == TEXTS


def test_the_same_text_again_costs_no_call(bank: Bank, model: ScriptedLLM) -> None:
    item = {"content": TEXTS[0], "document_id": "d"}
    bank.retain(item)
    calls = model.calls
    assert bank.retain(item)["usage"]["total_tokens"] == 0
    assert model.calls == calls and bank.texts() == [TEXTS[0]]


def test_reflect_answers_with_the_model(bank: Bank, model: ScriptedLLM) -> None:
    bank.retain(*TEXTS)
    asked = {"query": "Where does Ana live?", "include": {"facts": {}, "tool_calls": {"output": True}}}
    answer = good(bank.call("POST", "/reflect", asked))
    assert list(violations("ReflectResponse", answer)) == []
    assert "Graz" in answer["text"] and answer["usage"]["total_tokens"] > 0
    assert TEXTS[0] in [fact["text"] for fact in answer["based_on"]["memories"]]
    assert answer["trace"]["llm_calls"]


def test_reflect_gives_an_answer_in_the_shape_asked_for(bank: Bank) -> None:
    bank.retain(*TEXTS)
    schema = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
    answer = good(bank.call("POST", "/reflect", {"query": "Where is Ana?", "response_schema": schema}))
    assert isinstance(answer["structured_output"]["summary"], str) and answer["text"]


def test_an_item_that_the_model_refuses_takes_no_other_with_it(
    bank: Bank, model: ScriptedLLM, modelled: Running
) -> None:
    model.fail("policy", times=None, when="Bert")
    items = [
        {"content": text, "document_id": f"d{at}"} for at, text in enumerate([*TEXTS, "Cid lives in Rome."])
    ]
    operation = good(bank.call("POST", "/memories", {"items": items, "async": True}))["operation_id"]
    ended = bank.ended(operation)
    assert ended["status"] == "completed" and ended["error_message"]
    assert "Bert" not in ended["error_message"] and "Bert" not in modelled.up.err
    assert ended["result_metadata"]["extraction_errors_count"] == 1
    assert sorted(bank.texts()) == ["Ana lives in Graz.", "Cid lives in Rome."]


def test_work_is_cancelled_while_it_runs_and_queued_again(bank: Bank, held: ScriptedLLM) -> None:
    operation = _queue(bank, *TEXTS)
    until(lambda: held.waiting)
    path = f"/operations/{operation}"
    found = bank.get(path)
    assert found["child_operations"][0]["status"] == "processing"
    assert bank.call("POST", path + "/retry").status_code == 409
    assert bank.call("DELETE", path + "/delete").status_code == 409
    cancelled = good(bank.call("DELETE", path))
    assert list(violations("OperationDone", cancelled)) == []
    held.release()
    assert bank.ended(operation)["status"] == "cancelled"
    assert bank.call("DELETE", path).status_code == 409
    retried = good(bank.call("POST", path + "/retry"))
    assert retried == {
        "success": True,
        "message": f"Operation {operation} queued for retry",
        "operation_id": operation,
    }
    assert bank.ended(operation)["status"] == "completed"
    assert sorted(bank.texts()) == TEXTS
    assert good(bank.call("DELETE", path + "/delete"))["message"] == f"Operation {operation} deleted"
    assert bank.get(path)["status"] == "not_found" and bank.get("/operations")["total"] == 0


def test_what_waits_is_cancelled_at_once(bank: Bank, held: ScriptedLLM) -> None:
    items = [{"content": text, "document_id": "same"} for text in TEXTS]
    first, second = (
        good(bank.call("POST", "/memories", {"items": [item], "async": True}))["operation_id"]
        for item in items
    )
    until(lambda: held.waiting)
    assert bank.get(f"/operations/{second}")["status"] == "pending"
    good(bank.call("DELETE", f"/operations/{second}"))
    assert bank.get(f"/operations/{second}")["status"] == "cancelled"
    held.release()
    assert bank.ended(first)["status"] == "completed"
    assert bank.texts() == [TEXTS[0]]


def test_progress_is_shown_while_work_runs(bank: Bank, held: ScriptedLLM) -> None:
    operation = _queue(bank, *TEXTS)
    until(lambda: held.waiting)
    progress = bank.get(f"/operations/{operation}")["progress"]
    assert list(violations("OperationProgress", progress)) == []
    assert (progress["processed"], progress["total"]) == (0, 2)
    assert bank.get("/stats")["pending_operations"] == 1
    held.release()
    assert bank.ended(operation)["progress"]["processed"] == 2


def test_the_payload_is_shown_when_asked_for(bank: Bank) -> None:
    operation = _queue(bank, TEXTS[0])
    child = bank.ended(operation)["child_operations"][0]["operation_id"]
    assert bank.get(f"/operations/{child}")["task_payload"] is None
    assert bank.get(f"/operations/{child}", include_payload=True)["task_payload"] is not None


def test_reads_answer_while_many_wait_for_the_model(bank: Bank, held: ScriptedLLM) -> None:
    waiting = 24  # more than the pool has connections
    with ThreadPoolExecutor(waiting) as pool:
        kept = [pool.submit(bank.retain, f"Ana bought kiln {number}.") for number in range(waiting)]
        until(lambda: held.waiting >= waiting)
        began = time.monotonic()
        assert bank.get("/stats")["pending_operations"] == waiting
        assert bank.recall("kiln")["results"] == []
        assert time.monotonic() - began < 5
        held.release()
        assert all(done.result()["success"] for done in kept)
    assert len(bank.texts()) == waiting


async def test_a_caller_who_gives_up_loses_nothing(bank: Bank, held: ScriptedLLM, modelled: Running) -> None:
    client = Hindsight(base_url=modelled.url, timeout=1)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await client.aretain(bank.id, TEXTS[0])
    assert time.monotonic() - began < 3
    await client.aclose()
    held.release()
    until(lambda: bank.texts() == [TEXTS[0]])
    (operation,) = bank.get("/operations", exclude_parents=True)["operations"]
    assert bank.ended(operation["id"])["status"] == "completed"
    assert bank.texts() == [TEXTS[0]]


def test_a_bank_deleted_under_running_work_stays_deleted(bank: Bank, held: ScriptedLLM) -> None:
    other = Bank(bank.http, bank.id + "-other")
    held.release()
    other.retain(TEXTS[1])
    held.hold()
    _queue(bank, *TEXTS)
    until(lambda: held.waiting)
    good(bank.call("DELETE"))
    held.release()
    time.sleep(0.5)  # the round ends, and finds no row to write under
    assert bank.call("GET", "/profile").status_code == 404
    assert bank.retain(TEXTS[0])["success"] and bank.texts() == [TEXTS[0]]
    assert other.texts() == [TEXTS[1]]


def test_a_model_that_is_down_is_said_and_tried_again(bank: Bank, model: ScriptedLLM) -> None:
    model.fail("overloaded", times=None)
    answer = bank.http.post(bank.url + "/memories", json={"items": [{"content": TEXTS[0]}]})
    assert answer.status_code == 409 and "goes on in the background" in answer.json()["detail"]
    (operation,) = bank.get("/operations", exclude_parents=True)["operations"]
    assert operation["status"] == "pending" and operation["error_message"] and operation["next_retry_at"]
