"""Files over HTTP, by the published client and on the command line; a poisoned one harms only itself."""

import json
from pathlib import Path
from typing import Any

import httpx
import openpyxl
import pytest
from bank_calls import Bank, Running, good
from hindsight_client import Hindsight

TEXT = "Ana moved the release to Friday because the tests failed.\n\nBert keeps bees in Graz.\n"
NOTES = ("notes.md", TEXT.encode())


def send(bank: Bank, *files: tuple[str, bytes], request: Any = None) -> httpx.Response:
    """Send files; `request` as JSON, or as it is where it is text."""
    said = request if isinstance(request, str) else json.dumps(request or {})
    return bank.http.post(
        bank.url + "/files/retain", files=[("files", file) for file in files], data={"request": said}
    )


def ended(bank: Bank, answer: httpx.Response) -> list[Any]:
    return [bank.ended(id_) for id_ in good(answer)["operation_ids"]]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_text(TEXT)
    return path


async def test_the_published_client_sends_files_and_finds_them_by_tag(
    server: Running, bank: Bank, tmp_path: Path, notes: Path
) -> None:
    book = openpyxl.Workbook()
    book.active.append(["who", "where"])
    book.active.append(["Cid", "Linz"])
    book.save(tmp_path / "people.xlsx")
    client = Hindsight(base_url=server.url, timeout=60)
    said = [{"document_id": "notes", "tags": ["x"], "metadata": {"page": "7"}, "context": "stand-up"}, {}]
    sent = await client.aretain_files(bank.id, [notes, tmp_path / "people.xlsx"], files_metadata=said)
    assert len(sent.operation_ids) == 2
    operations = [bank.ended(id_) for id_ in sent.operation_ids]
    assert [operation["status"] for operation in operations] == ["completed"] * 2
    assert {operation["operation_type"] for operation in operations} == {"file_convert_retain"}
    found = await client.arecall(bank.id, "Who moved the release?", tags=["x"], tags_match="any_strict")
    [first, *_] = found.results
    assert (first.document_id, first.tags, first.metadata) == ("notes", ["x"], {"page": "7"})
    assert first.context == "stand-up" and {hit.document_id for hit in found.results} == {"notes"}
    await client.aclose()
    listed = bank.get("/operations", type="file_convert_retain")["operations"]
    assert sorted(one["filename"] for one in listed) == ["notes.md", "people.xlsx"]
    ids = {document["id"] for document in bank.get("/documents")["items"]}
    assert "notes" in ids and any(id_.startswith("file_") for id_ in ids)


def test_a_poisoned_file_fails_alone_and_says_why(bank: Bank) -> None:
    garbage = ("scan.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 100)
    answer = send(bank, garbage, ("empty.txt", b" \n"), ("picture.png", b"\x89PNG\r\n\x1a\n\0\0"), NOTES)
    *broken, kept = ended(bank, answer)
    assert [operation["status"] for operation in broken] == ["failed"] * 3
    assert "file 'scan.pdf' was not read: it is damaged" in broken[0]["error_message"]
    assert "file 'empty.txt' holds no text" in broken[1]["error_message"]
    assert "files of this kind are not read; send one of txt" in broken[2]["error_message"]
    assert kept["status"] == "completed" and len(bank.texts()) == 2


@pytest.mark.parametrize(
    ("files", "request_", "status", "word"),
    [
        ([NOTES], {"tags": ["x"]}, 400, "tags: belongs into files_metadata"),
        ([NOTES], {"document_id": "d", "context": "c"}, 400, "context, document_id: belongs"),
        ([NOTES], {"files_metadata": [{}, {}]}, 400, "2 entries for 1 files"),
        ([NOTES] * 11, {}, 400, "1 to 10 files"),
        ([NOTES], {"parser": "iris"}, 400, "'iris' is not known"),
        ([NOTES], {"files_metadata": [{"parser": ["iris"]}]}, 400, "not known"),
        ([NOTES] * 2, {"files_metadata": [{"document_id": "d"}] * 2}, 400, "'d' stands twice"),
        ([NOTES], {"files_metadata": [{"tags": [1]}]}, 422, "files_metadata"),
        ([NOTES], {"files_metadata": [{"timestamp": "soon"}]}, 422, "timestamp"),
        ([NOTES], {"files_metadata": [{"document_id": ".."}]}, 422, "document_id"),
        ([NOTES], "{", 422, "request"),
        ([NOTES], '{"a":' * 500, 422, "request"),
        ([], {}, 422, "files"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(
    bank: Bank, files: list[Any], request_: Any, status: int, word: str
) -> None:
    answer = send(bank, *files, request=request_)
    assert answer.status_code == status and word in str(answer.json()["detail"])
    assert bank.counts()["operations"] == 0


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{}", "application/json"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"zz", "multipart/form-data"),
        (b"\x00\xff", "multipart/form-data; boundary=\xff"),
    ],
)
def test_a_body_that_is_no_form_is_the_callers_fault(bank: Bank, content: bytes, kind: str) -> None:
    answer = bank.http.post(
        bank.url + "/files/retain", content=content, headers={"content-type": kind.encode("latin-1")}
    )
    assert answer.status_code in (400, 422)


def test_files_may_be_larger_than_other_bodies(bank: Bank) -> None:
    large = ("large.bin", b"\0" * 40 * 2**20)
    [operation] = ended(bank, send(bank, large))
    assert operation["status"] == "failed" and "not read" in operation["error_message"]
    answer = send(bank, *[large] * 3)
    assert answer.status_code == 400 and "100 MB" in answer.json()["detail"]
    assert send(bank, *[large] * 4).status_code == 413


def test_the_parts_of_the_form_are_declared(http: httpx.Client) -> None:
    document = good(http.get("/openapi.json"))
    call = document["paths"]["/v1/default/banks/{bank_id}/files/retain"]["post"]
    assert call["operationId"] == "file_retain"
    (kind,) = call["requestBody"]["content"]
    assert kind == "multipart/form-data"


def test_on_the_command_line(server: Running, bank: Bank, notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("Cid plays the cello.")
    options = ("--tags", "x", "--context", "cli", "--json")
    done = server.home.run(
        "retain-files", bank.id, str(notes), str(other), *options, MEMORYBANK_URL=server.url
    )
    ids = json.loads(done.stdout)["operation_ids"]
    assert [bank.ended(id_)["status"] for id_ in ids] == ["completed"] * 2
    assert all(
        item["tags"] == ["x"] and item["context"] == "cli" for item in bank.get("/memories/list")["items"]
    )
    missing = server.home.run("retain-files", bank.id, str(tmp_path / "none.txt"), MEMORYBANK_URL=server.url)
    assert missing.returncode != 0 and "none.txt: No such file" in missing.stderr
