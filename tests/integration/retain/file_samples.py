"""Files of the tests, made here: small ones of each kind, and poisoned ones."""

import io
import random
import zipfile

import openpyxl
import pptx

_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org"


def docx(*paragraphs: str) -> bytes:
    """A Word file of plain paragraphs."""
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_TYPES}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_OFFICE}/package/2006/relationships"><Relationship Id="r1"'
        f' Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument"'
        ' Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    return packed(parts)


def packed(parts: dict[str, str]) -> bytes:
    """An archive."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return held.getvalue()


def xlsx(*rows: list[object]) -> bytes:
    """A workbook of one sheet, called Budget."""
    book, held = openpyxl.Workbook(), io.BytesIO()
    book.active.title = "Budget"
    for row in rows:
        book.active.append(row)
    book.save(held)
    return held.getvalue()


def pptx_(title: str, text: str) -> bytes:
    """A presentation of one slide."""
    show, held = pptx.Presentation(), io.BytesIO()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = title, text
    show.save(held)
    return held.getvalue()


def pdf(text: str) -> bytes:
    """A page with one line."""
    stream = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(out)
    return out + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


def noise(size: int) -> bytes:
    """Bytes that mean nothing."""
    return random.Random(1).randbytes(size)


def docx_bomb(megabytes: int) -> bytes:
    """A Word file of a few kilobytes that unpacks to so many megabytes."""
    return docx("a" * megabytes * 2**20)
