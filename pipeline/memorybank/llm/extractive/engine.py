"""From a chunk of text to findings, without a model: sentences are facts, names are entities, times are resolved."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from memorybank.llm.extractive.evidence import Evidence, gather
from memorybank.llm.extractive.finding import FactKind, Finding
from memorybank.llm.extractive.kinds import Kind, kind_in
from memorybank.llm.extractive.lexicon import lexicon_of
from memorybank.llm.extractive.names import names_in
from memorybank.llm.extractive.records import read_records
from memorybank.llm.extractive.repeats import is_degenerate, without_repeats
from memorybank.llm.extractive.tokens import WORD, words_in
from memorybank.llm.extractive.tongues import GUESSED_CHARS, UNSPACED, language_of_sentence, language_of_text
from memorybank.llm.extractive.transcript import read_lines
from memorybank.llm.extractive.turns import SYSTEM_ROLES, Turn
from memorybank.text import name_key, normalize, sentences
from memorybank.timeline import TimeSpan, phrase_window

#: No fact is longer; a longer sentence is cut at its marks.
MAX_FACT_CHARS = 2_000
#: A sentence as short as this leans on the one before it.
FRAGMENT_WORDS = 3
#: An answer as short as this is kept with its question.
ANSWER_WORDS = 5
#: In a chat a line is a message; one of at least so many characters may have been wrapped.
WRAPPED_CHARS = 70
#: How far from a time the words stand that take it back.
DISMISSAL_CHARS = 40

#: An item's mark; "14. April" is a date.
_BULLET = re.compile(
    r"\s*(?:[-*•–—>]|\[[ x]\]|\d{1,3}\)|\d{1,3}\.(?!\s+(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))\s+"
)
#: A full stop that is followed by a small letter: the end of a sentence in chats, unless the word is cut short.
_SMALL_START = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]{3,30})(?P<mark>[.!?]+)\s+(?=[^\W\d_])(?=[a-zß-ÿ])")
_SOFT_BREAK = re.compile(r"[;,:，；、]\s*|\s+")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    kind: Kind
    language: str

    @property
    def unspaced(self) -> bool:
        return bool(UNSPACED.search(self.text))


@dataclass(frozen=True, slots=True)
class _Group:
    """Sentences that make one fact, behind the question they answer, if they do."""

    turn: Turn
    sentences: list[_Sentence]
    question: str = ""

    @property
    def text(self) -> str:
        body = ("" if self.sentences[0].unspaced else " ").join(each.text for each in self.sentences)
        return f"{self.question}\n{_said(self.turn, body)}" if self.question else _said(self.turn, body)


def _said(turn: Turn, text: str) -> str:
    return f"{turn.speaker}: {text}" if turn.speaker else text


def extract(
    text: str, anchor: datetime | None, *, context: str = "", lost: list[str] | None = None
) -> list[Finding]:
    """The findings of one chunk, in order.

    `anchor` is when the text was said (relative times count from it; lines with stamps of their own count from
    those). `context` lends its names as evidence and nothing else.
    """
    clean = normalize(text)
    read = read_records(clean)
    turns = [turn for turn in (read_lines(clean) if read is None else read) if turn.role not in SYSTEM_ROLES]
    language = language_of_text("\n".join(turn.text for turn in turns))
    given = [turn.speaker for turn in turns if turn.named and turn.speaker]
    if context.strip():
        given += names_in(context, language_of_text(context), Evidence())
    evidence = gather((turn.text for turn in turns), given)
    return without_repeats(
        [
            _finding(group, anchor, evidence)
            for group in _groups(turns, language, [] if lost is None else lost)
        ],
        language,
    )


def _groups(turns: Sequence[Turn], language: str, lost: list[str]) -> list[_Group]:
    """The statements of all turns, those that lean on each other together."""
    groups: list[_Group] = []
    asked = ""
    for turn in turns:
        group: _Group | None = None
        answers, asked = asked, ""
        for sentence in _sentences(turn, language, lost):
            if sentence.kind != "statement":
                asks = turn.speaker and sentence.kind == "question"
                group, asked = None, _said(turn, sentence.text) if asks else ""
                continue
            if group and _leans(sentence) and len(group.text) + len(sentence.text) < MAX_FACT_CHARS:
                group.sentences.append(sentence)
            elif group := _new_group(turn, sentence, answers):
                groups.append(group)
            asked = answers = ""
    return groups


def _new_group(turn: Turn, sentence: _Sentence, answers: str) -> _Group | None:
    """A fact's first sentence; an answer of a few words keeps its question, without one a number says nothing."""
    if answers and _length(sentence.text) <= ANSWER_WORDS:
        return _Group(turn, [sentence], answers)
    return _Group(turn, [sentence]) if any(char.isalpha() for char in sentence.text) else None


def _sentences(turn: Turn, language: str, lost: list[str]) -> Iterator[_Sentence]:
    """The sentences of a turn, each once and at most as long as a fact may be."""
    seen: set[str] = set()
    for block in _blocks(turn):
        language_like: list[str] = []
        for whole in sentences(block):
            (lost if is_degenerate(whole) else language_like).append(whole)
        for sentence in _apart(language_like):
            bullet = _BULLET.match(sentence)
            clean = " ".join(sentence[bullet.end() if bullet else 0 :].split())
            if not clean or clean.casefold() in seen:
                continue
            seen.add(clean.casefold())
            own = language_of_sentence(clean, language)
            for piece in _pieces(clean):
                yield _Sentence(piece, _kind(piece, own), own)


