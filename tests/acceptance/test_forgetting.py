"""Forgetting leaves nothing behind: looked at over HTTP, and in the tables."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from bank_calls import Bank, Running, good
from psycopg import sql
from psycopg.rows import dict_row

from memorybank.storage.embedded import EmbeddedServer

SECRET = "Quetzal"
TEXTS = [f"{SECRET} lives in Graz.", f"Bert met {SECRET} in Linz.", "Cid repairs bicycles."]
#: What of a bank may outlive its content: the bank itself, who may use it, and that work was done.
OUTLIVES = {"audience", "operation", "bank_size"}


@pytest.fixture
def database(server: Running) -> Iterator[psycopg.Connection[Any]]:
    """The server's own database."""
    with psycopg.connect(EmbeddedServer(server.home.home).ensure(), row_factory=dict_row) as connection:
        yield connection


def _fill(bank: Bank) -> None:
    """Keep three documents, one of them in the background."""
    for at, text in enumerate(TEXTS):
        item = {"content": text, "document_id": f"d{at}", "tags": ["t"], "entities": [{"text": SECRET}]}
        answer = bank.retain(item, **{"async": at == 0})
        if at == 0:
            bank.ended(answer["operation_id"])


def _rows(database: psycopg.Connection[Any], bank: int) -> dict[str, int]:
    """How many rows of each table are of a bank, those tables left out that have none."""
    tables = database.execute(
        "SELECT table_name AS name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND column_name = 'bank'"
    ).fetchall()
    counted = {}
    for name in sorted(row["name"] for row in tables):
        query = sql.SQL("SELECT count(*) AS rows FROM {} WHERE bank = %s").format(sql.Identifier(name))
        counted[name] = database.execute(query, [bank]).fetchall()[0]["rows"]
    assert len(counted) > 8
    return {name: rows for name, rows in counted.items() if rows}


def _number(database: psycopg.Connection[Any], bank: Bank) -> int:
    (row,) = database.execute("SELECT id FROM bank WHERE bank_id = %s", [bank.id]).fetchall()
    return int(row["id"])


def test_deleting_every_document_leaves_nothing_of_them(
    bank: Bank, database: psycopg.Connection[Any]
) -> None:
    _fill(bank)
    number = _number(database, bank)
    assert {"chunk", "document", "embedding", "entity", "memory_unit", "posting"} <= _rows(
        database, number
    ).keys()
    for at in range(len(TEXTS)):
        gone = good(bank.call("DELETE", f"/documents/d{at}"))
        assert (gone["success"], gone["document_id"], gone["memory_units_deleted"]) == (True, f"d{at}", 1)
    database.rollback()
    assert _rows(database, number).keys() <= OUTLIVES
    counts = bank.counts()
    assert counts.pop("operations") > 0 and set(counts.values()) == {0}
    stats = bank.get("/stats")
    assert (stats["total_nodes"], stats["total_links"], stats["total_documents"]) == (0, 0, 0)
    assert bank.recall("Who lives in Graz?")["results"] == []
    told = database.execute("SELECT o::text AS told FROM operation o WHERE bank = %s", [number]).fetchall()
    assert told and not any(SECRET in row["told"] for row in told)


def test_deleting_one_document_leaves_the_others(bank: Bank) -> None:
    _fill(bank)
    good(bank.call("DELETE", "/documents/d0"))
    assert sorted(bank.texts()) == sorted(TEXTS[1:])
    named = {item["canonical_name"]: item["mention_count"] for item in bank.get("/entities")["items"]}
    assert named[SECRET] == 2
    assert all(TEXTS[0] != hit["text"] for hit in bank.recall(TEXTS[0])["results"])
    assert bank.call("GET", f"/v1/default/chunks/{bank.id}_d0_0").status_code == 404
    assert bank.call("DELETE", "/documents/d0").status_code == 404


