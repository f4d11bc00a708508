"""Names in Chinese and Japanese: rows of patterns over a sentence in which what was found is struck out.

The rows stand in `data/zh.toml` and `data/ja.toml` (`names`), and are tried in order:
    find: a regular expression; its group `name` is the name (without the group the whole of it is). All from the
        name's start to the end of the match is struck out, so that no later row reads it again. Where the group is
        empty, the whole match is struck out and there is no name; where it took no part, the match is passed over.
    unless: what makes a find no name, searched in the name.
    known: stands for the names that are known to be ones.
In both `<word>` is one of the list `word` or the piece of a pattern of that name, `«word»` the characters of a list.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from memorybank.llm.extractive.evidence import Evidence
from memorybank.llm.extractive.lexicon import places, raw, words_of

#: Stands in for what was taken out; no pattern matches it by accident.
STRUCK = "\x00"

_HOLDER = re.compile(r"(?<!\?P)<([a-z_]+)>|«([a-z_]+)»")


class _Row(NamedTuple):
    """One row, compiled; without `find` it stands for the known names."""

    find: re.Pattern[str] | None
    unless: re.Pattern[str] | None


def find_names(sentence: str, code: str, evidence: Evidence) -> list[str]:
    """The names in a sentence of "zh" or "ja", in order of writing."""
    found: list[tuple[int, str]] = []
    for row in _rows(code):
        for match in (row.find or _known(evidence)).finditer(sentence):
            group = "name" if "name" in match.re.groupindex else 0
            name, start = match[group], match.start(group) if match[group] else match.start()
            if name is None or (row.unless and row.unless.search(name)):
                continue
            if name:
                found.append((start, name))
            sentence = sentence[:start] + STRUCK * (match.end() - start) + sentence[match.end() :]
    return [name for _, name in sorted(found)]


@cache
def _rows(code: str) -> tuple[_Row, ...]:
    return tuple(
        _Row(*(_compiled(code, row.get(key)) for key in ("find", "unless"))) for row in raw(code)["names"]
    )


def _compiled(code: str, pattern: str | None) -> re.Pattern[str] | None:
    return re.compile(_filled(code, pattern)) if pattern else None


def _filled(code: str, pattern: str) -> str:
    """A pattern with its holders filled in."""
    pieces = {**raw("unspaced"), **raw(code)["pieces"]}

    def fill(match: re.Match[str]) -> str:
        name, characters = match.groups()
        if characters:
            return re.escape("".join(sorted(words_of(code, characters))))
        if name in pieces:
            return f"(?:{_filled(code, pieces[name])})"
        return f"(?:{_alternatives(_places(code) if name == 'places' else words_of(code, name))})"

    return _HOLDER.sub(fill, pattern)


def _alternatives(words: Iterable[str]) -> str:
    """The words as a pattern, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


def _places(code: str) -> Iterable[str]:
    """The places in the language's own characters."""
    return filter(re.compile(f"[{raw(code)['pieces']['letters']}]+").fullmatch, places())


def _known(evidence: Evidence) -> re.Pattern[str]:
    names = [name for name in evidence.known if len(name) > 1 and not name.isascii()]
    return re.compile(_alternatives(names) or "(?!)")
