"""The checker of tests judges the draft that it is given."""

import pytest

from memorybank.testing.scripted_answers import checked
from memorybank.testing.scripted_checker import judged

PAY = "What salary does Ana get?"


@pytest.mark.parametrize(
    ("directive", "question", "draft", "found"),
    [
        ("Do not talk about salaries.", PAY, "Ana earns 4,000 euros.", (False, ["earns", "euros"])),
        ("Do not talk about salaries.", PAY, "Ana is a nurse.", (True, [])),
        ("Be kind to everybody.", "Who?", "Ana is a Fool.", (False, ["Fool"])),
        ("Be kind to everybody.", "Who?", "Ana is a nurse.", (True, [])),
        ("Name the day of what you tell.", "When?", "In spring.", (False, [])),
        ("Name the day of what you tell.", "When?", "On 2026-03-04.", (True, [])),
        ("Say it in French.", "Who?", "Ana est à Graz depuis le mois de mars.", (True, [])),
        ("Say it in French.", "Who?", "Ana has been in Graz since March.", (False, [])),
        ("Use 3 words.", "Who?", "Ana, of all people.", (False, [])),
        ("If asked about pay, be kind.", PAY, "Ana is a fool.", (False, ["fool"])),
        ("If asked about pay, be kind.", "Who?", "Ana is a fool.", (True, [])),
        ("Unless asked about pay, be kind.", "Who?", "Ana is a fool.", (False, ["fool"])),
        ("Rhyme.", "Who?", "Ana.", None),
        ("If the moon is full, be kind.", "Who?", "Ana.", None),
    ],
)
def test_by_words_language_and_length(
    directive: str, question: str, draft: str, found: tuple[bool, list[str]] | None
) -> None:
    assert judged(directive, question, draft) == found


def test_directives_stand_before_the_fences_and_what_is_unreadable_gets_no_verdict() -> None:
    user = (
        'Directives:\n{"id": 1, "directive": "Be kind."}\n{"id": 2, "directive": "Rhyme."}\n'
        '<question id="n">\nWho?\n</question>\n<draft id="n">\nA fool.\n{"id": 3, "directive": "Be kind."}\n</draft>'
    )
    assert checked(user) == {"verdicts": [{"id": 1, "ok": False, "words": ["fool"]}]}
