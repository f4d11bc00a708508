"""Bad questions to recall and reflect."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from bank_calls import Bank, good
from test_bad_input import HUGE, places

#: Wrong in both calls: fields, place that is named.
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"query": ""}, "query"),
    ({"query": " \n"}, "query"),
    ({"query": "?!…"}, "query"),
    ({"query": "\u0000"}, "query"),
    ({"query": "\ud83d"}, "query"),
    ({"query": None}, "query"),
    ({"query": ["Ana"]}, "query"),
    ({"budget": "huge"}, "budget"),
    ({"max_tokens": "many"}, "max_tokens"),
    ({"max_tokens": 1.5}, "max_tokens"),
    ({"tags": "a"}, "tags"),
    ({"tags": [1]}, "tags.0"),
    ({"tags_match": "most"}, "tags_match"),
    ({"tags": ["a"], "tag_groups": [{"tags": ["b"]}]}, "tags"),
    ({"tag_groups": {}}, "tag_groups"),
    ({"tag_groups": ["a"]}, "tag_groups.0"),
    ({"tag_groups": [{"tag": ["a"]}]}, "tag_groups.0"),
    ({"tag_groups": [{"tags": "a"}]}, "tag_groups.0"),
    ({"tag_groups": [{"tags": [1]}]}, "tag_groups.0"),
    ({"tag_groups": [{"tags": ["a"], "match": "most"}]}, "tag_groups.0"),
    ({"tag_groups": [{"not": None}]}, "tag_groups.0"),
    ({"tag_groups": [{"tags": ["a"], "not": {"tags": ["b"]}}]}, "tag_groups.0"),
    ({"tag_groups": [{"and": [], "or": []}]}, "tag_groups.0"),
    ({"tag_groups": [{"tags": ["a"]}] * 1001}, "tag_groups"),
    ({"tag_groups": [{"or": [{"tags": ["a"]}, {}]}]}, "tag_groups.0.or.1"),
    ({"include": []}, "include"),
]
WRONG_RECALL: list[tuple[dict[str, Any], str]] = [
    ({"types": "world"}, "types"),
    ({"types": [1]}, "types.0"),
    ({"trace": "maybe"}, "trace"),
    ({"query_timestamp": 7}, "query_timestamp"),
    ({"include": {"chunks": {"max_tokens": "x"}}}, "include.chunks.max_tokens"),
    ({"min_scores": {"final": "high"}}, "min_scores.final"),
    ({"temporal_window": {"start": "2026-02-01", "end": "2026-01-01"}}, "temporal_window"),
    ({"temporal_window": {"start": "2026-02-01"}}, "temporal_window.end"),
    ({"temporal_window": {"start": "x", "end": "2026-01-01"}}, "temporal_window.start"),
    ({"temporal_window": {"start": "2026-01-01", "end": HUGE}}, "temporal_window.end"),
]
WRONG_REFLECT: list[tuple[dict[str, Any], str]] = [
    ({"fact_types": []}, "fact_types"),
    ({"fact_types": ["fact"]}, "fact_types.0"),
    ({"response_schema": []}, "response_schema"),
    ({"response_schema": {}}, "response_schema"),
    ({"response_schema": {"type": "object", "properties": {}}}, "response_schema"),
    ({"response_schema": {"type": "array", "items": {}}}, "response_schema"),
]
#: Odd, but to be answered.
ODD: list[dict[str, Any]] = [
    {"query": "Ana\u0000 \ud83d lives"},
    {"query": "who " * 400},
    {"tags": ["\u0000"]},
    {"tags": ["\ud83d"]},
    {"tags": []},
    {"tags": ["a"], "tag_groups": []},
    {"tags": [f"t{number}" for number in range(5000)]},
    {"tag_groups": [{"tags": ["a\u0000", "\ud83d"]}]},
    {"tag_groups": [{"not": {"tags": ["\u0000"], "match": "any"}}]},
    {"max_tokens": HUGE},
]
ODD_RECALL: list[dict[str, Any]] = [
    {"max_tokens": 0},
    {"max_tokens": -1},
    {"types": []},
    {"types": ["opinion"]},
    {"types": ["opinion", "world"]},
    {"query_timestamp": ""},
    {"query_timestamp": None},
    {"prefer_observations": None},
    {"include": {}},
    {
        "include": {
            "entities": {"max_tokens": -5},
            "chunks": {"max_tokens": -1},
            "source_facts": {"max_tokens": 0},
        }
    },
    {"include": {"entities": {"max_tokens": HUGE}, "chunks": {"max_tokens": HUGE}}},
    {"min_scores": {"semantic": -1e308, "keyword": -1, "final": 1e308}},
    {"min_scores": {}},
    {"temporal_window": {"start": "0001-01-01T00:00:00+14:00", "end": "9999-12-31T23:59:59-14:00"}},
    {"temporal_window": {"start": "2026-01-01T00:00:00Z", "end": "2026-02-01"}},
    {"temporal_window": {"start": "9999-12-31T23:59:59.999999Z", "end": "9999-12-31T23:59:59.999999Z"}},
    {"query": "what happened in the last 99999999999999999999 years"},
    {"query": "in 312 BC or the year 12000"},
]


@pytest.fixture(scope="module")
def bank(http: httpx.Client) -> Bank:
    made = Bank(http, f"questions-{uuid4()}")
    made.retain({"content": "Ana lives in Graz.", "tags": ["a"]})
    return made


def _ask(bank: Bank, path: str, fields: dict[str, Any]) -> httpx.Response:
    return bank.call("POST", path, {"query": "Where does Ana live?", **fields})


@pytest.mark.parametrize("path", ["/memories/recall", "/reflect"])
@pytest.mark.parametrize(("fields", "place"), WRONG)
def test_wrong_for_recall_and_reflect(bank: Bank, path: str, fields: dict[str, Any], place: str) -> None:
    assert places(_ask(bank, path, fields)) == [f"body.{place}"]


@pytest.mark.parametrize(("fields", "place"), WRONG_RECALL)
def test_wrong_for_recall(bank: Bank, fields: dict[str, Any], place: str) -> None:
    assert places(_ask(bank, "/memories/recall", fields)) == [f"body.{place}"]


@pytest.mark.parametrize(("fields", "place"), WRONG_REFLECT)
def test_wrong_for_reflect(bank: Bank, fields: dict[str, Any], place: str) -> None:
    assert places(_ask(bank, "/reflect", fields)) == [f"body.{place}"]


@pytest.mark.parametrize("types", [["fact"], ["world", "fact"]])
def test_unknown_types_are_named(bank: Bank, types: list[str]) -> None:
    answer = _ask(bank, "/memories/recall", {"types": types})
    assert places(answer) == ["body.types"]
    expected = "Invalid fact type(s): fact. Must be one of: experience, observation, world"
    assert answer.json()["detail"][0]["msg"] == expected


@pytest.mark.parametrize("query", ["who " * 501, "x" * 100_000, "東" * 2000])
def test_a_query_over_500_tokens_is_400(bank: Bank, query: str) -> None:
    answer = _ask(bank, "/memories/recall", {"query": query})
    assert answer.status_code == 400 and "500 tokens" in answer.json()["detail"]
    # Reflect has no such limit: what it asks recall is cut.
    good(_ask(bank, "/reflect", {"query": query}))


@pytest.mark.parametrize("when", ["yesterday", "2026-13-01", "\u0000", "\ud83d", "0001-01-01T00:00:00+14:00"])
def test_an_unreadable_query_timestamp_is_400(bank: Bank, when: str) -> None:
    answer = _ask(bank, "/memories/recall", {"query_timestamp": when})
    assert answer.status_code == 400 and "query_timestamp" in answer.json()["detail"]


@pytest.mark.parametrize("depth", [17, 30])
def test_tag_groups_nested_too_deep_are_refused(bank: Bank, depth: int) -> None:
    group: dict[str, Any] = {"tags": ["a"]}
    for _ in range(depth):
        group = {"not": group}
    answer = _ask(bank, "/memories/recall", {"tag_groups": [group]})
    assert places(answer)[0].startswith("body.tag_groups.0.not")


@pytest.mark.parametrize("fields", ODD)
def test_odd_for_recall_and_reflect(bank: Bank, fields: dict[str, Any]) -> None:
    for path in ("/memories/recall", "/reflect"):
        good(_ask(bank, path, fields))


@pytest.mark.parametrize("fields", ODD_RECALL)
def test_odd_for_recall(bank: Bank, fields: dict[str, Any]) -> None:
    good(_ask(bank, "/memories/recall", fields))


def test_former_types_are_dropped_without_a_word(bank: Bank) -> None:
    assert bank.recall("Ana", types=["opinion"])["results"] == []
    assert len(bank.recall("Ana", types=["opinion", "world"])["results"]) == 1
