"""Knowledge pages over HTTP: tree, pages built by the workers, moves, search, the bundle; and by the real client."""

from typing import Any

import pytest
from bank_calls import Bank, Running, good
from hindsight_client import Hindsight
from wire_shapes import violations

BASE = "/knowledge-base"
#: Pages read observations; a bank without a model hardly has any.
FACTS = {"fact_types": ["world"]}


def made(bank: Bank, path: str, shape: str, **body: Any) -> Any:
    answer = bank.call("POST", BASE + path, body)
    assert answer.status_code == 201, answer.text
    assert list(violations(shape, answer.json())) == []
    return answer.json()


def folder(bank: Bank, name: str, parent: str | None = None) -> str:
    return str(made(bank, "/folders", "KnowledgeNode", name=name, parent_id=parent)["id"])


def page(bank: Bank, name: str, parent: str | None = None, query: str = "What is said?", **more: Any) -> str:
    body = {"name": name, "source_query": query, "parent_id": parent, "trigger": FACTS, **more}
    answer = made(bank, "/pages", "CreateKnowledgePageResponse", **body)
    assert bank.ended(answer["operation_id"])["status"] == "completed"
    return str(answer["page_id"])


def tree(bank: Bank) -> list[Any]:
    """The names in the tree: of a folder with what is in it."""

    def names(nodes: list[Any]) -> list[Any]:
        return [
            (one["name"], names(one["children"])) if one["kind"] == "folder" else one["name"] for one in nodes
        ]

    found = bank.get(BASE + "/tree")
    assert list(violations("KnowledgeTreeResponse", found)) == []
    return names(found["roots"])


@pytest.fixture
def told(bank: Bank) -> Bank:
    bank.retain(
        {"content": "Ana breeds bees in the north garden.", "document_id": "bees", "tags": ["bees"]},
        {"content": "Bert repairs clocks in Graz.", "document_id": "clocks", "tags": ["clocks"]},
    )
    return bank


def test_a_tree_of_folders_and_pages(told: Bank) -> None:
    team = folder(told, "Team")
    inner = folder(told, "Inner", team)
    first = page(told, "Bees", inner, "Who breeds bees?", tags=["bees"])
    page(told, "Clocks", None, "Who repairs clocks?")
    assert tree(told) == [("Team", [("Inner", ["Bees"])]), "Clocks"]
    [node] = told.get(BASE + "/tree")["roots"][0]["children"][0]["children"]
    assert (node["id"], node["parent_id"], node["managed"], node["is_stale"]) == (first, inner, True, False)
    assert node["trigger"]["mode"] == "delta" and node["trigger"]["refresh_after_consolidation"]
    assert node["trigger"]["fact_types"] == ["world"]
    one = told.get(f"{BASE}/pages/{first}")
    assert list(violations("KnowledgePageResponse", one)) == []
    assert "north garden" in one["body"] and "clocks" not in one["body"]
    assert one["markdown"].startswith('---\ntype: "page"\ntitle: "Bees"\n') and one["body"] in one["markdown"]
    assert told.get(f"/mental-models/{first}")["max_tokens"] == 4096
    assert told.get("/mental-models", exclude_knowledge_pages=True)["total"] == 0


def test_nodes_are_renamed_moved_and_deleted(told: Bank) -> None:
    team, other = folder(told, "Team"), folder(told, "Other")
    inner, bees = folder(told, "Inner", team), page(told, "Bees", team)

    def patch(node: str, **body: Any) -> Any:
        answer = good(told.call("PATCH", f"{BASE}/nodes/{node}", body))
        assert list(violations("KnowledgeNode", answer)) == []
        return answer

    assert patch(bees, name="Hives", parent_id=inner)["parent_id"] == inner
    assert patch(inner, parent_id=other)["children"][0]["name"] == "Hives"
    assert tree(told) == [("Other", [("Inner", ["Hives"])]), ("Team", [])]
    assert patch(bees, parent_id=None, source_query="Who has hives?")["description"] == "Who has hives?"
    assert tree(told) == [("Other", [("Inner", [])]), ("Team", []), "Hives"]
    patch(bees, parent_id=inner)
    assert good(told.call("DELETE", f"{BASE}/nodes/{other}")) == {"status": "deleted"}
    assert tree(told) == [("Team", [])]
    assert told.call("GET", f"/mental-models/{bees}").status_code == 404, "what was in it is gone with it"
    single = page(told, "Alone")
    assert good(told.call("DELETE", f"{BASE}/nodes/{single}")) == {"status": "deleted"}
    assert told.call("GET", f"{BASE}/pages/{single}").status_code == 404


