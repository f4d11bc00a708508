"""Mental models over HTTP: made, built by the workers, changed, refreshed, cleared, deleted; and by the real client."""

from typing import Any

import pytest
from bank_calls import Bank, Running, good
from hindsight_client import Hindsight
from processes import eventually
from wire_shapes import violations

ASKED = {"name": "Ana's plans", "source_query": "What does Ana plan?", "tags": ["team"]}


def made(bank: Bank, **more: Any) -> Any:
    """Make a model, wait for its first build, and return it."""
    answer = good(bank.call("POST", "/mental-models", ASKED | more))
    assert list(violations("CreateMentalModelResponse", answer)) == []
    done = bank.ended(answer["operation_id"])
    assert done["status"] == "completed", done
    return bank.get(f"/mental-models/{answer['mental_model_id']}")


@pytest.fixture
def told(bank: Bank) -> Bank:
    item = {"content": "Ana plans to move the release to Friday.", "tags": ["team"], "document_id": "plan",
            "timestamp": "2026-03-04T10:00:00Z"}  # fmt: skip
    bank.retain(item, {"content": "Ana plans a trip to Graz.", "document_id": "trip"})
    return bank


def test_a_model_makes_its_bank_and_says_that_it_is_not_built(bank: Bank) -> None:
    answer = good(bank.call("POST", "/mental-models", ASKED))
    assert answer["mental_model_id"] == "ana-s-plans"
    model = bank.get("/mental-models/ana-s-plans")
    assert list(violations("MentalModelResponse", model)) == []
    assert model["content"] in ("", "Not built yet: its first refresh is on its way.")
    [listed] = bank.get("/operations", type="refresh_mental_model")["operations"]
    assert (listed["id"], listed["mental_model_id"]) == (answer["operation_id"], "ana-s-plans")
    done = bank.ended(answer["operation_id"])
    assert done["details"] == {
        "operation_type": "refresh_mental_model",
        "outcome": "content_preserved_no_new_facts",
        "failure_reason": None,
    }


def test_a_model_is_built_from_what_its_tags_let_through(told: Bank) -> None:
    model = made(told, id="plans")
    assert list(violations("MentalModelResponse", model)) == []
    assert "move the release" in model["content"] and "Graz" not in model["content"]
    [source] = model["reflect_response"]["based_on"]["memories"]
    assert "release" in source["text"] and source["type"] == "world"
    [section] = model["reflect_response"]["sections"]
    assert section["statements"][0]["memory_ids"] == [source["id"]]
    assert not model["is_stale"]
    every = made(told, id="all", tags=[])
    assert "Graz" in every["content"]
    strict = {"tag_groups": [{"not": {"tags": ["team"]}}], "fact_types": ["world"]}
    assert "release" not in made(told, id="others", tags=[], trigger=strict)["content"]


@pytest.mark.parametrize("detail", ["metadata", "content", "full"])
def test_details(told: Bank, detail: str) -> None:
    made(told)
    page = told.get("/mental-models", detail=detail)
    assert list(violations("MentalModelListResponse", page)) == []
    [one] = page["items"]
    assert ("content" in one, "reflect_response" in one) == (detail != "metadata", detail == "full")
    assert told.get("/mental-models/ana-s-plans", detail=detail) == one


def test_lists_are_filtered_by_tags(told: Bank) -> None:
    for name, tags in (("one", ["a"]), ("two", ["a", "b"]), ("three", [])):
        good(told.call("POST", "/mental-models", ASKED | {"id": name, "tags": tags}))

    def ids(**asked: Any) -> list[str]:
        return [one["id"] for one in told.get("/mental-models", **asked)["items"]]

    assert ids() == ["three", "two", "one"]
    assert ids(tags=["a", "b"], tags_match="all") == ["three", "two"]
    assert ids(tags=["a"], tags_match="exact") == ["one"]
    assert ids(limit=1, offset=1) == ["two"]


def test_what_is_forgotten_is_gone_at_once_and_built_anew(told: Bank) -> None:
    model = made(told, tags=[])
    assert "release" in model["content"]
    good(told.call("DELETE", "/documents/plan"))
    left = told.get("/mental-models/ana-s-plans")
    assert "release" not in str(left) and left["is_stale"]
    eventually(lambda: "Graz" in told.get("/mental-models/ana-s-plans")["content"], "it is built anew")
    assert "release" not in str(told.get("/mental-models/ana-s-plans/history"))


