"""Names in quotation marks."""

import re
from dataclasses import dataclass

from memorybank.llm.extractive.lexicon import Lexicon, word_set

#: A quoted name has at most this many words; longer quotations are speech.
LONGEST_TITLE = 7
_QUOTED = re.compile(
    r"“([^“”]{2,80})”|„([^“”„]{2,80})[“”]|«\s?([^«»]{2,80}?)\s?»|»([^«»]{2,80})«|\"([^\"]{2,80})\"|‘([^‘’]{2,60})’(?!\w)"
    r"|(?<![\w'])'([A-Z][^']{1,60})'(?!\w)|‚([^‘’‚]{2,60})[‘’]"
)
_SPEECH = re.compile(
    r"(?:\b(?:say|says|said|saying|tell|tells|told|ask|asks|asked|reply|replied|yell|yelled|shout|shouted|whispered|wrote|writes|"
    r"sagt|sagte|meint|meinte|fragt|fragte|rief|ruft|schrieb|dit|disait|demande|répond|répondu|crié|écrit|dice|dijo|preguntó|gritó|escribió)"
    r"[\w\s]{0,12}[,:]?|[,:])\s*$",
    re.IGNORECASE,
)
_PERSONAL = word_set("i you we me us your my ich du wir mich dich je tu nous vous yo tú nosotros")
#: "Word" is named by a quotation behind one of these, capital or not.
_END_MARKS = ".!?;:"


@dataclass(frozen=True, slots=True)
class Quoted:
    """A name in quotation marks and its place, marks included."""

    name: str
    start: int
    end: int


def quoted_names(sentence: str, lexicon: Lexicon) -> list[Quoted]:
    """The quotations that are names."""
    if not any(mark in sentence for mark in "\"'“„«»‘‚"):
        return []
    found = []
    for match in _QUOTED.finditer(sentence):
        name = next(group for group in match.groups() if group).strip(" ,")
        plain = match[0][0] not in "«»„‚"
        if _is_name(name, sentence[: match.start()], lexicon, plain and lexicon.code == "en"):
            found.append(Quoted(name, match.start(), match.end()))
    return found


def _is_name(name: str, before: str, lexicon: Lexicon, english: bool) -> bool:
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", name)
    if not 0 < len(words) <= LONGEST_TITLE or any(mark in name for mark in _END_MARKS):
        return False
    lows = [word.lower() for word in words]
    if not words[0][0].isupper() or _PERSONAL.intersection(lows) or not any(len(low) > 1 for low in lows):
        return False
    introduced = any(word in lexicon.introducers for word in before.lower().split()[-2:])
    if introduced:
        return True
    if _SPEECH.search(before):
        return False
    if english:
        # English titles are capitalised throughout; a quotation that is not is speech or emphasis.
        return all(
            word[0].isupper() or word[0].isdecimal() or low in lexicon.function
            for word, low in zip(words, lows, strict=True)
        )
    return len(words) > 1 or not (
        lows[0] in lexicon.function or (lexicon.code != "de" and lows[0] in lexicon.common)
    )
