"""Directives over HTTP, by command and by the real client: kept, listed, changed, deleted, bounded."""

import json
from typing import Any

import pytest
from bank_calls import Bank, Running, good
from hindsight_client import Hindsight
from test_bad_input import HUGE, UNSTORABLE, places
from wire_shapes import violations

TONE = {"name": "Tone", "content": "Answer formally", "priority": 10, "tags": []}


def made(bank: Bank, **more: Any) -> Any:
    """Make a directive and return it."""
    answer = good(bank.call("POST", "/directives", TONE | more))
    assert list(violations("DirectiveResponse", answer)) == []
    return answer


def names(bank: Bank, **asked: Any) -> list[str]:
    page = bank.get("/directives", **asked)
    assert list(violations("DirectiveListResponse", page)) == []
    assert page["total"] >= len(page["items"])
    return [one["name"] for one in page["items"]]


def test_the_contracts_example(bank: Bank) -> None:
    one = made(bank)
    assert (one.pop("id"), one.pop("created_at")) and one.pop("updated_at")
    assert one == {**TONE, "bank_id": bank.id, "is_active": True}


def test_defaults(bank: Bank) -> None:
    one = good(bank.call("POST", "/directives", {"name": "Tone", "content": "Be kind.\n\nAlways."}))
    assert (one["priority"], one["is_active"], one["tags"]) == (0, True, [])
    assert one["content"] == "Be kind.\n\nAlways."
    assert bank.get(f"/directives/{one['id']}") == one


def test_lists_are_sorted_and_filtered(bank: Bank) -> None:
    for name, priority, tags in (
        ("low", -1, []),
        ("old", 5, ["a"]),
        ("new", 5, ["a", "b"]),
        ("top", 2**31 - 1, ["b"]),
    ):
        made(bank, name=name, priority=priority, tags=tags)
    made(bank, name="off", priority=7, is_active=False)
    assert names(bank) == ["top", "new", "old", "low"]
    assert names(bank, active_only=False) == ["top", "off", "new", "old", "low"]
    assert names(bank, tags=["a"]) == ["new", "old", "low"]
    assert names(bank, tags=["a", "b"], tags_match="all") == ["new", "low"]
    assert names(bank, tags=["b"], tags_match="exact") == ["top"]
    assert names(bank, tags_match="exact") == ["top", "new", "old", "low"]
    page = bank.get("/directives", limit=1, offset=1)
    assert ([one["name"] for one in page["items"]], page["total"], page["limit"], page["offset"]) == (
        ["new"],
        4,
        1,
        1,
    )


@pytest.mark.parametrize(
    ("change", "stored"),
    [
        ({"name": "  Voice \n of ours "}, {"name": "Voice of ours"}),
        ({"content": "Answer in French"}, {"content": "Answer in French"}),
        ({"priority": 0}, {"priority": 0}),
        ({"is_active": False}, {"is_active": False}),
        ({"tags": ["b", "a", "b", " "]}, {"tags": ["a", "b"]}),
        ({"tags": []}, {"tags": []}),
        ({"name": None, "content": None, "priority": None, "is_active": None, "tags": None}, {}),
        ({}, {}),
    ],
)
def test_what_is_not_named_stays(bank: Bank, change: dict[str, Any], stored: dict[str, Any]) -> None:
    before = made(bank, tags=["c"])
    after = good(bank.call("PATCH", f"/directives/{before['id']}", change))
    assert list(violations("DirectiveResponse", after)) == []
    assert after == before | stored | {"updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    assert bank.get(f"/directives/{before['id']}") == after


def test_a_deleted_directive_is_gone_and_so_are_those_of_a_deleted_bank(bank: Bank) -> None:
    first, second = made(bank), made(bank)
    assert good(bank.call("DELETE", f"/directives/{first['id']}")) == {"status": "deleted"}
    assert bank.call("GET", f"/directives/{first['id']}").status_code == 404
    assert names(bank) == ["Tone"]
    good(bank.call("DELETE"))
    good(bank.call("PUT", "", {}))
    assert names(bank) == []
    assert bank.call("GET", f"/directives/{second['id']}").status_code == 404


def test_what_another_bank_holds_is_not_there(bank: Bank, new_bank: Any) -> None:
    one, other = made(bank), new_bank()
    made(other)
    for method, body in (("GET", ...), ("PATCH", {"name": "x"}), ("DELETE", ...)):
        answer = other.call(method, f"/directives/{one['id']}", body)
        assert (answer.status_code, answer.json()) == (404, {"detail": f"Directive '{one['id']}' not found"})
    assert bank.get(f"/directives/{one['id']}") == one


def test_a_bank_holds_no_more_than_prompts_can(bank: Bank) -> None:
    for _ in range(8):
        made(bank, content="x" * 4000)
    full = bank.call("POST", "/directives", TONE)
    assert full.status_code == 400 and "32,000 characters" in full.json()["detail"]
    spare = made(bank, is_active=False)
    assert bank.call("PATCH", f"/directives/{spare['id']}", {"is_active": True}).status_code == 400
    assert bank.get(f"/directives/{spare['id']}")["is_active"] is False


def test_a_bank_holds_a_hundred_directives(bank: Bank) -> None:
    for _ in range(100):
        made(bank, is_active=False)
    full = bank.call("POST", "/directives", TONE)
    assert full.status_code == 400 and "100 directives" in full.json()["detail"]
    assert len(names(bank, active_only=False, limit=1000)) == 100


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"name": 3}, "body.name"),
        ({"name": " \u0000\t"}, "body.name"),
        ({"name": "x" * 201}, "body.name"),
        ({"content": "\n"}, "body.content"),
        ({"content": "x" * 4001}, "body.content"),
        ({"content": ["x"]}, "body.content"),
        ({"priority": "high"}, "body.priority"),
        ({"priority": 1.5}, "body.priority"),
        ({"priority": 2**31}, "body.priority"),
        ({"priority": -HUGE}, "body.priority"),
        ({"is_active": "perhaps"}, "body.is_active"),
        ({"tags": "a"}, "body.tags"),
        ({"tags": ["x" * 513]}, "body.tags.0"),
        ({"tags": [f"t{number}" for number in range(257)]}, "body.tags"),
    ],
)
def test_directives_that_are_none(bank: Bank, body: dict[str, Any], place: str) -> None:
    assert places(bank.call("POST", "/directives", TONE | body)) == [place]
    one = made(bank)
    assert places(bank.call("PATCH", f"/directives/{one['id']}", body)) == [place]
    assert bank.get("/directives", active_only=False)["items"] == [one]


