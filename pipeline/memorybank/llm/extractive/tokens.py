"""Words of alphabetic scripts as the name readers see them."""

import re
from dataclasses import dataclass

from memorybank.llm.extractive.lexicon import word_set

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
_ELIDED = re.compile(
    r"(?:qu|jusqu|lorsqu|puisqu|quoiqu|dell|nell|sull|all|dall|[ldjnmtcs])['’](?=\w)", re.IGNORECASE
)
#: Languages that join their articles to the next word by an apostrophe.
_ELIDING = frozenset(("fr", "other"))
#: Abbreviations that stand inside names, with their full stop.
_ABBREVIATED = word_set("st mt ft dr mr mrs ms prof sr jr sra srta mme mlle m mm hr fr")
#: Behind these the next word may be capitalised for its place.
_OPENING = frozenset(':"“„«‚‘»(¿¡[*#>•–—…')
_BRAND = re.compile(r"[a-z]{1,2}[A-Z][a-z]+\w*")
_INNER_CAPITAL = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ]+[A-Z]\w*|[A-Z]{2,}[a-z]+[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Token:
    """One word or mark: `low` its lower case; `capital`: written like a name; `first`: where a capital says little;
    `possessive`: 's was taken off; `glued`: stands directly (by a blank) behind the token before."""

    text: str
    low: str
    start: int
    end: int
    capital: bool
    first: bool
    possessive: bool = False
    glued: bool = True

    @property
    def word(self) -> bool:
        return self.text[0].isalnum()

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
        return bool(_INNER_CAPITAL.fullmatch(self.text) or _BRAND.fullmatch(self.text))


def masked(sentence: str) -> str:
    """The sentence with everything that is no language as blanks of the same length."""
    return _MASKED.sub(lambda match: "\x00" * len(match[0]), sentence)


def tokenize(sentence: str, code: str) -> list[Token]:
    """The tokens of a masked sentence."""
    found: list[Token] = []
    first, last_end = True, 0
    position = 0
    while match := _TOKEN.search(sentence, position):
        token, position = _token(sentence, match, code, first, last_end)
        found.append(token)
        first = token.text in _OPENING or (first and not token.word)
        last_end = token.end
    return found


def _token(sentence: str, match: re.Match[str], code: str, first: bool, last_end: int) -> tuple[Token, int]:
    """The token at a match, and where to go on."""
    start, text, position = match.start(), match[0], match.end()
    glued = not sentence[last_end:start].strip(" ") and start - last_end <= 1
    initials = _INITIALS.match(sentence, start)
    if initials and (len(initials[0]) > 2 or sentence[start].isupper()):
        low = initials[0].lower().rstrip(".")
        return Token(initials[0], low, start, initials.end(), True, first, glued=glued), initials.end()
    if code in _ELIDING and (elided := _ELIDED.match(text)) and elided.end() < len(text):
        # The article is a token of its own; what it leans on starts no sentence.
        position = start + elided.end()
        return Token(elided[0], elided[0].lower(), start, position, False, first, glued=glued), position
    possessive, end = False, match.end()
    if text.endswith(("'s", "’s")) and len(text) > 2:
        text, possessive = text[:-2], True
    elif text.endswith(("'", "’")) and len(text) > 1:
        text = text[:-1]
        possessive = text.endswith(("s", "x", "z"))
    if text.lower() in _ABBREVIATED and sentence[end : end + 1] == ".":
        text, end = text + ".", end + 1
        position = end
    capital = text[0].isupper() or bool(_BRAND.fullmatch(text))
    return Token(text, text.lower().rstrip("."), start, end, capital, first, possessive, glued), position
