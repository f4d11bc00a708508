"""The same content through every door - now, later, as a file, on the command line - meets the same rules."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bank_calls import Bank, Running, good

from memorybank.testing.scripted_llm import ScriptedLLM

Door = Callable[[Bank, Running, str, Path], None]

MIXED = "a8Kd93jfLq02ZmXc7VbN51TyRw64HsPe"
JWT = f"eyJ{MIXED[:17]}.eyJ{MIXED[5:30]}.{MIXED[9:32]}"
#: What must be masked, by class; and what must not.
SECRETS = {
    "openai_api_key": "sk-" + "test" + MIXED[:24],
    "aws_access_key": "AKIA" + "IOSFODNN7EXAMPLE",
    "json_web_token": JWT,
    "url_password": "p4ssw0rd",
}
KEPT = ("desk-based", "9e2dfc8e669914fe99bece9bd87f2a109c3b3672", "ZX-48211-Q")


def _now(bank: Bank, running: Running, content: str, folder: Path) -> None:
    bank.retain(content)


def _later(bank: Bank, running: Running, content: str, folder: Path) -> None:
    body = {"items": [{"content": content}], "async": True}
    assert bank.ended(good(bank.call("POST", "/memories", body))["operation_id"])["status"] == "completed"


def _file(bank: Bank, running: Running, content: str, folder: Path) -> None:
    sent = bank.http.post(
        bank.url + "/files/retain", files=[("files", ("a.txt", content.encode()))], data={"request": "{}"}
    )
    assert bank.ended(good(sent)["operation_ids"][0])["status"] == "completed"


def _command(bank: Bank, running: Running, content: str, folder: Path) -> None:
    done = running.home.run("retain", bank.id, "-", text=content, MEMORYBANK_URL=running.url)
    assert done.returncode == 0, done.stderr


DOORS = {"now": _now, "later": _later, "file": _file, "command": _command}


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Door:
    return DOORS[request.param]


def test_no_secret_reaches_the_model_the_store_or_the_log(
    door: Door, modelled_bank: Bank, modelled: Running, model: ScriptedLLM, tmp_path: Path
) -> None:
    text = (
        f"Ana deploys with {SECRETS['openai_api_key']} and {SECRETS['aws_access_key']} on Friday.\n\n"
        f"The session {SECRETS['json_web_token']} reads postgres://ana:{SECRETS['url_password']}@db/app.\n\n"
        f"Bert works {KEPT[0]}; the fix is {KEPT[1]}, the door code {KEPT[2]}."
    )
    door(modelled_bank, modelled, text, tmp_path)
    [document] = modelled_bank.get("/documents")["items"]
    seen = {
        "model": json.dumps(model.requests),
        "facts": str(modelled_bank.get("/memories/list")),
        "document": modelled_bank.get(f"/documents/{document['id']}")["original_text"],
        "chunks": str(modelled_bank.get(f"/documents/{document['id']}/chunks")),
        "log": modelled.up.err + modelled.up.out,
    }
    for place, said in seen.items():
        assert not [name for name, secret in SECRETS.items() if secret in said], place
    assert all(f"[REDACTED:{name}]" in seen["document"] for name in SECRETS)
    assert all(word in seen[place] for word in KEPT for place in ("model", "document"))


def test_who_did_what_is_told_apart(door: Door, bank: Bank, server: Running, tmp_path: Path) -> None:
    turns = (
        "[user] I adopted a greyhound last week.\n[assistant] I ran the import script and fixed the encoding."
    )
    door(bank, server, turns, tmp_path)
    types = {item["text"]: item["fact_type"] for item in bank.get("/memories/list")["items"]}
    assert {type_ for text, type_ in types.items() if "greyhound" in text} == {"world"}
    assert {type_ for text, type_ in types.items() if "import script" in text} == {"experience"}


def test_what_was_recalled_is_not_kept_again(door: Door, bank: Bank, server: Running, tmp_path: Path) -> None:
    door(bank, server, "<memories>Ada's bike is a Brompton.</memories> Ada paints it green.", tmp_path)
    assert not any("Brompton" in text for text in bank.texts())
    assert any("green" in text for text in bank.texts())


def test_bytes_that_no_text_holds_are_left_out(
    door: Door, bank: Bank, server: Running, tmp_path: Path
) -> None:
    door(bank, server, "\ufeffAna paid 40 EUR\u0007 to Bert in Graz.", tmp_path)
    assert bank.texts() == ["Ana paid 40 EUR to Bert in Graz."]


def test_a_bank_stays_as_it_is_over_rounds_of_recall_and_retain(bank: Bank) -> None:
    bank.retain("Ada's bike is a Brompton. Ada lives in Graz.")
    size: list[int] = []
    for number in range(20):
        hits = bank.recall("What colour is Ada's bike?")["results"]
        tag = ("memories", "hindsight_memories", "relevant-memories")[number % 3]
        block = f"<{tag}>\n" + "\n".join(f"- {hit['text']}" for hit in hits) + f"\n</{tag}>"
        bank.retain({"content": f"{block}\nWhat colour is Ada's bike?", "document_id": f"chat-{number % 2}"})
        size.append(len(bank.texts()))
    assert set(size[1:]) == {size[1]} and size[1] <= 3


def test_blocked_items_are_left_out_and_named(bank: Bank) -> None:
    rules: Any = [{"on": "sensitive_data", "action": "block"}]
    good(bank.call("PATCH", "/config", {"updates": {"memory_defense": {"enabled": True, "rules": rules}}}))
    leaky = {"content": f"The key is {SECRETS['aws_access_key']}."}
    answer = bank.call("POST", "/memories", {"items": [leaky, leaky]})
    assert answer.status_code == 422
    assert [one["index"] for one in answer.json()["detail"]["violations"]] == [0, 1]
    assert {one["detector"] for one in answer.json()["detail"]["violations"]} == {"sensitive_data"}
    assert SECRETS["aws_access_key"] not in answer.text
    kept = bank.retain("Ana lives in Graz.", leaky, "Bert lives in Linz.")
    assert kept["items_count"] == 2
    body = {"items": [leaky, {"content": "Cid lives in Rome."}], "async": True}
    queued = good(bank.call("POST", "/memories", body))
    assert queued["items_count"] == 1
    [violation] = bank.ended(queued["operation_id"])["result_metadata"]["violations"]
    assert (violation["index"], violation["detector"]) == (0, "sensitive_data")
    assert sorted(bank.texts()) == ["Ana lives in Graz.", "Bert lives in Linz.", "Cid lives in Rome."]


def test_a_policy_of_the_bank_goes_before_the_installations(bank: Bank) -> None:
    text = f"Ana pays with 4111 1111 1111 1111 and {SECRETS['aws_access_key']}."
    bank.retain({"content": text, "document_id": "masked"})
    assert bank.get("/documents/masked")["original_text"] == (
        "Ana pays with 4111 1111 1111 1111 and [REDACTED:aws_access_key]."
    )
    rules = [{"on": "pii", "action": "block"}, {"on": "sensitive_data", "action": "redact"}]
    for enabled, expected in (
        (True, "Ana pays with [REDACTED:credit_card] and [REDACTED:aws_access_key]."),
        (False, text),
    ):
        policy = {"enabled": enabled, "rules": rules}
        good(bank.call("PATCH", "/config", {"updates": {"memory_defense": policy}}))
        bank.retain({"content": text, "document_id": "again"})
        assert bank.get("/documents/again")["original_text"] == expected