def test_a_model_is_changed_cleared_and_deleted(told: Bank) -> None:
    content = made(told)["content"]
    body = {"name": "Plans", "max_tokens": 300, "trigger": {"mode": "delta", "keep_trace": True}}
    changed = good(told.call("PATCH", "/mental-models/ana-s-plans", body))
    assert list(violations("MentalModelResponse", changed)) == []
    assert (changed["name"], changed["max_tokens"], changed["content"]) == ("Plans", 300, content)
    cleared = good(told.call("POST", "/mental-models/ana-s-plans/clear"))
    assert (cleared["content"], cleared["is_stale"]) == ("", True)
    [before] = told.get("/mental-models/ana-s-plans/history")
    assert list(violations("MentalModelHistoryEntry", before)) == []
    assert before["previous_content"] == content
    queued = good(told.call("POST", "/mental-models/ana-s-plans/refresh"))
    assert list(violations("AsyncOperationSubmitResponse", queued)) == [] and queued["status"] == "queued"
    assert told.ended(queued["operation_id"])["result_metadata"]["outcome"] == "content_written"
    again = told.get("/mental-models/ana-s-plans")
    assert again["content"] == content
    assert list(violations("MentalModelRefreshTrace", again["reflect_response"]["trace"])) == []
    assert good(told.call("DELETE", "/mental-models/ana-s-plans")) == {"status": "deleted"}
    assert told.call("GET", "/mental-models/ana-s-plans").status_code == 404


def test_a_dry_run_stores_nothing(told: Bank) -> None:
    made(told)
    told.retain({"content": "Ana plans a feast.", "tags": ["team"]})
    before = told.get("/mental-models/ana-s-plans")
    shown = good(told.call("POST", "/mental-models/ana-s-plans/dry-run-refresh"))
    assert list(violations("MentalModelDryRunRefreshResult", shown)) == []
    assert shown["would_persist"] and "+- Ana plans a feast" in shown["diff"]
    assert shown["facts"]["used"] == {"world": 2}
    assert told.get("/mental-models/ana-s-plans") == before


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"id": "Not An Id"}, 400),
        ({"id": "-a"}, 400),
        ({"id": "ana\n"}, 400),
        ({"id": "taken"}, 400),
        ({"name": " "}, 422),
        ({"source_query": ""}, 422),
        ({"max_tokens": 255}, 422),
        ({"max_tokens": 8193}, 422),
        ({"trigger": {"refresh_cron": "every day"}}, 422),
        ({"trigger": {"refresh_cron": "0 0 31 2 *"}}, 422),
        ({"trigger": {"refresh_cron": "0 9 * * *", "refresh_after_consolidation": True}}, 422),
        ({"trigger": {"fact_types": []}}, 422),
        ({"trigger": {"fact_types": ["opinion"]}}, 422),
        ({"trigger": {"mode": "some"}}, 422),
        ({"trigger": {"min_refresh_interval_seconds": -1}}, 422),
        ({"trigger": {"tag_groups": [{"nor": []}]}}, 422),
        ({"trigger": {"response_schema": {"type": "string"}}}, 422),
        ({"trigger": {"response_schema": {"type": "object", "properties": {"a": {"type": "odd"}}}}}, 422),
        ({"trigger": {"refresh_cron": "0 9 * * MON"}}, 200),
        ({"trigger": {"exclude_mental_model_ids": ["m\u0000\ud83d"]}}, 200),
    ],
)
def test_what_is_asked_is_checked(bank: Bank, body: dict[str, Any], status: int) -> None:
    good(bank.call("POST", "/mental-models", ASKED | {"id": "taken"}))
    assert bank.call("POST", "/mental-models", ASKED | body).status_code == status
    if "id" not in body and status == 422:
        assert bank.call("PATCH", "/mental-models/taken", body).status_code == status


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/history"), ("POST", "/refresh"),
     ("POST", "/dry-run-refresh"), ("POST", "/clear")],
)  # fmt: skip
def test_a_model_that_is_not_there(bank: Bank, method: str, path: str) -> None:
    body: Any = {"name": "x"} if method == "PATCH" else ...
    assert bank.call(method, f"/mental-models/none{path}", body).status_code == 404
    bank.retain("Ana is here.")
    assert bank.call(method, f"/mental-models/none{path}", body).status_code == 404


async def test_the_published_client(server: Running, told: Bank) -> None:
    client = Hindsight(base_url=server.url, timeout=60)
    try:
        answer = await client.acreate_mental_model(
            told.id, "Plans", "What does Ana plan?", tags=["team"], trigger={"mode": "delta"}, id="plans"
        )
        told.ended(answer.operation_id)
        found = await client.aget_mental_model(told.id, "plans")
        assert "release" in found.content and found.trigger.mode == "delta"
        listed = await client.alist_mental_models(told.id, detail="metadata")
        assert [one.id for one in listed.items] == ["plans"]
        shown = await client.mental_models.dry_run_refresh_mental_model(told.id, "plans")
        assert shown.outcome == "content_unchanged"
        queued = await client.arefresh_mental_model(told.id, "plans", mode="full")
        status = await client.operations.get_operation_status(told.id, queued.operation_id)
        assert status.operation_type == "refresh_mental_model"
    finally:
        await client.aclose()
