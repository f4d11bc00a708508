"""Normal forms: what may be stored, what compares equal, what identifies a name."""

import re
import unicodedata
from functools import lru_cache

#: Lone surrogates and NUL: PostgreSQL refuses both. The byte order mark says something of a file, nothing in a text,
#: and hides that it is JSON or opens with a name. They are taken out, not replaced.
_REFUSED = re.compile("[\x00\ud800-\udfff\ufeff]")
#: Control characters that are neither newline nor tab (C0, DEL, C1).
_CONTROL = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f]")
_LINE_END = re.compile("\r\n?")
#: Invisible format characters that split words without being seen: soft hyphen, zero-width space, non-
#: joiner and joiner, direction marks, word joiner, byte order mark.
_INVISIBLE = dict.fromkeys(
    [0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF]
)
#: All format characters and other signs that nobody sees: of no width, of direction, of variants, fillers.
UNSEEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff]"
)
#: Longer names are not remembered: they are no names.
_REMEMBERED_CHARS = 256
#: A letter and a number behind it are one word, however they are joined: KL644, KL 644, KL-644.
_NUMBERED = re.compile(r"(?<=[^\W\d_]) (?=\d)")
#: An article that stands before two words or more says nothing; The Hague and The Who keep theirs.
_ARTICLE = re.compile(r"^(?:the )+(?=\S+ \S)")
#: Signs that tell names apart (C, C++, C#), so a name keeps them.
_NAME_SIGNS = frozenset("+#")


def normalize(text: str) -> str:
    """Text as it may be stored: NFC, no NUL, lone surrogates or byte order mark, other control characters as spaces.

    Newline and tab stay; CR and CRLF become newline.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_END.sub("\n", _REFUSED.sub("", text))
    return unicodedata.normalize("NFC", _CONTROL.sub(" ", text))


def visible(text: str) -> str:
    """Text without the signs that nobody sees; to judge it by, not to store."""
    return text if text.isascii() else UNSEEN.sub("", text)


def fold(text: str) -> str:
    """Compatibility form without case, equal for all ways to write the same letters.

    The Turkish dotted capital and the dotless small i both become a plain i, whatever the language, because
    which of them a lower-casing program made of a capital cannot be known.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    text = text.replace("İ", "i").replace("ı", "i").casefold()
    return unicodedata.normalize("NFKC", text)


def name_key(name: str) -> str:
    """Identity key of an entity's name: folded, punctuation and white space as single spaces; digits kept.

    Without an article before two words or more, and with a number joined to the word before it. A name of nothing but
    punctuation keeps it. Accents are kept too: they tell names apart.
    """
    return _remembered_key(name) if len(name) <= _REMEMBERED_CHARS else _key(name)


@lru_cache(maxsize=16_384)
def _remembered_key(name: str) -> str:
    return _key(name)


def _key(name: str) -> str:
    folded = fold(normalize(name))
    spaced = "".join(" " if _separates(char) else char for char in folded)
    return _ARTICLE.sub("", _NUMBERED.sub("", " ".join(spaced.split()))) or " ".join(folded.split())


def _separates(char: str) -> bool:
    if char.isalnum() or char in _NAME_SIGNS:
        return False
    return char.isspace() or unicodedata.category(char)[0] in "PCZ"
