"""Which language a sentence is read in."""

import re

from memorybank.llm.extractive.lexicon import lexicon_of
from memorybank.text import language

#: A sentence shorter than this is read in the language of its text: it has too little evidence of its own.
GUESSED_CHARS = 40
#: How much of a text is looked at when the guess by function words is a tie.
SAMPLE_CHARS = 2_000

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
#: Chinese and Japanese characters: no blank stands between their words.
UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
KANA = re.compile("[\u3041-\u30ff]")


def language_of_text(text: str) -> str:
    """The language of a text: as `text.language` guesses it; at a tie by the longer lists of the engine."""
    guessed = language(text)
    if guessed != "und":
        return guessed
    words = {word.lower() for word in _WORD.findall(text[:SAMPLE_CHARS])}
    votes = {code: sum(lexicon_of(code).knows(word) for word in words) for code in ("en", "de", "fr", "es")}
    best = max(votes, key=lambda code: votes[code])
    return best if votes[best] > 0 else "und"


def language_of_sentence(sentence: str, around: str) -> str:
    """A sentence's own language where it shows one, else that of the text around it."""
    if around == "und":
        return language_of_text(sentence)
    if len(sentence) < GUESSED_CHARS and not UNSPACED.search(sentence):
        return around
    guessed = language(sentence)
    return around if guessed == "und" else guessed
