"""Words that must not be said, found however they are written. Pure.

Case, width, accents, signs that nobody sees, letters of other scripts that look the same, hyphens and line breaks in a
word, letters spelled apart and the ordinary endings of a language hide nothing. A word in a longer one is another word.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from memorybank import text
from memorybank.text.scripts import HAN, HANGUL, KANA

#: Shorter words are not looked for with spaces between their letters: "A I" may be anything.
SPELLED_CHARS = 4
#: Letters that look like a Latin one: Cyrillic, Greek, and others; after NFKC, before case is folded.
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХЬЗӀԛԜԁһаеѕіјорсухгпкӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεινορτυχıɑɡℓ",
    "ABESIJKMHOPCTYXb3lqWdhaesijopcyxrnklABEZHIKMNOPTYXaeivoptuxiagl",
)
_ACCENTS = re.compile(r"(?<=[^\W\d_])[\u0300-\u036f]+")
#: Tag characters carry hidden text beside what `text.visible` knows.
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<!--[^<>]{0,200}-->")
_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011][^\S\n]*\n\s*(?=[^\W\d_])")
_TOKEN = re.compile(r"[^\W_]+")
#: Scripts without spaces between a word and what belongs to it: there a word has no edges.
_UNSPACED = re.compile(f"[{HAN}{KANA}{HANGUL}]")
_INNER, _APART, _BETWEEN = r"(?:[^\w\s]|_){0,2}", r"[\W_]{1,3}", r"[\W_]*"
#: Pairs of an ending and what may stand in its place, as rules.toml has them.
Endings = Sequence[tuple[str, str]]


def found(phrases: Iterable[str], endings: Endings, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the places of texts that say one of the phrases, each once, as the texts read when folded."""
    searched = [form for said in texts for form in _forms(said)]
    patterns = [pattern for phrase in phrases for pattern in _patterns(phrase, tuple(map(tuple, endings)))]
    return tuple(dict.fromkeys(hit[0] for one in patterns for form in searched for hit in one.finditer(form)))


def _forms(said: str) -> Iterator[str]:
    """Yield a text folded, as it stands and as markup would show it, and with look-alikes as Latin letters."""
    for shown in dict.fromkeys((said, _MARKUP.sub("", html.unescape(said)))):
        plain = unicodedata.normalize("NFKC", _BROKEN.sub("", _TAGS.sub("", text.visible(shown))))
        folded = _without_accents(plain)
        yield folded
        if not plain.isascii() and (latin := _without_accents(plain.translate(_ALIKE))) != folded:
            yield latin


def _without_accents(said: str) -> str:
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text.fold(said)))
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=1024)
def _patterns(phrase: str, endings: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(dict.fromkeys(_pattern(_TOKEN.findall(form), endings) for form in _forms(phrase)))


def _pattern(tokens: list[str], endings: Endings) -> re.Pattern[str]:
    """Return what finds a phrase; of two words also in the other order."""
    if not tokens:
        return re.compile(r"(?!)")
    orders = [tokens, tokens[::-1]] if len(tokens) == 2 else [tokens]
    bodies = (_BETWEEN.join([*map(_spelled, order[:-1]), _ended(order[-1], endings)]) for order in orders)
    body = f"(?:{'|'.join(bodies)})"
    left = "" if _UNSPACED.match(tokens[0]) else r"(?<![^\W_])"
    right = "" if _UNSPACED.match(tokens[-1][-1]) else r"(?![^\W_])"
    return re.compile(left + body + right)


def _ended(word: str, endings: Endings) -> str:
    """Return what finds a word with the endings of its language."""
    for end, instead in endings:
        if (match := re.search(end, word)) and (stem := word[: match.start()]):
            return _spelled(stem) + instead
    return _spelled(word)


def _spelled(word: str) -> str:
    letters = list(map(re.escape, word))
    together = _INNER.join(letters)
    return together if len(letters) < SPELLED_CHARS else f"(?:{together}|{_APART.join(letters)})"