def _kind(sentence: str, language: str) -> Kind:
    """The kind of a sentence; a short one may greet or thank in a language of its own."""
    found = kind_in(sentence, lexicon_of(language))
    if found != "statement" or len(sentence) >= GUESSED_CHARS:
        return found
    own = language_of_text(sentence)
    return found if own in ("und", language) else kind_in(sentence, lexicon_of(own))


def _blocks(turn: Turn) -> Iterator[str]:
    """What may hold sentences over several lines: prose as a whole, a chat by the message."""
    if turn.speaker is None:
        yield turn.text
        return
    block = ""
    for line in turn.text.split("\n"):
        wrapped = len(block.rsplit("\n", 1)[-1]) >= WRAPPED_CHARS and line.lstrip()[:1].islower()
        if block and not wrapped:
            yield block
            block = ""
        block = f"{block}\n{line}" if block else line
    yield block


def _apart(found: Iterable[str]) -> Iterator[str]:
    """Sentences that go on in lower case, as people type in chats, cut at their marks."""
    shared = lexicon_of("und")
    for sentence in found:
        start = 0
        for end in _SMALL_START.finditer(sentence):
            if not shared.is_a(end["word"].lower(), "abbreviations"):
                yield sentence[start : end.end("mark")]
                start = end.end()
        yield sentence[start:]


def _pieces(sentence: str) -> Iterator[str]:
    """A sentence cut to the size of a fact."""
    while len(sentence) > MAX_FACT_CHARS:
        breaks = [
            match.end() for match in _SOFT_BREAK.finditer(sentence, MAX_FACT_CHARS // 2, MAX_FACT_CHARS)
        ]
        cut = breaks[-1] if breaks else MAX_FACT_CHARS
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence


def _leans(sentence: _Sentence) -> bool:
    """Whether a sentence needs the one before it: it opens with a pronoun, or is a fragment without a name."""
    dependent = lexicon_of(sentence.language).words["dependent"]
    if sentence.unspaced:
        return sentence.text.startswith(tuple(dependent))
    words = words_in(sentence.text)
    if not words or words[0] in dependent:
        return bool(words)
    if words[0].isdecimal() and len(words) <= ANSWER_WORDS:
        return True
    return len(words) <= FRAGMENT_WORDS and not names_in(sentence.text, sentence.language, Evidence())


def _length(sentence: str) -> int:
    """Words; two characters of a script without spaces count as one."""
    return len(UNSPACED.findall(sentence)) // 2 if UNSPACED.search(sentence) else len(WORD.findall(sentence))


def _finding(group: _Group, anchor: datetime | None, evidence: Evidence) -> Finding:
    turn = group.turn
    return Finding(
        text=group.text[: MAX_FACT_CHARS + len(turn.speaker or "") + 2],
        speaker=turn.speaker,
        entities=_entities(group, evidence),
        occurred=_occurred(group, turn.said or anchor),
        fact_type=_fact_type(group),
        mentioned=turn.said,
    )


def _entities(group: _Group, evidence: Evidence) -> tuple[str, ...]:
    """The speaker, if that is a name, then the names in order of writing."""
    speaker = group.turn.speaker if group.turn.named else None
    # "A" in a transcript names nobody.
    found = [speaker] if speaker and (len(speaker) > 1 or UNSPACED.search(speaker)) else []
    found += names_in(group.question.partition(": ")[2], group.sentences[0].language, evidence)
    for sentence in group.sentences:
        found += names_in(sentence.text, sentence.language, evidence)
    by_key: dict[str, str] = {}
    for name in found:
        by_key.setdefault(name_key(name), name)
    return tuple(by_key.values())


def _occurred(group: _Group, anchor: datetime | None) -> TimeSpan | None:
    """The window of the first time that the fact names and does not take back."""
    windows = (phrase_window(each.text, anchor, partial(_is_meant, each.text)) for each in group.sentences)
    return next(filter(None, windows), None)


def _is_meant(sentence: str, time: TimeSpan) -> bool:
    """Whether a time is not named only to say that it does not hold: "not on Friday", "Tuesday is cancelled"."""
    before, _, after = sentence.lower().partition(time.text.lower())
    patterns = lexicon_of("und").patterns
    if patterns["dismissed_before"].search(before[-DISMISSAL_CHARS:]):
        return False
    return not patterns["dismissed_behind"].match(after[:DISMISSAL_CHARS])


def _fact_type(group: _Group) -> FactKind:
    """What an agent says of itself is its experience; everything else is about the world."""
    if not group.turn.by_agent:
        return "world"
    for sentence in group.sentences:
        first_person = lexicon_of(sentence.language).words["first_person"]
        if first_person.intersection(words_in(sentence.text)):
            return "experience"
        if sentence.unspaced and any(word in sentence.text for word in first_person):
            return "experience"
    return "world"
