"""What a text shows by its form."""

import pytest

from memorybank.text.traits import Trait, form, speaker_number, split_speaker


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Caroline: Hey Mel!", "Caroline"),
        ("Jean-Luc Picard: Engage.", "Jean-Luc Picard"),
        ("[2026-02-02 10:00] Ann: signed.", "Ann"),
        ("林晓雨: 你好", "林晓雨"),
        ("10:30 is fine", ""),
        ("http://example.org", ""),
    ],
)
def test_speakers(text: str, name: str) -> None:
    assert split_speaker(text)[0] == name


def test_a_speaker_is_the_same_however_the_name_is_written() -> None:
    assert speaker_number("Ann") == speaker_number("ANN") != speaker_number("Anna")
    assert speaker_number("") == 0 and form("no name here", False).speaker == 0
    # Stored, so it never changes.
    assert speaker_number("user") == -1677560549


@pytest.mark.parametrize(
    ("text", "traits"),
    [
        ("Did you?", Trait.ASKS),
        ("Ann: Look? [a photo of a dog]", Trait.ASKS),
        ("你去吗？", Trait.ASKS),
        ("x " * 300 + "right?", Trait(0)),
        ("I bought 4 of them.", Trait.NUMBER),
        ("Es waren sieben.", Trait.NUMBER),
        ("她有三个", Trait.NUMBER),
        ("Ann: moved to Oslo", Trait.PLACE | Trait.NAME),
        ("ich zog nach Kiel", Trait.PLACE | Trait.NAME),
        ("he met Boris there", Trait.NAME),
        ("it broke because it was old", Trait.REASON),
        ("雨だったので", Trait.REASON),
        ("It broke.", Trait(0)),
    ],
)
def test_traits(text: str, traits: Trait) -> None:
    assert form(text, False).traits == traits
    assert form(text, True).traits == traits | Trait.TIME
