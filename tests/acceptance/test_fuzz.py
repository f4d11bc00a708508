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
SAME = settings(derandomize=True, deadline=None, database=None, max_examples=50)

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
numbers = st.integers() | st.sampled_from([0, -1, 10**30, 2**31, 2**63]) | st.floats()
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def near(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of these fields, each now and then of a random value, and sometimes a field more."""
    optional = {name: right | values for name, right in fields.items()}
    return st.fixed_dictionaries({}, optional=optional | {"more": values})


sentences = (
    st.sampled_from(["Ana lives in Graz.", "Yesterday Bert met Cid in Linz.", "東京で会った。"]) | texts
)
tag_lists = st.lists(texts, max_size=3)
scopes = st.sampled_from(["per_tag", "combined", "shared"]) | st.lists(tag_lists, max_size=2)
items = near(
    timestamp=texts,
    context=texts,
    metadata=st.dictionaries(texts, texts, max_size=2),
    document_id=texts,
    entities=st.lists(near(text=texts, type=texts), max_size=2),
    resolve_entities=st.booleans(),
    tags=tag_lists,
    observation_scopes=scopes,
    strategy=texts,
    update_mode=st.sampled_from(["replace", "append"]),
).flatmap(lambda item: sentences.map(lambda text: {"content": text, **item}))
groups = st.recursive(
    near(tags=tag_lists, match=st.sampled_from(["any", "all_strict", "exact"])),
    lambda inner: (
        st.fixed_dictionaries({"and": st.lists(inner, max_size=2)})
        | st.fixed_dictionaries({"or": st.lists(inner, max_size=2)})
        | st.fixed_dictionaries({"not": inner})
    ),
    max_leaves=4,
)
options = near(max_tokens=numbers, max_tokens_per_observation=numbers)
questions = near(
    types=st.lists(st.sampled_from(["world", "experience", "observation", "opinion"]), max_size=2),
    prefer_observations=st.booleans(),
    budget=st.sampled_from(["low", "mid", "high"]),
    max_tokens=numbers,
    trace=st.booleans(),
    query_timestamp=texts,
    include=near(entities=options, chunks=options, source_facts=options),
    tags=tag_lists,
    tags_match=st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"]),
    tag_groups=st.lists(groups, max_size=2),
    min_scores=near(semantic=numbers, keyword=numbers, reranker=numbers, final=numbers),
    temporal_window=near(start=texts, end=texts),
).flatmap(lambda body: sentences.map(lambda text: {"query": text, **body}))


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
        items=st.lists(items, min_size=1, max_size=3), document_tags=tag_lists, **{"async": st.booleans()}
    )
)
def test_retain(fuzzed: Bank, body: Any) -> None:
    _send(fuzzed, "POST", "/memories", body)


@SAME
@given(body=questions)
def test_recall(fuzzed: Bank, body: Any) -> None:
    _send(fuzzed, "POST", "/memories/recall", body)
    _send(fuzzed, "POST", "/reflect", body)


@SAME
@given(data=st.data())
def test_configuration(fuzzed: Bank, data: st.DataObject) -> None:
    names = [name for name in fuzzed.get("/config")["config"] if name != "retain_default_strategy"]
    updates = data.draw(st.dictionaries(st.sampled_from(names) | texts, values, max_size=4))
    _send(fuzzed, "PATCH", "/config", {"updates": updates})
    # Whatever was taken can be worked with.
    fuzzed.retain("Dora lives in Rome.")
    fuzzed.recall("Where does Dora live?")
    good(fuzzed.call("DELETE", "/config"))


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
