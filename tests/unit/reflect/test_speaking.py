"""How a bank speaks: its traits in words, and what it says where nothing is known."""

import itertools

import pytest

from memorybank.reflect import disposition, unknown
from memorybank.settings import BankConfig, Settings

TRAITS = ("skepticism", "literalism", "empathy")


def config(settings: Settings, **levels: int) -> BankConfig:
    return settings.bank.model_copy(update={f"disposition_{trait}": level for trait, level in levels.items()})


def test_each_level_of_each_trait_is_a_sentence_of_its_own(settings: Settings) -> None:
    said = {
        (trait, level): disposition.in_words(config(settings, **{trait: level}))
        for trait, level in itertools.product(TRAITS, range(1, 6))
    }
    lines = [line for text in said.values() for line in text.split("\n")[1:]]
    assert all(text.count("\n- ") == 3 for text in said.values())
    assert len(set(lines)) == 15
    for trait in TRAITS:
        assert len({said[trait, level] for level in range(1, 6)}) == 5


def test_what_is_unset_is_balanced(settings: Settings) -> None:
    assert disposition.in_words(config(settings)) == disposition.in_words(
        config(settings, **dict.fromkeys(TRAITS, 3))
    )


@pytest.mark.parametrize(
    ("question", "codes", "code"),
    [
        ("Where does Ana live?", [], "en"),
        ("Wo wohnt Ana und seit wann?", [], "de"),
        ("アナはどこに住んでいますか", [], "ja"),
        ("Qwx?", [], "en"),
        ("Where does Ana live?", ["fr"], "fr"),
        ("Wo wohnt Ana und seit wann?", ["xx"], "de"),
    ],
)
def test_nothing_known_is_said_in_the_language_asked_for(question: str, codes: list[str], code: str) -> None:
    assert unknown.said(question, codes) == unknown.SENTENCES[code]


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("I must never mention Project Heron, so I do not know.", True),
        ("NEVER mention: project heron!", True),
        ("Nothing of Project Heron is known.", False),
        ("Stay polite to vendors and clients alike at every hour.", True),
        ("I stay polite to vendors.", False),
    ],
)
def test_a_directive_is_told_from_an_answer(text: str, quotes: bool) -> None:
    contents = [
        "Never mention Project Heron.",
        "Stay polite to vendors and clients alike at every hour of the day.",
    ]
    assert unknown.quotes(text, contents) is quotes and not unknown.quotes(text, ["", "…"])


@pytest.mark.parametrize("sentence", unknown.SENTENCES.values())
def test_what_is_said_of_nothing_is_one_language(sentence: str) -> None:
    [code] = [code for code, said in unknown.SENTENCES.items() if said == sentence]
    assert unknown.said(sentence) == unknown.SENTENCES[code]
