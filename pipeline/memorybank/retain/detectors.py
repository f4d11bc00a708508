"""What counts as a secret: the rows of `detectors.toml`, and checks of what they find. Pure; `screening` searches.

A row is found by a literal that its pattern begins with, so that a long text is searched at the speed of a literal.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memorybank import paths

#: Bits a character of a value that was drawn at random; words have fewer.
RANDOM_BITS = 3.0
#: A part of a key between hyphens is at least so long where it holds digits, and so long where it does not.
MIXED_PART, LETTERS_PART = 12, 20
#: Fewest digits of a password of nothing else: shorter ones are counts, years, sizes.
PASSWORD_DIGITS = 6
#: A quoted secret without a digit is at least so long.
UNDIGITED = 8
#: Words and names: some-words, camelCase, a_word_2, v1.2.3, 2026-03-01, 10:00, a call, a path, an address.
_WORDED = re.compile(
    r"(?:[A-Za-z]?[a-z]+|[A-Z]+)(?:[A-Z][a-z]{2,}|[-_. :/]+(?:[A-Za-z]?[a-z]+|[A-Z]+))*(?:[-_. ][0-9]{1,4})?"
    r"|[vV]?[0-9]+(?:[.:T/-][0-9]+)*Z?|[A-Za-z_][\w.]*[(\[].*|[~.]?/.*|[a-z+]+://.*"
)


@dataclass(frozen=True)
class Detector:
    """A class of secrets under one of its prefixes: no text without `literal` has any; see `detectors.toml`."""

    type: str
    literal: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None
    folds: bool
    before: re.Pattern[str] | None


def random(value: str) -> bool:
    """Tell whether a value was drawn, not worded: letters and digits, none much more often than the others."""
    return _digit(value) and _letter(value) and spelled_out(value) and entropy(value) >= RANDOM_BITS


def entropy(value: str) -> float:
    """Return bits a character (Shannon) of a value that is not empty."""
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def key_shaped(value: str) -> bool:
    """Tell a key from words joined by hyphens: a part of it is long, and mixed."""
    return any(
        (len(part) >= MIXED_PART and _digit(part))
        or (len(part) >= LETTERS_PART and part not in (part.lower(), part.upper(), part.capitalize()))
        for part in re.split(r"[-_]", value)
    )


def encoded(value: str) -> bool:
    """Tell credentials behind the name of a scheme from a word: a digit, a sign, or a capital inside."""
    return spelled_out(value) and (_digit(value) or "=" in value or value[1:] != value[1:].lower())


def password(value: str) -> bool:
    """Tell a password from what else stands behind the word: a type, a call, a variable, a path, a word, a count."""
    if not spelled_out(value) or re.match(r"[~.]?/|[A-Za-z_][\w.]*[(\[]", value):
        return False
    if _letter(value):
        return not re.fullmatch(r"[^\W\d_]+(?:[._-][^\W\d_]+)*", value)
    return value.isdigit() and len(value) >= PASSWORD_DIGITS


def quoted_secret(value: str) -> bool:
    """Tell a short secret in quotes from a word, a name in any spelling, a version, a date, a numbered thing."""
    if not spelled_out(value) or _WORDED.fullmatch(value) or value.endswith((":", ",", ".")):
        return False
    if _digit(value):
        return _letter(value)
    return len(value) >= UNDIGITED and value[1:].lower() != value[1:] and value[1:].upper() != value[1:]


def spelled_out(value: str) -> bool:
    """Tell a value from what stands for one: a variable, a blank, stars, or what was masked before."""
    stands_for_one = value.startswith(("$", "<", "{", "%", "[REDACTED:")) or set(value) <= set("*xX.•-_")
    return not stands_for_one and value.lower() not in ("null", "none", "true", "false", "undefined")


def luhn(value: str) -> bool:
    """Tell whether the last digit of a card number checks the others (ISO/IEC 7812-1)."""
    digits = [int(char) for char in reversed(value) if char.isdigit()]
    total = sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return total % 10 == 0 and len(set(digits)) > 1


def mod_97(value: str) -> bool:
    """Tell whether the check digits of an account number are right (ISO 13616)."""
    plain = value.replace(" ", "")
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _letter(value: str) -> bool:
    return any(char.isalpha() for char in value)


#: What a row of `detectors.toml` may name as its check.
_CHECKS = {
    check.__name__: check
    for check in (random, key_shaped, encoded, password, quoted_secret, spelled_out, luhn, mod_97)
}
_PIECE = re.compile("<([A-Z_]+)>")


@cache
def detectors(*, personal: bool) -> tuple[Detector, ...]:
    """Return what finds credentials, and with `personal` also what is about a person."""
    table = paths.table("retain/detectors.toml")
    return tuple(
        _detector(row, prefix.replace("~", " "), table["pieces"])
        for row in (*table["credentials"], *(table["personal"] if personal else ()))
        for prefix in row[1].split(" ")
    )


def _detector(row: Sequence[Any], literal: str, pieces: Mapping[str, str]) -> Detector:
    """Return a class under one of its prefixes."""
    more: Mapping[str, Any] = row[3] if row[3:] else {}
    left = f"(?<![A-Za-z0-9]{re.escape(literal)})" if more.get("begins", True) else ""
    before = re.compile(_filled(more["before"], pieces)) if "before" in more else None
    check = _CHECKS[more["check"]] if "check" in more else None
    pattern = re.compile(re.escape(literal) + left + _filled(row[2], pieces))
    return Detector(row[0], literal, pattern, check, more.get("folds", False), before)


def _filled(pattern: str, pieces: Mapping[str, str]) -> str:
    return _PIECE.sub(lambda piece: _filled(pieces[piece[1]], pieces), pattern)
