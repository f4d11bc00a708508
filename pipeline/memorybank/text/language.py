"""A cheap guess of a text's language: by script, then by function words and letters."""

import re
from collections.abc import Iterable

from memorybank.text.normal import fold
from memorybank.text.scripts import CYRILLIC_CHAR, HAN_CHAR, HANGUL_CHAR, KANA_CHAR
from memorybank.text.stopwords import LANGUAGES_OF, LANGUAGES_OF_ELIDED

#: What is read of a text. A guess does not get better by more.
SAMPLE_CHARS = 4_000
#: Japanese is told from Chinese by its kana; a quoted name in kana does not make a Chinese text Japanese.
KANA_SHARE = 0.1
#: A Latin letter weighs less than a character of a script without letters.
LATIN_WEIGHT = 0.3

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
#: Addresses are no language: "com" is a function word of Portuguese.
_ADDRESS = re.compile(r"(?:@|://|www\.)\S*")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
#: Letters and signs that speak for a language, with their weight in function words.
_LETTERS: tuple[tuple[re.Pattern[str], str, float], ...] = (
    (re.compile("[äöüß]"), "de", 1.0),
    (re.compile("[ñ¿¡]"), "es", 2.0),
    (re.compile("[ãõ]"), "pt", 2.0),
    (re.compile("[œêèûîë]"), "fr", 1.0),
    (re.compile("ç"), "fr", 0.5),
    (re.compile("ç"), "pt", 0.5),
    (re.compile("[ìò]"), "it", 1.0),
)


def language(text: str) -> str:
    """ISO 639-1 code of the language (en de fr es it pt ru zh ja ko); "und" without evidence or at a tie."""
    return _winner(evidence(text))


def evidence(text: str) -> dict[str, float]:
    """What speaks for each language, in function words; where the script decides, all signs speak for one."""
    sample = text[:SAMPLE_CHARS]
    if not sample.isascii():
        script = _language_of_script(sample)
        if script:
            return {script: float(len(sample))}
    folded = _ADDRESS.sub(" ", fold(sample)).replace("’", "'")
    return _votes(_WORD.findall(folded), folded)


def language_of_words(words: Iterable[str], folded: str) -> str:
    """The same guess for a text already folded and cut into words; Latin and Cyrillic script only."""
    return _winner(_votes(words, folded))


def _votes(words: Iterable[str], folded: str) -> dict[str, float]:
    votes: dict[str, float] = {}
    for word in words:
        codes = LANGUAGES_OF.get(word)
        if codes:
            _vote(votes, codes)
        elif "'" in word:
            head, _, tail = word.partition("'")
            _vote(votes, LANGUAGES_OF_ELIDED.get(head, ()))
            _vote(votes, LANGUAGES_OF.get(tail, ()) if head in LANGUAGES_OF_ELIDED else ())
    if not folded.isascii():
        for letters, code, weight in _LETTERS:
            if letters.search(folded):
                votes[code] = votes.get(code, 0.0) + weight
    return votes


def _vote(votes: dict[str, float], codes: tuple[str, ...]) -> None:
    """One vote, shared by the languages of the word."""
    for code in codes:
        votes[code] = votes.get(code, 0.0) + 1.0 / len(codes)


def _winner(votes: dict[str, float]) -> str:
    if not votes:
        return "und"
    best, second = [*sorted(votes.items(), key=lambda vote: -vote[1]), ("und", 0.0)][:2]
    return best[0] if best[1] > second[1] else "und"


def _language_of_script(sample: str) -> str:
    """The language when the script decides, else an empty string."""
    han, kana = len(HAN_CHAR.findall(sample)), len(KANA_CHAR.findall(sample))
    hangul, cyrillic = len(HANGUL_CHAR.findall(sample)), len(CYRILLIC_CHAR.findall(sample))
    if not (han or kana or hangul or cyrillic):
        return ""
    latin = LATIN_WEIGHT * len(_LATIN.findall(sample))
    if han + kana >= max(hangul, cyrillic, latin):
        return "ja" if kana > KANA_SHARE * (han + kana) else "zh"
    if hangul >= max(cyrillic, latin):
        return "ko"
    return "ru" if cyrillic > latin else ""
