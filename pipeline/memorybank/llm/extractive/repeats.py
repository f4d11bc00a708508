"""Saying a thing once: restatements and degenerate text."""

import re
from collections.abc import Sequence

from memorybank.llm.extractive.finding import Finding
from memorybank.llm.extractive.lexicon import lexicon_of
from memorybank.llm.extractive.tokens import words_in
from memorybank.text import terms

#: Two sentences of a speaker say the same if they share that much of their words (Jaccard index of terms).
SAME_SHARE = 0.7
#: A text of at least so many words is a loop when of their triples fewer than this share differ; only so many count.
#: Words alone would not tell it from a roster, a table of scores, a list of errands.
LOOP_WORDS, LOOP_SHARE, COUNTED_WORDS = 40, 0.2, 400
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
        words = list(map("".join, zip(words[0], words[0][1:], strict=False)))
    if len(words) < LOOP_WORDS:
        return False
    triples = set(zip(words, words[1:], words[2:], strict=False))
    return len(triples) < LOOP_SHARE * min(len(words), COUNTED_WORDS)


def without_repeats(findings: Sequence[Finding], language: str) -> list[Finding]:
    """The findings without restatements by the same speaker on the same day; of two, the longer stays."""
    kept: list[Finding] = []
    kept_terms: list[frozenset[str]] = []
    places: dict[object, dict[str, list[int]]] = {}
    for finding in findings:
        body = finding.text.removeprefix(f"{finding.speaker}: ")
        said = frozenset(terms(body)) or frozenset(("",))
        by_term = places.setdefault(_told(finding, body, language), {})
        at = _same(said, kept_terms, by_term)
        if at is None:
            at = len(kept)
            kept.append(finding)
            kept_terms.append(said)
        elif len(said) > len(kept_terms[at]):
            kept[at], kept_terms[at] = finding, said
        else:
            continue
        for term in said:
            by_term.setdefault(term, []).append(at)
    return kept


def _told(finding: Finding, body: str, language: str) -> object:
    """What two findings must have in common to say the same: who, when, numbers, names, and how often "not"."""
    negations = lexicon_of(language).words["negations"]
    if language in ("zh", "ja"):
        count = sum(body.count(word) for word in negations)
    else:
        count = sum(word in negations or word.endswith("n't") for word in words_in(body))
    day = finding.mentioned.date() if finding.mentioned else None
    return finding.speaker, day, frozenset(_NUMBER.findall(body)), frozenset(finding.entities), count


def _same(said: frozenset[str], kept: Sequence[frozenset[str]], by_term: dict[str, list[int]]) -> int | None:
    """The place of a finding that says the same, looked for among those that share a term."""
    rare = sorted(said, key=lambda term: len(by_term.get(term, ())))
    # With a share of at least 0.7 the two have one of the rarest terms in common.
    near = {at for term in rare[: len(rare) // 2 + 1] for at in by_term.get(term, ())}
    return next(
        (at for at in sorted(near) if len(said & kept[at]) >= SAME_SHARE * len(said | kept[at])), None
    )