def test_what_cannot_be(told: Bank) -> None:
    team = folder(told, "Team")
    inner, bees = folder(told, "Inner", team), page(told, "Bees", team)
    good(told.call("POST", "/mental-models", {"id": "plain", "name": "Plain", "source_query": "What?"}))
    asked: list[tuple[str, str, Any, int]] = [
        ("POST", "/pages", {"name": "Bees", "source_query": "x", "parent_id": team}, 409),
        ("POST", "/folders", {"name": "Team"}, 409),
        ("POST", "/pages", {"name": "New", "source_query": "x", "parent_id": "kf-none"}, 400),
        ("POST", "/pages", {"name": "New", "source_query": "x", "parent_id": bees}, 400),
        ("POST", "/folders", {"name": "New", "parent_id": ""}, 400),
        ("POST", "/folders", {"name": " "}, 422),
        ("POST", "/pages", {"name": "New", "source_query": " "}, 422),
        ("PATCH", f"/nodes/{bees}", {}, 400),
        ("PATCH", f"/nodes/{bees}", {"strange": 1}, 400),
        ("PATCH", f"/nodes/{team}", {"parent_id": team}, 400),
        ("PATCH", f"/nodes/{team}", {"parent_id": inner}, 400),
        ("PATCH", "/nodes/kf-none", {"name": "x"}, 404),
        ("PATCH", "/nodes/plain", {"name": "x"}, 404),
        ("DELETE", "/nodes/plain", ..., 404),
        ("GET", "/pages/plain", ..., 404),
        ("GET", f"/pages/{team}", ..., 404),
        ("GET", "/search", ..., 422),
    ]
    for method, path, body, status in asked:
        assert told.call(method, BASE + path, body).status_code == status, (method, path, body)
    assert told.call("GET", BASE + "/search", params={"q": "x", "limit": 51}).status_code == 422
    other = page(told, "Bees")
    assert told.call("PATCH", f"{BASE}/nodes/{other}", {"parent_id": team}).status_code == 409
    assert tree(told) == [("Team", [("Inner", []), "Bees"]), "Bees"]


def test_folders_are_not_endless(told: Bank) -> None:
    parent = None
    for depth in range(16):
        parent = folder(told, f"F{depth}", parent)
    answer = told.call("POST", BASE + "/folders", {"name": "Deeper", "parent_id": parent})
    assert answer.status_code == 400


def test_search_finds_by_words_and_by_meaning(told: Bank) -> None:
    bees = page(told, "Garden", None, "Who breeds bees?", tags=["bees"])
    clocks = page(told, "Trade", None, "Who works where?", tags=["clocks"])

    def ids(question: str, **more: Any) -> list[str]:
        found = told.get(BASE + "/search", q=question, **more)
        assert list(violations("KnowledgePageSearchResponse", found)) == []
        assert found["total"] == len(found["results"])
        return [one["id"] for one in found["results"]]

    assert ids("bees")[0] == bees
    assert ids("somebody who mends watches")[0] == clocks
    assert ids("who breeds or repairs", limit=1) != []
    [first, *_] = told.get(BASE + "/search", q="clocks")["results"]
    assert "Bert repairs clocks" in first["snippet"] and 0 < first["score"] <= 1


def test_the_bundle_is_a_folder_of_markdown(told: Bank) -> None:
    assert [file["path"] for file in told.get(BASE + "/export")["files"]] == ["index.md"]
    team = folder(told, "Team/../A")
    page(told, "Bees", team, "Who breeds bees?", tags=["bees"])
    page(told, "index")
    found = told.get(BASE + "/export")
    assert list(violations("KnowledgePageBundleResponse", found)) == []
    files = {file["path"]: file["content"] for file in found["files"]}
    assert sorted(files) == ["Team-..-A/Bees.md", "Team-..-A/index.md", "index-1.md", "index.md"]
    assert "north garden" in files["Team-..-A/Bees.md"]
    assert "[Bees](Bees.md): Who breeds bees?" in files["Team-..-A/index.md"]
    assert "[Team/../A](Team-..-A/index.md)" in files["index.md"]


def test_an_unknown_bank_is_not_found(bank: Bank) -> None:
    for method, path in (
        ("GET", "/tree"),
        ("GET", "/export"),
        ("GET", "/pages/kp-x"),
        ("DELETE", "/nodes/kp-x"),
    ):
        assert bank.call(method, BASE + path).status_code == 404
    assert bank.call("GET", BASE + "/search", params={"q": "x"}).status_code == 404


async def test_the_published_client(server: Running, told: Bank) -> None:
    bees = page(told, "Bees", folder(told, "Team"), "Who breeds bees?")
    client = Hindsight(base_url=server.url, timeout=60)
    try:
        found = await client.knowledge_base.get_knowledge_base_tree(told.id)
        assert found.roots[0].children[0].id == bees
        one = await client.knowledge_base.get_knowledge_page(told.id, bees)
        assert "north garden" in one.markdown
        hits = await client.knowledge_base.search_knowledge_base(told.id, "bees")
        assert hits.results[0].id == bees
    finally:
        await client.aclose()
