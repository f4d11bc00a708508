"""Documents of a mental model: sections of statements, each with the memories that it stands on. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from memorybank.text import count_tokens


@dataclass(frozen=True)
class Statement:
    """One sentence or two, and the memories that it cites."""

    text: str
    sources: tuple[UUID, ...]


@dataclass(frozen=True)
class Section:
    """Statements under a name, which no other section of the document has."""

    name: str
    statements: tuple[Statement, ...]


Document = tuple[Section, ...]


def assembled(rows: Iterable[tuple[str, Statement]]) -> Document:
    """Return the document of statements that come section by section."""
    return tuple(
        Section(name, tuple(statement for _, statement in group))
        for name, group in groupby(rows, key=lambda row: row[0])
    )


def rendered(document: Document) -> str:
    """Return the document as markdown; empty for none."""
    return "\n\n".join(
        "\n".join([f"## {section.name}", "", *(f"- {statement.text}" for statement in section.statements)])
        for section in document
    )


def fitted(document: Document, max_tokens: int, shown: Callable[[Document], str] = rendered) -> Document:
    """Return a document without its last statements, so that what is shown of it has no more tokens than that."""
    while document and count_tokens(shown(document)) > max_tokens:
        *first, last = document
        left = Section(last.name, last.statements[:-1])
        document = (*first, left) if left.statements else tuple(first)
    return document


def cited(document: Document) -> tuple[UUID, ...]:
    """Return the memories that a document cites, each once, in the order of first mention."""
    ids = (id_ for section in document for statement in section.statements for id_ in statement.sources)
    return tuple(dict.fromkeys(ids))


def standing(document: Document, live: Iterable[UUID]) -> Document:
    """Return what of a document stands on live memories alone; a section of which nothing is left goes."""
    known = set(live)
    kept = (
        Section(section.name, tuple(one for one in section.statements if known.issuperset(one.sources)))
        for section in document
    )
    return tuple(section for section in kept if section.statements)