@pytest.mark.parametrize("missing", ["name", "content"])
def test_a_directive_needs_a_name_and_a_content(bank: Bank, missing: str) -> None:
    body = {name: value for name, value in TONE.items() if name != missing}
    for given in (body, body | {missing: None}):
        assert places(bank.call("POST", "/directives", given)) == [f"body.{missing}"]


@pytest.mark.parametrize("text", UNSTORABLE)
def test_a_directive_is_kept_without_what_cannot_be_stored(bank: Bank, text: str) -> None:
    kept = f"x{text}".replace("\u0000", "").replace("\ud83d", "")
    asked = {"name": f"x{text}", "content": f"x{text}", "tags": [f"x{text}"]}
    made = good(bank.call("POST", "/directives", asked))
    assert (made["name"], made["content"], made["tags"]) == (kept, kept, [kept])


def test_a_page_that_breaks_one_is_not_written(bank: Bank) -> None:
    bank.retain({"content": "Ana leads Project Heron."}, {"content": "Ana lives in Graz."})
    model = {"id": "ana", "name": "Ana", "source_query": "What of Ana?"}
    bank.ended(good(bank.call("POST", "/mental-models", model))["operation_id"])
    before = bank.get("/mental-models/ana")
    assert "Heron" in before["content"]
    one = made(bank, content="Be kind to Ana.")
    done = bank.ended(good(bank.call("POST", "/mental-models/ana/refresh"))["operation_id"])
    assert (done["status"], done["details"]["outcome"]) == ("failed", "refresh_failed_error")
    assert done["result_metadata"]["violations"] == [{"directive_id": one["id"], "rule": "no_verdict"}]
    assert one["id"] in done["error_message"] and "kind" not in str(done)
    assert list(violations("OperationStatusResponse", done)) == []
    assert bank.get("/mental-models/ana")["content"] == before["content"]
    shown = good(bank.call("POST", "/mental-models/ana/dry-run-refresh"))
    assert list(violations("MentalModelDryRunRefreshResult", shown)) == []
    assert (shown["would_persist"], shown["candidate_content"]) == (False, "")
    assert one["id"] in shown["warnings"][-1]
    # What code can check decides here too: the quotation that breaks it is left out.
    good(bank.call("PATCH", f"/directives/{one['id']}", {"content": "Never mention Project Heron."}))
    done = bank.ended(good(bank.call("POST", "/mental-models/ana/refresh"))["operation_id"])
    assert done["status"] == "completed"
    after = bank.get("/mental-models/ana")["content"]
    assert "Graz" in after and "Heron" not in after


def test_the_commands(server: Running, bank: Bank) -> None:
    def run(*words: str) -> str:
        said = server.home.run(*words, MEMORYBANK_URL=server.url)
        assert said.returncode == 0, said.stderr
        return said.stdout

    one = json.loads(
        run("add-directive", bank.id, "Tone", "Be kind.", "--priority", "3", "--tags", "a", "--json")
    )
    assert (one["priority"], one["tags"]) == (3, ["a"])
    assert "Be kind." in run("directives", bank.id)
    assert "deleted" in run("delete-directive", bank.id, one["id"])
    assert names(bank) == []


async def test_the_published_client(server: Running, bank: Bank) -> None:
    client = Hindsight(base_url=server.url, timeout=60)
    try:
        one = await client.acreate_directive(bank.id, "Tone", "Answer formally", priority=3, tags=["a"])
        assert (await client.aget_directive(bank.id, one.id)).content == "Answer formally"
        changed = await client.aupdate_directive(bank.id, one.id, is_active=False)
        assert (changed.is_active, changed.priority) == (False, 3)
        assert (await client.alist_directives(bank.id)).items == []
        await client.adelete_directive(bank.id, one.id)
    finally:
        await client.aclose()
