"""Reads one file as text: a process of its own, since a file is made by strangers and its parsers by others.

    python -m memorybank.retain.reader NAME SECONDS MEGABYTES CHARACTERS TAG,TAG < bytes > {"text": …} or {"error": …}

It has little time and memory, no network and no other programs, opens nothing but its own code, and gets no secrets
in its environment. Whatever breaks ends this process and nothing else: `conversion` tells what it meant.

Converters of markitdown are called directly: so there is no guessing by a model, no plugin, no fetching of addresses,
no archive inside an archive.
"""

import csv
import importlib
import io
import json
import logging
import resource
import sys
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

from memorybank.retain.recalled import emptied

MEGABYTE = 2**20
#: Endings that are read otherwise than as plain text, and the converter that does it.
CONVERTERS = {
    ".pdf": "PdfConverter",
    ".docx": "DocxConverter",
    ".pptx": "PptxConverter",
    ".html": "HtmlConverter",
    ".htm": "HtmlConverter",
    ".csv": "CsvConverter",
}
PAGES = (".html", ".htm")
#: Office files are archives: told by a folder inside, whatever their name ends in.
PACKED = {"word/": ".docx", "ppt/": ".pptx", "xl/": ".xlsx"}
KNOWN = "txt, md, html, csv, json, pdf, docx, pptx, xlsx"
#: Encodings of texts that are no Unicode. More of them would be told apart worse: of short texts by chance.
ENCODINGS = ["cp1252", "cp1251", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"]
#: What the process may no longer do once its code is loaded, by the names of Python's audit events.
FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.system",
    "os.remove",
    "os.rename",
)


class Unreadable(Exception):
    """Why a file is not read, in words for who sent it."""


def main(name: str, tags: Sequence[str], seconds: int, megabytes: int, characters: int) -> None:
    """Read standard input and write what was found; `tags` stand around what clients recalled."""
    warnings.simplefilter("ignore")
    logging.disable()
    content = sys.stdin.buffer.read()
    try:
        read = _reader(name, content, megabytes, tags)
        _confine(seconds, megabytes)
        said = {"text": read(content)[: characters + 1]}
    except Unreadable as error:
        said = {"error": str(error)}
    sys.stdout.write(json.dumps(said))


def _reader(name: str, content: bytes, megabytes: int, tags: Sequence[str]) -> Callable[[bytes], str]:
    """Return what reads this file, its code loaded; raises Unreadable for a kind that nothing reads."""
    kind = _kind(name, content, megabytes)
    if kind == ".xlsx":
        load_workbook = importlib.import_module("openpyxl").load_workbook
        table = _converted(".csv")
        return lambda data: _sheets(load_workbook(io.BytesIO(data), read_only=True, data_only=True), table)
    return _converted(kind, tags) if kind in CONVERTERS else _decoded


def _kind(name: str, content: bytes, megabytes: int) -> str:
    """Return the ending that a file should have: by its first bytes, then by its name."""
    if content.startswith(b"%PDF-"):
        return ".pdf"
    if content.startswith(b"PK\x03\x04"):
        return _packed(content, megabytes)
    ending = PurePath(name).suffix.lower()
    if ending in (".pdf", *PACKED.values()):
        raise Unreadable(f"it is no {ending[1:]}, or a damaged one")
    return ending


def _packed(content: bytes, megabytes: int) -> str:
    try:
        entries = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except zipfile.BadZipFile as error:
        raise Unreadable("it is damaged") from error
    if sum(entry.file_size for entry in entries) > megabytes * MEGABYTE:
        raise Unreadable(f"it unpacks to more than {megabytes} MB")
    for folder, ending in PACKED.items():
        if any(entry.filename.startswith(folder) for entry in entries):
            return ending
    raise Unreadable(f"archives are not read; send one of {KNOWN}")


def _converted(kind: str, tags: Sequence[str] = ()) -> Callable[[bytes], str]:
    """Return what converts a kind to Markdown: the one place where markitdown is loaded."""
    package: Any = importlib.import_module("markitdown")
    converter = getattr(importlib.import_module("markitdown.converters"), CONVERTERS[kind])()

    def convert(content: bytes) -> str:
        charset = "utf-8" if kind in (*PAGES, ".csv") else None
        decoded = _decoded(content) if charset else ""
        # A tag that is no HTML is dropped by the converter, and what it holds would be kept.
        data = (emptied(decoded, tags) if kind in PAGES else decoded).encode() if charset else content
        info = package.StreamInfo(extension=kind, charset=charset)
        return str(converter.convert(io.BytesIO(data), info).markdown)

    return convert


def _sheets(book: Any, table: Callable[[bytes], str]) -> str:
    """Return the sheets of a workbook as tables under their names: the values that it shows, no formulas."""
    parts = []
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        rows = io.StringIO()
        values = (row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row))
        csv.writer(rows).writerows(values)
        if rows.tell():
            parts.append(f"## {sheet.title}\n\n{table(rows.getvalue().encode())}")
    return "\n\n".join(parts)


def _decoded(content: bytes) -> str:
    """Return bytes as text: UTF-8, or UTF-16 and UTF-32 that say so, else what they look like."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-32", "utf-16"]
    elif b"\0" in content:
        raise Unreadable(f"files of this kind are not read; send one of {KNOWN}")
    else:
        encodings = ["utf-8-sig"]
    for encoding in encodings:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    best = importlib.import_module("charset_normalizer").from_bytes(content, cp_isolation=ENCODINGS).best()
    if best is None:
        raise Unreadable("it is no text, or in an unknown encoding: save it as UTF-8")
    return str(best)


def _confine(seconds: int, megabytes: int) -> None:
    """Bound what follows: time, memory, and all that is not computing."""
    own = {*sys.path, sys.prefix, sys.base_prefix} - {""}
    # The first limit is a signal that says what it is; the second kills.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(FORBIDDEN):
            raise PermissionError(f"{event} is not for a reader of files")
        if event == "open" and isinstance(arguments[0], str) and not arguments[0].startswith(tuple(own)):
            raise PermissionError("a reader of files opens nothing else")

    sys.addaudithook(refuse)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[5].split(","), *map(int, sys.argv[2:5]))
