"""Saying a thing once: restatements and degenerate text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memorybank.llm.extractive.finding import Finding
from memorybank.llm.extractive.lexicon import lexicon_of
from memorybank.text import terms

#: Two sentences of a speaker say the same if they share that much of their words (Jaccard index of terms).
SAME_SHARE = 0.7
#: A text of at least so many words that has fewer different ones than this share is a loop.
LOOP_WORDS, LOOP_SHARE = 40, 0.2
#: No word is longer; what is, is data.
LONGEST_WORD = 200

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_SPACED_RUN = re.compile(r"[^\s\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]+")


def is_degenerate(sentence: str) -> bool:
    """Whether a sentence is a loop or a blob rather than language."""
    if len(sentence) > LONGEST_WORD and any(len(run) > LONGEST_WORD for run in _SPACED_RUN.findall(sentence)):
        return True
    words = _WORD.findall(sentence.lower())
    if len(words) == 1 and len(words[0]) > LONGEST_WORD:
        # A text without spaces: its characters are looked at in pairs.
        word = words[0]
        words = [word[at : at + 2] for at in range(len(word) - 1)]
    return len(words) >= LOOP_WORDS and len(set(words)) < LOOP_SHARE * min(len(words), 400)


@dataclass(frozen=True, slots=True)
class _Said:
    """What makes a finding comparable."""

    speaker: str | None
    day: object
    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    negations: int


def without_repeats(findings: Sequence[Finding], language: str) -> list[Finding]:
    """The findings without restatements by the same speaker on the same day; of two, the longer stays."""
    kept: list[tuple[Finding, _Said]] = []
    by_term: dict[str, list[int]] = {}
    for finding in findings:
        said = _said(finding, language)
        at = _same(said, kept, by_term)
        if at is None:
            for term in said.terms:
                by_term.setdefault(term, []).append(len(kept))
            kept.append((finding, said))
        elif len(said.terms) > len(kept[at][1].terms):
            kept[at] = (finding, said)
            for term in said.terms:
                by_term.setdefault(term, []).append(at)
    return [finding for finding, _ in kept]


def _said(finding: Finding, language: str) -> _Said:
    body = finding.text
    if finding.speaker is not None:
        body = body.removeprefix(f"{finding.speaker}: ")
    negations = lexicon_of(language).words["negations"]
    words = _WORD.findall(body.lower().replace("’", "'"))
    count = sum(word in negations or word.endswith("n't") for word in words)
    if language in ("zh", "ja"):
        count = sum(body.count(word) for word in negations)
    day = finding.mentioned.date() if finding.mentioned else None
    return _Said(
        finding.speaker,
        day,
        frozenset(terms(body)),
        frozenset(_NUMBER.findall(body)),
        frozenset(finding.entities),
        count,
    )


def _same(said: _Said, kept: Sequence[tuple[Finding, _Said]], by_term: dict[str, list[int]]) -> int | None:
    """The place of a finding that says the same, looked for among those that share a term."""
    if not said.terms:
        return next((at for at, (_, other) in enumerate(kept) if other == said), None)
    rare = sorted(said.terms, key=lambda term: len(by_term.get(term, ())))
    # With a share of at least 0.7 the two have one of the rarest terms in common.
    candidates = {at for term in rare[: len(rare) // 2 + 1] for at in by_term.get(term, ())}
    for at in sorted(candidates):
        if _agree(said, kept[at][1]):
            return at
    return None


def _agree(one: _Said, other: _Said) -> bool:
    if (one.speaker, one.day, one.numbers, one.names, one.negations) != (
        other.speaker,
        other.day,
        other.numbers,
        other.names,
        other.negations,
    ):
        return False
    shared = len(one.terms & other.terms)
    return shared >= SAME_SHARE * len(one.terms | other.terms)
