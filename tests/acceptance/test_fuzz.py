"""Random bodies, near to right ones: whatever comes, no call answers with a 5xx, and no work is left broken."""

import json
import time
from typing import Any
from uuid import uuid4

import httpx
import pytest
from bank_calls import JSON_HEADERS, PATIENCE, Bank, good
from hypothesis import given, settings
from hypothesis import strategies as st

#: Every run tries the same bodies.
SAME = settings(derandomize=True, deadline=None, database=None, max_examples=30)

texts = st.text(st.characters(), max_size=12) | st.sampled_from(
    [
        "",
        " ",
        "\u0000",
        "\ud83d",
        "Ana lives in Graz.",
        "2026-03-01",
        "unset",
        "any",
        "exact",
        "x" * 600,
        "-1",
        "1e9",
    ]
)
whole = st.integers() | st.sampled_from([0, -1, 10**30, 2**31, 2**63, 10**300, 10**400])
numbers = whole | st.floats()
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def near(
    required: dict[str, st.SearchStrategy[Any]] | None = None, **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with the required and some of the other fields; in one of four, one field is of a random value."""
    known = required or {}
    return st.builds(
        lambda made, wrong, name, value: made | {name: value} if wrong else made,
        st.fixed_dictionaries(known, optional=fields),
        st.sampled_from([False, False, False, True]),
        st.sampled_from([*known, *fields, "more"]),
        values,
    )


sentences = st.sampled_from(
    ["Ana lives in Graz.", "Yesterday Bert met Cid in Linz.", "東京で会った。", "a\u0000 b \ud83d"]
)
tag_lists = st.lists(texts.map(lambda text: text[:100]), max_size=3)
times = st.datetimes().map(str) | st.dates().map(str) | st.just("")
items = near(
    {"content": sentences},
    timestamp=times,
    context=texts,
    metadata=st.dictionaries(texts, texts, max_size=2),
    document_id=st.text(st.characters(), max_size=3),
    entities=st.lists(near({"text": sentences}, type=texts), max_size=2),
    resolve_entities=st.booleans(),
    tags=tag_lists,
    observation_scopes=st.sampled_from(["per_tag", "combined", "shared"]) | st.lists(tag_lists, max_size=2),
    strategy=texts,
    update_mode=st.sampled_from(["replace", "append"]),
)
groups = st.recursive(
    near({"tags": tag_lists}, match=st.sampled_from(["any", "all_strict", "exact"])),
    lambda inner: (
        st.fixed_dictionaries({"and": st.lists(inner, max_size=2)})
        | st.fixed_dictionaries({"or": st.lists(inner, max_size=2)})
        | st.fixed_dictionaries({"not": inner})
    ),
    max_leaves=4,
)
options = near(max_tokens=whole, max_tokens_per_observation=whole)
scoped: dict[str, st.SearchStrategy[Any]] = {
    "budget": st.sampled_from(["low", "mid", "high"]),
    "max_tokens": whole,
    "tags_match": st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"]),
}
by_tags = st.fixed_dictionaries({"tags": tag_lists}) | st.fixed_dictionaries(
    {"tag_groups": st.lists(groups, max_size=2)}
)
recalls = near(
    {"query": sentences},
    types=st.lists(st.sampled_from(["world", "experience", "observation", "opinion"]), max_size=2),
    prefer_observations=st.booleans(),
    trace=st.booleans(),
    query_timestamp=times,
    include=near(entities=options, chunks=options, source_facts=options),
    min_scores=near(semantic=numbers, keyword=numbers, reranker=numbers, final=numbers),
    temporal_window=near({"start": times, "end": times}),
    **scoped,
)
reflects = near(
    {"query": sentences},
    context=texts,
    fact_types=st.lists(st.sampled_from(["world", "experience", "observation"]), min_size=1, max_size=2),
    include=near(facts=st.just({}), tool_calls=st.just({"output": True})),
    exclude_mental_model_ids=st.lists(texts, max_size=2),
    **scoped,
)


@pytest.fixture(scope="module")
def fuzzed(http: httpx.Client) -> Bank:
    bank = Bank(http, f"fuzz-{uuid4()}")
    bank.retain({"content": "Ana lives in Graz.", "tags": ["a"]})
    return bank


def _send(bank: Bank, method: str, path: str, body: Any) -> None:
    bank.call(method, path, content=json.dumps(body), headers=JSON_HEADERS)


@SAME
@given(
    body=near(
        {"items": st.lists(items, min_size=1, max_size=3)},
        document_tags=tag_lists,
        **{"async": st.booleans()},
    )
)
def test_retain(fuzzed: Bank, body: Any) -> None:
    _send(fuzzed, "POST", "/memories", body)


@SAME
@given(body=recalls, filter_=by_tags)
def test_recall(fuzzed: Bank, body: Any, filter_: Any) -> None:
    _send(fuzzed, "POST", "/memories/recall", body | filter_)


@SAME
@given(body=reflects, filter_=by_tags)
def test_reflect(fuzzed: Bank, body: Any, filter_: Any) -> None:
    _send(fuzzed, "POST", "/reflect", body | filter_)


def _like(value: Any) -> st.SearchStrategy[Any]:
    """Values of the type of a setting's default."""
    if isinstance(value, bool):
        return st.booleans()
    return st.sampled_from([1, 2, 5, 60, 2**31 - 1, 10**30]) if isinstance(value, int) else values


@SAME
@given(data=st.data())
def test_configuration(fuzzed: Bank, data: st.DataObject) -> None:
    defaults = fuzzed.get("/config")["config"]
    names = data.draw(st.lists(st.sampled_from(sorted(defaults)), max_size=4))
    updates = {name: data.draw(_like(defaults[name]) | values) for name in names}
    _send(fuzzed, "PATCH", "/config", {"updates": updates})
    # Whatever was taken can be worked with.
    fuzzed.retain("Dora lives in Rome.")
    fuzzed.recall("Where does Dora live?")
    good(fuzzed.call("DELETE", "/config"))


@SAME
@given(
    body=near(
        {"name": texts, "content": texts},
        priority=whole,
        is_active=st.booleans(),
        tags=tag_lists,
    )
)
def test_directives(fuzzed: Bank, body: Any) -> None:
    _send(fuzzed, "POST", "/directives", body | {"is_active": False})


@SAME
@given(body=values)
def test_anything_on_any_call(fuzzed: Bank, body: Any) -> None:
    for method, path in (("PUT", ""), ("PUT", "/profile"), ("PATCH", "/config"), ("PATCH", "/documents/d")):
        _send(fuzzed, method, path, body)


def test_no_work_is_left_broken(fuzzed: Bank) -> None:
    end = time.monotonic() + PATIENCE
    while fuzzed.get("/stats")["pending_operations"]:
        assert time.monotonic() < end, fuzzed.get("/operations", exclude_parents=True)
        time.sleep(0.05)
    assert fuzzed.get("/operations", status="failed")["operations"] == []
    assert fuzzed.texts(q="Ana lives in Graz.")
