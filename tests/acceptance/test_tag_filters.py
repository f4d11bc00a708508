"""Tag filters mean the same everywhere: in the lists, in recall and in reflect."""

from uuid import uuid4

import httpx
import pytest
from bank_calls import Bank, good

#: Facts by name, and their tags.
ROWS = {"a": ["a"], "b": ["b"], "ab": ["a", "b"], "none": []}
EVERYTHING = set(ROWS)
#: Tags asked for, match, facts that pass.
TRUTH: list[tuple[list[str], str, set[str]]] = [
    (["a"], "any", {"a", "ab", "none"}),
    (["a"], "all", {"a", "ab", "none"}),
    (["a"], "any_strict", {"a", "ab"}),
    (["a"], "all_strict", {"a", "ab"}),
    (["a"], "exact", {"a"}),
    (["a", "b"], "any", EVERYTHING),
    (["a", "b"], "all", {"ab", "none"}),
    (["a", "b"], "any_strict", {"a", "b", "ab"}),
    (["a", "b"], "all_strict", {"ab"}),
    (["a", "b"], "exact", {"ab"}),
    (["b", "a", "a"], "exact", {"ab"}),
    (["x"], "any", {"none"}),
    (["x"], "any_strict", set()),
    (["x"], "exact", set()),
    ([], "any", EVERYTHING),
    ([], "all", EVERYTHING),
    ([], "any_strict", EVERYTHING),
    ([], "all_strict", EVERYTHING),
    ([], "exact", {"none"}),
]
#: Groups asked for, facts that pass.
GROUPS = [
    ([{"tags": ["a"]}], {"a", "ab"}),
    ([{"tags": ["a"], "match": "any"}], {"a", "ab", "none"}),
    ([{"not": {"tags": ["a"]}}], {"b", "none"}),
    ([{"not": {"not": {"tags": ["a"]}}}], {"a", "ab"}),
    ([{"tags": ["a"]}, {"not": {"tags": ["b"]}}], {"a"}),
    ([{"or": [{"tags": ["a", "b"], "match": "all_strict"}, {"tags": [], "match": "exact"}]}], {"ab", "none"}),
    ([{"and": [{"tags": ["a"]}, {"tags": ["b"]}]}], {"ab"}),
    ([{"or": []}], set()),
    ([{"and": []}], EVERYTHING),
    ([], EVERYTHING),
]


@pytest.fixture(scope="module")
def tagged(http: httpx.Client) -> Bank:
    """A bank of four facts, each a document, that the tests of this file only read."""
    bank = Bank(http, f"tags-{uuid4()}")
    bank.call("PATCH", "/config", {"updates": {"retain_extraction_mode": "chunks"}})
    for name, tags in ROWS.items():
        item = {"content": f"The kiln named {name} is warm.", "tags": tags, "document_id": name}
        bank.retain({**item, "entities": [{"text": f"kiln {name}"}]})
    return bank


def _names(texts: list[str]) -> set[str]:
    return {text.split()[3] for text in texts}


@pytest.mark.parametrize(("tags", "match", "passing"), TRUTH)
def test_truth_table(tagged: Bank, tags: list[str], match: str, passing: set[str]) -> None:
    asked = {"tags": tags, "tags_match": match}
    assert _names(tagged.texts(**asked)) == passing
    assert {item["id"] for item in tagged.get("/documents", **asked)["items"]} == passing
    entities = tagged.get("/entities", **asked)["items"]
    assert {item["canonical_name"].removeprefix("kiln ") for item in entities} == passing
    assert (
        _names([hit["text"] for hit in tagged.recall("Which kiln is warm?", **asked)["results"]]) == passing
    )
    body = {"query": "Which kiln is warm?", "include": {"facts": {}}, **asked}
    rests_on = good(tagged.call("POST", "/reflect", body))["based_on"]["memories"]
    assert _names([fact["text"] for fact in rests_on]) <= passing
    assert bool(rests_on) == bool(passing)


@pytest.mark.parametrize(("groups", "passing"), GROUPS)
def test_groups(tagged: Bank, groups: list[object], passing: set[str]) -> None:
    answer = tagged.recall("Which kiln is warm?", tag_groups=groups)
    assert _names([hit["text"] for hit in answer["results"]]) == passing
    body = {"query": "Which kiln is warm?", "include": {"facts": {}}, "tag_groups": groups}
    rests_on = good(tagged.call("POST", "/reflect", body))["based_on"]["memories"]
    assert _names([fact["text"] for fact in rests_on]) <= passing


def test_an_entity_is_seen_through_its_facts(tagged: Bank) -> None:
    (kiln,) = tagged.get("/entities", tags=["a"], tags_match="exact")["items"]
    path = f"/entities/{kiln['id']}"
    assert tagged.get(path, tags=["a"])["canonical_name"] == "kiln a"
    assert tagged.call("GET", path, params={"tags": ["b"], "tags_match": "any_strict"}).status_code == 404


def test_a_tag_is_found_however_it_was_typed(bank: Bank) -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    bank.retain({"content": "Ana lives in Graz.", "tags": [decomposed], "document_id": f"d-{decomposed}"})
    for tag in (composed, decomposed):
        asked = {"tags": [tag], "tags_match": "all_strict"}
        assert len(bank.texts(**asked)) == 1
        assert len(bank.recall("Ana", **asked)["results"]) == 1
        assert len(bank.recall("Ana", tag_groups=[{"tags": [tag]}])["results"]) == 1
        assert bank.get("/tags", q=tag)["items"] == [{"tag": composed, "count": 1}]
        assert bank.get(f"/documents/d-{tag}")["id"] == f"d-{composed}"
        assert len(bank.texts(document_id=f"d-{tag}")) == 1


def test_new_tags_of_a_document_hold_for_its_facts(bank: Bank) -> None:
    bank.retain({"content": "Ana lives in Graz.", "tags": ["old"], "document_id": "d"})
    good(bank.call("PATCH", "/documents/d", {"tags": ["new", " ", "new", "n\u0000ew"]}))
    assert bank.get("/documents/d")["tags"] == ["new"]
    assert bank.texts(tags=["new"], tags_match="exact") and not bank.texts(
        tags=["old"], tags_match="any_strict"
    )
    assert bank.recall("Ana", tags=["new"], tags_match="any_strict")["results"][0]["tags"] == ["new"]
    assert [item["tag"] for item in bank.get("/tags")["items"]] == ["new"]
    good(bank.call("PATCH", "/documents/d", {"tags": []}))
    assert bank.texts(tags=[], tags_match="exact") == ["Ana lives in Graz."]


def test_tags_of_item_and_request_are_one_set(bank: Bank) -> None:
    bank.retain({"content": "Ana lives in Graz.", "tags": '["a", "b"]'}, document_tags=["b", "c"])
    assert sorted(bank.get("/memories/list")["items"][0]["tags"]) == ["a", "b", "c"]