def test_deleting_a_bank_leaves_nothing_of_it_and_all_of_the_others(
    new_bank: Callable[[], Bank], database: psycopg.Connection[Any]
) -> None:
    bank, other = new_bank(), new_bank()
    for one in (bank, other):
        _fill(one)
    number, kept = _number(database, bank), _number(database, other)
    before = _rows(database, kept), other.counts(), other.get("/stats")
    deleted = good(bank.call("DELETE"))
    held = bank.counts()
    assert deleted["message"] == f"Bank '{bank.id}' and all associated data deleted successfully"
    assert deleted["deleted_count"] >= 2 * len(TEXTS) and set(held.values()) == {0}
    database.rollback()
    assert _rows(database, number) == {}
    assert (_rows(database, kept), other.counts(), other.get("/stats")) == before
    assert good(bank.call("DELETE"))["deleted_count"] == 0


def test_clearing_forgets_memories_and_keeps_the_bank(bank: Bank, database: psycopg.Connection[Any]) -> None:
    good(bank.call("PUT", "", {"name": "Team", "mission": "Keep decisions"}))
    _fill(bank)
    number = _number(database, bank)
    assert good(bank.call("DELETE", "/memories", params={"type": "observation"}))["success"]
    assert good(bank.call("DELETE", "/memories", params={"type": "experience"}))["success"]
    assert len(bank.texts()) == len(TEXTS)
    assert good(bank.call("DELETE", "/memories"))["success"]
    database.rollback()
    assert _rows(database, number).keys() <= OUTLIVES
    profile = bank.get("/profile")
    assert (profile["name"], profile["mission"]) == ("Team", "Keep decisions")
    _fill(bank)
    assert len(bank.texts()) == len(TEXTS)


def test_forgetting_under_writers_breaks_nothing(bank: Bank) -> None:
    def write(at: int) -> int:
        items = [{"content": text, "document_id": f"d{(at + turn) % 3}"} for turn, text in enumerate(TEXTS)]
        return bank.call("POST", "/memories", {"items": items, "async": at % 4 == 0}).status_code

    def forget(at: int) -> int:
        path = ("", "/memories", "/documents/d0", "/documents/d1")[at % 4]
        return bank.call("DELETE", path).status_code

    def tag(at: int) -> int:
        return bank.call("PATCH", f"/documents/d{at % 3}", {"tags": [f"t{at}"]}).status_code

    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(call, at) for at in range(24) for call in (write, forget, tag)]
        statuses = {done.result() for done in asked}
    # 404: not there (any more); 409: the operation that a writer waited for went with its bank.
    assert statuses <= {200, 404, 409}
    good(bank.call("DELETE"))
    bank.retain(*TEXTS)
    assert sorted(bank.texts()) == sorted(TEXTS)


@pytest.mark.parametrize("first", ["a", "b"])
def test_what_two_documents_say_is_one_memory_until_both_are_gone(bank: Bank, first: str) -> None:
    said = "The spare key is with the florist."
    for document in ("a", "b"):
        bank.retain({"content": said, "document_id": document, "metadata": {"from": "chat"}})

    def recalled() -> list[tuple[str, str]]:
        found = bank.recall("Who has the spare key?")["results"]
        assert all(hit["metadata"] == {"from": "chat"} for hit in found)
        return [(hit["text"], hit["document_id"]) for hit in found]

    assert recalled() == [(said, "a")]
    [listed] = bank.get("/memories/list", document_id="b")["items"]
    assert listed["proof_count"] == 2
    assert bank.get(f"/memories/{listed['id']}")["mentioned_in"] == ["b"]
    assert {item["id"]: item["memory_unit_count"] for item in bank.get("/documents")["items"]} == {
        "a": 1,
        "b": 1,
    }
    other = {"a": "b", "b": "a"}[first]
    good(bank.call("DELETE", f"/documents/{first}"))
    assert recalled() == [(said, other)]
    assert bank.get(f"/memories/{listed['id']}")["proof_count"] == 1
    good(bank.call("DELETE", f"/documents/{other}"))
    assert recalled() == []
