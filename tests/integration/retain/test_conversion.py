"""Files to text in a process of their own: each kind, and what breaks."""

import json
import logging
import subprocess
import sys
import time
from pathlib import Path

import pytest
from file_samples import docx, docx_bomb, noise, packed, pdf, pptx_, xlsx

from memorybank.errors import InvalidInput
from memorybank.retain import conversion, reader
from memorybank.retain.conversion import Converter
from memorybank.settings import FileSettings, Settings

PAGE = (
    "<html><head><title>t</title><script>alert(1)</script></head><body><h1>Trip</h1>"
    "<p>Dora flew to <b>Rome</b>.</p><img src='http://127.0.0.1:9/x.png'></body></html>"
)


def converter(settings: Settings, **changes: int) -> Converter:
    own = FileSettings.model_validate(settings.files.model_dump() | changes)
    return Converter(own, settings.retain.max_item_chars)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", "Ana wohnt in Graz.".encode("utf-16"), ["Ana wohnt in Graz."]),
        ("a.txt", "\ufeffAna lives in Graz.".encode(), ["Ana lives in Graz."]),
        ("a.txt", "Müller kauft Brötchen für die Schüler.".encode("cp1252"), ["Müller kauft Brötchen"]),
        ("a.log", "鈴は青い自転車を修理に出した。".encode("shift_jis"), ["鈴は青い自転車"]),
        ("notes", b"# Notes\nBert keeps bees.", ["# Notes\nBert keeps bees."]),
        ("a.md", "我和林晓雨在“蓝鲸书店”见面。".encode(), ["“蓝鲸书店”"]),
        ("a.json", b'[{"role":"user","content":"I adopted a greyhound."}]', ['"I adopted a greyhound."']),
        ("a.html", PAGE.encode(), ["# Trip", "Dora flew to **Rome**."]),
        ("a.csv", b"name,city\nAna,Graz\n", ["| name | city |", "| Ana | Graz |"]),
        ("a.docx", docx("Ana moved the release.", "Bert keeps bees."), ["Ana moved the release.\n\nBert"]),
        (
            "a.xlsx",
            xlsx(["item", "EUR"], ["tent", 240], ["a|b", 35.5]),
            ["## Budget", "| tent | 240 |", "a\\|b"],
        ),
        ("a.pptx", pptx_("Plan", "Ana moves to Linz"), ["# Plan", "Ana moves to Linz"]),
        ("a.pdf", pdf("Cid plays the cello."), ["Cid plays the cello."]),
        ("wrong ending.txt", pdf("Cid plays the cello."), ["Cid plays the cello."]),
        ("no ending", docx("Bert keeps bees."), ["Bert keeps bees."]),
    ],
)
async def test_each_kind_becomes_text(settings: Settings, name: str, content: bytes, said: list[str]) -> None:
    text = await converter(settings).text(name, content)
    assert [part for part in said if part not in text] == []
    assert "alert" not in text


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", b"", "holds no text"),
        ("scan.pdf", pdf(""), "holds no text; a scan needs text recognition first"),
        ("a.pdf", b"%PDF-1.7\n" + noise(50_000), "it is damaged, or locked with a password"),
        ("a.pdf", pdf("cut")[:300], "it is damaged"),
        ("a.pdf", b"hello", "it is no pdf"),
        ("a.docx", noise(5_000), "it is no docx"),
        ("a.docx", b"PK\x03\x04" + noise(5_000), "it is damaged"),
        ("a.docx", docx("text").replace(b"document.xml", b"document.xmm"), "it is damaged"),
        ("a.zip", packed({"a.txt": "x"}), "archives are not read"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0" + noise(500), "files of this kind are not read; send one of txt"),
        ("a.doc", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(2_000), "files of this kind are not read"),
    ],
)
async def test_what_cannot_be_read_says_why(
    settings: Settings, name: str, content: bytes, reason: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await converter(settings).text(name, content)
    assert name in caught.value.message and reason in caught.value.message


async def test_a_file_that_unpacks_to_too_much_is_not_unpacked(settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="unpacks to more than 256 MB"):
        await converter(settings, memory_mb=256).text("bomb.docx", docx_bomb(300))


async def test_a_file_that_grows_in_memory_ends_its_process_alone(settings: Settings) -> None:
    with pytest.raises(InvalidInput, match=r"more than 256 MB of memory|damaged"):
        await converter(settings, memory_mb=256).text("bomb.docx", docx_bomb(200))
    assert await converter(settings).text("a.txt", b"still here") == "still here"


async def test_a_file_that_takes_too_long_is_given_up(settings: Settings) -> None:
    start = time.monotonic()
    with pytest.raises(InvalidInput, match="longer than 1 seconds"):
        await converter(settings, timeout_seconds=1).text("deep.html", b"<div>" * 500_000)
    assert time.monotonic() - start < 10


async def test_a_text_is_cut_where_it_is_too_long_anyway(settings: Settings) -> None:
    text = await Converter(settings.files, 10).text("a.txt", b"x" * 1000)
    assert len(text) == 11


ATTEMPTS = {
    "connects": "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
    "resolves": "import socket; socket.getaddrinfo('example.com', 80)",
    "runs": "import subprocess; subprocess.run(['true'])",
    "forks": "import os; os.fork()",
    "reads": "open('/etc/passwd').read()",
    "writes": "open('/tmp/written', 'w')",
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_reader_reaches_nothing_outside(tmp_path: Path, attempt: str) -> None:
    """What the code of a poisoned file would do is done here in its place."""
    probe = tmp_path / "probe.py"
    probe.write_text(f"from memorybank.retain import reader\nreader._confine(9, 900)\n{ATTEMPTS[attempt]}\n")
    ended = subprocess.run([sys.executable, str(probe)], capture_output=True, text=True, check=False)
    assert "PermissionError" in ended.stderr


def test_a_reader_gets_no_keys(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert "OPENAI_API_KEY" not in conversion.environment()


def test_the_answer_is_one_line_of_ascii(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Input:
        buffer = type("Buffer", (), {"read": staticmethod(lambda: b"\xe6\x9d\xb1")})

    monkeypatch.setattr(sys, "stdin", Input)
    monkeypatch.setattr(reader, "_confine", lambda *limits: None)
    # It silences the log of its process, which here is that of all tests.
    monkeypatch.setattr(logging.root.manager, "disable", 0)
    reader.main("a.txt", [], 1, 1, 10)
    assert json.loads(capsys.readouterr().out) == {"text": "東"}
