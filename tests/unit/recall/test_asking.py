"""How questions ask, in the languages of the tables."""

import pytest

from memorybank.recall import asking
from memorybank.text.traits import Trait


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did it rain?", Trait.TIME),
        ("Wann war das?", Trait.TIME),
        ("¿Cuándo llegó?", Trait.TIME),
        ("什么时候去的？", Trait.TIME),
        ("How many dogs?", Trait.NUMBER),
        ("Wie viele Hunde?", Trait.NUMBER),
        ("いくつありますか", Trait.NUMBER),
        ("Where is she?", Trait.PLACE),
        ("Où est-elle ?", Trait.PLACE),
        ("Who sang?", Trait.NAME),
        ("Кто пел?", Trait.NAME),
        ("Why not?", Trait.REASON),
        ("Perché no?", Trait.REASON),
        ("Which whole hot wheel?", Trait(0)),
    ],
)
def test_the_kind_of_answer(question: str, answer: Trait) -> None:
    assert asking.answer(question) == answer


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("Where do I live?", "user"),
        ("Wie heißt mein Hund?", "user"),
        ("我住在哪里？", "user"),
        ("What did you recommend to me?", "assistant"),
        ("Remind me of the book you suggested", "assistant"),
        ("Was hast du mir geraten?", "assistant"),
        ("Do you remember my name?", "user"),
        ("Where does Ann live?", None),
    ],
)
def test_whose_words_are_asked_for(question: str, role: str | None) -> None:
    assert asking.role(question) == role
