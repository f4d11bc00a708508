"""What a text shows by its form, whatever it says: who speaks, whether it only asks, what kind of answer it may hold.

Kept beside the vector of each unit, so that recall can weigh it for a whole bank without reading a text. Pure.
"""

import re
from dataclasses import dataclass
from enum import IntFlag
from hashlib import blake2b

from memorybank import paths
from memorybank.text.normal import name_key

#: Longest text, in characters, that counts as a turn: a long message that ends in a question also tells something.
TURN_CHARS = 400
#: Characters of a text in which kinds of answers are looked for.
_LOOK_CHARS = 2_000
_SPEAKER = re.compile(r"(?:\[[^\]\n]{1,40}\]\s*)?([^\W\d_][\w.’'-]*(?: [^\W\d_][\w.’'-]*){0,2}):\s+")
_ASKS = re.compile(r"[?？]\s*(?:\[[^\]]*\])?\s*$")
_CAPITAL = "A-ZÀ-ÖØ-ÞА-ЯЁ"


class Trait(IntFlag):
    """Bits as they are stored, so a value never changes its meaning."""

    ASKS = 1
    TIME = 2
    NUMBER = 4
    PLACE = 8
    NAME = 16
    REASON = 32


@dataclass(frozen=True)
class Form:
    """`speaker`: the number of who speaks (see `speaker_number`), 0 where nobody is named."""

    speaker: int
    traits: Trait


def form(text: str, names_a_time: bool) -> Form:
    """Return what a text shows. Whether it names a time is for `timeline` to say."""
    who, said = split_speaker(text)
    traits = Trait.TIME if names_a_time else Trait(0)
    if len(text) <= TURN_CHARS and _ASKS.search(said):
        traits |= Trait.ASKS
    looked = said[:_LOOK_CHARS]
    for trait, shown in _SHOWN.items():
        if shown.search(looked):
            traits |= trait
    return Form(speaker_number(who), traits)


def split_speaker(text: str) -> tuple[str, str]:
    """Return who speaks in a turn written as `Name: text`, empty where nobody is named, and the rest."""
    found = _SPEAKER.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)


def speaker_number(name: str) -> int:
    """Return a speaker's number, signed 32 bits of BLAKE2b; 0 for no name. Stored, so it never changes."""
    return key_number(name_key(name)) if name else 0


def key_number(key: str) -> int:
    """Return the number of a speaker by the key of the name."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big", signed=True) or 1


def _shown() -> dict[Trait, re.Pattern[str]]:
    table: dict[str, str] = paths.table("text/traits.toml")
    words = {name: "|".join(re.split(r"(?<!\\)\s+", value.strip())) for name, value in table.items()}
    number = rf"\d|{table['unspaced_number']}|(?<!\w)(?i:{words['number']})(?!\w)"
    place = rf"(?<!\w)(?i:{words['place']})\s+(?:\w{{1,3}}\s+)?[{_CAPITAL}]"
    reason = rf"{table['unspaced_reason']}|(?<!\w)(?i:{words['reason']})(?!\w)"
    # A word with a capital inside a sentence.
    name = rf"(?<=[a-zß-ÿа-яё] |, )[{_CAPITAL}]\w+"
    patterns = {Trait.NUMBER: number, Trait.PLACE: place, Trait.NAME: name, Trait.REASON: reason}
    return {trait: re.compile(pattern) for trait, pattern in patterns.items()}


_SHOWN = _shown()
