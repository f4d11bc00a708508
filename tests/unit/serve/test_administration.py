"""Commands on the directory and its keys say what is wrong before they touch anything, and never what a key is."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from memorybank.errors import MemoryBankError
from memorybank.serve import administration
from memorybank.serve.remote import URL_VARIABLE

SECRET = "secret-of-nobody-0123456789"
FILES = {
    "open.yaml": f"people: [{{key: {SECRET}",
    "text.json": f'{{"people": "{SECRET}"}}',
    "open.json": "{",
    "list.yaml": f"[{SECRET}]",
    "extra.yaml": f"people: [{{id: ana, key: {SECRET}, rank: 1}}]",
    "keyed.yaml": f"people: [{{id: ana, key: [{SECRET}]}}]",
    "deep.json": "[" * 100_000,
    "binary.yaml": "people: [{id: \x00}]",
    "code.yaml": "!!python/object/apply:os.system [exit]",
}


@pytest.mark.parametrize("name", [*FILES, "missing.yaml"])
def test_a_file_that_is_no_directory(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    if name in FILES:
        file.write_text(FILES[name])
    done = CliRunner().invoke(administration.directory, ["apply", str(file)])
    assert isinstance(done.exception, MemoryBankError), done.exception
    assert name in done.exception.message and SECRET not in done.exception.message


@pytest.mark.parametrize(
    "arguments", [[], ["--operator", "--agent", "aide"], ["--person", "a", "--agent", "b"]]
)
def test_a_key_is_for_one(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setenv(URL_VARIABLE, "http://127.0.0.1:1")
    done = CliRunner().invoke(administration.keys, ["create", *arguments])
    assert isinstance(done.exception, MemoryBankError) and "say one of" in done.exception.message
