"""Which new facts are ones that people have corrected or invalidated, when a text is read again."""

from typing import Any
from uuid import uuid4

import pytest

from memorybank.indexing import form_of, index_terms, text_hash
from memorybank.retain.rereading import reread
from memorybank.storage.mentions import Curated, Home
from memorybank.storage.units import NewUnit

OLD = "Ana lives in Graz."


def new(text: str = OLD, statement: bytes = b"read", document: int = 1) -> NewUnit:
    return NewUnit(
        document,
        0,
        "world",
        text_hash(text),
        index_terms(text),
        form_of(text, None),
        uuid4(),
        uuid4(),
        text,
        statement,
    )


def curated(**about: Any) -> Curated:
    return Curated(
        uuid4(), uuid4(), **({"document": 1, "statement": b"read", "text": OLD, "names_own": True} | about)
    )


@pytest.mark.parametrize(
    ("fact", "known", "is_it"),
    [
        (new(), False, True),
        (new(), True, True),
        (new(statement=b"of another day"), False, True),
        (new("ana lives in  Graz", b"of another day"), False, True),
        (new(statement=b"of another day"), True, False),
        (new("Ana has a house in Graz.", b"reworded"), False, False),
        (new("Ana does not live in Graz.", b"denied"), False, False),
        (new(document=2), False, False),
    ],
)
def test_a_reading_is_known_by_its_statement_or_its_words(fact: NewUnit, known: bool, is_it: bool) -> None:
    one = curated()
    stored = {0: Home(uuid4(), uuid4())} if known else {}
    assert reread([fact], stored, [one]) == ({0: one} if is_it else {})


def test_nothing_is_looked_for_where_nobody_changed_anything() -> None:
    assert reread([new()], {}, []) == {}


def test_each_document_has_its_own() -> None:
    here, there = curated(), curated(document=2)
    assert reread([new(document=2), new("else", b"else"), new()], {}, [here, there]) == {0: there, 2: here}
