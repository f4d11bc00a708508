"""Bad input on every call: the documented status and a message that names the field; never a 500, nothing stored."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from bank_calls import JSON_HEADERS, Bank, good, request
from wire_shapes import CALLS

from memorybank.ids import new_id

NOWHERE = "00000000-0000-0000-0000-000000000000"
HUGE = 10**30
#: What PostgreSQL cannot store: NUL, and half of a surrogate pair.
UNSTORABLE = ["a\u0000b", "\u0000", "a\ud83d", "\ud83d"]
#: Those of them that can stand in a URL.
UNSTORABLE_IN_URL = ["a%00b", "%00"]
LISTS = [
    *("/memories/list", "/documents", "/entities", "/tags", "/operations", "/documents/d/chunks"),
    "/directives",
]
#: Calls that read or change what is there, and so need a bank.
NEED_A_BANK = [
    ("PATCH", "", {"name": "x"}),
    ("GET", "/profile", ...),
    ("GET", "/memories/list", ...),
    ("GET", f"/memories/{NOWHERE}", ...),
    ("DELETE", "/memories", ...),
    ("GET", "/documents", ...),
    ("GET", "/documents/d", ...),
    ("GET", "/documents/d/chunks", ...),
    ("PATCH", "/documents/d", {"tags": []}),
    ("DELETE", "/documents/d", ...),
    ("GET", "/entities", ...),
    ("GET", f"/entities/{NOWHERE}", ...),
    ("GET", "/tags", ...),
    ("GET", "/stats", ...),
    ("GET", "/directives", ...),
    ("GET", f"/directives/{NOWHERE}", ...),
    ("PATCH", f"/directives/{NOWHERE}", {"name": "x"}),
    ("DELETE", f"/directives/{NOWHERE}", ...),
    ("GET", "/operations", ...),
    ("GET", f"/operations/{NOWHERE}", ...),
    ("DELETE", f"/operations/{NOWHERE}", ...),
    ("POST", f"/operations/{NOWHERE}/retry", ...),
    ("DELETE", f"/operations/{NOWHERE}/delete", ...),
]
#: Calls with a body, by the path below a bank.
WITH_BODY = [
    ("PUT", ""),
    ("PATCH", ""),
    ("PUT", "/profile"),
    ("PATCH", "/config"),
    ("POST", "/memories"),
    ("POST", "/memories/recall"),
    ("POST", "/reflect"),
    ("PATCH", "/documents/d"),
    ("POST", "/directives"),
    ("PATCH", f"/directives/{NOWHERE}"),
]
#: Bodies that are no JSON, or no JSON that can be kept.
NO_JSON = [
    b"{",
    b"not json",
    b"{'a': 1}",
    b'{"a": 1} x',
    b'"\xff"',
    b'{"query": NaN}',
    b'{"query": Infinity}',
    b'{"query": "x", "max_tokens": 1e999}',
    b'{"query": "x", "max_tokens": ' + b"9" * 5000 + b"}",
    b"[" * 200 + b"]" * 200,
    b"[" * 50_000,
    b'{"a":' * 500 + b"1" + b"}" * 500,
]


def places(answer: httpx.Response) -> list[str]:
    """The places that a 422 names, dotted."""
    assert answer.status_code == 422, answer.text
    assert all(entry.keys() >= {"type", "loc", "msg", "input"} for entry in answer.json()["detail"])
    return [".".join(map(str, entry["loc"])) for entry in answer.json()["detail"]]


@pytest.fixture(scope="module")
def filled(http: httpx.Client) -> Iterator[Bank]:
    """A bank with one document; whatever bad input does, it stays as it is."""
    bank = Bank(http, f"bad-{new_id()}")
    bank.retain({"content": "Ana lives in Graz.", "document_id": "d", "tags": ["a"]})
    before = bank.counts(), bank.get("/config"), bank.get("/profile")
    yield bank
    assert (bank.counts(), bank.get("/config"), bank.get("/profile")) == before


@pytest.mark.parametrize(("method", "path", "body"), NEED_A_BANK)
def test_an_unknown_bank_is_not_found_and_not_made(bank: Bank, method: str, path: str, body: Any) -> None:
    answer = bank.call(method, path, body)
    assert answer.status_code == 404
    assert answer.json() == {"detail": f"Bank '{bank.id}' not found"}
    assert bank.call("GET", "/profile").status_code == 404


def test_asking_an_unknown_bank_finds_nothing_and_makes_no_bank(bank: Bank) -> None:
    assert bank.recall("Who?")["results"] == []
    assert good(bank.call("POST", "/reflect", {"query": "Who?"}))["text"]
    assert bank.get("/config")["overrides"] == {}
    assert good(bank.call("DELETE", "/config"))["overrides"] == {}
    assert good(bank.call("DELETE"))["deleted_count"] == 0
    assert bank.call("GET", "/profile").status_code == 404


def test_writing_makes_the_bank(new_bank: Callable[[], Bank]) -> None:
    for method, path, body in (
        ("PUT", "", {}),
        ("PATCH", "/config", {"updates": {}}),
        ("PUT", "/profile", {"disposition": {"skepticism": 1, "literalism": 2, "empathy": 3}}),
        ("POST", "/memories", {"items": [{"content": "Ana lives in Graz."}]}),
        ("POST", "/directives", {"name": "Tone", "content": "Be kind."}),
    ):
        bank = new_bank()
        good(bank.call(method, path, body))
        assert bank.get("/profile")["name"] == bank.id


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_a_body_must_be_json(filled: Bank, method: str, path: str) -> None:
    for body in NO_JSON:
        answer = filled.call(method, path, content=body, headers=JSON_HEADERS)
        assert places(answer)[0].startswith("body"), (body[:40], answer.text)
    for body in (b"[]", b'"x"', b"1", b"null", b"true", b""):
        answer = filled.call(method, path, content=body, headers=JSON_HEADERS)
        assert places(answer) == ["body"], body


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_of_another_type_is_refused_with_the_way_out(filled: Bank, kind: str | None) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = filled.call("POST", "/memories/recall", content=b'{"query": "Ana"}', headers=headers)
    assert places(answer) == ["body"]
    assert "Content-Type: application/json" in answer.json()["detail"][0]["msg"]


def test_deep_but_reasonable_json_is_taken(bank: Bank) -> None:
    nested: Any = "x"
    for _ in range(60):
        nested = [nested]
    good(bank.call("PATCH", "/config", {"updates": {"llm_gemini_safety_settings": [nested]}}))
    assert bank.get("/config")["overrides"]["llm_gemini_safety_settings"] == [nested]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("name", ["limit", "offset"])
def test_page_numbers_must_be_numbers_that_count(filled: Bank, path: str, name: str) -> None:
    for value in ("-1", str(-HUGE), "x", "", "1.5", "\u0000", str(HUGE)):
        assert places(filled.call("GET", path, params={name: value})) == [f"query.{name}"], value


def test_limits_of_chunks_and_operations(filled: Bank) -> None:
    over = (("/documents/d/chunks", 1001), ("/directives", 1001), ("/directives", 0))
    for path, value in (("/operations", 101), ("/operations", 0), *over):
        assert places(filled.call("GET", path, params={"limit": value})) == ["query.limit"]


def test_page_numbers_of_the_list_of_banks(http: httpx.Client) -> None:
    for name in ("limit", "offset"):
        for value in (-1, HUGE, "x"):
            assert places(request(http, "GET", "/v1/default/banks", params={name: value})) == [
                f"query.{name}"
            ]


@pytest.mark.parametrize(
    ("path", "params", "place"),
    [
        ("/memories/list", {"type": "fact"}, "query.type"),
        ("/memories/list", {"tags_match": "most"}, "query.tags_match"),
        ("/documents", {"tags_match": "most"}, "query.tags_match"),
        ("/entities", {"tags_match": "most"}, "query.tags_match"),
        ("/directives", {"tags_match": "any_strict"}, "query.tags_match"),
        ("/directives", {"active_only": "perhaps"}, "query.active_only"),
        ("/tags", {"source": "files"}, "query.source"),
        ("/stats", {"refresh": "perhaps"}, "query.refresh"),
        ("/operations", {"exclude_parents": "perhaps"}, "query.exclude_parents"),
    ],
)
def test_words_that_no_list_knows(filled: Bank, path: str, params: dict[str, str], place: str) -> None:
    assert places(filled.call("GET", path, params=params)) == [place]


def test_clearing_an_unknown_type_clears_nothing(filled: Bank) -> None:
    assert places(filled.call("DELETE", "/memories", params={"type": "fact"})) == ["query.type"]


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"state": "gone"}, "state"),
        ({"state": "\u0000"}, "state"),
        ({"consolidation_state": "half"}, "consolidation_state"),
        ({"entity_id": "x"}, "entity_id"),
        ({"entity_id": "\u0000"}, "entity_id"),
    ],
)
def test_filters_of_memories_that_are_refused_with_400(
    filled: Bank, params: dict[str, str], word: str
) -> None:
    answer = filled.call("GET", "/memories/list", params=params)
    assert answer.status_code == 400 and word in answer.json()["detail"]


@pytest.mark.parametrize("name", ["q", "document_id", "tags", "status", "type", "source", "state"])
@pytest.mark.parametrize("path", LISTS)
def test_strange_characters_in_filters(filled: Bank, path: str, name: str) -> None:
    for value in (*UNSTORABLE_IN_URL, "%ED%A0%BD", "%FF", "%E2%80", "%25%5F%5C", "x" * 20_000, "%0D%0A"):
        answer = filled.call("GET", f"{path}?{name}={value}")
        assert answer.status_code in (200, 400, 422), answer.text


def test_strange_characters_in_the_filter_of_banks(http: httpx.Client) -> None:
    for value in (*UNSTORABLE_IN_URL, "%ED%A0%BD", "%FF", "%25%5F"):
        assert request(http, "GET", f"/v1/default/banks?q={value}").status_code == 200


@pytest.mark.parametrize("name", [n for n, (_, path, _) in CALLS.items() if "{bank_id}" in path])
def test_a_bank_id_that_cannot_be_stored_is_refused_everywhere(http: httpx.Client, name: str) -> None:
    method, template, _ = CALLS[name]
    bodies = {
        "retain_memories": {"items": [{"content": "x"}]},
        "update_bank_config": {"updates": {}},
        "update_document": {"tags": []},
        "update_bank_disposition": {"disposition": {"skepticism": 1, "literalism": 1, "empathy": 1}},
        "dry_run_extract_memories": {"content": "x"},
        "merge_entity": {"names": ["x"]},
        "update_memory": {"text": "x"},
        "create_mental_model": {"name": "x", "source_query": "x"},
        "update_mental_model": {"name": "x"},
        "create_directive": {"name": "x", "content": "x"},
        "create_knowledge_folder": {"name": "x"},
        "create_knowledge_page": {"name": "x", "source_query": "x"},
        "update_knowledge_node": {"name": "x"},
    }
    body = bodies.get(name, {"query": "who"} if method in ("POST", "PUT", "PATCH") else ...)
    ids = dict.fromkeys(re.findall(r"{(\w+)}", template), NOWHERE)
    form: dict[str, Any] = {"files": {"files": ("a.txt", b"x")}, "data": {"request": "{}"}}
    options = form if name == "file_retain" else {}
    for bank_id in ("%00", "a%00b", "a%0Ab", "%09", "%20", "x" * 513, "%C2%85"):
        path = template.format(**ids | {"bank_id": bank_id}) + (
            "?q=who" if name == "search_knowledge_base" else ""
        )
        answer = request(http, method, path, ... if options else body, **options)
        assert places(answer) == ["path.bank_id"], answer.text
        assert "bank_id" in answer.json()["detail"][0]["msg"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/memories/{}"),
        ("GET", "/entities/{}"),
        ("GET", "/operations/{}"),
        ("DELETE", "/operations/{}"),
        ("POST", "/operations/{}/retry"),
        ("DELETE", "/operations/{}/delete"),
        ("GET", "/directives/{}"),
        ("PATCH", "/directives/{}"),
        ("DELETE", "/directives/{}"),
    ],
)
def test_ids_that_must_be_uuids(filled: Bank, method: str, path: str) -> None:
    for wrong in ("x", "%00", "1", NOWHERE[:-1], NOWHERE + "0", "%ED%A0%BD", "x" * 5000):
        answer = filled.call(method, path.format(wrong), {} if method == "PATCH" else ...)
        assert answer.status_code == 400 and "must be a UUID" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/memories/{NOWHERE}", ...),
        ("GET", f"/entities/{NOWHERE}", ...),
        ("DELETE", f"/operations/{NOWHERE}", ...),
        ("POST", f"/operations/{NOWHERE}/retry", ...),
        ("DELETE", f"/operations/{NOWHERE}/delete", ...),
        ("GET", f"/directives/{NOWHERE}", ...),
        ("PATCH", f"/directives/{NOWHERE}", {"name": "x"}),
        ("DELETE", f"/directives/{NOWHERE}", ...),
        ("GET", "/documents/nope", ...),
        ("GET", "/documents/nope/chunks", ...),
        ("PATCH", "/documents/nope", {"tags": ["a"]}),
        ("DELETE", "/documents/nope", ...),
        ("GET", "/documents/%00", ...),
        ("GET", "/documents/a%00b/chunks", ...),
        ("PATCH", "/documents/%00", {"tags": ["a"]}),
        ("DELETE", "/documents/%00", ...),
        ("GET", "/documents/" + "x" * 5000, ...),
    ],
)
def test_what_is_not_there_is_404(filled: Bank, method: str, path: str, body: Any) -> None:
    answer = filled.call(method, path, body)
    assert answer.status_code == 404 and "not found" in answer.json()["detail"]


def test_an_unknown_operation_has_a_status_of_its_own(filled: Bank) -> None:
    assert filled.get(f"/operations/{NOWHERE}")["status"] == "not_found"


def test_what_another_bank_holds_is_not_there(filled: Bank, bank: Bank) -> None:
    bank.call("PUT", "", {})
    memory = filled.get("/memories/list")["items"][0]["id"]
    entity = filled.get("/entities")["items"][0]["id"]
    operation = filled.get("/operations")["operations"][0]["id"]
    for path in (f"/memories/{memory}", f"/entities/{entity}", "/documents/d", "/documents/d/chunks"):
        assert bank.call("GET", path).status_code == 404
    assert bank.get(f"/operations/{operation}")["status"] == "not_found"
    assert bank.call("DELETE", f"/operations/{operation}/delete").status_code == 404
    assert bank.texts(entity_id=entity) == [] and bank.texts(document_id="d") == []


@pytest.mark.parametrize(
    "chunk", ["x", "%00", "a_%00_0", "a_b_99999999999999", "a_b_-1", "a_b_%D9%A1", "_" * 60_000, "%FF_x_0"]
)
def test_chunk_ids_that_name_nothing(http: httpx.Client, chunk: str) -> None:
    answer = request(http, "GET", f"/v1/default/chunks/{chunk}")
    assert answer.status_code == 404 and "not found" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"name": 3}, "body.name"),
        ({"name": "x" * 100_000}, "body.name"),
        ({"mission": ["x"]}, "body.mission"),
        ({"disposition": {"skepticism": 6, "literalism": 1, "empathy": 1}}, "body.disposition.skepticism"),
        ({"disposition": {"skepticism": 1, "literalism": 1}}, "body.disposition.empathy"),
        ({"disposition_empathy": 0}, "body.disposition_empathy"),
        ({"disposition_empathy": 2.5}, "body.disposition_empathy"),
        ({"retain_chunk_size": "big"}, "body.retain_chunk_size"),
        ({"enable_observations": "maybe"}, "body.enable_observations"),
    ],
)
def test_profiles_of_the_wrong_shape(filled: Bank, body: dict[str, Any], place: str) -> None:
    for method in ("PUT", "PATCH"):
        assert places(filled.call(method, "", body)) == [place]


@pytest.mark.parametrize(
    ("body", "start"),
    [
        ({"retain_chunk_size": -1}, "retain_chunk_size must be"),
        ({"retain_chunk_size": HUGE}, "retain_chunk_size must be"),
        ({"retain_extraction_mode": "sloppy"}, "retain_extraction_mode must be"),
        ({"retain_mission": "a\u0000b"}, "retain_mission must not"),
        ({"mission": "\ud83d"}, "reflect_mission must not"),
        ({"name": "fine", "retain_custom_instructions": "\u0000"}, "retain_custom_instructions must not"),
    ],
)
def test_profiles_that_are_refused_change_nothing(filled: Bank, body: dict[str, Any], start: str) -> None:
    for method in ("PUT", "PATCH"):
        answer = filled.call(method, "", body)
        assert answer.status_code == 400 and answer.json()["detail"].startswith(start)


@pytest.mark.parametrize("name", UNSTORABLE)
def test_a_bank_name_is_kept_without_what_cannot_be_stored(bank: Bank, name: str) -> None:
    made = good(bank.call("PUT", "", {"name": name}))
    assert made["name"] == (name.replace("\u0000", "").replace("\ud83d", "") or bank.id)


def test_tags_of_a_document_stand_under_the_limits_of_retain(filled: Bank) -> None:
    for tags in (["x" * 513], [f"t{number}" for number in range(257)]):
        assert places(filled.call("PATCH", "/documents/d", {"tags": tags}))[0].startswith("body.tags")
    for body in ({}, {"tags": None}):
        assert places(filled.call("PATCH", "/documents/d", body)) == ["body.tags"]
    assert filled.get("/documents/d")["tags"] == ["a"]


def test_no_such_path_or_method(http: httpx.Client, filled: Bank) -> None:
    assert request(http, "GET", "/v1/default/nothing").status_code == 404
    assert filled.call("POST", "/profile").status_code == 405
