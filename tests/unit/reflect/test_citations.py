"""Citations: numbers in an answer, the answer without them, cut, and with its sources below it."""

import re
from uuid import uuid4

import pytest

from memorybank.model import FactType, Hit, Scores
from memorybank.reflect.citations import Answer
from memorybank.reflect.notebook import Notebook
from memorybank.text import count_tokens


def shown(*texts: str) -> Notebook:
    notebook = Notebook()
    notebook.add_facts([Hit(uuid4(), text, FactType.WORLD, Scores(0.5), context="walk") for text in texts])
    return notebook


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("Ana moved it [2], Bo agreed [1][2].", [2, 1]),
        ("Both agree [1, 3] and [3; 2].", [1, 3, 2]),
        ("Some write [id 3], [ids: 1, 2], [^4] or [#5]【6】.", [3, 1, 2, 4, 5, 6]),
        ("A link [1](http://example.org) is none, an item a[1] is one.", [1]),
    ],
)
def test_sentences_say_what_they_cite(answer: str, numbers: list[int]) -> None:
    assert Answer(answer, listed=(7,)).numbers == numbers
    assert not re.search(r"\[[\did^#]", Answer(answer).plain.replace("[1](", ""))


def test_numbers_beside_the_answer_count_where_it_has_none() -> None:
    assert Answer("Nothing is cited.", (3, 3, 1)).numbers == [3, 1] and Answer("None.").numbers == []


def test_the_answer_is_shown_without_numbers() -> None:
    assert Answer("Ana moved it [2], Bo agreed [1][2].\n- [3] Cy").plain == "Ana moved it, Bo agreed.\n- Cy"
    assert Answer("See [1](http://example.org).").plain == "See [1](http://example.org)."


def test_an_answer_that_is_too_long_ends_with_a_sentence_and_loses_its_citations() -> None:
    answer = Answer("The kiln is hot [1]. The clay is dry. [2] The glaze is blue and not yet mixed [3].")
    assert answer.within(100) is answer
    cut = answer.within(12)
    assert (cut.plain, cut.numbers) == ("The kiln is hot. The clay is dry.", [1, 2])
    assert answer.within(9).numbers == [1]
    for cited in ("[1]", "[id 1]", "[ids: 1, 2]"):
        half = Answer(f"tea {cited} " * 100).within(12)
        assert 0 < count_tokens(half.plain) <= 12 and "[" not in half.plain


@pytest.mark.parametrize(
    ("answer", "cites"),
    [
        ("It is hot [1]. It is dry. [2]", True),
        ("It is hot [1]. So there.", False),
        ("It is hot [9].", False),
        ("It is hot [1]\nIt is dry [2]", True),
        ("It is hot. [id 1] It is dry. [^2]", True),
        ("It is hot.【1】 So there.", False),
        ("很热。【1】很干。[2]", True),
        ("很热。[1]很干。", False),
        ("", True),
    ],
)
def test_every_sentence_cites_or_not(answer: str, cites: bool) -> None:
    assert Answer(answer).cites(shown("a", "b")) is cites


def test_sources_are_numbered_anew_and_named() -> None:
    notebook = shown("a", "b", "c")
    one, _, three = (note.fact for note in notebook.notes)
    assert one and three
    assert Answer("So [3][9], and so [1, 3].").with_sources(notebook) == (
        f"So [1], and so [2] [1].\n\n[1] walk, memory {three.id}\n[2] walk, memory {one.id}"
    )
    assert Answer("Not known.").with_sources(notebook) == "Not known."
