"""What code says of a draft under one rule: kept, broken, or open where it cannot tell. Pure.

Open is for a model to judge. So a check may be careful: it says broken only where that is plain.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Literal

from memorybank import text
from memorybank.directives import words
from memorybank.directives.draft import Draft, Rule
from memorybank.text.language import evidence
from memorybank.text.scripts import HAN_CHAR, KANA, KANA_CHAR

Unit = Literal["words", "sentences", "characters"]

#: A sentence is of another language where its evidence, in function words, is this and so many times that for the one
#: asked for: Romance languages share half of theirs, and a title or a name brings some along.
CLEAR, TIMES = 2.0, 2.0
#: A draft is plainly in the language asked for with this evidence, and more of it than for any other.
ENOUGH = 1.4
#: Above this share of the words that can be told, other languages break the rule; below, a model judges.
FOREIGN_SHARE = 1 / 3
#: Without kana, fewer Chinese signs than these may be a name or a date of the other language.
HAN_ALONE = {"ja": 12, "zh": 6}

#: What a sentence may say in any language: quotations, code, addresses, names and titles of several words, citations.
_ANY_LANGUAGE = re.compile(
    r"\"[^\"\n]*\"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|‘[^‘’\n]*’(?!\w)|「[^「」\n]*」|『[^『』\n]*』|`[^`\n]*`"
    r"|(?<!\S)\S*(?:://|@|www\.)\S*|\[[\d,; ]+\]"
)
_CAPITALISED = r"[A-ZÀ-Þ][\w'’-]*"
_TITLE = re.compile(
    rf"(?<![\w'’-])(?<!^){_CAPITALISED}"
    rf"(?: (?:(?:of|the|and|for|de|la|le|du|des|del|von|der|di|da|do|y|et|und) ){{0,2}}{_CAPITALISED})+"
)
_WORD = re.compile(r"\w+(?:[-'’.,]\w+)*")
_UNSPACED = re.compile(f"[{KANA}\u3400-\u9fff\u0e01-\u0e3a]")
#: A heading is no sentence.
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_CITATION = re.compile(r"(?<!\s)\s*\[[\d,; ]+\]")


class State(Enum):
    """What is known of a rule after a check."""

    KEPT = "kept"
    BROKEN = "broken"
    OPEN = "open"


@dataclass(frozen=True)
class Found:
    """The state, and the words of the draft that break the rule."""

    state: State
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Language:
    """The answer is in one language: its text, and each value of the output that is a sentence."""

    rule: ClassVar[Rule] = Rule.LANGUAGE
    code: str

    def on(self, draft: Draft) -> Found:
        """Return what its sentences speak; quotations and names may be in any language."""
        told = foreign = 0
        votes: Counter[str] = Counter()
        for sentence in _spoken(draft):
            size, own = len(_WORD.findall(sentence)), self._is_own(sentence)
            votes.update(evidence(sentence))
            told += size if own is not None else 0
            foreign += size if own is False else 0
        if foreign > FOREIGN_SHARE * told:
            return Found(State.BROKEN)
        spoken = votes.pop(self.code, 0.0)
        plain = spoken >= ENOUGH and spoken > max(votes.values(), default=0.0)
        return Found(State.KEPT if told and not foreign and plain else State.OPEN)

    def _is_own(self, sentence: str) -> bool | None:
        """Return whether a sentence is in the language; None where that cannot be told."""
        votes = evidence(sentence)
        own = votes.pop(self.code, 0.0)
        best = max(votes.values(), default=0.0)
        if not KANA_CHAR.search(sentence) and 0 < len(HAN_CHAR.findall(sentence)) < HAN_ALONE.get(
            self.code, 0
        ):
            return None
        if best >= CLEAR and best >= TIMES * own:
            return False
        return True if own > best else None


@dataclass(frozen=True)
class Length:
    """The text, and each value of the output by itself, has at most so many of a unit."""

    rule: ClassVar[Rule] = Rule.LENGTH
    unit: Unit
    most: int

    def on(self, draft: Draft) -> Found:
        """Return whether nothing is too long; words cannot be counted where no spaces part them."""
        texts = [_CITATION.sub("", said) for said in draft.texts]
        if self.unit == "words" and any(map(_UNSPACED.search, texts)):
            return Found(State.OPEN)
        return Found(State.BROKEN if any(self._size(said) > self.most for said in texts) else State.KEPT)

    def _size(self, said: str) -> int:
        match self.unit:
            case "words":
                return len(_WORD.findall(said))
            case "sentences":
                return len(text.sentences(_HEADING.sub("", said)))
            case "characters":
                return len(text.normalize(said).strip())


@dataclass(frozen=True)
class MustCite:
    """What is stated names what it rests on."""

    rule: ClassVar[Rule] = Rule.MUST_CITE

    def on(self, draft: Draft) -> Found:
        """Return what the draft says of itself."""
        return Found(State.KEPT if draft.cited else State.BROKEN)


@dataclass(frozen=True)
class ForbiddenWords:
    """None of the phrases is said, anywhere."""

    rule: ClassVar[Rule] = Rule.FORBIDDEN_WORDS
    phrases: tuple[str, ...]
    endings: tuple[tuple[str, str], ...] = ()

    def on(self, draft: Draft) -> Found:
        """Return the words that are said, of the text, the output's values and its keys."""
        said = words.found(self.phrases, self.endings, (*draft.texts, *draft.keys))
        return Found(State.BROKEN, said) if said else Found(State.KEPT)


Check = Language | Length | MustCite | ForbiddenWords


def _spoken(draft: Draft) -> Iterator[str]:
    """Yield the sentences of a draft without what may be in any language."""
    for said in draft.texts:
        for sentence in text.sentences(_ANY_LANGUAGE.sub(" ", text.visible(said))):
            yield _TITLE.sub(" ", sentence)
