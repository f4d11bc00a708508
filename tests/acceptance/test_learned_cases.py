"""Field reports on what a bank learns, over HTTP with a model: nothing twice, nothing erased left, every run done."""

from collections.abc import Callable
from typing import Any

import pytest
from bank_calls import Bank, good
from processes import eventually

from memorybank.testing.scripted_llm import ScriptedLLM

#: Long enough that one other word is a restatement to the scripted model.
SAID = "On most mornings before work Ada walks her {} dog twice around the small lake behind the old mill"
ERASED = "Quetzal"


@pytest.fixture
def bank(modelled_bank: Bank) -> Bank:
    """A bank that consolidates by itself, one fact after the other."""
    updates = {"enable_auto_consolidation": True, "consolidation_llm_batch_size": 1}
    good(modelled_bank.call("PATCH", "/config", {"updates": updates}))
    return modelled_bank


def learned(bank: Bank) -> list[dict[str, Any]]:
    """Wait until nothing is left to do, and return the observations."""

    def settled() -> bool:
        stats = bank.get("/stats")
        return not stats["pending_operations"] and not stats["pending_consolidation"]

    eventually(settled, "the backlog is consolidated")
    found: list[dict[str, Any]] = bank.get("/memories/list", type="observation")["items"]
    return found


def answers(bank: Bank) -> str:
    """Return all that a caller can be told of Ada's dog."""
    asked = {"query": "Which dog does Ada walk?", "include": {"source_facts": {}, "entities": {}}}
    models = bank.get("/mental-models")["items"]
    told = [bank.recall(**asked), good(bank.call("POST", "/reflect", {"query": asked["query"]}))]
    told += [bank.get("/memories/list"), bank.get("/entities"), bank.get("/knowledge-base/export"), models]
    told += [bank.get(f"/mental-models/{one['id']}/history") for one in models]
    return str(told)


def told(word: str, day: int) -> dict[str, Any]:
    return {
        "content": SAID.format(word),
        "document_id": f"day {day}",
        "timestamp": f"2026-03-{day:02}T09:00:00Z",
    }


def test_c1_what_is_recalled_and_told_again_makes_the_bank_no_larger(bank: Bank) -> None:
    bank.retain("Ada's bike is a green Brompton.")
    question = "What colour is Ada's bike?"
    sizes = set()
    for at in range(20):
        found = "\n".join(hit["text"] for hit in bank.recall(question)["results"])
        assert "green Brompton" in found
        turn = f"User: <memories>{found}</memories> {question}"
        bank.retain({"content": turn, "document_id": f"turn {at}"})
        sizes.add((len(learned(bank)), bank.get("/stats")["total_nodes"]))
    assert len(sizes) == 1


def test_k3_told_just_now_is_found_and_never_beside_its_own_restatement(bank: Bank) -> None:
    key = "The spare key is with the florist."
    for day in (1, 2):
        bank.retain({"content": key, "document_id": f"d{day}", "timestamp": f"2026-03-0{day}T09:00:00Z"})
        texts = [hit["text"] for hit in bank.recall("Who has the spare key?")["results"]]
        assert texts == [key]
        assert [one["text"] for one in learned(bank)] == [key]
        hits = bank.recall("Who has the spare key?")["results"]
        assert [hit["text"] for hit in hits] == [key], (hits, bank.get("/memories/list"))


def test_i5_every_run_is_queued_and_done(bank: Bank) -> None:
    for day in range(1, 11):
        bank.retain({"content": f"Ben painted picture {day} in hall {day * 7}.", "document_id": f"p{day}"})
        assert len(learned(bank)) == day
    runs = bank.get("/operations", type="consolidation")
    assert {run["status"] for run in runs["operations"]} == {"completed"} and runs["total"] >= 10


def by_document(bank: Bank, fact: dict[str, Any]) -> None:
    good(bank.call("DELETE", f"/documents/{fact['document_id']}"))


def by_state(bank: Bank, fact: dict[str, Any]) -> None:
    good(bank.call("PATCH", f"/memories/{fact['id']}", {"state": "invalidated"}))


def by_words(bank: Bank, fact: dict[str, Any]) -> None:
    good(bank.call("PATCH", f"/memories/{fact['id']}", {"text": SAID.format("young")}))


@pytest.mark.parametrize(("erase", "left"), [(by_document, 2), (by_state, 2), (by_words, 3)])
def test_n1_n4_what_is_erased_is_nowhere_and_the_rest_is_learned_anew(
    bank: Bank, model: ScriptedLLM, erase: Callable[[Bank, dict[str, Any]], None], left: int
) -> None:
    model.fail("newest_words", times=None)
    for day, word in enumerate(("old", "brown", ERASED), 1):
        bank.retain(told(word, day))
        learned(bank)
    [seen] = learned(bank)
    assert (seen["text"], seen["proof_count"]) == (SAID.format(ERASED), 3)
    asked = {"name": "Dogs", "source_query": "Which dog does Ada walk?"}
    good(bank.call("POST", "/mental-models", asked))
    page = bank.call("POST", "/knowledge-base/pages", asked)
    assert page.status_code == 201
    eventually(lambda: ERASED in str(bank.get("/knowledge-base/export")), "the page is built")
    learned(bank)
    [fact] = [one for one in bank.get("/memories/list", type="world")["items"] if ERASED in one["text"]]
    erase(bank, fact)
    assert ERASED not in answers(bank), "gone at once"
    [seen] = learned(bank)
    assert (seen["proof_count"], ERASED in str(bank.get(f"/memories/{seen['id']}/history"))) == (left, False)
    eventually(lambda: "Ada walks" in str(bank.get("/knowledge-base/export")), "the page is built anew")
    assert ERASED not in answers(bank), "and it stays so"
