"""Words of alphabetic scripts as the name readers see them."""

import re
from typing import NamedTuple

from memorybank.llm.extractive.lexicon import Lexicon

#: A word with what it holds inside.
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
#: What looks like a word and is none: addresses, links, paths, hashes, keys, ids and order numbers.
_MASKED = re.compile(
    r"""\w[\w.+%-]*@[\w-]+(?:\.[\w-]+)*      # mail
    | (?:https?://|www\.|\w+://)\S+           # links
    | (?<![\w/])(?:~|\.{0,2})?/[\w.-]+(?:/[\w.-]*)*   # paths
    | [A-Za-z]:\\\S+
    | `[^`]*`                                 # code
    | [@\#]\w[\w-]*                           # handles, tags
    | \b[\w-]*_[\w-]*\b                       # snake_case
    | \b\w+\.(?:pdf|docx?|xlsx?|csv|json|txt|md|png|jpe?g|py|js|html?|zip|toml|ya?ml)\b
    | \b[A-Za-z]+-\d[\w-]*\b                  # OPS-1173
    | \b\w*\d\w*-[\w-]*\d[\w-]*\b             # 3-1, ZX-48211-Q
    | \b(?=\w*\d)(?=\w*[A-Za-z])[A-Za-z0-9]{9,}\b     # keys
    | \b[A-Z]{2}\d{2}(?:[ ]?\d{4}){2,}\d*     # account numbers
    """,
    re.VERBOSE,
)
_TOKEN = re.compile(r"[^\W_]+(?:['’·-][^\W_]+)*['’]?|&|\S")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+(?=[\s,;:!?)]|$)")
#: Behind these the next word may be capitalised for its place.
_OPENING = frozenset(':"“„«‚‘»(¿¡[*#>•–—…')
_NONE: frozenset[str] = frozenset()
_BRANDED = re.compile(r"[a-z]{1,2}[A-Z][a-z]+\w*|[A-ZÀ-Þ][a-zà-ÿ]+[A-Z]\w*|[A-Z]{2,}[a-z]+[A-Z]\w*")


class Token(NamedTuple):
    """One word or mark: `low` its lower case; `kinds` the lists that hold it; `capital`: written like a name; `first`:
    where a capital says little; `possessive`: 's was taken off; `glued`: stands directly (by a blank) behind the
    token before."""

    text: str
    low: str
    start: int
    end: int
    kinds: frozenset[str]
    capital: bool = False
    first: bool = False
    possessive: bool = False
    glued: bool = True

    @property
    def word(self) -> bool:
        return self.text[:1].isalnum()

    @property
    def number(self) -> bool:
        return self.text.isdecimal()

    @property
    def upper(self) -> bool:
        """All capitals, two or more letters."""
        return len(self.text) > 1 and self.text.isupper()

    @property
    def branded(self) -> bool:
        """Capitals inside, as only names have them (KettleOS, iPod)."""
        return bool(_BRANDED.fullmatch(self.text))

    @property
    def breaks(self) -> bool:
        """Whether a capital word is no part of any name: "I", "Monday", "The", "HR"."""
        if "ambiguous_names" in self.kinds and not self.upper:
            return False
        return self.is_a("function", "calendar") or (self.upper and "acronyms" in self.kinds)

    def is_a(self, *lists: str) -> bool:
        """Whether one of these lists holds it."""
        return not self.kinds.isdisjoint(lists)


#: Where there is no token.
NOTHING = Token("", "", 0, 0, _NONE, glued=False)


def words_in(sentence: str) -> list[str]:
    """Its words in lower case, with plain apostrophes."""
    return WORD.findall(sentence.lower().replace("’", "'"))


def masked(sentence: str) -> str:
    """The sentence with everything that is no language as blanks of the same length."""
    return _MASKED.sub(lambda match: "\x00" * len(match[0]), sentence)


def tokenize(sentence: str, lexicon: Lexicon) -> list[Token]:
    """The tokens of a masked sentence."""
    found: list[Token] = []
    first, last_end, position = True, 0, 0
    while match := _TOKEN.search(sentence, position):
        start = match.start()
        text, position, capital, possessive = _word(sentence, match, lexicon)
        low = text.lower().rstrip(".")
        kinds = lexicon.kinds.get(low, _NONE)
        glued = not sentence[last_end:start].strip(" ") and start - last_end <= 1
        found.append(Token(text, low, start, position, kinds, capital, first, possessive, glued))
        first = text in _OPENING or (first and not found[-1].word)
        last_end = position
    return found


def _word(sentence: str, match: re.Match[str], lexicon: Lexicon) -> tuple[str, int, bool, bool]:
    """A token's text, where it ends, whether it is written like a name, and whether a possessive ending is off."""
    start, text, end = match.start(), match[0], match.end()
    initials = _INITIALS.match(sentence, start) if len(text) == 1 else None
    if initials and (len(initials[0]) > 2 or text[0].isupper()):
        return initials[0], initials.end(), True, False
    elided = lexicon.patterns["elided"].match(text)
    if elided and elided.end() < len(text):
        # The article is a token of its own; what it leans on starts no sentence.
        return elided[0], start + elided.end(), False, False
    possessive = text.endswith(("'s", "’s")) and len(text) > 2
    if possessive:
        text = text[:-2]
    elif text.endswith(("'", "’")) and len(text) > 1:
        text = text[:-1]
        possessive = text.endswith(("s", "x", "z"))
    if lexicon.is_a(text.lower(), "abbreviated") and sentence[end : end + 1] == ".":
        text, end = f"{text}.", end + 1
    return text, end, text[0].isupper() or bool(_BRANDED.fullmatch(text)), possessive
