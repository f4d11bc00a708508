"""What is asked of a mental model: ids, names, triggers, hours, scope."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memorybank.errors import BadRequest, InvalidInput
from memorybank.mental_models import trigger
from memorybank.tags import TagAll, TagLeaf, TagNot

AT = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize("good", ["a", "0", "team-plans", "9-", "a" * 128])
def test_ids(good: str) -> None:
    assert trigger.id_of(good, "Name") == good


@pytest.mark.parametrize("bad", ["", "-a", "A", "a_b", "a b", "ä", "a\n", "a" * 129])
def test_what_is_no_id(bad: str) -> None:
    with pytest.raises(BadRequest):
        trigger.id_of(bad, "Name")


@pytest.mark.parametrize(
    ("name", "made"),
    [("Ana's Plans!", "ana-s-plans"), ("計画", "model"), ("--", "model"), ("x" * 500, "x" * 64)],
)
def test_an_id_is_made_of_the_name(name: str, made: str) -> None:
    assert trigger.id_of(None, name) == made


@pytest.mark.parametrize(
    ("cron", "then"),
    [
        ("0 9 * * *", datetime(2026, 3, 5, 9, tzinfo=UTC)),
        ("*/5 * * * *", datetime(2026, 3, 4, 10, 5, tzinfo=UTC)),
        ("0 0 29 2 *", datetime(2028, 2, 29, tzinfo=UTC)),
        ("0 0 31 2 *", None),
        ("every day", None),
        ("", None),
        ("60 * * * *", None),
    ],
)
def test_hours(cron: str, then: datetime | None) -> None:
    assert trigger.next_time(cron, AT) == then


WRONG: list[dict[str, Any]] = [
    {"refresh_cron": "nonsense"},
    {"refresh_cron": "0 9 * * *", "refresh_after_consolidation": True},
    {"fact_types": []},
    {"tag_groups": [{"tags": "a"}]},
    {"response_schema": {"type": "array"}},
    {"response_schema": {"type": "object"}},
]


@pytest.mark.parametrize("asked", WRONG)
def test_what_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        trigger.checked(asked)


def test_no_text_in_it_is_one_that_cannot_be_stored() -> None:
    schema = {"type": "object", "properties": {"a\u0000": {"description": "\ud83d", "enum": ["x\u0000", 1]}}}
    stored = trigger.checked({"exclude_mental_model_ids": ["m\u0000"], "response_schema": schema})
    assert stored == {
        "exclude_mental_model_ids": ["m"],
        "response_schema": {"type": "object", "properties": {"a": {"description": "", "enum": ["x", 1]}}},
    }


def test_what_is_stored_has_no_nulls_and_normal_tags() -> None:
    asked = {
        "mode": "full",
        "refresh_cron": None,
        "tag_groups": [{"or": [{"tags": ["cafe\u0301"], "match": None}]}],
    }
    assert trigger.checked(asked | {"tag_groups": [{"or": [{"tags": ["cafe\u0301"]}]}]}) == {
        "mode": "full",
        "tag_groups": [{"or": [{"tags": ["café"], "match": "any_strict"}]}],
    }


@pytest.mark.parametrize(
    ("asked", "tags", "condition"),
    [
        ({}, (), None),
        ({}, ("a",), TagAll((TagLeaf(("a",), "all_strict"),))),
        ({"tags_match": "any"}, ("a",), TagAll((TagLeaf(("a",), "any"),))),
        ({"tags_match": "exact"}, (), TagAll((TagLeaf((), "exact"),))),
        (
            {"tag_groups": [{"not": {"tags": ["b"]}}]},
            ("a",),
            TagAll((TagLeaf(("a",), "all_strict"), TagAll((TagNot(TagLeaf(("b",), "any_strict")),)))),
        ),
    ],
)
def test_scope(asked: dict[str, Any], tags: tuple[str, ...], condition: Any) -> None:
    assert trigger.read(asked, tags).scope.condition == condition


def test_chunks_are_looked_at_where_asked() -> None:
    assert trigger.read({}, ()).chunks_max_tokens is None
    assert trigger.read({"include_chunks": True}, ()).chunks_max_tokens == 1000
    assert trigger.read({"include_chunks": True, "recall_chunks_max_tokens": 7}, ()).chunks_max_tokens == 7
