"""Directives that code can check, recognised by how they are worded: see rules.toml. Pure.

A directive is decided by code alone where all of it is such rules. A condition ("unless …") leaves it to a model, and
so does a sentence of another kind, beside which code still checks its part. What is forbidden to mention is decided by
its words where it is a name or stands in quotation marks; else it is a matter, which other words can say too.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memorybank import text
from memorybank.directives.checks import Check, ForbiddenWords, Language, Length, MustCite, Unit
from memorybank.paths import table
from memorybank.text.stopwords import LANGUAGES_OF

#: What is forbidden has at most so many words; more are a description.
PHRASE_WORDS = 4

_DATA: Mapping[str, Any] = table("directives/rules.toml")
_NAMES, _NUMBERS, _UNITS = _DATA["names"], _DATA["numbers"], _DATA["units"]
_CODES = tuple(code for code in _DATA if code in _NAMES)
#: Languages whose words are not parted by spaces, or not from what belongs to them.
_UNSPACED = ("zh", "ja", "ko")
_FRAGMENT = re.compile(r"\{(lead|answer|subject|most|language|n|unit)\}")
_KINDS = ("language", "length", "cite", "mention", "say")
_LISTS, _ARTICLES = (re.compile(_DATA["between"][name], re.IGNORECASE) for name in ("lists", "articles"))
_QUOTED = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«\s*([^»]+?)\s*»|‘([^’]+)’|(?<!\w)'([^']+)'(?!\w)|`([^`]+)`|「([^」]+)」|『([^』]+)』"
)
_ITEM = re.compile(r"^(?:[-*•–]|\d+[.)])\s+")
_CLAUSES = re.compile(r"\s*(?:;|,(?: and)?|(?<!\w)(?:and|und|et|y|e|и)(?!\w))\s*", re.IGNORECASE)
_SIZES: tuple[Unit, ...] = ("characters", "sentences", "words")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Rules:
    """What code checks of a directive, and whether that decides it `alone`."""

    checks: tuple[Check, ...] = ()
    alone: bool = False


@dataclass(frozen=True)
class _Rule:
    check: Check
    whole: bool = True


@lru_cache(maxsize=1024)
def read(directive: str) -> Rules:
    """Return the rules of a directive; none, not alone, for one that only a model can judge."""
    lines = "\n".join(_ITEM.sub("", line.strip()) for line in text.normalize(directive).split("\n"))
    if _has_condition(lines):
        return Rules()
    found = [_rules(sentence) for sentence in _sentences(lines)]
    known = [rule for rules in found for rule in rules]
    alone = bool(known) and all(found) and all(rule.whole for rule in known)
    return Rules(tuple(rule.check for rule in known), alone)


def _sentences(lines: str) -> list[str]:
    """Return the sentences of a directive: one, where it is one rule as it stands ("max. 50 words")."""
    whole = " ".join(lines.split())
    return [whole] if _rules(whole) else [" ".join(one.split()) for one in text.sentences(lines)]


def _has_condition(lines: str) -> bool:
    return any(one.search(_QUOTED.sub(" ", lines)) for one in _conditions())


@lru_cache(maxsize=1)
def _conditions() -> tuple[re.Pattern[str], ...]:
    spaced = (rf"(?<!\w)(?:{_DATA[code]['conditions']})(?!\w)" for code in _CODES if code not in _UNSPACED)
    unspaced = (_DATA[code]["conditions"] for code in _UNSPACED)
    return tuple(re.compile(one, re.IGNORECASE) for one in (*spaced, *unspaced))


def _rules(sentence: str) -> tuple[_Rule, ...]:
    """Return the rules of a sentence that is nothing else: one, or one in each of its clauses."""
    if (rule := _rule(sentence)) is not None:
        return (rule,)
    clauses = [_rule(clause) for clause in _CLAUSES.split(sentence)]
    return tuple(rule for rule in clauses if rule) if len(clauses) > 1 and all(clauses) else ()


def _rule(sentence: str) -> _Rule | None:
    """Return the rule that all of a sentence is, if it is one."""
    bare = sentence.strip().rstrip(".!。！ ")
    for code in _CODES:
        for kind, pattern in _patterns(code):
            if (match := pattern.fullmatch(bare)) and (rule := _made(kind, code, match)):
                return rule
    return None


def _made(kind: str, code: str, match: re.Match[str]) -> _Rule | None:
    given = match.groupdict()
    match kind:
        case "language":
            return _Rule(Language(_named(given, "language_", _NAMES)))
        case "length":
            unit = _SIZES[[given[f"unit_{size}"] is not None for size in _SIZES].index(True)]
            most = 1 if given.get("one") else _number(given) - (1 if given.get("below") else 0)
            return _Rule(Length(unit, most)) if most > 0 else None
        case "cite":
            return _Rule(MustCite())
        case _:
            return _forbidden(kind, code, given, sentence_is_loud=match[0].isupper())


def _named(given: Mapping[str, str | None], prefix: str, table: Mapping[str, str]) -> str:
    return next(name for name in table if given.get(prefix + name) is not None)


def _number(given: Mapping[str, str | None]) -> int:
    digits = given.get("digits")
    return int(digits) if digits else int(_named(given, "number_", _NUMBERS))


def _forbidden(
    kind: str, code: str, given: Mapping[str, str | None], *, sentence_is_loud: bool
) -> _Rule | None:
    """Return the rule that forbids words: alone where they are meant as words or are names."""
    said = given["words"] or ""
    quoted = [next(filter(None, hit.groups())).strip() for hit in _QUOTED.finditer(said)]
    rest = _LISTS.sub("", _QUOTED.sub("", said)) if quoted else said
    endings = tuple((end, instead) for end, instead in _DATA[code].get("endings", ()))
    if quoted:
        return None if rest.strip() else _Rule(ForbiddenWords(tuple(quoted), endings))
    as_words = given.get("said") is not None
    if kind == "say" and not as_words:
        return None
    phrases = tuple(_without_article(part) for part in _LISTS.split(said) if part.strip())
    if not phrases or not all(map(_is_phrase, phrases)):
        return None
    loud = sentence_is_loud or not (given.get("verb") or "").islower()
    names = not loud and code not in ("de", *_UNSPACED) and all(map(_is_name, phrases))
    return _Rule(ForbiddenWords(phrases, endings), whole=as_words or names)


def _without_article(part: str) -> str:
    """Return a phrase without what stands before it; an article with a capital is part of a name."""
    match = _ARTICLES.match(part.strip())
    return part.strip()[match.end() :] if match and part.strip()[0].islower() else part.strip()


def _is_phrase(phrase: str) -> bool:
    """Whether a phrase is something to look for, and no part of a sentence: it has no function word."""
    found = _WORD.findall(phrase)
    return 0 < len(found) <= PHRASE_WORDS and not any(text.fold(word) in LANGUAGES_OF for word in found)


def _is_name(phrase: str) -> bool:
    return all(word[0].isupper() or word[0].isdigit() for word in _WORD.findall(phrase))


@lru_cache(maxsize=len(_CODES))
def _patterns(code: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    own = _DATA[code]
    return tuple((kind, _compiled(raw, own)) for kind in _KINDS for raw in own.get(kind, ()))


def _compiled(raw: str, own: Mapping[str, Any]) -> re.Pattern[str]:
    """Return a pattern with its fragments in their places."""
    shared = {
        "language": _alternatives("language_", _NAMES.items()),
        "n": "(?:(?P<digits>\\d{1,6})|" + _alternatives("number_", reversed(_NUMBERS.items())) + ")",
        "unit": _alternatives("unit_", ((size, _UNITS[size]) for size in _SIZES)),
    }
    while _FRAGMENT.search(raw):
        raw = _FRAGMENT.sub(lambda match: shared.get(match[1]) or own.get(match[1], ""), raw)
    return re.compile(raw, re.IGNORECASE)


def _alternatives(prefix: str, items: Iterable[tuple[str, str]]) -> str:
    return "(?:" + "|".join(f"(?P<{prefix}{name}>{words})" for name, words in items) + ")"
