"""Function words per language: left out of the index, and the evidence for a language guess."""

from memorybank.paths import table

_TABLE = table("text/stopwords.toml")
#: By language: words as `fold` leaves them, so that they compare without further work.
STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(words.split()) for code, words in _TABLE["stop_words"].items()
}

#: Word -> the languages it is a function word of.
LANGUAGES_OF: dict[str, tuple[str, ...]] = {}
for _code, _stops in STOP_WORDS.items():
    for _word in sorted(_stops):
        LANGUAGES_OF[_word] = (*LANGUAGES_OF.get(_word, ()), _code)

#: Words that shrink before an apostrophe.
ELIDED = frozenset(_TABLE["elided"].split())
#: The same as evidence for a language. Letters that English leaves behind an apostrophe (it's, I'd) are none.
LANGUAGES_OF_ELIDED: dict[str, tuple[str, ...]] = {
    "l": ("fr", "it"),
    "c": ("fr", "it"),
    **dict.fromkeys(("j", "n", "qu", "jusqu", "lorsqu"), ("fr",)),
    **dict.fromkeys(("un", "dell", "all", "nell", "sull", "dall", "quest", "quell"), ("it",)),
}
